//! HTTP server for the page and for programs, on a loopback address or a Unix socket.
//!
//! ```text
//! connection ─► guard ─► router (the table of `contract::api`) ─► query, act, stream ─► app
//! ```
//!
//! # Invariants
//!
//! * The [guard](guard) checks every request, including those for static files and unknown paths.
//! * The server decides nothing about a run: commands go to `app` and the kernel, answers come from the journal.
//! * No request contains code: casts start by the names of stored loadouts, and files are looked up in lists.
//! * Threads of the async runtime never block on the disk: file access happens on other threads.
//!
//! Deliberately absent: arguments and terminals. The caller passes in the [`Settings`].

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
mod explore;
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
mod workers;
mod workspace;

pub use listen::{Listen, ListenError};
pub use opening::{opening_file, page_file};
pub use page::{missing_page, viewer};
pub use serve::{ServeError, Serving, serve};
pub use single_instance::is_held;
pub use state::{Demo, OpenProject, Settings};
