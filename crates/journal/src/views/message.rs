//! Messages to the thread that writes the views.

use std::sync::mpsc::Sender;

use materia_contract::RunId;
use materia_engine::Committed;

use super::cast::Cast;
use super::file::ViewProblem;

/// A message.
pub(super) enum Message {
    /// Events are durable; about how many bytes they take.
    ViewUpdate(Committed, usize),
    /// Write everything and say what went wrong.
    Flush(Sender<Result<(), ViewProblem>>),
    /// Write everything and say so.
    Reached(tokio::sync::oneshot::Sender<()>),
    /// Write out and release a cast, because another task works on its files now.
    Release { run: RunId, answer: Sender<()> },
    /// A cast is caught up, and this is what it is.
    Know { run: RunId, cast: Box<Cast> },
}
