//! Arrival of work at a node: loops around it are entered, and left again where they are empty (G14, G15, D19, D20).

use std::sync::Arc;

use materia_contract::{Condition, END, ErrorCode, Event, EventBody};
use serde_json::Value;

use crate::owed::{Exit, Obligation, Outcome, Paid};
use crate::state::{AtLoop, Verifier};
use crate::wiring::Wiring;
use crate::{Checked, hold};

impl Verifier {
    /// The list that a loop would iterate if it were entered now.
    pub(crate) fn list_of(&self, chart: &Wiring, region: usize) -> Option<Vec<Value>> {
        let (_, plan) = chart.plan.loops.get_index(region)?;
        match (chart.regions[region].consumes, &plan.items) {
            (Some(generator), _) => {
                Some(self.nodes[generator].produced.as_deref().cloned().unwrap_or_default())
            }
            (None, Some(path)) => self.list_at(path),
            (None, None) => None,
        }
    }

    /// A loop is entered, once more, with the list that is due; says how many items it has.
    pub(crate) fn enters(
        &mut self,
        chart: &Wiring,
        region: usize,
        event: Option<&Event>,
    ) -> Checked<Option<u32>> {
        let (name, plan) = chart.plan.loops.get_index(region).expect("loops go by place");
        let what = format!("entering loop `{name}`");
        let Some(event) = event else { return Err(self.due(&what, None)) };
        let EventBody::LoopEntered(data) = &event.body else {
            return Err(self.due(&what, Some(event)));
        };
        hold!(self, data.region == *name && event.node.is_none(), "loop `{name}` is entered first");
        let entry = self.loops[region].entry.saturating_add(1);
        hold!(self, data.entry == entry, "it is entry {entry} of the loop");
        let generated = chart.regions[region].consumes.map(|generator| {
            self.nodes[generator].produced.as_ref().map(Arc::clone).unwrap_or_default()
        });
        let items = if let Some(generated) = generated {
            hold!(self, data.items.is_none(), "its list is what `{}` produced", consumed(plan));
            Some(generated)
        } else {
            let list = self.list_of(chart, region);
            hold!(self, data.items.as_deref() == list.as_ref(), "its list is another one");
            data.items.clone()
        };
        let count = items.as_ref().map(|items| u32::try_from(items.len()).unwrap_or(u32::MAX));
        hold!(self, data.count == count, "its list has {} items", count.unwrap_or(0));
        let outer = self.outer_item(chart, region);
        let mut rounds = self.loops[region].rounds;
        rounds.begin(outer);
        self.loops[region] = AtLoop { entry, items, index: 0, rounds };
        Ok(count)
    }

    /// Loops around the target that the sender was not in are entered, outermost first; then the
    /// payload is sent.
    #[expect(clippy::too_many_arguments, reason = "one debt, taken apart")]
    pub(crate) fn arrives(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        way: usize,
        to: usize,
        mut exited: Vec<usize>,
        enters: Option<Vec<usize>>,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let inside = &chart.nodes[result.node].loops;
        let mut enters = enters.unwrap_or_else(|| {
            let loops = chart.nodes[to].loops.iter().rev().copied();
            loops.filter(|region| !inside.contains(region) || exited.contains(region)).collect()
        });
        let Some(region) = enters.pop() else {
            let what = "a payload that crosses the edge";
            let Some(event) = event else { return Err(self.due(what, None)) };
            let EventBody::HandoffSent(data) = &event.body else {
                return Err(self.due(what, Some(event)));
            };
            self.sends(chart, result, way, to, event, data)?;
            return Ok(Paid::Yes);
        };
        if self.enters(chart, region, event)? != Some(0) {
            self.owed.push(Obligation::Arrive { result, way, to, exited, enters: Some(enters) });
            return Ok(Paid::Yes);
        }
        if exited.iter().filter(|left| **left == region).count() > 1 {
            let code = ErrorCode::NoAdvance;
            self.owed.push(Obligation::Failing { code, socket: to, way: None });
            return Ok(Paid::Yes);
        }
        exited.push(region);
        let result = Outcome { verdict: None, ..result };
        let exit = Exit { region, by: None, via: Some(way), result, exited };
        self.owed.push(Obligation::Exit { exit, said: false });
        Ok(Paid::Yes)
    }

    /// An exhausted loop takes its exit: the verdict's own, then `always`, then the end.
    pub(crate) fn exits(
        &mut self,
        chart: &Wiring,
        exit: Exit,
        said: bool,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let (name, plan) = chart.plan.loops.get_index(exit.region).expect("loops go by place");
        let chosen = exit_of(chart, &exit);
        let way = chosen.map(|place| chart.regions[exit.region].exits[place]);
        let to = way.and_then(|way| chart.ways[way].to);
        let word = way.map_or(END, |way| chart.word(way));
        if said {
            self.selects(chart, exit.result, way, word, event)?;
            if way.is_some_and(|way| chart.ways[way].fails) {
                self.leads_to_fail(exit.result);
            }
            if let (Some(way), Some(to)) = (way, to) {
                let Exit { result, exited, .. } = exit;
                self.owed.push(Obligation::Arrive { result, way, to, exited, enters: None });
            }
            return Ok(Paid::Yes);
        }
        let what = format!("the end of loop `{name}`");
        let Some(event) = event else { return Err(self.due(&what, None)) };
        let EventBody::LoopExhausted(data) = &event.body else {
            return Err(self.due(&what, Some(event)));
        };
        let id = chosen.map(|place| &plan.exits[place].id);
        let right = self.here(chart, event)? == exit.result.node
            && data.region == *name
            && data.exit.as_ref() == id
            && data.to == word;
        hold!(self, right, "loop `{name}` is left to `{word}`");
        if way.is_some_and(|way| self.circles(chart, way)) {
            // Only an edge can be given further allowance.
            let way = exit.via.filter(|via| chart.edge(*via).is_some());
            let (code, socket) = (ErrorCode::NoAdvance, exit.result.node);
            self.owed.push(Obligation::Failing { code, socket, way });
            return Ok(Paid::Yes);
        }
        self.owed.push(Obligation::Exit { exit, said: true });
        Ok(Paid::Yes)
    }
}

/// The exit's place in its loop.
fn exit_of(chart: &Wiring, exit: &Exit) -> Option<usize> {
    let (_, plan) = chart.plan.loops.get_index(exit.region)?;
    let member = exit.by.map(|by| chart.name(by));
    let of = |condition: Condition| {
        plan.exits.iter().position(|one| {
            one.condition == condition && member.is_none_or(|member| one.from == *member)
        })
    };
    let own = match exit.result.verdict {
        Some(true) => of(Condition::Satisfied),
        Some(false) => of(Condition::NotSatisfied),
        None => None,
    };
    own.or_else(|| of(Condition::Always))
}

fn consumed(plan: &materia_contract::Loop) -> &str {
    plan.consumes.as_ref().map_or("", |generator| generator.as_str())
}
