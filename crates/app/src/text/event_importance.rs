//! Importance of events for a person who watches a run.

use materia_contract::{Event, EventBody, Timer, TimerSet};

/// Importance of an event for a person who watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Importance {
    /// A turn starts.
    Started,
    /// The turn that started at this event ended; in a word, how.
    Ended(u64, &'static str),
    /// Worth a line of its own: work sent back, a loop, a budget, a person's word.
    Worth,
    /// A detail, shown only if every event is requested.
    Detail,
}

/// Classifies an event.
pub fn news(event: &Event) -> Importance {
    match &event.body {
        EventBody::TurnStarted(_) => Importance::Started,
        EventBody::TurnCompleted(data) => Importance::Ended(data.turn, "done"),
        EventBody::TurnFailed(data) => Importance::Ended(data.turn, "failed"),
        EventBody::TurnInterrupted(data) => Importance::Ended(data.turn, "interrupted"),
        EventBody::LoopEntered(_)
        | EventBody::LoopExhausted(_)
        | EventBody::FollowUpCaptured(_)
        | EventBody::BudgetWarned(_)
        | EventBody::BudgetChanged(_)
        | EventBody::NodeBlocked(_)
        | EventBody::ModeChanged(_)
        | EventBody::PayloadSuperseded(_)
        | EventBody::PayloadDropped(_)
        | EventBody::TurnRequested(_)
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalGiven(_)
        | EventBody::ApprovalDenied(_)
        | EventBody::ItemSkipped(_)
        | EventBody::TimelineReached(_)
        | EventBody::RunRevived(_)
        | EventBody::AgentsChosen(_)
        | EventBody::StorageMeasured(_)
        | EventBody::WorkspacePublished(_)
        | EventBody::SocketFinished(_)
        // That a socket runs by the clock is no news; that a turn is tried again is.
        | EventBody::TimerSet(TimerSet { timer: Timer::Retry { .. }, .. }) => Importance::Worth,
        EventBody::TimerSet(_)
        | EventBody::TimerFired(_)
        // An edge filters as its author configured it: a watcher would see this at every poll.
        | EventBody::PayloadDeduplicated(_)
        | EventBody::PayloadFiltered(_)
        | EventBody::RunCreated(_)
        | EventBody::RunResumed(_)
        | EventBody::RunWaiting(_)
        | EventBody::RunCompleted(_)
        | EventBody::RunFailed(_)
        | EventBody::RunAborted(_)
        | EventBody::RouteSelected(_)
        | EventBody::HandoffSent(_)
        | EventBody::PayloadDelivered(_)
        | EventBody::PayloadConsumed(_)
        | EventBody::StatePatched(_)
        | EventBody::OutputFieldsIgnored(_)
        | EventBody::CursorAdvanced(_)
        | EventBody::WorkspacePublishing(_)
        | EventBody::MessageReceived(_) => Importance::Detail,
    }
}
