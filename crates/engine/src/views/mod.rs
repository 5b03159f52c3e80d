//! Views of a run: pure folds over its events or its state. The reports, the lists, the files beside a
//! journal, the server and the terminal all take it from here, so that they agree.
//!
//! * [`TurnEnd`]: how a turn ended. [`Visits`]: all turns of a run, in short. [`TurnFold`]: one turn in full.
//! * [`sockets`]: the state of each socket. [`progress`]: how far the first loop is. [`cost`]: cost by socket and item.

mod cost;
mod sockets;
mod turn;
mod turn_end;
mod visits;

pub use cost::cost;
pub use sockets::{progress, sockets};
pub use turn::TurnFold;
pub use turn_end::TurnEnd;
pub use visits::Visits;
