//! The order of a decision (D7): ends of turns, arrivals, timers, changes of mode, starts, and the closing events.

use materia_contract::{Do, Event, EventBody, InterruptReason, Mode};

use crate::owed::Obligation;
use crate::state::Part;
use crate::state::Verifier;
use crate::{Checked, hold};

impl Verifier {
    /// An event that pays no debt opens a part of the decision.
    pub(crate) fn opens(&mut self, event: &Event) -> Checked {
        let part = self.part_of(event)?;
        let reached = self.decision.part;
        hold!(
            self,
            reached <= part && reached < Part::Rest,
            "`{}` belongs before {}, which its decision has reached already",
            event.body.type_name(),
            reached.words()
        );
        self.decision.part = part;
        self.open(event)
    }

    fn part_of(&self, event: &Event) -> Checked<Part> {
        Ok(match &event.body {
            EventBody::TurnCompleted(_)
            | EventBody::TurnFailed(_)
            | EventBody::RunRevived(_)
            | EventBody::AgentsChosen(_)
            | EventBody::StorageMeasured(_)
            | EventBody::WorkspacePublished(_)
            | EventBody::BudgetChanged(_) => Part::Ends,
            EventBody::TurnInterrupted(data) => match data.reason {
                InterruptReason::Crash
                | InterruptReason::Stopped
                | InterruptReason::Aborted
                | InterruptReason::RunFor
                | InterruptReason::Trust
                | InterruptReason::Workspace => Part::Ends,
                InterruptReason::RunFailed => Part::Starts,
            },
            EventBody::RunResumed(_) => Part::Resumed,
            EventBody::HandoffSent(_)
            | EventBody::TurnRequested(_)
            | EventBody::ApprovalGiven(_)
            | EventBody::ApprovalDenied(_)
            | EventBody::MessageReceived(_)
            | EventBody::ItemSkipped(_)
            | EventBody::SocketFinished(_) => Part::Arrivals,
            EventBody::TimelineReached(data) => match data.act {
                Do::Offer { .. }
                | Do::Trigger { .. }
                | Do::Approve { .. }
                | Do::Deny { .. }
                | Do::Say { .. }
                | Do::Continue { .. }
                | Do::Skip { .. } => Part::Arrivals,
                Do::Budget { .. } | Do::NodeBudget { .. } => Part::Ends,
                Do::Mode { .. } | Do::Pause | Do::GlobalMode { .. } | Do::Crash => {
                    Part::ModeChanges
                }
                Do::Resume { .. }
                | Do::Recast
                | Do::Revive
                | Do::Stop { .. }
                | Do::Abort { .. } => {
                    let what = format!("`{}` cannot stand in a timeline", data.act.name());
                    return Err(self.objection(what));
                }
            },
            EventBody::TimerFired(_) => Part::Timers,
            EventBody::ModeChanged(data) if data.reason == "stall" => Part::Starts,
            EventBody::ModeChanged(_) => Part::ModeChanges,
            EventBody::PayloadDelivered(_)
            | EventBody::PayloadConsumed(_)
            | EventBody::CursorAdvanced(_)
            | EventBody::TurnStarted(_)
            | EventBody::RunFailed(_) => Part::Starts,
            EventBody::BudgetWarned(_) => Part::Warnings,
            EventBody::NodeBlocked(_) => Part::Blocked,
            EventBody::ApprovalRequested(_) => Part::Questions,
            EventBody::RunWaiting(_)
            | EventBody::WorkspacePublishing(_)
            | EventBody::RunCompleted(_)
            | EventBody::RunAborted(_) => Part::Rest,
            EventBody::RunCreated(_)
            | EventBody::RouteSelected(_)
            | EventBody::PayloadSuperseded(_)
            | EventBody::PayloadDropped(_)
            | EventBody::PayloadDeduplicated(_)
            | EventBody::PayloadFiltered(_)
            | EventBody::TimerSet(_)
            | EventBody::StatePatched(_)
            | EventBody::OutputFieldsIgnored(_)
            | EventBody::LoopEntered(_)
            | EventBody::LoopExhausted(_)
            | EventBody::FollowUpCaptured(_) => {
                let kind = event.body.type_name();
                return Err(self.objection(format!("`{kind}` follows from nothing before it")));
            }
        })
    }

    fn open(&mut self, event: &Event) -> Checked {
        match &event.body {
            EventBody::TurnCompleted(data) => self.completed(event, data, false),
            EventBody::TurnFailed(data) => self.failed(event, data),
            EventBody::TurnInterrupted(data) => self.interrupted(event, data),
            EventBody::RunRevived(data) => self.revived(data),
            EventBody::BudgetChanged(data) => self.budget_changed(event, data),
            EventBody::AgentsChosen(data) => self.agents_chosen(data),
            EventBody::StorageMeasured(data) => self.measured(data),
            EventBody::RunResumed(data) => self.resumed(data),
            EventBody::HandoffSent(data) => self.offered(event, data),
            EventBody::TurnRequested(data) => self.requested(event, data),
            EventBody::ApprovalGiven(data) => self.answered(event, &data.hash, true),
            EventBody::ApprovalDenied(data) => self.denied(event, data),
            EventBody::MessageReceived(data) => self.spoken(event, data),
            EventBody::SocketFinished(data) => self.finished(event, data),
            EventBody::ItemSkipped(data) => self.skipped(event, data),
            EventBody::TimelineReached(data) => self.reached(data),
            EventBody::TimerFired(data) => self.fired(event, data),
            EventBody::ModeChanged(data) if data.reason == "stall" => self.stops(event, data),
            EventBody::ModeChanged(data) => self.mode_changed(event, data),
            EventBody::PayloadDelivered(_)
            | EventBody::PayloadConsumed(_)
            | EventBody::CursorAdvanced(_)
            | EventBody::TurnStarted(_) => self.starts(event),
            EventBody::RunFailed(_) => {
                self.owed.push(Obligation::NoList);
                self.pays(Some(event)).map(|_| ())
            }
            EventBody::BudgetWarned(data) => self.warned(data),
            EventBody::NodeBlocked(_) => self.blocked(event),
            EventBody::ApprovalRequested(data) => self.asked(event, data),
            EventBody::RunWaiting(data) => self.waits(data),
            EventBody::RunCompleted(_) => self.is_complete(),
            EventBody::WorkspacePublishing(_) => self.may_publish(),
            EventBody::WorkspacePublished(_) => self.published(),
            EventBody::RunAborted(_)
            | EventBody::RunCreated(_)
            | EventBody::RouteSelected(_)
            | EventBody::PayloadSuperseded(_)
            | EventBody::PayloadDropped(_)
            | EventBody::PayloadDeduplicated(_)
            | EventBody::PayloadFiltered(_)
            | EventBody::TimerSet(_)
            | EventBody::StatePatched(_)
            | EventBody::OutputFieldsIgnored(_)
            | EventBody::LoopEntered(_)
            | EventBody::LoopExhausted(_)
            | EventBody::FollowUpCaptured(_) => Ok(()),
        }
    }

    /// Whether the run's pace or its global mode would change.
    pub(crate) fn changes(&self, mode: Mode) -> bool {
        match mode {
            Mode::Pace(pace) => pace != self.pace,
            Mode::Global(global) => global != self.global,
        }
    }
}
