//! Event numbers without a gap, increasing logical time (D5), and ids that follow from both (D6).

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{Event, NodeId, RunId, Uuid, derived_id};

use crate::state::Part;
use crate::state::{Decision, Verifier};
use crate::wiring::Wiring;
use crate::{Checked, Objection, hold};

impl Verifier {
    /// Holds the place and the times of an event to the rules.
    pub(crate) fn clock(&mut self, event: &Event) -> Checked {
        let (due, before) = (self.seq.saturating_add(1), self.ts);
        self.seq = event.seq;
        hold!(self, event.seq == due, "its number is {}, but {due} is the next", event.seq);
        hold!(
            self,
            event.ts > before,
            "its logical time {} is not after {before}, that of the event before it",
            event.ts
        );
        self.ts = event.ts;
        if self.decision.first == 0 {
            self.decision.first = event.seq;
            self.decision.ts_before = before;
            self.decision.first_ts = event.ts;
            self.decision.wall = event.wall;
            self.decision.opening = Some(event.body.type_name());
            if event.ts > before.saturating_add(1) {
                // It goes ahead of the clock by single steps only, so this is what the clock showed.
                self.taken_at(event.ts);
            }
            return Ok(());
        }
        hold!(
            self,
            event.ts == before.saturating_add(1),
            "its logical time is {}, but within one decision it goes on by one, from {before}",
            event.ts
        );
        hold!(
            self,
            event.wall == self.decision.wall,
            "its wall time differs from that of the decision it belongs to"
        );
        Ok(())
    }

    /// The instant of this decision, as an event of it shows. Whether it is right, the kept input says.
    pub(crate) fn taken_at(&mut self, at: Micros) {
        let claims = &mut self.decision.claims;
        if claims.len() < 2 && !claims.iter().any(|(_, known)| *known == at) {
            // Of two that differ one is wrong; more are not needed.
            claims.push((self.seq, at));
        }
    }

    /// An objection to the event that is being looked at.
    pub(crate) fn objection(&self, what: impl Into<String>) -> Objection {
        Objection { seq: self.seq, what: what.into() }
    }

    pub(crate) fn chart(&self) -> Checked<Arc<Wiring>> {
        self.chart.clone().ok_or_else(|| self.objection("nothing can happen before `run.created`"))
    }

    /// The place of a node that an event names.
    pub(crate) fn place(&self, chart: &Wiring, node: &NodeId) -> Checked<usize> {
        let place = chart.plan.nodes.get_index_of(node);
        place.ok_or_else(|| self.objection(format!("the plan has no socket `{node}`")))
    }

    /// The node that an event is about.
    pub(crate) fn here(&self, chart: &Wiring, event: &Event) -> Checked<usize> {
        let Some(node) = &event.node else {
            let kind = event.body.type_name();
            return Err(self.objection(format!("`{kind}` names no socket")));
        };
        self.place(chart, node)
    }

    /// The run that wrote the event at a place; a fork shares those of its original.
    pub(crate) fn writer(&self, seq: u64) -> &RunId {
        let mut writers = self.beginning.written_by.iter();
        writers.find(|(_, last)| seq <= *last).map_or(&self.run, |(run, _)| run)
    }

    /// Holds an id to the place that it follows from.
    pub(crate) fn is_own_id(&self, id: Uuid) -> Checked {
        hold!(
            self,
            id == derived_id(self.writer(self.seq), self.seq),
            "the id {id} does not follow from the run and the event's place"
        );
        Ok(())
    }
}

impl Decision {
    /// A decision of which nothing is known yet.
    pub(crate) fn new() -> Self {
        Self {
            first: 0,
            ts_before: 0,
            first_ts: 0,
            wall: 0,
            part: Part::Beginning,
            claims: Vec::new(),
            past: None,
            to_come: None,
            ends: Vec::new(),
            kept_contract: None,
            stopped: None,
            withheld: Vec::new(),
            distrusts: None,
            reached: 0,
            not_asked: 0,
            only_agents: false,
            requested: (0, 0),
            offered: (0, 0),
            answered: (0, 0),
            modes: (0, 0),
            fired: (0, 0),
            scheduled: Vec::new(),
            opening: None,
            oldest_taken: None,
            found: Vec::new(),
            resumed: None,
        }
    }
}
