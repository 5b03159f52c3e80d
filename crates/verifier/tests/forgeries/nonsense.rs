//! No content of a journal makes the verifier panic.

use materia_contract::{Event, NodeId, RunId};
use materia_verifier::Verifier;
use serde_json::Value;

use crate::histories::all;

/// Chance that can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }
}

/// Some number in the event's data becomes absurd.
fn absurd(event: &Event, dice: &mut Dice) -> Option<Event> {
    let mut data: Value = serde_json::from_str(&event.body.data_json()).ok()?;
    let mut places = Vec::new();
    numbers(&data, String::new(), &mut places);
    if places.is_empty() {
        return None;
    }
    let place = places[dice.below(places.len())].clone();
    let values =
        [Value::from(0), Value::from(u32::MAX), Value::from(u64::MAX), Value::from(i64::MIN)];
    *data.pointer_mut(&place)? = values[dice.below(values.len())].clone();
    let body =
        materia_contract::EventBody::parse(event.body.type_name(), &data.to_string()).ok()?;
    Some(Event { body, ..event.clone() })
}

fn numbers(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path),
        Value::Object(object) => {
            for (name, value) in object {
                numbers(
                    value,
                    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        Value::Array(list) => {
            for (place, value) in list.iter().enumerate() {
                numbers(value, format!("{path}/{place}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn nothing_makes_it_panic() {
    let mut dice = Dice(7);
    for history in all() {
        for _ in 0..1_500 {
            let mut opinion = Verifier::new(RunId::new("r"));
            let mut decisions = history.decisions.clone();
            for _ in 0..=dice.below(3) {
                let place = dice.below(decisions.len());
                let events = &mut decisions[place].1;
                let at = dice.below(events.len());
                match dice.below(6) {
                    0 => events[at].node = Some(NodeId::new("nowhere")),
                    1 => events[at].ts = i64::MAX,
                    2 => {
                        let other = dice.below(events.len());
                        events.swap(at, other);
                    }
                    3 => {
                        let again = events[at].clone();
                        events.push(again);
                    }
                    4 if events.len() > 1 => {
                        events.remove(at);
                    }
                    _ => {
                        if let Some(forged) = absurd(&events[at], &mut dice) {
                            events[at] = forged;
                        }
                    }
                }
            }
            // Behind an objection it goes on being asked; numbers are made right, so that it gets far.
            let (mut seq, mut ts) = (0, 0);
            for (decided, events) in &decisions {
                for event in events {
                    (seq, ts) = (seq + 1, event.ts.max(ts));
                    let _ = opinion.see(&Event { seq, ..event.clone() });
                }
                let _ = opinion.decided(decided);
            }
        }
    }
}
