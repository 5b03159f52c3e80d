//! Drives runs: the only place where the kernel meets the world.

mod ports;

pub use ports::*;
