//! Recomputation of decisions: a decision is recomputed whole, and impossible journals are refused.

use materia_contract::{
    Acting, Condition, Decided, Do, Event, EventBody, GlobalMode, MomentOf, RecordedInput,
    ReportedIn, RunId, RunResumed,
};
use materia_kernel::{Divergence, Input, Rejection, Run, evolve};

use crate::play::{
    Kept, NodeExt as _, Play, agent, created, keep, outcome, plan, recomputed, utility,
};

use Condition::Always;

/// `a` leads to `b` and `c` at once.
fn fork() -> materia_contract::Plan {
    let a = utility().text().all().edge(Always, "b").edge(Always, "c");
    plan([("a", a), ("b", utility().text()), ("c", utility().text())])
}

/// The decisions of a short run.
fn decisions() -> Vec<Kept> {
    let mut run = Run::new(RunId::new("r"));
    let begun = keep(&mut run, 1_000, Input::Create(created(fork()).into()));
    let turn = begun.1.last().unwrap().seq;
    let forked = keep(&mut run, 2_000, Input::report(turn, outcome("go")));
    vec![begun, forked]
}

/// The run that these events lead to.
fn folded(journal: &[Kept]) -> Run {
    let mut run = Run::new(RunId::new("r"));
    for event in journal.iter().flat_map(|(_, events)| events) {
        evolve(&mut run, event);
    }
    run
}

#[test]
fn a_decision_is_told_to_its_end() {
    let whole = decisions();
    recomputed("r", &whole).unwrap();
    for place in 0..whole.len() {
        let mut cut = whole[..=place].to_vec();
        while cut[place].1.len() > 1 {
            let left_out = cut[place].1.pop().unwrap();
            let kind = left_out.body.type_name();
            let refused = recomputed("r", &cut).unwrap_err();
            // Without the end of its turn, what was reported is not there either.
            match refused {
                Divergence::Missing { seq, kind: told } => {
                    assert_eq!((seq, told), (left_out.seq, kind));
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn what_could_have_started_must_have_started() {
    let mut journal = decisions();
    let left_out = journal[1].1.pop().unwrap();
    assert!(matches!(left_out.body, EventBody::TurnStarted(_)));
    // Somebody else's program did not start `c`, and went on when `b` had ended.
    let mut run = folded(&journal);
    let b = journal[1].1.last().unwrap().seq;
    journal.push(keep(&mut run, 3_000, Input::report(b - 1, outcome("x"))));
    let refused = recomputed("r", &journal).err();
    let expected = Divergence::Missing { seq: left_out.seq, kind: "turn.started" };
    assert_eq!(refused, Some(expected), "it is noticed at once");
}

#[test]
fn nothing_can_be_added_to_a_decision() {
    let mut journal = decisions();
    let last = journal[1].1.last().unwrap().clone();
    let resumed = RunResumed {
        cwd: "/p".into(),
        run_dir: "/p/r".into(),
        recast: false,
        files: None,
        put_back: false,
    };
    let (seq, ts) = (last.seq + 1, last.ts + 1);
    journal[1].1.push(Event { seq, ts, body: resumed.into(), ..last });
    let expected = Divergence::Unexplained { seq, kind: "run.resumed" };
    assert_eq!(recomputed("r", &journal).err(), Some(expected));
}

#[test]
fn an_input_that_the_run_would_refuse_was_not_taken() {
    let mut journal = decisions();
    let seq = folded(&journal).seq();
    let last = journal[1].1.last().unwrap().clone();
    let revived = materia_contract::RunRevived { edge_id: None };
    let event = Event { seq: seq + 1, ts: 9_000, wall: 9_000, node: None, body: revived.into() };
    let acts = vec![Acting::person(Do::Revive)];
    let input = RecordedInput::Moment(MomentOf { reports: Vec::new(), acts });
    let decided = Decided { at: 9_000, input, ..journal[1].0.clone() };
    journal.push((decided, vec![event]));
    let refused = recomputed("r", &journal).err();
    let rejection = Rejection::NothingExhausted;
    assert_eq!(refused, Some(Divergence::Refused { seq: last.seq + 1, rejection }));
}

#[test]
fn an_input_says_just_what_was_decided_on() {
    let reports = |journal: &mut Vec<Kept>, change: fn(&mut Vec<ReportedIn>)| {
        let RecordedInput::Moment(moment) = &mut journal[1].0.input else { panic!("a moment") };
        change(&mut moment.reports);
    };
    let changes: [fn(&mut Vec<ReportedIn>); 5] = [
        |reports| reports[0].event += 1,
        |reports| reports[0].event = 0,
        |reports| reports[0].turn += 1,
        |reports| reports[0].faulted = true,
        |reports| reports.push(ReportedIn { turn: 77, ..reports[0] }),
    ];
    for change in changes {
        let mut journal = decisions();
        reports(&mut journal, change);
        let told = journal[1].0.text();
        let refused = recomputed("r", &journal).err();
        assert!(matches!(refused, Some(Divergence::Input { .. })), "{told}: {refused:?}");
    }
    // The same report twice says it twice, and the run heard it once.
    let mut journal = decisions();
    reports(&mut journal, |reports| reports.push(reports[0]));
    let refused = recomputed("r", &journal).err();
    assert!(matches!(refused, Some(Divergence::OtherInput { .. })), "{refused:?}");
    // No report at all.
    let mut journal = decisions();
    reports(&mut journal, Vec::clear);
    assert!(recomputed("r", &journal).is_err());
    // Another instant gives another time.
    let mut journal = decisions();
    journal[1].0.at += 1;
    assert!(matches!(recomputed("r", &journal), Err(Divergence::Differs { .. })));
}

#[test]
fn a_turn_is_held_to_the_strictest_mode_of_its_time() {
    let mut play = Play::of(plan([("a", agent().text())]));
    let mode = |play: &Play| play.run.turn(play.turns()[0]).unwrap().global_mode;
    assert_eq!(mode(&play), GlobalMode::Implementation);
    play.act(Do::GlobalMode { value: GlobalMode::Planning });
    assert_eq!(mode(&play), GlobalMode::Planning, "at once");
    play.act(Do::GlobalMode { value: GlobalMode::Implementation });
    assert_eq!(mode(&play), GlobalMode::Planning, "and to its end");
}

#[test]
fn a_list_that_is_gone_through_again_begins_new_sessions() {
    let list = utility().assign("list", "$.list").edge(Always, "each");
    let each = agent().text().each("state.list").edge(Always, "list");
    let mut play = Play::of(plan([("list", list), ("each", each)]));
    let fresh = |events: &[Event]| {
        let started = events.iter().find_map(|event| match &event.body {
            EventBody::TurnStarted(data) => data.session.clone(),
            _ => None,
        });
        started.map(|session| !session.resume)
    };
    for _ in 0..2 {
        let turn = play.turns()[0];
        let events = play.take(Input::report(turn, outcome(r#"{"list": [1]}"#)));
        assert_eq!(fresh(&events), Some(true), "its first element is new work");
        play.end("done");
    }
}

#[test]
fn nobody_stops_before_what_can_start_has_started() {
    let nodes = plan([("a", utility().text().edge(Always, "b")), ("b", utility().text())]);
    let mut run = Run::new(RunId::new("r"));
    let mut journal = vec![keep(&mut run, 1_000, Input::Create(created(nodes).into()))];
    let turn = journal[0].1.last().unwrap().seq;
    journal.push(keep(&mut run, 2_000, Input::report(turn, outcome("x"))));
    // `b` has its input, but did not take it.
    let taken = journal[1].1.len() - 2;
    journal[1].1.truncate(taken);
    let mut run = folded(&journal);
    let stopped = Input::Stopped { reports: Vec::new(), message: "enough".into() };
    journal.push(keep(&mut run, 3_000, stopped));
    let refused = recomputed("r", &journal).unwrap_err();
    let Divergence::Missing { kind, .. } = refused else { panic!("{refused}") };
    assert_eq!(kind, "payload.consumed");
}

#[test]
fn what_is_changed_in_a_decision_is_named() {
    let mut journal = decisions();
    let changed = journal[1].1.iter_mut().find_map(|event| match &mut event.body {
        EventBody::RouteSelected(data) => Some((event.seq, &mut data.to)),
        _ => None,
    });
    let (seq, to) = changed.unwrap();
    to.push('x');
    let refused = recomputed("r", &journal).unwrap_err();
    assert_eq!(refused.seq(), seq);
    assert!(refused.to_string().contains("one with other data"), "{refused}");
}
