//! Starts of turns: which node, in which order, with which inputs (D7, X18, X22).

use materia_contract::time::Micros;
use materia_contract::{
    Cause, Consume, CursorAdvanced, Event, EventBody, Pace, Timer, Trigger, TurnStarted, Uuid,
};

use crate::life::runs_by_itself;
use crate::owed::{Obligation, Paid, Starting};
use crate::parts::Waiting;
use crate::precedence::{Kind, is_paid};
use crate::state::{Held, Verifier, Why};
use crate::trail::Trail;
use crate::wiring::Wiring;
use crate::{Checked, hold};

impl Verifier {
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
        let takes: Vec<_> = takes.iter().map(|one| (one.ts, one.id)).collect();
        if self.request_for(&chart, node).is_none() {
            self.may_begin(&chart, node, &takes)?;
        }
        let starting = Starting { node, takes, ..Starting::default() };
        match self.goes_on_starting(&chart, starting, Some(event))? {
            Paid::Yes => Ok(()),
            Paid::Void => Err(self.objection("it starts nothing")),
        }
    }

    /// The inputs that the node would take now; with the message where a person asked for the turn.
    fn takes_now<'a>(&'a self, chart: &Wiring, node: usize) -> Vec<&'a Waiting> {
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

    /// Attaching what waited on its edge, taking it, beginning.
    pub(crate) fn goes_on_starting(
        &mut self,
        chart: &Wiring,
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
        // A refused turn iterates over no elements: one answer stands for all of them (D56).
        let iterates = chart.node(node).foreach.is_some() && starting.refused.is_none();
        if iterates && !starting.entered && fails(event) {
            self.owed.push(self.no_list(chart, node)?);
            return Ok(Paid::Void);
        }
        hold!(
            self,
            self.here(chart, event)? == node,
            "it is about another socket than `{name}`, which is about to start"
        );
        let is_new = !starting.entered && starting.taken == 0;
        if let (EventBody::PayloadDelivered(data), true) = (&event.body, is_new) {
            let way = data.edge_id.as_ref().and_then(|edge| chart.ways.get_index_of(edge));
            let Some(way) = way.filter(|way| chart.ways[*way].to == Some(node)) else {
                return Err(self.objection("nothing waits on an edge that could be attached"));
            };
            self.attach_late(chart, node, way, data.payload_id, &starting)?;
        } else if let (EventBody::CursorAdvanced(data), true) = (&event.body, iterates && is_new) {
            self.iteration_begins(chart, event, data, &starting)?;
            starting.entered = true;
        } else if let (EventBody::PayloadConsumed(data), true) =
            (&event.body, iterates == starting.entered)
        {
            let due = starting.takes.get(starting.taken).copied();
            let Some((_, id)) = due.filter(|(_, id)| *id == data.payload_id) else {
                return Err(self.objection(format!("`{name}` does not take that payload now")));
            };
            let payload = self.consume(node, id)?;
            starting.trail.join(&payload.trail);
            starting.taken += 1;
        } else if let (EventBody::TurnStarted(data), true, Some(reason)) =
            (&event.body, is_done, starting.refused.take())
        {
            self.refused(chart, event, data, starting, reason)?;
            return Ok(Paid::Yes);
        } else if let (EventBody::TurnStarted(data), true) = (&event.body, !iterates && is_done) {
            self.started(chart, node, event, data, starting)?;
            return Ok(Paid::Yes);
        } else {
            return Err(self.due(what, Some(event)));
        }
        self.owed.push(Obligation::Start(starting));
        Ok(Paid::Yes)
    }

    /// A `foreach` begins: it could run a turn now, on a person's account or by its inputs.
    fn iteration_begins(
        &mut self,
        chart: &Wiring,
        event: &Event,
        data: &CursorAdvanced,
        starting: &Starting,
    ) -> Checked {
        let (node, name) = (starting.node, chart.name(starting.node));
        let may = !self.is_full(chart) && !self.run_is_spent() && !self.is_spent(chart, node, true);
        hold!(self, may, "`{name}` could not run a turn now");
        let asked = self.request_for(chart, node).is_some();
        if !asked {
            self.begins_unasked(chart, node, &starting.takes)?;
        }
        self.comes_first(chart, node, if asked { Kind::Asked } else { Kind::Enters })?;
        self.enters_list(chart, node, event, data, asked)
    }

    /// A node may take its inputs by itself, and a person has consented where one must.
    pub(crate) fn may_begin(
        &self,
        chart: &Wiring,
        node: usize,
        takes: &[(Micros, Uuid)],
    ) -> Checked {
        let (name, plan) = (chart.name(node), chart.node(node));
        self.runs_unasked(chart, node)?;
        hold!(self, self.has_room(chart, node), "`{name}` has as many turns as it may");
        let due = plan.trigger != Trigger::Scheduled || self.nodes[node].tick_owed;
        hold!(self, due, "`{name}` runs when a tick is due, and none is");
        let consent = self.nodes[node].consent.as_ref().filter(|it| it.answer == Some(true));
        let given =
            consent.is_some_and(|it| takes.iter().map(|one| one.1).eq(it.payloads.iter().copied()));
        hold!(self, plan.approval.is_none() || given, "nobody consented to a turn of `{name}`");
        Ok(())
    }

    /// A node starts because of its inputs: it may start, and no other ready node has older inputs.
    fn begins_unasked(&mut self, chart: &Wiring, node: usize, takes: &[(Micros, Uuid)]) -> Checked {
        let name = chart.name(node);
        self.runs_unasked(chart, node)?;
        hold!(self, self.has_room(chart, node), "`{name}` has as many turns as it may");
        hold!(self, !takes.is_empty(), "`{name}` has nothing to start with");
        hold!(self, !self.is_endless(chart, node), "`{name}` has had all turns that it may have");
        if self.decision.oldest_taken > takes.first().copied() {
            return Err(self.objection(format!("`{name}` starts after a socket with newer inputs")));
        }
        self.decision.oldest_taken = takes.first().copied();
        let older = |at: &&usize| {
            **at != node
                && self.oldest_input(chart, **at) < takes.first().copied()
                && self.would_start(chart, **at)
        };
        if let Some(older) = self.ready.iter().find(older) {
            let older = chart.name(*older);
            return Err(self.objection(format!("`{older}` has older inputs and comes first")));
        }
        Ok(())
    }

    /// The conditions that no person can stand in for (X18, D17).
    pub(crate) fn runs_unasked(&self, chart: &Wiring, node: usize) -> Checked {
        let (name, plan) = (chart.name(node), chart.node(node));
        hold!(self, self.pace == Pace::Auto, "in INTERACTIVE `{name}` does not start by itself");
        hold!(self, runs_by_itself(plan), "only a person starts `{name}`");
        hold!(
            self,
            self.depends(chart, node),
            "`{name}` depends on a socket that has not completed"
        );
        Ok(())
    }

    fn started(
        &mut self,
        chart: &Wiring,
        node: usize,
        event: &Event,
        data: &TurnStarted,
        starting: Starting,
    ) -> Checked {
        let name = chart.name(node);
        hold!(self, !self.is_full(chart), "the run has as many turns in flight as it may");
        hold!(self, !self.run_is_spent(), "the run has spent its budget");
        let first = data.attempt == 1 || self.is_paid_attempt(chart, &data.cause);
        hold!(self, !self.is_spent(chart, node, first), "`{name}` has spent its budget");
        let mode = data.global_mode.unwrap_or(self.beginning.global);
        hold!(self, mode == self.global, "the turn is told another global mode than the run's");
        let ids = |takes: &[(Micros, Uuid)]| takes.iter().map(|(_, id)| *id).collect::<Vec<_>>();
        let before = match &data.cause {
            Cause::Input => {
                self.comes_first(chart, node, Kind::Enters)?;
                self.begins_unasked(chart, node, &starting.takes)?;
                self.consented(chart, node, data)?;
                hold!(self, data.consumed == ids(&starting.takes), "it consumed other payloads");
                None
            }
            Cause::Manual => {
                self.comes_first(chart, node, Kind::Asked)?;
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
                self.comes_first(chart, node, Kind::Element)?;
                self.element_starts(chart, node, data, *index)?;
                None
            }
            Cause::Retry { turn } | Cause::Repair { turn } | Cause::Recast { turn } => {
                self.comes_first(chart, node, Kind::Again)?;
                // A manual retry needs no timer any more.
                self.timers.retain(|(_, _, set)| *set != Timer::Retry { turn: *turn });
                Some(self.taken_up(node, *turn, data)?)
            }
        };
        self.begins_new(chart, node, event, data, (before, starting.trail), first)?;
        self.is_answered(chart, node, event.seq, data);
        Ok(())
    }

    /// A turn that a person refused starts regardless of the other conditions: it calls nothing.
    fn refused(
        &mut self,
        chart: &Wiring,
        event: &Event,
        data: &TurnStarted,
        starting: Starting,
        reason: String,
    ) -> Checked {
        let node = starting.node;
        hold!(self, data.cause == Cause::Input && data.attempt == 1, "it was about to start anew");
        hold!(self, data.approved.is_none(), "a person refused that turn");
        let taken = starting.takes.iter().map(|(_, id)| *id);
        hold!(self, taken.eq(data.consumed.iter().copied()), "it consumed other payloads");
        let mode = data.global_mode.unwrap_or(self.beginning.global);
        hold!(self, mode == self.global, "the turn is told another global mode than the run's");
        self.refusing = true;
        let begun = self.begins_new(chart, node, event, data, (None, starting.trail), true);
        self.refusing = false;
        begun?;
        self.owed.push(Obligation::Answer { turn: event.seq, says: reason, refused: true });
        Ok(())
    }

    /// A turn is in flight from here on.
    fn begins_new(
        &mut self,
        chart: &Wiring,
        node: usize,
        event: &Event,
        data: &TurnStarted,
        (before, trail): (Option<Held>, Trail),
        first: bool,
    ) -> Checked {
        if chart.nodes[node].unbounded
            && matches!(data.cause, Cause::Input | Cause::Manual | Cause::Foreach { index: 0 })
        {
            let item = self.loop_item(chart, node).map(|(id, _)| id);
            self.nodes[node].rounds.begin(item);
        }
        let turn = self.begun(chart, node, event, data, before, trail)?;
        self.starts_with_files(event.seq, data)?;
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
        Ok(())
    }

    fn is_paid_attempt(&self, chart: &Wiring, cause: &Cause) -> bool {
        let Cause::Retry { turn } = cause else { return false };
        self.held.iter().any(|held| held.started == *turn && is_paid(chart, held))
    }

    fn element_starts(
        &mut self,
        chart: &Wiring,
        node: usize,
        data: &TurnStarted,
        index: u32,
    ) -> Checked {
        let under_way =
            self.nodes[node].foreach.as_ref().filter(|_| self.iterating.contains(&node));
        let Some(iteration) = under_way else {
            return Err(self.objection("no element of a `foreach` is to be started there"));
        };
        hold!(self, iteration.index == index, "element {} is the next one", iteration.index);
        hold!(self, iteration.consumed == data.consumed, "the `foreach` consumed other payloads");
        let manual = iteration.manual;
        hold!(
            self,
            manual || self.pace == Pace::Auto,
            "in INTERACTIVE it does not go on by itself"
        );
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
            (Why::Interrupted | Why::Passing | Why::Lost, Cause::Retry { .. })
            | (Why::Rejected, Cause::Repair { .. })
            | (Why::Failed, Cause::Recast { .. }) => true,
            (Why::Interrupted | Why::Passing | Why::Lost | Why::Rejected | Why::Failed, _) => false,
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
    fn consented(&self, chart: &Wiring, node: usize, data: &TurnStarted) -> Checked {
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
}

/// Whether an event is part of a start.
pub(crate) fn is_start(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::PayloadDelivered(_) | EventBody::PayloadConsumed(_) | EventBody::TurnStarted(_)
    )
}

fn fails(event: &Event) -> bool {
    matches!(event.body, EventBody::TurnInterrupted(_) | EventBody::RunFailed(_))
}
