//! Deciding again from what the events record: it agrees with what happened, and with nothing else.

use materia_contract::{Event, EventBody, Uuid};
use materia_kernel::{Divergence, Recomputation};

use crate::ledger::Life;
use crate::world::{World, resume, run_id};

/// Every prefix that ends between decisions is explained, and leads to the run.
pub(crate) fn explains(world: &World<'_>) {
    let mut again = Recomputation::new(run_id());
    let mut ends = world.ends.iter().copied().peekable();
    for place in 0..world.journal.len() {
        if let Err(divergence) = again.next(&world.journal[place..]) {
            panic!("{divergence}: {divergence:?}");
        }
        while ends.next_if(|end| *end == place + 1).is_some() {
            assert!(again.is_between_decisions(), "nothing is left to do at {}", place + 1);
        }
    }
    assert_eq!(*again.run(), world.run, "the decisions lead to the same run");
}

/// A run that shares the beginning of this one, up to any event, goes on from there (and rests).
pub(crate) fn forks(world: &mut World<'_>) {
    let place = world.dice.below(world.journal.len());
    let mut again = Recomputation::new(run_id());
    for first in 0..=place {
        again.next(&world.journal[first..]).unwrap();
    }
    let mut events = world.journal[..=place].to_vec();
    events.extend(again.rest_of_decision().cloned());
    let mut fork = world.beginning_with(&events);
    if fork.ledger.life == Life::Running {
        assert!(fork.take(resume(None)), "a fork is taken up like a run that lost its process");
        fork.settle_down();
        fork.seen.note("fork carried on");
    }
}

/// An event that was decided cannot be changed unnoticed.
pub(crate) fn notices(world: &mut World<'_>) {
    let decided: Vec<usize> = (0..world.journal.len())
        .filter(|place| altered(&world.journal[*place]).is_some())
        .collect();
    if decided.is_empty() {
        return;
    }
    let place = *world.dice.pick(&decided);
    let mut journal = world.journal.clone();
    journal[place] = altered(&journal[place]).expect("it was one of them");
    let mut again = Recomputation::new(run_id());
    for first in 0..=place {
        match again.next(&journal[first..]) {
            Ok(()) => {}
            Err(Divergence::Differs { seq, .. } | Divergence::Unexplained { seq, .. }) => {
                assert_eq!(seq, place as u64 + 1, "the first event that differs is named");
                return;
            }
        }
    }
    panic!("event {} was changed and nobody noticed: {:?}", place + 1, journal[place]);
}

/// The event with something else in it, where it records no input.
fn altered(event: &Event) -> Option<Event> {
    let mut event = event.clone();
    let other = Uuid::from_u128(77);
    match &mut event.body {
        EventBody::TurnStarted(data) => data.visit += 1,
        EventBody::RouteSelected(data) => data.to.push('x'),
        EventBody::HandoffSent(data) if data.offered.is_none() => data.payload_id = other,
        EventBody::PayloadDelivered(data) => data.payload_id = other,
        EventBody::PayloadConsumed(data) => data.payload_id = other,
        EventBody::PayloadSuperseded(data) => data.by = other,
        EventBody::PayloadDropped(data) => data.payload_id = other,
        EventBody::PayloadDeduplicated(data) => data.of = other,
        EventBody::PayloadFiltered(data) => data.payload_id = other,
        EventBody::TimerSet(data) => data.at += 1,
        EventBody::ApprovalRequested(data) => data.hash.push('x'),
        EventBody::LoopEntered(data) => data.entry += 1,
        EventBody::CursorAdvanced(data) => data.index += 1,
        EventBody::NodeBlocked(data) => data.reason.push('x'),
        EventBody::StatePatched(data) => {
            data.merged.insert("x".into(), 1.into());
        }
        EventBody::RunCompleted(_) => event.ts += 1,
        _ => return None,
    }
    Some(event)
}
