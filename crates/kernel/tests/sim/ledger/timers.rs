//! Timers are set, moved and fired, each as an event (D7, D18).

use materia_contract::{Event, EventBody, Timer};

use super::{Ledger, here, timer_name};
use crate::sometimes::Sometimes;

impl Ledger {
    pub(super) fn timer_event(&mut self, event: &Event, seen: &mut Sometimes) {
        match &event.body {
            EventBody::TimerSet(data) => {
                let node = here(event).clone();
                if data.timer == Timer::Tick {
                    let interval = self.plan_of(&node).interval_ms.expect("it is scheduled");
                    let interval = i64::try_from(interval).unwrap() * 1_000;
                    let after = data.at - self.created_at;
                    assert!(after > 0 && after % interval == 0, "ticks lie on a grid");
                    assert!(data.at > event.wall, "the next tick is still to come");
                    let skips = data.at - event.wall > interval;
                    assert!(!skips || event.wall < self.created_at, "no tick is left out");
                } else {
                    assert!(data.at >= event.wall, "a timer lies ahead");
                }
                let before = self.timers.insert((node, timer_name(&data.timer)), data.at);
                if before.is_some() {
                    assert_ne!(data.timer, Timer::Tick, "a tick is set once");
                    seen.note("timer moved");
                }
            }
            EventBody::TimerFired(data) => {
                let node = here(event).clone();
                let set = self.timers.remove(&(node.clone(), timer_name(&data.timer)));
                let at = set.expect("a timer fires if it is set");
                assert!(at <= event.wall, "a timer fires when its instant has come");
                seen.note(match data.timer {
                    Timer::Debounce { .. } => "debounce fired",
                    Timer::Tick => "tick fired",
                    Timer::Retry { .. } => "retry fired",
                });
                if data.timer == Timer::Tick {
                    // The payload of this very event has been noted already.
                    let owed = self.ticks_owed(&node) > usize::from(data.payload_id.is_some());
                    assert_eq!(owed, data.payload_id.is_none(), "several owed ticks are one");
                    if owed {
                        seen.note("tick merged with one that is owed");
                    }
                    if self.in_flight(&node) >= self.plan_of(&node).max_in_flight as usize {
                        seen.note("tick due while the node is full");
                    }
                }
            }
            _ => {}
        }
    }
}
