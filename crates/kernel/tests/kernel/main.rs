//! The kernel, told in stories and held to laws.

mod laws;
mod loops;
mod people;
mod play;
mod stories;
