//! Durable records of runs on NATS `JetStream`, behind the ports that `SQLite` is behind.
//!
//! One stream holds a space: a decision is one message on the subject of its run, a command one message on the
//! subject of its inbox. Their common order decides which commands a run has refused by ending.
//! `docs/reference/journal.md` has the form of the messages.

mod append;
mod blobs;
mod connection;
mod host;
mod inbox;
mod inner;
mod journal;
mod lease;
mod list;
mod log;
mod message;
mod monitor;
mod open;
mod options;
mod packs;
mod read;
mod todo;
mod walk;

pub use blobs::ObjectBlobs;
pub use connection::ServerFacts;
pub use host::host_name;
pub use journal::NatsJournal;
pub use lease::Driver;
pub use message::Home;
pub use monitor::syncs_always;
pub use open::OpenError;
pub use options::{BadOption, Options, Space};
pub use packs::{FilesAt, StoredBase, StoredPack};
pub use todo::{InTodo, Sent, Todo, TodoList};
