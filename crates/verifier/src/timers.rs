//! Timers: set, moved and fired, each as an event (D7, D18).

use materia_contract::time::Micros;
use materia_contract::{Event, EventBody, NextTick, Timer, TimerFired};

use crate::owed::{Obligation, Paid};
use crate::parts::Waiting;
use crate::state::{Verifier, Why};
use crate::trail::Trail;
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// Milliseconds of the plan as time.
pub(crate) fn micros(millis: u64) -> Micros {
    Micros::try_from(millis).unwrap_or(Micros::MAX / 4_000).saturating_mul(1_000)
}

impl Verifier {
    /// The timer of a retry is set: exactly this long after the instant of the decision. One without a delay fires
    /// before any other event shows that instant.
    pub(crate) fn retry_set(
        &mut self,
        chart: &Wiring,
        node: usize,
        turn: u64,
        (due, wait): (Micros, Micros),
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let timer = Timer::Retry { turn };
        let at = self.set(chart, node, &timer, event)?;
        hold!(self, wait > 0 || at == due, "the end of the turn names another instant");
        self.taken_at(at.saturating_sub(wait));
        self.runs(node, &timer, at);
        Ok(Paid::Yes)
    }

    /// The quiet period of an edge begins: just so long after the decision's instant.
    pub(crate) fn quiet(&mut self, chart: &Wiring, way: usize, event: &Event) -> Checked<Paid> {
        let Some(to) = chart.ways[way].to else { return Ok(Paid::Void) };
        let timer = Timer::Debounce { edge_id: chart.way_id(way).clone() };
        let at = self.set(chart, to, &timer, Some(event))?;
        let period = micros(chart.delivery(way).debounce_ms.unwrap_or(0));
        self.taken_at(at.saturating_sub(period));
        if let Some(earlier) = self.ways[way].quiet_until.replace(at) {
            self.timers.remove(&(earlier, to, timer.clone()));
        }
        self.runs(to, &timer, at);
        Ok(Paid::Yes)
    }

    /// The next tick of a node is on its grid, is the next one, and is in the future.
    pub(crate) fn tick_set(
        &mut self,
        chart: &Wiring,
        node: usize,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        if chart.node(node).run_at_start && self.nodes[node].ticks == 0 {
            let at = self.set(chart, node, &Timer::Tick, event)?;
            self.taken_at(at);
            self.runs(node, &Timer::Tick, at);
            return Ok(Paid::Yes);
        }
        if chart.node(node).cron.is_some() {
            // The caller gave the instant of the tick.
            let at = self.set(chart, node, &Timer::Tick, event)?;
            let node_id = chart.name(node).clone();
            self.decision.scheduled.push((self.seq, NextTick { node: node_id, at }));
            self.between(Micros::MIN, at.saturating_sub(1));
            self.runs(node, &Timer::Tick, at);
            return Ok(Paid::Yes);
        }
        let interval = micros(chart.node(node).interval_ms.unwrap_or(0));
        if interval <= 0 {
            return Ok(Paid::Void);
        }
        let at = self.set(chart, node, &Timer::Tick, event)?;
        let since = at.saturating_sub(self.beginning.at);
        hold!(
            self,
            since > 0 && since % interval == 0,
            "the tick lies on no grid of {interval} µs"
        );
        // Just one interval behind the tick is the earliest instant at which it is the next one.
        let earliest = if since == interval { Micros::MIN } else { at.saturating_sub(interval) };
        self.between(earliest, at.saturating_sub(1));
        self.runs(node, &Timer::Tick, at);
        Ok(Paid::Yes)
    }

    /// The decision was taken within these instants, both included.
    fn between(&mut self, earliest: Micros, latest: Micros) {
        let seq = self.seq;
        if self.decision.past.is_none_or(|(_, past)| past < earliest) {
            self.decision.past = Some((seq, earliest));
        }
        if self.decision.to_come.is_none_or(|(_, to_come)| latest < to_come) {
            self.decision.to_come = Some((seq, latest));
        }
    }

    fn set(
        &self,
        chart: &Wiring,
        node: usize,
        timer: &Timer,
        event: Option<&Event>,
    ) -> Checked<Micros> {
        let what = "the timer that follows";
        let Some(Event { body: EventBody::TimerSet(data), .. }) = event else {
            return Err(self.due(what, event));
        };
        let here = event.map(|event| self.here(chart, event)).transpose()?;
        if here != Some(node) || data.timer != *timer {
            return Err(self.other(what, "which timer it is"));
        }
        Ok(data.at)
    }

    fn runs(&mut self, node: usize, timer: &Timer, at: Micros) {
        self.timers.insert((at, node, timer.clone()));
    }

    /// A timer fires: the earliest, and not before its instant.
    pub(crate) fn fired(&mut self, event: &Event, data: &TimerFired) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        let Some((at, first, timer)) = self.timers.pop_first() else {
            return Err(self.objection("no timer is set that could fire"));
        };
        hold!(
            self,
            first == node && timer == data.timer,
            "another timer is due before it, or it was never set"
        );
        // Logical time is never behind the clock; how far the clock was, the decision's input says.
        hold!(self, at <= event.ts, "the timer fired before its instant, {at}");
        self.between(at, Micros::MAX);
        self.decision.fired = (self.decision.fired.0 + 1, self.seq);
        hold!(
            self,
            data.payload_id.is_none() || timer == Timer::Tick,
            "only a tick brings a payload"
        );
        match timer {
            Timer::Debounce { edge_id } => {
                if let Some(way) = chart.ways.get_index_of(&edge_id) {
                    self.ways[way].quiet_until = None;
                }
            }
            Timer::Retry { turn } => {
                let mut waiting = self.held.iter_mut();
                if let Some(held) = waiting.find(|held| held.started == turn) {
                    held.released |= held.why == Why::Passing;
                }
            }
            Timer::Tick => {
                self.nodes[node].ticks = self.nodes[node].ticks.saturating_add(1);
                let owed = self.nodes[node].tick_owed;
                hold!(
                    self,
                    owed == data.payload_id.is_none(),
                    "a tick that is owed and one that is due are one, and any other brings a payload"
                );
                self.owed.push(Obligation::Tick { node });
                if let Some(id) = data.payload_id {
                    self.is_own_id(id)?;
                    self.nodes[node].tick_owed = true;
                    let trail = Trail::default();
                    let payload = Waiting { id, ts: event.ts, way: None, tick: true, trail };
                    self.owed.push(Obligation::Attached { node, payload });
                }
            }
        }
        Ok(())
    }
}
