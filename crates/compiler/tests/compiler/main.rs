//! Stories about documents: what is written, and what is said about it.

#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod codes;
mod delivery;
mod documents;
mod generators;
mod graphs;
mod hostile;
mod layers;
mod loops;
mod plans;
mod properties;
mod schemas;
mod support;
mod utilities;
