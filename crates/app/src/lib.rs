//! Application layer: shared by the command line and the server.
//!
//! The command line and the server parse input and show results. Everything between them and the engine is here: the
//! casts of a project, the commands on them, approvals, and the texts for people.
//!
//! * [`project`]: a folder with its configuration; compiling, and finding its casts.
//! * [`prepare`]: all steps before a run starts; [`options`]: settings of a run; [`agents`]: who answers.
//! * [`next_steps`]: status of a cast, and the commands that continue it.
//! * [`questions`]: questions of a cast to a person, with all data needed to answer.
//! * [`act`]: commands on a cast. [`drive`]: runs a cast until it rests. [`follow`]: watches one until it rests.
//! * [`host`]: many runs in one process. [`concurrent_casts`]: other casts in the same folder.
//! * [`journals`]: journals of a project, and the check before one is written to.
//! * [`workspace`]: workspaces of casts.
//! * [`trust`]: approvals, as questions and answers.
//! * [`config_writer`]: changes a configuration file. [`drafts`]: edits that are not saved yet.
//! * [`bounds`]: maximum number of turns of a loadout. [`explore`]: every history of one.
//! * [`crashtest`]: one cast with memory lost at every point. [`fuzz`]: histories by chance.
//! * [`simulate`]: walks through a loadout without running anything. [`try_utility`]: runs one utility. [`compare`]:
//!   two casts side by side.
//! * [`own_cases`]: project files for the author's conformance cases.
//! * [`recorded`]: a finished cast as a script and as a conformance case. [`play`]: runs a plan in memory.
//! * [`whatif`]: the answers of a cast played against the loadout of today.
//! * [`blame`]: the sources of a prompt.
//! * [`export`]: one cast as one page. [`archive`]: one cast as one file that can be verified.
//! * [`subject`]: a cast to look at, in a journal or in an archive.
//! * [`verify`]: checks a cast against its events. [`health`]: agents that are usable here.
//! * [`templates`]: configurations to start from. [`seen_warnings`]: warnings that were shown before.
//! * [`turn_output`], [`remote_output`], [`live_line`]: output of turns. [`event_view`]: events as people and programs
//!   see them. [`view`]: a cast for the page.
//! * [`cast_context`]: context that a new cast gets from an earlier one.
//! * [`profile`]: installs the shipped utilities.
//! * [`cast_id`]: ids of casts, and finding the cast that a person means.
//! * [`names`]: names for shell completion.
//! * [`failure`]: refusals and failures.
//! * [`worker`]: drives the casts of a space on NATS, and hands casts over to workers.
//! * [`event_text`], [`narrator`], [`event_importance`]: texts for events and states.
//! * [`grid`]: a plan drawn as text, with the positions of its nodes.
//! * [`sanitize`]: removes control characters from foreign text.
//!
//! Deliberately absent: arguments, terminals, exit statuses, the current folder and the environment. The callers pass
//! them in as data.

pub mod act;
pub mod agents;
pub mod archive;
pub mod blame;
pub mod bounds;
pub mod cast_context;
pub mod cast_id;
pub mod compare;
pub mod concurrent_casts;
pub mod config_writer;
pub mod copy;
pub mod crashtest;
pub mod drafts;
pub mod drive;
pub mod event_importance;
pub mod event_text;
pub mod event_view;
pub mod explore;
pub mod export;
pub mod failure;
pub mod follow;
pub mod fuzz;
pub mod grid;
pub mod health;
pub mod host;
pub mod journals;
pub mod live_line;
pub mod names;
pub mod narrator;
pub mod next_steps;
pub mod options;
pub mod own_cases;
pub mod place;
pub mod play;
pub mod prepare;
pub mod profile;
pub mod project;
pub mod questions;
pub mod recorded;
pub mod remote_output;
pub mod sanitize;
pub mod seen_warnings;
pub mod simulate;
pub mod subject;
pub mod templates;
pub mod trust;
pub mod try_utility;
pub mod turn_output;
pub mod verify;
pub mod view;
pub mod whatif;
pub mod worker;
pub mod workspace;

pub use failure::Failure;
pub use host::Host;
pub use materia_safe_fs::Typed;
pub use options::RunOptions;
pub use project::{Found, Project};
