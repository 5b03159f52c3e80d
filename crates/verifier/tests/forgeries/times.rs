//! Impossible times, and decisions with a false cut.

use std::sync::Arc;

use materia_contract::EventBody;

use crate::histories::{History, flowing, over_a_list, sent_back, with_people};

fn honest() -> [History; 4] {
    [sent_back(), over_a_list(), flowing(), with_people()]
}

/// Says whether the clock of a history was simulated.
fn simulated(history: &mut History, simulated: bool) {
    if let EventBody::RunCreated(created) = &mut history.event(1).body {
        Arc::make_mut(created).virtual_time = simulated;
    }
}

#[test]
fn no_decision_is_taken_before_the_one_that_it_follows_on() {
    for history in honest() {
        for nth in 1..history.decisions.len() {
            let mut forged = history.clone();
            let before = forged.decisions[nth - 1].0.at;
            // Everything in it says the same: only that it comes too early.
            let (decided, events) = &mut forged.decisions[nth];
            decided.at = before - 1;
            let first = events[0].seq;
            let (wall, ts) = (before - 1, events[0].ts);
            for event in events.iter_mut() {
                event.wall = wall;
            }
            assert!(ts > wall, "logical time only goes forward");
            let objection = forged.judged().expect_err("it was taken too early");
            assert!(objection.seq <= first, "{}: {objection}", history.name);
        }
    }
}

#[test]
fn the_clock_on_the_wall_is_never_ahead_and_a_simulated_one_never_behind() {
    for history in honest() {
        for nth in 0..history.decisions.len() {
            let first = history.decisions[nth].1[0].seq;
            for (by, is_simulated, noticed) in
                [(1, false, true), (1, true, true), (-1, true, true), (-1, false, false)]
            {
                let mut forged = history.clone();
                simulated(&mut forged, is_simulated);
                for event in &mut forged.decisions[nth].1 {
                    event.wall += by;
                }
                let found = forged.judged().map_err(|objection| objection.seq);
                let expected = if noticed { Err(first) } else { Ok(()) };
                assert_eq!(found, expected, "{} {nth}: by {by}, {is_simulated}", history.name);
            }
        }
    }
}

#[test]
fn only_a_fork_has_decisions_that_were_cut() {
    for history in honest() {
        for nth in 1..history.decisions.len() {
            let mut forged = history.clone();
            let first = forged.decisions[nth].1[0].seq;
            forged.decisions[nth].0.until = Some(first);
            let found = forged.judged().map_err(|objection| objection.seq);
            assert_eq!(found, Err(first), "{}: {nth}", history.name);
        }
    }
}
