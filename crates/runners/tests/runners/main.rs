//! The runners against real processes, nasty ones above all.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

mod adapters;
mod children;
mod death;
mod driving;
mod leaving;
mod outside;
mod planning;
mod scripted;
mod stage;
mod starting;
