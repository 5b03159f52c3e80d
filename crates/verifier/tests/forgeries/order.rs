//! The right events at the wrong place or time.

use materia_contract::{RecordedInput, Timer};

use crate::histories::{History, flowing, over_a_list, sent_back, with_people};

/// Two events of a decision change places.
fn swap(history: &mut History, one: u64, other: u64) {
    let (a, b) = (history.event(one).clone(), history.event(other).clone());
    (history.event(one).body, history.event(one).node) = (b.body, b.node);
    (history.event(other).body, history.event(other).node) = (a.body, a.node);
}

#[test]
fn no_two_neighbours_of_a_decision_can_change_places() {
    for history in [sent_back(), over_a_list(), flowing(), with_people()] {
        for (_, events) in &history.decisions {
            for pair in events.windows(2) {
                let mut forged = history.clone();
                swap(&mut forged, pair[0].seq, pair[1].seq);
                let found = forged.judged().map_err(|objection| objection.seq);
                // Of two of a kind it may be the second that does not fit any more.
                let alike = pair[0].body.type_name() == pair[1].body.type_name();
                let told = found == Err(pair[0].seq) || (alike && found == Err(pair[1].seq));
                assert!(told, "{}: {found:?} {pair:?}", history.name);
            }
        }
    }
}

#[test]
fn arrivals_come_behind_ends() {
    let mut forged = flowing();
    let (_, events) = forged
        .decisions
        .iter()
        .find(|(decided, _)| match &decided.input {
            RecordedInput::Moment(moment) => !moment.acts.is_empty() && !moment.reports.is_empty(),
            _ => false,
        })
        .unwrap();
    let end = events.iter().find(|event| event.body.type_name() == "turn.completed").unwrap().seq;
    let sent = events.iter().find(|event| event.body.type_name() == "handoff.sent").unwrap().seq;
    swap(&mut forged, end, sent);
    assert!(forged.judged().is_err());
}

#[test]
fn a_timer_does_not_fire_early() {
    let mut forged = flowing();
    let seq = forged.find("timer.fired", 0);
    let place =
        forged.decisions.iter().position(|(_, events)| events[0].seq == seq).expect("it is first");
    let (decided, events) = &mut forged.decisions[place];
    decided.at -= 1;
    for event in events {
        (event.ts, event.wall) = (event.ts - 1, event.wall - 1);
    }
    assert_eq!(forged.judged().unwrap_err().seq, seq);
    // The event is as it was, and only the input says that it was too early.
    let mut forged = flowing();
    forged.decisions[place].0.at -= 1;
    assert_eq!(forged.judged().unwrap_err().seq, seq);
}

#[test]
fn a_timer_that_is_due_fires() {
    let mut forged = with_people();
    let seq = forged.find("timer.fired", 0);
    forged.decisions.retain(|(_, events)| events[0].seq < seq);
    let (decided, _) = forged.decisions.last_mut().unwrap();
    let RecordedInput::Moment(_) = decided.input else { panic!("it is an instant") };
    // Said to be taken when the retry is due: then its own times do not follow.
    decided.at += 2_000_000;
    assert!(forged.judged().is_err());
    let retry = with_people().event(seq).body.clone();
    assert!(matches!(
        retry,
        materia_contract::EventBody::TimerFired(data) if matches!(data.timer, Timer::Retry { .. })
    ));
}

#[test]
fn numbers_and_times() {
    let changes: [fn(&mut materia_contract::Event); 6] = [
        |event| event.seq += 1,
        |event| event.seq = 1,
        |event| event.ts -= 5,
        |event| event.ts += 5,
        |event| event.wall += 1,
        |event| event.node = None,
    ];
    for change in changes {
        let mut forged = sent_back();
        let seq = forged.find("route.selected", 0);
        change(forged.event(seq));
        let seq = forged
            .decisions
            .iter()
            .flat_map(|(_, events)| events)
            .nth(usize::try_from(seq).unwrap() - 1)
            .unwrap()
            .seq;
        assert_eq!(forged.judged().unwrap_err().seq, seq);
    }
}
