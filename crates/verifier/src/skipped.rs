//! Skipping of a loop's current item by a person.

use std::collections::BTreeSet;

use materia_contract::{Condition, Event, ItemSkipped, Timer, Uuid};

use crate::owed::{Exit, Obligation, Outcome};
use crate::shorten::item_key;
use crate::state::Life;
use crate::state::{Verifier, Why};
use crate::trail::Trail;
use crate::wiring::Wiring;
use crate::{Checked, hold};

impl Verifier {
    /// The item ends as not satisfied, what waits for it inside the loop goes, and the cursor must move on.
    pub(crate) fn skipped(&mut self, event: &Event, data: &ItemSkipped) -> Checked {
        let chart = self.chart()?;
        let mover = self.here(&chart, event)?;
        let Some(region) = chart.plan.loops.get_index_of(&data.region) else {
            return Err(self.objection(format!("the plan has no loop `{}`", data.region)));
        };
        let is_its =
            chart.node(mover).advance.is_some() && chart.nodes[mover].loops.last() == Some(&region);
        hold!(self, is_its, "`{}` does not move loop `{}` on", chart.name(mover), data.region);
        let at = &self.loops[region];
        let count = at.items.as_ref().map_or(0, |items| items.len());
        let there = at.entry > 0 && (at.index as usize) < count && at.index == data.index;
        hold!(self, there, "loop `{}` is at another item, or at none", data.region);
        hold!(self, data.item == item_key(data.index), "the item has another key");
        self.is_free(&chart, region)?;
        let waiting = self.wait_inside(&chart, region);
        let named: BTreeSet<Uuid> = data.dropped.iter().copied().collect();
        hold!(self, waiting == named, "other payloads wait for the item than it drops");
        self.forget_inside(&chart, region);
        (self.life, self.barred) = (Life::Running, None);
        for held in &mut self.held {
            held.released |= held.why == Why::Interrupted;
        }
        (self.crossing, self.passed) = (Trail::default(), Some(mover));
        self.owed.push(Obligation::MovesOn { node: mover, region });
        Ok(())
    }

    /// Nothing is under way inside the loop that would end by itself; where the run failed, it failed there.
    fn is_free(&self, chart: &Wiring, region: usize) -> Checked {
        let inside = |node: usize| chart.nodes[node].loops.contains(&region);
        let turn = self.turns.values().any(|turn| inside(turn.node));
        hold!(self, !turn, "a turn is at work on the item");
        let ends = |timer: &Timer| matches!(timer, Timer::Debounce { .. } | Timer::Retry { .. });
        let timer = self.timers.iter().any(|(_, node, timer)| inside(*node) && ends(timer));
        hold!(self, !timer, "something is about to happen for the item by itself");
        if self.life == Life::Failed {
            let there = self.failed_at.is_some_and(inside);
            hold!(self, there, "the run failed outside of the loop");
        }
        Ok(())
    }

    /// Payloads that came over a way and wait inside a loop.
    fn wait_inside(&self, chart: &Wiring, region: usize) -> BTreeSet<Uuid> {
        let inside = |node: usize| chart.nodes[node].loops.contains(&region);
        let mut found = BTreeSet::new();
        for (_, at) in self.nodes.iter().enumerate().filter(|(node, _)| inside(*node)) {
            found.extend(at.attached.iter().filter(|one| one.way.is_some()).map(|one| one.id));
        }
        for (way, on) in self.ways.iter().enumerate() {
            if chart.ways[way].to.is_some_and(inside) {
                found.extend(on.waiting.iter().map(|one| one.id));
            }
        }
        found
    }

    fn forget_inside(&mut self, chart: &Wiring, region: usize) {
        let inside = |node: usize| chart.nodes[node].loops.contains(&region);
        for way in 0..self.ways.len() {
            if chart.ways[way].to.is_some_and(inside) {
                let on = &mut self.ways[way];
                let gone = u32::try_from(on.waiting.len()).unwrap_or(u32::MAX);
                on.waiting.clear();
                on.pending = on.pending.saturating_sub(gone);
            }
        }
        for node in (0..self.nodes.len()).filter(|node| inside(*node)) {
            let at = &mut self.nodes[node];
            let ways: Vec<usize> = at.attached.iter().filter_map(|one| one.way).collect();
            at.attached.retain(|one| one.way.is_none());
            (at.foreach, at.consent, at.held) = (None, None, 0);
            for way in ways {
                self.ways[way].pending = self.ways[way].pending.saturating_sub(1);
            }
            self.iterating.remove(&node);
            self.paused.remove(&node);
            self.looks_at(chart, node);
        }
        self.held.retain(|held| !inside(held.turn.node));
    }

    /// The cursor moves behind the skipped item; then the next one begins as if the member had moved it on itself, or the
    /// loop is left as not satisfied.
    pub(crate) fn moves_on(
        &mut self,
        chart: &Wiring,
        node: usize,
        region: usize,
        event: Option<&Event>,
    ) -> Checked<crate::owed::Paid> {
        let count = self.loops[region].items.as_ref().map_or(0, |items| items.len());
        let verdict = match chart.node(node).advance {
            Some(Condition::Satisfied) => Some(true),
            Some(Condition::NotSatisfied) => Some(false),
            Some(Condition::Always) | None => None,
        };
        let result = Outcome { node, turn: None, verdict };
        let paid = self.next_item(chart, result, region, count, None, event)?;
        if let Some(Obligation::Exit { exit, .. }) = self.owed.last_mut() {
            let Exit { result, .. } = exit;
            result.verdict = Some(false);
        }
        Ok(paid)
    }
}
