//! HTTP server for the page and for programs, on a loopback address or a Unix socket.
//!
//! ```text
//! connection ─► http::guard ─► dispatch (the table of `contract::api`) ─► resources ─► app
//! ```
//!
//! # Invariants
//!
//! * The [guard](http::guard) checks every request, including those for static files and unknown paths.
//! * The server decides nothing about a run: commands go to `app` and the kernel, answers come from the journal.
//! * No request contains code: casts start by the names of stored loadouts, and files are looked up in lists.
//! * Threads of the async runtime never block on the disk: file access happens on other threads.
//!
//! Deliberately absent: arguments and terminals. The caller passes in the [`Settings`].

pub mod client;
mod dispatch;
mod driver;
mod http;
mod opening;
mod projects;
mod request;
mod resources;
mod serve;
mod single_instance;
mod spill;
mod state;
mod state_folder;

pub use http::listen::{Listen, ListenError};
pub use http::page::{missing_page, viewer};
pub use opening::{opening_file, page_file};
pub use serve::{ServeError, Serving, serve};
pub use single_instance::is_held;
pub use state::{Demo, OpenProject, Settings};
