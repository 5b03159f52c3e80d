//! A cast as a page sees it: in short, as of any event, turn by turn, and what it asks of a person.
//!
//! Everything here is read off the journal when somebody asks. It waits for it: a task calls it off its thread.

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
