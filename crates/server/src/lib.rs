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
mod alone;
mod begin;
mod carry;
pub mod client;
mod config;
mod demo;
mod dispatch;
mod edit;
mod events;
mod guard;
mod inbox;
mod keys;
mod ledger;
mod limits;
mod list;
mod listen;
mod metrics;
mod opening;
mod owned;
mod page;
mod patient;
mod peer;
mod pending;
mod problem;
mod query;
mod remembered;
mod request;
mod rooms;
mod serve;
mod spill;
mod sse;
mod state;
mod stream;
mod trust;
mod wanted;
mod workspace;

pub use alone::is_held;
pub use listen::{Listen, ListenError};
pub use opening::opening_file;
pub use page::{missing_page, viewer};
pub use serve::{ServeError, Serving, serve};
pub use state::{Demo, OpenProject, Settings};
