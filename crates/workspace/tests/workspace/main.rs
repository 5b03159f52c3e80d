//! Workspaces on real repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apply;
mod common;
mod crash;
mod create;
mod examine;
mod forged;
mod hostile;
mod packs;
mod publish;
mod restore;
mod snapshot;
