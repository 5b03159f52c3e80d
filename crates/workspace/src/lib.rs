//! Workspaces: a git repository and a checkout of its own for each cast.
//!
//! ```text
//! <state folder>/workspaces/<project hash>/<castId>/
//!     repository/   bare, objects of the user's repository by alternates; turns may write to it
//!     checkout/     the files, a linked worktree of it; turns may write to it
//!     private/      a git folder with our settings that leads to the refs and objects of `repository`
//! ```
//!
//! # Invariants
//!
//! * git is a program that is called with an empty environment. It reads settings that this crate wrote, never those
//!   of the user's repository or of the workspace: it gets a git folder of ours whose `refs`, `packed-refs` and
//!   `objects` are links. So nothing runs that a repository names: no hook, filter, monitor, driver or helper.
//! * The user's repository gets refs under `refs/materia/<castId>/`, at publication the branch `materia/<castId>` and
//!   its objects, and the changes of [`apply`]. Otherwise it is only read.
//! * Each operation is idempotent and can be repeated after a crash at any moment.
//! * Each call of git has a limit of time, and of bytes that are kept in memory.
//!
//! The crate knows no casts, events or rules. Callers know which operation is due.

mod apply;
mod base;
mod create;
mod diff;
mod fault;
mod fork;
mod git;
mod location;
mod look;
mod packs;
mod project;
mod publish;
mod ref_list;
mod repository;
mod restore;
mod settings;
mod snapshot;
mod stand_in;
mod status;
mod transfer;
mod unsaved;
mod workspace;

pub use apply::{Applied, ApplyRefusal, apply, casts_in, drop_cast, merged, published};
pub use base::base_at;
pub use create::create;
pub use diff::{Diff, DiffOptions, FileChange};
pub use fault::Fault;
pub use fork::{ForkRefusal, Source, fork};
pub use git::isolated;
pub use location::{Listed, Place, list, project_hash};
pub use look::Look;
pub use packs::{BasePack, pack_base};
pub use project::{Base, Project, Refusal, RefusalCode, examine, git_version};
pub use publish::{Publish, PublishRefusal, Published};
pub use repository::Repository;
pub use settings::Identity;
pub use stand_in::{Bases, make_stand_in, set_up_stand_in, stand_in};
pub use status::{Status, status};
pub use workspace::{Opened, Workspace, open};
