//! The handoff contract: finds the object in a model's output, and checks its shape.

mod check;
mod find;

pub(crate) use check::{Needs, check};
pub(crate) use find::{Found, find, place_of};
