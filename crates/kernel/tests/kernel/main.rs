//! The kernel, told in stories and held to laws.

mod answers;
mod laws;
mod loops;
mod people;
mod play;
mod stories;
