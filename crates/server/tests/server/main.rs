//! The server from outside: what the guard lets through, and what is answered.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acts;
mod broken;
mod crowds;
mod described;
mod editing;
mod guard;
mod listen;
mod lists;
mod neighbours;
mod opening;
mod stage;
mod streams;
mod workspaces;
