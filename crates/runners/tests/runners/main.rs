//! The runners against real processes, nasty ones above all.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

mod adapters;
mod ask;
mod children;
mod death;
mod driving;
mod outside;
mod planning;
mod scripted;
mod side_output;
mod stage;
mod starting;
