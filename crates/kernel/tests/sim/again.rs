//! Recomputation from the journal: it agrees with the original history, and with no other.

use std::sync::Arc;

use materia_contract::{ChainHash, Decided, Event, EventBody, ForkedFrom, Record, RunId, Uuid};
use materia_kernel::{Recomputation, Run, cut, evolve};
use materia_verifier::{Life, Objection, Verifier};

use crate::world::{World, resume};

/// Every decision, written as the journal keeps it and read back, with its events.
pub(crate) fn read_back(world: &World<'_>) -> Vec<(Decided, Vec<Event>)> {
    let mut head = ChainHash::origin(&world.id);
    let mut first = 0;
    let mut decisions = Vec::new();
    for (decided, end) in &world.decisions {
        let events = &world.journal[first..*end];
        first = *end;
        if events.is_empty() {
            continue;
        }
        let records = Record::seal_decision(decided.text(), events, head);
        head = records.last().unwrap().hash;
        let input = records[0].input.as_ref().expect("a decision begins there");
        let read = Decided::read(input).unwrap();
        assert_eq!(read, *decided, "an input is read back as it was kept");
        decisions.push((read, records.iter().map(|record| record.event().unwrap()).collect()));
    }
    decisions
}

/// Every decision is explained, and they lead to the run; nobody objects to any of it.
pub(crate) fn explains(world: &World<'_>) {
    let mut again = Recomputation::new(world.id.clone());
    let mut opinion = Verifier::new(world.id.clone());
    for (decided, events) in read_back(world) {
        if let Err(divergence) = again.next(&decided, &events) {
            panic!("{divergence}: {divergence:?}");
        }
        if let Err(objection) = judged(&mut opinion, &decided, &events) {
            panic!("{objection}");
        }
    }
    assert_eq!(*again.run(), world.run, "the decisions lead to the same run");
}

pub(crate) fn judged(
    opinion: &mut Verifier,
    decided: &Decided,
    events: &[Event],
) -> Result<(), Objection> {
    events.iter().try_for_each(|event| opinion.see(event))?;
    opinion.decided(decided)
}

/// A run that shares the beginning of this one, up to any event, goes on from there (and rests).
pub(crate) fn forks(world: &mut World<'_>) {
    let place = world.dice.below(world.journal.len());
    let last = world.decisions.iter().position(|(_, end)| *end > place).unwrap();
    let mut decisions = world.decisions[..=last].to_vec();
    let begun = last.checked_sub(1).map_or(0, |before| decisions[before].1);
    // The decision there is cut: what it had settled comes along, what it started later does not.
    let mut run = Run::new(world.id.clone());
    for event in &world.journal[..begun] {
        evolve(&mut run, event);
    }
    let (decided, end) = decisions[last].clone();
    let at = world.journal[place].seq;
    let (decided, rest) = cut(&mut run, &decided, &world.journal[begun..end], at).unwrap();
    let mut events = [&world.journal[..begun], &rest].concat();
    decisions[last] = (decided, events.len());
    assert_eq!(events[..=place], world.journal[..=place], "all that is shared is shared");
    let seq = events.last().unwrap().seq;
    if let EventBody::RunCreated(created) = &mut events[0].body {
        let written_by = vec![(world.id.clone(), seq)];
        let (cast_id, hash) = (world.id.clone(), "0".to_owned());
        Arc::make_mut(created).fork =
            Some(ForkedFrom { cast_id, seq, hash, written_by, started: None });
    }
    let mut fork = world.beginning_with(RunId::new("fork"), events, &decisions);
    if fork.opinion.life() == Life::Running {
        assert!(fork.take(resume(None)), "a fork is taken up like a run that lost its process");
        fork.settle_down();
        fork.seen.note("fork carried on");
    }
    explains(&fork);
}

/// An event that was decided cannot be changed unnoticed: neither by who decides again nor, for most
/// events, by who only knows the rules.
pub(crate) fn notices(world: &mut World<'_>) {
    let decided: Vec<usize> = (0..world.journal.len())
        .filter(|place| altered(&world.journal[*place]).is_some())
        .collect();
    if decided.is_empty() {
        return;
    }
    let place = *world.dice.pick(&decided);
    let seq = place as u64 + 1;
    let mut again = Recomputation::new(world.id.clone());
    let mut opinion = Verifier::new(world.id.clone());
    for (decided, mut events) in read_back(world) {
        let own = events.iter().position(|event| event.seq == seq);
        let Some(own) = own else {
            again.next(&decided, &events).unwrap();
            judged(&mut opinion, &decided, &events).unwrap();
            continue;
        };
        events[own] = altered(&events[own]).expect("it was one of them");
        let noticed =
            again.next(&decided, &events).map(drop).map_err(|divergence| divergence.seq());
        assert_eq!(noticed, Err(seq), "the first event that differs is named: {:?}", events[own]);
        // What a question is called and the words for a blocked node follow from what is not looked at.
        let told = !matches!(
            events[own].body,
            EventBody::ApprovalRequested(_) | EventBody::NodeBlocked(_)
        );
        if told {
            let objection = judged(&mut opinion, &decided, &events).map_err(|it| it.seq);
            assert_eq!(objection, Err(seq), "the event is objected to: {:?}", events[own]);
        }
        return;
    }
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
