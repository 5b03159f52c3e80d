//! Due timers: ends of quiet periods, ticks, retries.

use materia_contract::time::Micros;
use materia_contract::{NodeId, PayloadDelivered, Timer, TimerFired, TimerSet};

use crate::decide::draft::Draft;
use crate::span::micros;
use crate::state::Run;

/// Sets the first tick of every scheduled node: one interval after the start of the run (D18), or at the next time
/// of its schedule (D63). Nodes that run at the start tick now (D71).
pub(crate) fn begin(draft: &mut Draft<'_>) {
    for index in draft.run().wiring().scheduled.clone() {
        let (id, node) = draft.run().node(index);
        if node.run_at_start {
            let (id, at) = (id.clone(), draft.now());
            draft.emit_at(&id, TimerSet { timer: Timer::Tick, at });
        } else {
            set_tick(draft, index);
        }
    }
    fire_due(draft);
}

/// Sets the next tick of a node: for an interval the next one in the future, for a schedule the one that the caller
/// gave.
fn set_tick(draft: &mut Draft<'_>, index: usize) {
    let run = draft.run();
    let (id, node) = run.node(index);
    let id = id.clone();
    if node.cron.is_some() {
        if let Some(at) = draft.tick_of(&id) {
            draft.emit_at(&id, TimerSet { timer: Timer::Tick, at });
        }
        return;
    }
    let Some(interval) = node.interval_ms.map(micros).filter(|interval| *interval > 0) else {
        return;
    };
    let start = run.created_at;
    let past = draft.now().saturating_sub(start).max(0) / interval;
    let at = start.saturating_add((past + 1).saturating_mul(interval));
    draft.emit_at(&id, TimerSet { timer: Timer::Tick, at });
}

/// Fires every timer whose instant has come, in order.
pub(crate) fn fire_due(draft: &mut Draft<'_>) {
    while let Some((node, timer)) = due(draft.run(), draft.now()) {
        fire(draft, &node, timer);
    }
}

/// The first timer whose instant has come.
fn due(run: &Run, now: Micros) -> Option<(NodeId, Timer)> {
    let (at, index, timer) = run.timers.first()?;
    (*at <= now).then(|| (run.node(*index).0.clone(), timer.clone()))
}

/// Fires one timer, which is set.
fn fire(draft: &mut Draft<'_>, node: &NodeId, timer: Timer) {
    let run = draft.run();
    let index = run.index_of(node);
    match timer {
        Timer::Debounce { .. } | Timer::Retry { .. } => {
            draft.emit_at(node, TimerFired { timer, payload_id: None });
        }
        Timer::Tick => {
            // Several that are owed are one.
            let fresh = !run.nodes[index].tick_owed;
            let payload_id = fresh.then(|| run.uuid(draft.next_seq()));
            draft.emit_at(node, TimerFired { timer, payload_id });
            if let Some(payload_id) = payload_id {
                draft.emit_at(node, PayloadDelivered { payload_id, edge_id: None });
            }
            set_tick(draft, index);
        }
    }
}
