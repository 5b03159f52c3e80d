//! The door for the page and for programs: HTTP over a loopback address or a Unix socket.
//!
//! ```text
//! connection ─► guard ─► router (the table of `contract::api`) ─► query, act, stream ─► app
//! ```
//!
//! # Invariants
//!
//! * The [guard](guard) stands before every route, static files and errors included.
//! * Nothing here decides anything about a run: acts go to `app` and the kernel, answers are read off the journal.
//! * Nothing executable comes in with a request: casts are started by the names of stored loadouts, and files are looked
//!   up in lists.
//! * A thread of the runtime waits for no disk: what reads or writes files does so off it.
//!
//! Deliberately absent: arguments and terminals. Whoever starts a server brings its [`Settings`].

mod access;
mod act;
mod begin;
mod cast_request;
pub mod client;
mod config;
mod demo;
mod dispatch;
mod driven_casts;
mod driver;
mod edit;
mod events;
mod guard;
mod inbox;
mod keys;
mod limits;
mod list;
mod listen;
mod metrics;
mod opening;
mod page;
mod peer;
mod pending;
mod problem;
mod projects;
mod query;
mod request;
mod serve;
mod served_folders;
mod single_instance;
mod slow_connection;
mod spill;
mod sse;
mod state;
mod state_folder;
mod stream;
mod trust;
mod workspace;

pub use listen::{Listen, ListenError};
pub use opening::opening_file;
pub use page::{missing_page, viewer};
pub use serve::{ServeError, Serving, serve};
pub use single_instance::is_held;
pub use state::{Demo, OpenProject, Settings};
