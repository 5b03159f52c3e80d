//! What every door of Materia shares: the command line, and whatever else lets people and programs in.
//!
//! A door takes words in and shows what came of them. Everything between that and the engine is
//! here: which casts a project has, what a person may do with one, what has to be trusted before
//! anything runs, and the sentences in which all of it is told.
//!
//! * [`project`]: a folder and the files that configure it; compiling, and finding its casts.
//! * [`prepare`]: everything before a run is driven; [`options`] say how it is to be performed, [`agents`] who answers.
//! * [`standing`]: where a cast stands, and what brings it on.
//! * [`asking`]: what a cast asks of a person, with all that is needed to answer.
//! * [`act`]: doing something to a cast. [`drive`]: driving one to its rest. [`follow`]: watching one until it rests.
//! * [`host`]: many runs in one process: begin, carry on, tell, watch, stop.
//! * [`journals`]: whose the journals of a project are, and what is asked before one is written to.
//! * [`trust`]: what has to be approved before it runs, as a question and its answer.
//! * [`ownfile`]: changing a configuration file. [`drafts`]: texts of it that are not saved yet.
//! * [`bounds`]: how many turns a loadout can take. [`explore`]: every history of one.
//! * [`walk`]: through a loadout without running anything. [`trial`]: a utility by itself. [`compare`]: two casts side by side.
//! * [`own_cases`]: what cases of an author run on.
//! * [`recorded`]: a cast that has run as a script and as a conformance case. [`play`]: a plan played in memory.
//! * [`export`]: one cast as one file.
//! * [`verify`]: whether a cast is what its events say. [`health`]: which agents could be asked here.
//! * [`templates`]: configurations to begin with. [`seen`]: warnings that were shown before.
//! * [`heard`]: what turns have put out. [`shown`]: events as everybody sees them. [`view`]: a cast as a page sees it.
//! * [`previous`]: what a new cast may know of an earlier one.
//! * [`profile`]: shipped utilities, there before anything runs.
//! * [`castid`]: names of casts, and finding the one that a person means.
//! * [`names`]: what a person may mean while typing.
//! * [`failure`]: why something was refused, or broke off.
//! * [`say`], [`story`], [`news`], [`speech`]: events and states in words, and what must be remembered to find them.
//! * [`grid`]: a plan drawn as text, and where its nodes stand.
//! * [`clean`]: text from elsewhere, made fit to be shown.
//!
//! Deliberately absent: arguments, terminals, exit statuses, the present folder and the environment. A door
//! knows its own; here they come in as data.

pub mod act;
pub mod agents;
pub mod bounds;
pub mod cast_context;
pub mod cast_id;
pub mod compare;
pub mod concurrent_casts;
pub mod config_writer;
pub mod drafts;
pub mod drive;
pub mod event_importance;
pub mod event_text;
pub mod event_view;
pub mod explore;
pub mod export;
pub mod failure;
pub mod follow;
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
pub mod templates;
pub mod trust;
pub mod try_utility;
pub mod turn_output;
pub mod verify;
pub mod view;
pub mod workspace;

pub use failure::Failure;
pub use host::Host;
pub use materia_safe_fs::Typed;
pub use options::RunOptions;
pub use project::{Found, Project};
