//! How long an opinion takes; measured only when asked for:
//! `cargo test -p materia-opinion --test forgeries -- --ignored --nocapture`.

use std::time::Instant;

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

#[test]
#[ignore = "it measures"]
#[allow(clippy::print_stdout, reason = "the figures are what it is for")]
fn speed() {
    for count in [500, 4_000] {
        measure(&over_many(count));
        measure(&back_and_forth(count));
    }
}
