//! Names and shapes that cross a boundary: files, the journal, the command line.
//!
//! Everything here is data. A type belongs in this crate when it is visible outside the process; its *meaning* is
//! elsewhere: the compiler's for documents, the kernel's for events. The only behaviour allowed here is parsing,
//! rendering and hashing. Files, clocks, threads and the rules of a run are not allowed.

mod act;
mod amount;
mod answer;
pub mod api;
pub mod blob;
pub mod body;
mod canonical;
pub mod capability;
pub mod case;
mod command;
mod cron;
mod decision;
mod document;
mod enum_words;
mod envelope;
mod event;
mod excerpt;
mod failure;
mod finding;
mod id;
mod input;
mod label;
mod link;
mod mode;
pub mod number;
mod path;
pub mod path_tokens;
mod plan;
mod record;
pub mod schema;
mod scratch;
pub mod script;
mod search;
mod summary;
pub mod time;
mod utility_input;

pub use act::*;
pub use amount::*;
pub use blob::{Blob, BlobFault, BlobHash};
pub use canonical::*;
pub use command::*;
pub use cron::*;
pub use decision::*;
pub use document::*;
pub use envelope::*;
pub use event::*;
pub use excerpt::*;
pub use failure::*;
pub use finding::*;
pub use id::*;
pub use input::*;
pub use label::*;
pub use link::*;
pub use mode::*;
pub use path::*;
pub use path_tokens::Folders;
pub use plan::*;
pub use record::*;
pub use search::*;
pub use summary::*;
pub use utility_input::*;
pub use uuid::Uuid;
