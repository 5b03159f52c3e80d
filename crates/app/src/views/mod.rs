//! Casts as people and programs see them: a summary, the state at any event, turns, and questions to a person.
//!
//! Every view is computed from the journal on request. The functions block: call them off the async threads.
//!
//! * [`subject`]: a cast to look at, in a journal or in an archive. [`verify`]: checks a cast against its events.
//! * [`next_steps`]: status of a cast, and the commands that continue it. [`questions`]: questions of a cast to a
//!   person, with all data needed to answer.
//! * [`turn_output`], [`remote_output`]: output of turns. [`event_view`]: events as people and programs see them.
//! * [`compare`]: two casts side by side. [`blame`]: the sources of a prompt. [`export`]: one cast as one page.
//! * [`names`]: names for shell completion.

pub mod blame;
pub mod compare;
pub mod event_view;
pub mod export;
pub mod names;
pub mod next_steps;
pub mod questions;
pub mod remote_output;
pub mod subject;
pub mod turn_output;
pub mod verify;

mod cast;
mod files;
mod inbox;
mod next_input;
mod summary;
mod turn;

pub use cast::cast;
pub use files::{file, files};
pub use inbox::inbox;
pub use materia_engine::views::cost;
pub use next_input::{given, sent};
pub use summary::summary;
pub use turn::{trees, turn, turns};
