//! Detection of dataflow turns on a cycle that only repeat themselves (D23).

use materia_contract::{Event, EventBody, Mode, ModeChanged, Pace};

use crate::owed::Paid;
use crate::parts::{ItemId, ListId};
use crate::state::Verifier;
use crate::wiring::Wiring;
use crate::{Checked, hold};

impl Verifier {
    /// The item of the innermost loop around a loop.
    pub(crate) fn outer_item(&self, chart: &Wiring, region: usize) -> Option<ItemId> {
        chart.regions[region].around.iter().rev().find_map(|outer| {
            let at = &self.loops[*outer];
            at.items.as_ref()?.get(at.index as usize)?;
            Some(ItemId { list: ListId::Loop(*outer), entry: at.entry, index: at.index })
        })
    }

    /// Whether a node on a cycle without a bound has had all the turns that it may have by itself: since the
    /// start or the last switch to AUTO, for its item; entries of loops around it count likewise.
    pub(crate) fn is_endless(&self, chart: &Wiring, node: usize) -> bool {
        let at = &self.nodes[node];
        let turns = at.budgets.or(chart.node(node).budgets).and_then(|budgets| budgets.turns);
        let bounded = turns.is_some() || self.budget.max_turns.is_some();
        if bounded || !chart.nodes[node].unbounded {
            return false;
        }
        let most = chart.plan.limits.max_cycle_turns;
        let item = self.loop_item(chart, node).map(|(id, _)| id);
        let own = at.rounds.item == item && at.rounds.count >= most;
        own || chart.nodes[node].loops.iter().any(|region| self.loops[*region].rounds.count > most)
    }

    /// The scheduler stops before a turn that would be one too many on a cycle without a bound.
    pub(crate) fn stops(&mut self, event: &Event, data: &ModeChanged) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        let name = chart.name(node);
        let stops = data.value == Mode::Pace(Pace::Interactive) && self.pace == Pace::Auto;
        hold!(self, stops, "a stall stops the scheduler");
        hold!(self, self.is_endless(&chart, node), "`{name}` may have further turns");
        let takes = self.takes(&chart, node);
        let takes: Vec<_> = takes.iter().map(|one| (one.ts, one.id)).collect();
        self.may_begin(&chart, node, &takes)?;
        hold!(self, !takes.is_empty(), "`{name}` has nothing to start with");
        hold!(self, !self.is_spent(&chart, node, true), "`{name}` could not start anyway");
        let newest: Vec<u64> = self.nodes[node].traces.outputs.iter().map(|one| one.0).collect();
        hold!(self, data.evidence == newest, "its newest turns are others");
        (self.pace, self.stalled) = (Pace::Interactive, Some(node));
        Ok(())
    }

    /// A node that repeats itself stops the scheduler, and no other does.
    pub(crate) fn watched(
        &mut self,
        chart: &Wiring,
        node: usize,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        if self.redacted {
            return self.says_that_it_repeats(chart, node, event);
        }
        let evidence = self.nodes[node].traces.evidence().filter(|_| self.pace == Pace::Auto);
        let Some(evidence) = evidence else { return Ok(Paid::Void) };
        let what = "a stop because the socket repeats itself";
        let Some(Event { body: EventBody::ModeChanged(data), .. }) = event else {
            return Err(self.due(what, event));
        };
        let stops = data.value == Mode::Pace(Pace::Interactive) && data.reason == "stall";
        let here = event.map(|event| self.here(chart, event)).transpose()?;
        if !stops || here != Some(node) || data.evidence != evidence {
            return Err(self.other(what, "what it says"));
        }
        (self.pace, self.stalled) = (Pace::Interactive, Some(node));
        Ok(Paid::Yes)
    }

    /// Without texts nobody can see whether a node repeats itself: the event is believed.
    fn says_that_it_repeats(
        &mut self,
        chart: &Wiring,
        node: usize,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let Some(event) = event else { return Ok(Paid::Void) };
        let EventBody::ModeChanged(data) = &event.body else { return Ok(Paid::Void) };
        let stops = data.value == Mode::Pace(Pace::Interactive) && data.reason == "stall";
        if !stops || self.pace != Pace::Auto || self.here(chart, event)? != node {
            return Ok(Paid::Void);
        }
        (self.pace, self.stalled) = (Pace::Interactive, Some(node));
        Ok(Paid::Yes)
    }
}
