//! Speed of the verifier; measured only on request:
//! `cargo test -p materia-verifier --test forgeries -- --ignored --nocapture`.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::time::Instant;

use materia_contract::RunId;
use materia_verifier::Verifier;

use crate::histories::{History, back_and_forth, over_many};

fn measure(history: &History) {
    let events: usize = history.decisions.iter().map(|(_, events)| events.len()).sum();
    for _ in 0..3 {
        let before = Instant::now();
        history.judged().unwrap();
        let each = before.elapsed().as_nanos() / events as u128;
        println!("{}: {events} events, {each} ns each", history.name);
    }
}

/// The same by the type of event; taking the time of each takes some itself.
fn by_type(history: &History) {
    let mut opinion = Verifier::new(RunId::new("r"));
    let mut spent: BTreeMap<&str, (u128, u128)> = BTreeMap::new();
    for (decided, events) in &history.decisions {
        for event in events {
            // A replay has just read the event, so that it is at hand.
            let event = event.clone();
            let before = Instant::now();
            opinion.see(&event).unwrap();
            let entry = spent.entry(event.body.type_name()).or_default();
            *entry = (entry.0 + before.elapsed().as_nanos(), entry.1 + 1);
        }
        let before = Instant::now();
        opinion.decided(decided).unwrap();
        let entry = spent.entry("(end of a decision)").or_default();
        *entry = (entry.0 + before.elapsed().as_nanos(), entry.1 + 1);
    }
    let (nanos, count) = spent.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{}: {} ns each where the event is at hand", history.name, nanos / count);
    for (kind, (nanos, count)) in spent {
        println!("  {kind}: {} ns", nanos / count);
    }
}

#[test]
#[ignore = "it measures"]
fn speed() {
    for count in [500, 4_000] {
        measure(&over_many(count));
        by_type(&over_many(count));
        measure(&back_and_forth(count));
        by_type(&back_and_forth(count));
    }
}
