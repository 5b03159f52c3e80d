//! Start order: turns that a person asked for, further attempts, elements of a `foreach`, then nodes by the age of
//! their inputs (D7).

use materia_contract::{ErrorCode, Event, EventBody, Pace, Trigger, Uuid};

use crate::owed::{Obligation, Paid};
use crate::state::{Held, Started, Verifier, Why};
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// Turns that the runtime answers itself in one decision, at the most: they take no time, and a circle of
/// them would never end.
const NOT_ASKED_MAX: u32 = 1_000;

/// The kinds of starts, in the order in which they are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Asked,
    Again,
    Element,
    Enters,
}

/// Whether a further attempt counts like a turn: one that the author of a utility asked for does (D62).
pub(crate) fn is_paid(chart: &Wiring, held: &Held) -> bool {
    held.why == Why::Passing && chart.is_utility(held.turn.node)
}

impl Verifier {
    /// Nothing that comes first could have started: what a person asked for, then further attempts,
    /// then elements, then inputs.
    pub(crate) fn comes_first(&self, chart: &Wiring, node: usize, kind: Kind) -> Checked {
        let mut asked = self.requests.iter().map(|(asked, _)| *asked);
        let first = asked.find(|at| self.has_room(chart, *at) && !self.is_spent(chart, *at, true));
        if kind == Kind::Asked {
            hold!(self, first == Some(node), "another turn was asked for before it, or none");
            return Ok(());
        }
        hold!(self, first.is_none(), "a turn that a person asked for comes first");
        if kind > Kind::Again {
            hold!(self, self.startable_again(chart).is_none(), "a further attempt comes first");
        }
        if kind > Kind::Element {
            hold!(self, self.startable_element(chart).is_none(), "an element comes first");
        }
        Ok(())
    }

    /// A held turn that could start now.
    pub(crate) fn startable_again(&self, chart: &Wiring) -> Option<u64> {
        let could = |held: &&Held| {
            let Started { node, manual, .. } = held.turn;
            held.released
                && (manual || self.pace == Pace::Auto)
                && !self.is_spent(chart, node, is_paid(chart, held))
        };
        self.held.iter().find(could).map(|held| held.started)
    }

    /// A node whose `foreach` could start its next element now.
    pub(crate) fn startable_element(&self, chart: &Wiring) -> Option<usize> {
        let could = |node: &&usize| {
            let iteration = self.nodes[**node].foreach.as_ref();
            iteration.is_some_and(|it| it.manual || self.pace == Pace::Auto)
                && !self.is_spent(chart, **node, true)
        };
        self.iterating.iter().find(could).copied()
    }

    /// A request that could be met now.
    pub(crate) fn startable_request(&self, chart: &Wiring) -> Option<usize> {
        let mut asked = self.requests.iter().map(|(asked, _)| *asked);
        asked.find(|at| self.has_room(chart, *at) && !self.is_spent(chart, *at, true))
    }

    /// Whether a node may have one more turn. One that is to be tried again keeps its place.
    pub(crate) fn has_room(&self, chart: &Wiring, node: usize) -> bool {
        let at = &self.nodes[node];
        at.foreach.is_none()
            && at.in_flight.saturating_add(at.held) < chart.node(node).max_in_flight
    }

    /// The request on whose account a node starts now.
    pub(crate) fn request_for(&self, chart: &Wiring, node: usize) -> Option<(usize, Option<Uuid>)> {
        let asked = self.requests.iter().find(|(asked, _)| *asked == node).copied();
        asked.filter(|_| self.has_room(chart, node) && !self.is_spent(chart, node, true))
    }

    /// Whether a node would start by its inputs, were there room in the run.
    pub(crate) fn would_start(&self, chart: &Wiring, node: usize) -> bool {
        let plan = chart.node(node);
        let triggered = match plan.trigger {
            Trigger::Scheduled => self.nodes[node].tick_owed,
            Trigger::OnAnyInput | Trigger::ManualOnly => self.oldest_input(chart, node).is_some(),
        };
        triggered
            && plan.approval.is_none()
            && self.runs_unasked(chart, node).is_ok()
            && self.has_room(chart, node)
            && !self.is_spent(chart, node, true)
    }

    /// The debt of a `foreach` whose list is none: the run fails.
    pub(crate) fn no_list(&self, chart: &Wiring, node: usize) -> Checked<Obligation> {
        let path = chart.node(node).foreach.as_ref().map(|foreach| &foreach.items);
        let missing = path.is_some_and(|path| self.list_at(path).is_none());
        hold!(self, missing, "`{}` has a list to iterate", chart.name(node));
        Ok(Obligation::Failing { code: ErrorCode::ContractError, socket: node, way: None })
    }

    /// The run fails where a `foreach` that had nothing to attach finds no list.
    pub(crate) fn cannot_iterate(
        &mut self,
        chart: &Wiring,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let what = "the failure of a `foreach` without a list";
        let Some(event) = event else { return Err(self.due(what, None)) };
        if let EventBody::TurnInterrupted(data) = &event.body {
            self.interrupt(chart, event, data)?;
            self.owed.push(Obligation::NoList);
            return Ok(Paid::Yes);
        }
        let EventBody::RunFailed(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        if data.code == ErrorCode::NoAdvance && self.decision.not_asked > NOT_ASKED_MAX {
            return Ok(Paid::Yes);
        }
        let node = data.socket.as_ref().map(|socket| self.place(chart, socket)).transpose()?;
        let could = |node: &usize| {
            self.request_for(chart, *node).is_some()
                || (self.ready.contains(node)
                    && self.runs_unasked(chart, *node).is_ok()
                    && self.has_room(chart, *node))
        };
        let Some(node) = node.filter(could) else {
            return Err(self.objection("nothing before it makes the run fail"));
        };
        let owed = self.no_list(chart, node)?;
        self.owed.push(owed);
        Ok(Paid::Void)
    }
}
