//! The engine over a journal in memory and turns that are made up.

mod crash;
mod driving;
mod memory;
mod story;
