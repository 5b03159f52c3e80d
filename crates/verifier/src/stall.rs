//! Detection of dataflow turns on a cycle that only repeat themselves (D23).

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use materia_contract::{Event, EventBody, Mode, ModeChanged, Pace, TurnCompleted};
use serde_json::Value;

use crate::obligations::Paid;
use crate::state::{ItemId, ListId, Verifier};
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// Equal outputs, diffs and reasons in a row, and outputs in alternation, that show it.
const EQUAL_OUTPUTS: usize = 3;
const EQUAL_DIFFS: usize = 2;
const EQUAL_FAILURES: usize = 3;
const ALTERNATING: usize = 4;

/// Hashes of the newest results of a node, each with its turn.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    item: Option<ItemId>,
    outputs: VecDeque<(u64, u64)>,
    diffs: VecDeque<(u64, u64)>,
    failures: VecDeque<(u64, u64)>,
}

impl Traces {
    /// Notes the result of a turn.
    pub(crate) fn note(
        &mut self,
        item: Option<ItemId>,
        data: &TurnCompleted,
        json: Option<&Value>,
    ) {
        if self.item != item {
            *self = Self { item, ..Self::default() };
        }
        let text = data.report.output.as_str();
        keep(&mut self.outputs, ALTERNATING, data.turn, text);
        match data.report.artifacts.iter().find(|artifact| artifact.kind == "diff") {
            Some(diff) => keep(&mut self.diffs, EQUAL_DIFFS, data.turn, &diff.content),
            None => self.diffs.clear(),
        }
        if data.satisfied == Some(false) {
            let context = json.and_then(|json| json.get("context")).and_then(Value::as_str);
            keep(&mut self.failures, EQUAL_FAILURES, data.turn, context.unwrap_or(text));
        } else {
            self.failures.clear();
        }
    }

    /// The turns that show that nothing gets on.
    fn evidence(&self) -> Option<Vec<u64>> {
        let alternate = self.outputs.len() == ALTERNATING
            && self.outputs[0].1 == self.outputs[2].1
            && self.outputs[1].1 == self.outputs[3].1;
        equal(&self.outputs, EQUAL_OUTPUTS)
            .or_else(|| alternate.then(|| self.outputs.iter().map(|(turn, _)| *turn).collect()))
            .or_else(|| equal(&self.diffs, EQUAL_DIFFS))
            .or_else(|| equal(&self.failures, EQUAL_FAILURES))
    }
}

fn keep(newest: &mut VecDeque<(u64, u64)>, most: usize, turn: u64, text: &str) {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    if newest.len() == most {
        newest.pop_front();
    }
    newest.push_back((turn, hasher.finish()));
}

fn equal(newest: &VecDeque<(u64, u64)>, count: usize) -> Option<Vec<u64>> {
    let from = newest.len().checked_sub(count)?;
    let same = newest.range(from..).all(|(_, hash)| *hash == newest[from].1);
    same.then(|| newest.range(from..).map(|(turn, _)| *turn).collect())
}

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
