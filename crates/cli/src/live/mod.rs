//! A run while it is under way: one line a socket on a terminal, plain lines elsewhere.

mod plain;
mod screen;
mod speech;

use std::sync::Arc;

use materia_contract::{Event, EventBody, NodeId, RunId};
use materia_engine::{Committed, Observer};

pub(crate) use plain::Plain;
pub(crate) use screen::Screen;

/// Several who listen, as one.
pub(crate) struct Observers(pub Vec<Arc<dyn Observer>>);

impl Observer for Observers {
    fn committed(&self, news: &Committed) {
        for observer in &self.0 {
            observer.committed(news);
        }
    }

    fn streamed(&self, run: &RunId, node: &NodeId, text: &str) {
        for observer in &self.0 {
            observer.streamed(run, node, text);
        }
    }
}

/// What an event is for somebody who watches.
enum News {
    /// A turn starts.
    Started,
    /// The turn that started at this event ended.
    Ended(u64, &'static str),
    /// Worth a line of its own: work sent back, a loop, a budget, a person's word.
    Worth,
    /// A detail, which `materia events` has.
    Detail,
}

fn news(event: &Event) -> News {
    match &event.body {
        EventBody::TurnStarted(_) => News::Started,
        EventBody::TurnCompleted(data) => News::Ended(data.turn, "done"),
        EventBody::TurnFailed(data) => News::Ended(data.turn, "failed"),
        EventBody::TurnInterrupted(data) => News::Ended(data.turn, "interrupted"),
        EventBody::LoopEntered(_)
        | EventBody::LoopExhausted(_)
        | EventBody::FollowUpCaptured(_)
        | EventBody::BudgetWarned(_)
        | EventBody::BudgetChanged(_)
        | EventBody::NodeBlocked(_)
        | EventBody::ModeChanged(_)
        | EventBody::PayloadSuperseded(_)
        | EventBody::PayloadDropped(_)
        | EventBody::PayloadDeduplicated(_)
        | EventBody::PayloadFiltered(_)
        | EventBody::TimerSet(_)
        | EventBody::TimerFired(_)
        | EventBody::TurnRequested(_)
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalGiven(_)
        | EventBody::ApprovalDenied(_)
        | EventBody::TimelineReached(_)
        | EventBody::RunRevived(_)
        | EventBody::SocketFinished(_) => News::Worth,
        EventBody::RunCreated(_)
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
        | EventBody::MessageReceived(_) => News::Detail,
    }
}
