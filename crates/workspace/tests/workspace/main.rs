//! Workspaces on real repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apply;
mod back;
mod common;
mod crash;
mod create;
mod examine;
mod forged;
mod hostile;
mod look;
mod publish;
