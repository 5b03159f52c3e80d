//! Who starts, in what order, and with what (D7, X18, X22).

use materia_contract::time::Micros;
use materia_contract::{
    Cause, Consume, ErrorCode, Event, EventBody, Pace, Trigger, TurnStarted, Uuid,
};

use crate::chart::Chart;
use crate::life::runs_by_itself;
use crate::owed::{Owed, Paid};
use crate::state::{Held, Opinion, Started, Waiting, Why};
use crate::trail::Trail;
use crate::{Checked, hold};

/// A node that takes its inputs.
#[derive(Debug, Default)]
pub(crate) struct Starting {
    pub(crate) node: usize,
    /// What it must take, in order, and how much of it was taken.
    pub(crate) takes: Vec<(Micros, Uuid)>,
    pub(crate) taken: usize,
    pub(crate) trail: Trail,
    /// Whether a `foreach` has begun: its inputs go into all of its turns.
    pub(crate) entered: bool,
}

impl Opinion {
    /// The first event of a start.
    pub(crate) fn starts(&mut self, event: &Event) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        if let EventBody::TurnStarted(data) = &event.body {
            let begins = matches!(data.cause, Cause::Input | Cause::Manual);
            hold!(
                self,
                !begins || self.takes_now(&chart, node).is_empty(),
                "`{}` starts without what it takes",
                chart.name(node)
            );
            return self.started(&chart, node, event, data, Starting::default());
        }
        let takes = self.takes_now(&chart, node);
        let takes = takes.iter().map(|one| (one.ts, one.id)).collect();
        let starting = Starting { node, takes, ..Starting::default() };
        match self.goes_on_starting(&chart, starting, Some(event))? {
            Paid::Yes => Ok(()),
            Paid::Void => Err(self.objection("it starts nothing")),
        }
    }

    /// What the node would take now: on a person's account where one asked for it.
    fn takes_now<'a>(&'a self, chart: &Chart, node: usize) -> Vec<&'a Waiting> {
        let Some((_, message)) = self.request_for(chart, node) else {
            return self.takes(chart, node);
        };
        let mut all = self.eligible(chart, node);
        if chart.node(node).consume == Consume::One {
            if let Some(own) = all.iter().position(|one| Some(one.id) == message) {
                all.swap(0, own);
            }
            all.truncate(1);
        }
        all
    }

    /// The request on whose account a node starts now.
    fn request_for(&self, chart: &Chart, node: usize) -> Option<(usize, Option<Uuid>)> {
        let asked = self.requests.iter().find(|(asked, _)| *asked == node).copied();
        asked.filter(|_| self.has_room(chart, node) && !self.is_spent(chart, node, true))
    }

    /// Attaching what waited on its edge, taking it, beginning.
    pub(crate) fn goes_on_starting(
        &mut self,
        chart: &Chart,
        mut starting: Starting,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let (node, name) = (starting.node, chart.name(starting.node));
        let is_done = starting.taken == starting.takes.len();
        if starting.entered && is_done {
            if let Some(iteration) = &mut self.nodes[node].foreach {
                iteration.consumed = starting.takes.iter().map(|(_, id)| *id).collect();
                iteration.trail = starting.trail;
            } else {
                // A `foreach` over nothing takes its inputs and leads on.
                self.crossing.join(&starting.trail);
            }
            return Ok(Paid::Void);
        }
        let what = "a start that was begun";
        let Some(event) = event else { return Err(self.due(what, None)) };
        let iterates = chart.node(node).foreach.is_some();
        if iterates && !starting.entered && fails(event) {
            self.owed.push(self.no_list(chart, node)?);
            return Ok(Paid::Void);
        }
        hold!(
            self,
            self.here(chart, event)? == node,
            "it is about another socket than `{name}`, which is about to start"
        );
        match &event.body {
            EventBody::PayloadDelivered(data) if starting.taken == 0 && !starting.entered => {
                let way = data.edge_id.as_ref().and_then(|edge| chart.ways.get_index_of(edge));
                let Some(way) = way.filter(|way| chart.ways[*way].to == Some(node)) else {
                    return Err(self.objection("nothing waits on an edge that could be attached"));
                };
                self.attach_late(chart, node, way, data.payload_id, &starting)?;
            }
            EventBody::CursorAdvanced(data) if iterates && !starting.entered => {
                let most = chart.plan.limits.max_concurrent_turns as usize;
                let may = self.turns.len() < most
                    && !self.run_is_spent()
                    && !self.is_spent(chart, node, true);
                hold!(self, may, "`{name}` could not run a turn now");
                let asked = self.request_for(chart, node).is_some();
                if !asked {
                    self.begins_unasked(chart, node, &starting.takes)?;
                }
                starting.entered = true;
                self.comes_first(chart, node, if asked { Turn::Asked } else { Turn::Enters })?;
                self.enters_list(chart, node, event, data, asked)?;
            }
            EventBody::PayloadConsumed(data) if iterates == starting.entered => {
                let due = starting.takes.get(starting.taken).copied();
                let Some((_, id)) = due.filter(|(_, id)| *id == data.payload_id) else {
                    return Err(self.objection(format!("`{name}` does not take that payload now")));
                };
                let payload = self.consume(node, id)?;
                starting.trail.join(&payload.trail);
                starting.taken += 1;
            }
            EventBody::TurnStarted(data) if !iterates && is_done => {
                self.started(chart, node, event, data, starting)?;
                return Ok(Paid::Yes);
            }
            _ => return Err(self.due(what, Some(event))),
        }
        self.owed.push(Owed::Start(starting));
        Ok(Paid::Yes)
    }

    /// A node runs by its inputs: it may, and its inputs are older than those of whoever comes later.
    fn begins_unasked(
        &mut self,
        chart: &Chart,
        node: usize,
        takes: &[(Micros, Uuid)],
    ) -> Checked {
        let name = chart.name(node);
        self.runs_unasked(chart, node)?;
        hold!(self, self.has_room(chart, node), "`{name}` has as many turns as it may");
        hold!(self, !takes.is_empty(), "`{name}` has nothing to start with");
        if self.decision.oldest_taken > takes.first().copied() {
            return Err(self.objection(format!("`{name}` starts after a socket with newer inputs")));
        }
        self.decision.oldest_taken = takes.first().copied();
        Ok(())
    }

    /// The conditions that no person can stand in for (X18, D17).
    pub(crate) fn runs_unasked(&self, chart: &Chart, node: usize) -> Checked {
        let (name, plan) = (chart.name(node), chart.node(node));
        hold!(self, self.pace == Pace::Auto, "in INTERACTIVE `{name}` does not start by itself");
        hold!(self, runs_by_itself(plan), "only a person starts `{name}`");
        hold!(self, self.depends(chart, node), "`{name}` depends on a socket that has not completed");
        Ok(())
    }

    fn started(
        &mut self,
        chart: &Chart,
        node: usize,
        event: &Event,
        data: &TurnStarted,
        starting: Starting,
    ) -> Checked {
        let name = chart.name(node);
        let most = chart.plan.limits.max_concurrent_turns as usize;
        hold!(self, self.turns.len() < most, "the run has as many turns in flight as it may");
        hold!(self, !self.run_is_spent(), "the run has spent its budget");
        let first = data.attempt == 1;
        hold!(self, !self.is_spent(chart, node, first), "`{name}` has spent its budget");
        let mode = data.global_mode.unwrap_or(self.beginning.global);
        hold!(self, mode == self.global, "the turn is told another global mode than the run's");
        let ids = |takes: &[(Micros, Uuid)]| takes.iter().map(|(_, id)| *id).collect::<Vec<_>>();
        let before = match &data.cause {
            Cause::Input => {
                self.comes_first(chart, node, Turn::Enters)?;
                self.begins_unasked(chart, node, &starting.takes)?;
                self.consented(chart, node, data)?;
                hold!(self, data.consumed == ids(&starting.takes), "it consumed other payloads");
                None
            }
            Cause::Manual => {
                self.comes_first(chart, node, Turn::Asked)?;
                hold!(self, self.has_room(chart, node), "`{name}` has as many turns as it may");
                hold!(self, data.approved.is_none(), "a turn by hand needs nobody's consent");
                let place = self.requests.iter().position(|(asked, _)| *asked == node);
                let Some(place) = place else {
                    return Err(self.objection("nobody asked for that turn"));
                };
                self.requests.remove(place);
                hold!(self, data.consumed == ids(&starting.takes), "it consumed other payloads");
                None
            }
            Cause::Foreach { index } => {
                self.comes_first(chart, node, Turn::Element)?;
                self.element_starts(chart, node, data, *index)?;
                None
            }
            Cause::Retry { turn } | Cause::Repair { turn } | Cause::Recast { turn } => {
                self.comes_first(chart, node, Turn::Again)?;
                Some(self.taken_up(node, *turn, data)?)
            }
        };
        let turn = self.begun(chart, node, event, data, before, starting.trail)?;
        let at = &mut self.nodes[node];
        at.in_flight += 1;
        if data.approved.is_some() {
            at.consent = None;
        }
        at.spent.turns = at.spent.turns.saturating_add(u64::from(first));
        at.visits = at.visits.max(data.visit);
        self.spent.turns = self.spent.turns.saturating_add(1);
        self.iterating.remove(&node);
        self.paused.remove(&node);
        self.turns.insert(event.seq, turn);
        self.is_answered(chart, node, event.seq, data)
    }

    fn element_starts(
        &mut self,
        chart: &Chart,
        node: usize,
        data: &TurnStarted,
        index: u32,
    ) -> Checked {
        let under_way = self.nodes[node].foreach.as_ref().filter(|_| self.iterating.contains(&node));
        let Some(iteration) = under_way else {
            return Err(self.objection("no element of a `foreach` is to be started there"));
        };
        hold!(self, iteration.index == index, "element {} is the next one", iteration.index);
        hold!(self, iteration.consumed == data.consumed, "the `foreach` consumed other payloads");
        let manual = iteration.manual;
        hold!(self, manual || self.pace == Pace::Auto, "in INTERACTIVE it does not go on by itself");
        if index == 0 && !manual {
            return self.consented(chart, node, data);
        }
        hold!(self, data.approved.is_none(), "nobody was asked about this element");
        Ok(())
    }

    /// A further attempt follows one that may be tried again, for the right reason.
    fn taken_up(&mut self, node: usize, before: u64, data: &TurnStarted) -> Checked<Held> {
        let Some(place) = self.held.iter().position(|held| held.started == before) else {
            return Err(self.objection(format!("turn {before} is not to be tried again")));
        };
        let held = self.held.remove(place);
        hold!(self, held.turn.node == node, "turn {before} is one of another socket");
        hold!(self, held.released, "turn {before} is not to be tried again yet");
        let right = match (held.why, &data.cause) {
            (Why::Interrupted | Why::Passing, Cause::Retry { .. })
            | (Why::Rejected, Cause::Repair { .. })
            | (Why::Failed, Cause::Recast { .. }) => true,
            (Why::Interrupted | Why::Passing | Why::Rejected | Why::Failed, _) => false,
        };
        hold!(self, right, "turn {before} ended in another way than that");
        hold!(
            self,
            held.turn.manual || self.pace == Pace::Auto,
            "in INTERACTIVE nothing is tried again by itself"
        );
        let numbers = (held.turn.visit, held.turn.attempt.saturating_add(1));
        hold!(self, numbers == (data.visit, data.attempt), "it is another visit or attempt");
        hold!(self, held.turn.consumed == data.consumed, "the attempt before had other inputs");
        hold!(self, data.approved.is_none(), "nobody is asked about a further attempt");
        self.nodes[node].held = self.nodes[node].held.saturating_sub(1);
        Ok(held)
    }

    /// A person consented to exactly this turn, where one must.
    fn consented(&self, chart: &Chart, node: usize, data: &TurnStarted) -> Checked {
        if chart.node(node).approval.is_none() {
            hold!(self, data.approved.is_none(), "nobody was asked");
            return Ok(());
        }
        let consent = self.nodes[node].consent.as_ref().filter(|it| it.answer == Some(true));
        let given = consent.filter(|consent| Some(&consent.hash) == data.approved.as_ref());
        hold!(self, given.is_some(), "nobody consented to that turn");
        let exactly = given.is_some_and(|consent| consent.payloads == data.consumed);
        hold!(self, exactly, "a person consented to a turn with other inputs");
        Ok(())
    }

    /// The debt of a `foreach` whose list is none: the run fails.
    fn no_list(&self, chart: &Chart, node: usize) -> Checked<Owed> {
        let path = chart.node(node).foreach.as_ref().map(|foreach| &foreach.items);
        let missing = path.is_some_and(|path| self.list_at(path).is_none());
        hold!(self, missing, "`{}` has a list to iterate", chart.name(node));
        Ok(Owed::Failing { code: ErrorCode::ContractError, socket: node, way: None })
    }

    /// The run fails where a `foreach` that had nothing to attach finds no list.
    pub(crate) fn cannot_iterate(&mut self, event: &Event) -> Checked {
        let chart = self.chart()?;
        let mut ready = self.ready.iter().copied().chain(self.requests.iter().map(|(node, _)| *node));
        let found = ready.find(|node| {
            let may = self.request_for(&chart, *node).is_some()
                || (self.runs_unasked(&chart, *node).is_ok() && self.has_room(&chart, *node));
            may && self.no_list(&chart, *node).is_ok()
        });
        let Some(node) = found else {
            return Err(self.objection("nothing before it makes the run fail"));
        };
        let owed = self.no_list(&chart, node)?;
        self.owed.push(owed);
        self.pays(Some(event)).map(|_| ())
    }

    /// Whether a node would start by its inputs, were there room in the run.
    pub(crate) fn would_start(&self, chart: &Chart, node: usize) -> bool {
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
}

/// The kinds of starts, in the order in which they are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Asked,
    Again,
    Element,
    Enters,
}

fn fails(event: &Event) -> bool {
    matches!(event.body, EventBody::TurnInterrupted(_) | EventBody::RunFailed(_))
}

impl Opinion {
    /// Nothing that comes first could have started: what a person asked for, then further attempts,
    /// then elements, then inputs.
    fn comes_first(&self, chart: &Chart, node: usize, turn: Turn) -> Checked {
        let mut asked = self.requests.iter().map(|(asked, _)| *asked);
        let first =
            asked.find(|at| self.has_room(chart, *at) && !self.is_spent(chart, *at, true));
        if turn == Turn::Asked {
            hold!(self, first == Some(node), "another turn was asked for before it, or none");
            return Ok(());
        }
        hold!(self, first.is_none(), "a turn that a person asked for comes first");
        if turn > Turn::Again {
            hold!(self, self.startable_again(chart).is_none(), "a further attempt comes first");
        }
        if turn > Turn::Element {
            hold!(self, self.startable_element(chart).is_none(), "an element comes first");
        }
        Ok(())
    }

    /// A held turn that could start now.
    pub(crate) fn startable_again(&self, chart: &Chart) -> Option<u64> {
        let could = |held: &&Held| {
            let Started { node, manual, .. } = held.turn;
            held.released
                && (manual || self.pace == Pace::Auto)
                && !self.is_spent(chart, node, false)
        };
        self.held.iter().find(could).map(|held| held.started)
    }

    /// A node whose `foreach` could start its next element now.
    pub(crate) fn startable_element(&self, chart: &Chart) -> Option<usize> {
        let could = |node: &&usize| {
            let iteration = self.nodes[**node].foreach.as_ref();
            iteration.is_some_and(|it| it.manual || self.pace == Pace::Auto)
                && !self.is_spent(chart, **node, true)
        };
        self.iterating.iter().find(could).copied()
    }

    /// A request that could be met now.
    pub(crate) fn startable_request(&self, chart: &Chart) -> Option<usize> {
        let mut asked = self.requests.iter().map(|(asked, _)| *asked);
        asked.find(|at| self.has_room(chart, *at) && !self.is_spent(chart, *at, true))
    }

    /// Whether a node may have one more turn. One that is to be tried again keeps its place.
    pub(crate) fn has_room(&self, chart: &Chart, node: usize) -> bool {
        let at = &self.nodes[node];
        at.foreach.is_none()
            && at.in_flight.saturating_add(at.held) < chart.node(node).max_in_flight
    }
}
