//! Application layer: shared by the command line and the server.
//!
//! The command line and the server parse input and show results. Everything between them and the engine is here, in a
//! folder for each subject:
//!
//! * [`project`]: a folder with its configuration and its casts: compiling, finding casts, journals, health.
//! * [`trust`]: approvals, as questions and answers.
//! * [`cast`]: starts, steers, drives and follows casts; workers and workspaces.
//! * [`views`]: casts as people and programs see them; every view is computed from the journal.
//! * [`archive`]: one cast as one file that can be verified.
//! * [`text`]: sentences and drawings made of facts.
//! * [`edit`]: changes of configurations, drafts, and trying them without a cast.
//! * [`proof`]: questions about a loadout before it runs, and casts that ran against the loadout of today.
//! * [`options`]: settings of a run. [`failure`]: refusals and failures.
//!
//! Deliberately absent: arguments, terminals, exit statuses, the current folder and the environment. The callers pass
//! them in as data.

pub mod archive;
pub mod cast;
pub mod edit;
pub mod failure;
pub mod options;
pub mod project;
pub mod proof;
pub mod text;
pub mod trust;
pub mod views;

pub use cast::host::Host;
pub use failure::{Failure, Result};
pub use materia_safe_fs::Typed;
pub use options::RunOptions;
pub use project::{Found, Project};
