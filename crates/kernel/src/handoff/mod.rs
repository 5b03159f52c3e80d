//! The handoff contract: finding the object in what a model wrote, and holding it to its shape.

mod check;
mod find;

pub(crate) use check::{Needs, check};
pub(crate) use find::{Found, find, place_of};
