//! Stories about documents: what is written, and what is said about it.

#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod agents;
mod codes;
mod delivery;
mod documents;
mod generators;
mod graphs;
mod hostile;
mod layers;
mod link_laws;
mod link_shipped;
mod linking;
mod loops;
mod original;
mod plans;
mod player;
mod programs;
mod properties;
mod shipped;
mod slips;
mod suggest;
mod support;
mod utilities;
