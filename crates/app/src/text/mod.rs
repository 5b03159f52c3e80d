//! Sentences and drawings made of facts.
//!
//! * [`event_text`], [`narrator`], [`event_importance`], [`live_line`]: texts for events, states and output of turns.
//! * [`grid`]: a plan drawn as text, with the positions of its nodes.
//! * [`sanitize`]: removes control characters from foreign text.

pub mod event_importance;
pub mod event_text;
pub mod grid;
pub mod live_line;
pub mod narrator;
pub mod sanitize;
