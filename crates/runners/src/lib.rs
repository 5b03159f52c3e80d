//! Performs turns: whatever the engine owes the world is done here.
//!
//! * [`UtilityRunner`] runs local programs, each under a [supervisor](supervise) that ends
//!   everything the program has started.
//! * [`ScriptedRunner`] answers agent turns from a file, without a model.
//! * [`TreeCheck`] looks at a project before a Planning turn and after it.
//! * [`agents`] drives the coding agents that are installed.
//! * [`WorkspaceRunner`] performs turns in a workspace of the cast's own.
//! * [`Runners`] hands each turn to the one who can perform it. What comes back goes through one funnel
//!   that takes [secrets](agents::Secrets) out.
//!
//! Deliberately absent: what a result *means*. A runner says what came out of a turn or why
//! nothing did; parsing, routing and retries are the kernel's.

pub mod agents;
mod approved_files;
mod cast_folder;
mod changes;
mod dispatch;
mod growing_file;
mod guard;
mod leftovers;
mod mock;
mod planning;
mod raw_path;
mod redact;
mod scripted;
mod side_output;
mod spending;
pub mod supervise;
mod tree_check;
mod utility;
mod workspace;

pub use approved_files::{content, file_hasher, hash_content, open_regular};
pub use dispatch::Runners;
pub use mock::MockRunner;
pub use scripted::{
    SCRIPT_BYTES_MAX, ScriptError, ScriptedRunner, bind, faults, load, unmatched_keys,
};
pub use supervise::{
    InTurn, PlanningSupport, Processes, machine, name_driver, own_turn, planning_support, shield,
};
pub use tree_check::{ENTRIES_MAX, TreeCheck};
pub use utility::{STREAM_BYTES_MAX, UtilityRunner, gap};
pub use workspace::{StoresFiles, WorkspaceRunner};
