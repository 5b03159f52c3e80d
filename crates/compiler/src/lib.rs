//! Turns what an author wrote into one checked plan, or into every fault at once.
//!
//! The way of a document through this crate:
//!
//! 1. [`load`] finds the files of all layers, reads them as JSON with comments, checks each
//!    against the schema of the document format and merges them.
//! 2. [`check`] gives meaning to everything in the merged configuration and reports what is wrong.
//! 3. [`compile`] does the same for one loadout and hands out its [`Plan`](materia_contract::Plan).
//! 4. [`link::link`] composes several targets into one plan.
//!
//! # Invariants
//!
//! * Nothing here panics on input and nothing stops at the first fault: a place that cannot be
//!   read is reported, replaced by something harmless, and remembered, so that later checks
//!   do not complain about the replacement.
//! * Every finding about a document names the file it came from, also after layering.
//! * Every code that can be emitted is listed in [`CODES`].
//!
//! Deliberately absent: running anything, asking a person for trust, drawing findings.

mod build;
mod codes;
mod command;
mod diff;
pub mod edit;
mod fault;
mod fields;
mod files;
mod layers;
pub mod link;
pub mod locate;
mod merge;
mod original;
mod part;
mod project;
mod read;
mod schemas;
mod shape;
pub mod shipped;
mod structure;
mod suggest;
mod syntax;
mod trust;

pub use build::{
    Compiled, active_loadout, agent_findings, check, compile, needed_scripts, words_of_layer,
};
pub use codes::CODES;
pub use diff::{NoDocument, diff};
pub use files::{CONFIG_BYTES_MAX, Sources};
pub use layers::{Layer, LayerKind, Loaded, load, load_given, profile};
pub use part::{Part, PartKind, Program};
pub use project::{
    AGENT_FILES, AGENT_FOLDERS, NOT_OF_AGENTS, artifact_dir, artifact_root, own_workspaces,
    refused_workspaces, unfit_doc_root,
};
pub use schemas::{SCHEMAS, schema};
pub use suggest::{did_you_mean, nearest};
pub use trust::{materia_program, parts, taking_part};
