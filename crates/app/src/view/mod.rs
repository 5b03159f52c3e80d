//! Views of a cast for the page: a summary, its state at any event, its turns, and its question to a person.
//!
//! Every view is computed from the journal on request. The functions block: call them off the async threads.

mod cast;
mod files;
mod inbox;
mod next_input;
mod summary;
mod turn;

pub use cast::{cast, cost};
pub use files::{file, files};
pub use inbox::inbox;
pub use next_input::{given, sent};
pub use summary::summary;
pub use turn::{trees, turn, turns};
