//! The kernel, told in stories and held to laws.

mod laws;
mod play;
mod stories;
