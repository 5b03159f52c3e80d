//! Deciding again: where a journal may end, and journals that could not have come about.

use materia_contract::{Act, Condition, Event, EventBody, GlobalMode, RunId, RunResumed};
use materia_kernel::{Divergence, Input, Recomputation, Run, evolve, step};

use crate::play::{NodeExt as _, Play, agent, created, outcome, plan, utility};

use Condition::Always;

/// `a` leads to `b` and `c` at once.
fn fork() -> materia_contract::Plan {
    let a = utility().text().all().edge(Always, "b").edge(Always, "c");
    plan([("a", a), ("b", utility().text()), ("c", utility().text())])
}

/// What was decided about it, decision by decision.
fn decisions() -> Vec<Vec<Event>> {
    let mut run = Run::new(RunId::new("r"));
    let begun = step(&mut run, 1_000, Input::Create(Box::new(created(fork())))).unwrap();
    let turn = begun.last().unwrap().seq;
    let forked = step(&mut run, 2_000, Input::report(turn, outcome("go"))).unwrap();
    vec![begun, forked]
}

/// The run that these events lead to.
fn folded(journal: &[Event]) -> Run {
    let mut run = Run::new(RunId::new("r"));
    for event in journal {
        evolve(&mut run, event);
    }
    run
}

fn recomputed(journal: &[Event]) -> Result<Recomputation, Divergence> {
    let mut again = Recomputation::new(RunId::new("r"));
    (0..journal.len()).try_for_each(|first| again.next(&journal[first..]))?;
    Ok(again)
}

#[test]
fn a_journal_may_end_where_a_decision_does() {
    let decisions = decisions();
    let journal = decisions.concat();
    let first = decisions[0].len();
    for end in 1..=journal.len() {
        let mut again = recomputed(&journal[..end]).unwrap();
        let whole = end == first || end == journal.len();
        assert_eq!(again.is_between_decisions(), whole, "after event {end}");
    }
}

#[test]
fn what_could_have_started_must_have_started() {
    let mut journal = decisions().concat();
    let left_out = journal.pop().unwrap();
    assert!(matches!(left_out.body, EventBody::TurnStarted(_)));
    let mut run = folded(&journal);
    // Somebody else's program did not start `c`, and went on when `b` had ended.
    let b = journal.last().unwrap().seq;
    journal.extend(step(&mut run, 3_000, Input::report(b - 1, outcome("x"))).unwrap());
    let refused = recomputed(&journal).unwrap_err();
    let Divergence::Differs { expected, found, .. } = refused else { panic!("{refused}") };
    assert_eq!(expected.node, left_out.node);
    assert!(matches!(found.body, EventBody::TurnCompleted(_)), "it is noticed at once: {found:?}");
}

#[test]
fn nobody_resumes_a_run_whose_turns_are_under_way() {
    let mut journal = decisions().concat();
    let last = journal.last().unwrap().clone();
    let resumed = RunResumed { cwd: "/p".into(), run_dir: "/p/r".into(), recast: false };
    let (seq, ts) = (last.seq + 1, last.ts + 1_000);
    journal.push(Event { seq, ts, wall: ts, node: None, body: resumed.into() });
    assert!(matches!(recomputed(&journal), Err(Divergence::Unexplained { .. })));
}

#[test]
fn a_turn_is_held_to_the_strictest_mode_of_its_time() {
    let mut play = Play::of(plan([("a", agent().text())]));
    let mode = |play: &Play| play.run.turn(play.turns()[0]).unwrap().global_mode;
    assert_eq!(mode(&play), GlobalMode::Implementation);
    play.act(Act::GlobalMode { value: GlobalMode::Planning });
    assert_eq!(mode(&play), GlobalMode::Planning, "at once");
    play.act(Act::GlobalMode { value: GlobalMode::Implementation });
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
    let mut journal = step(&mut run, 1_000, Input::Create(Box::new(created(nodes)))).unwrap();
    let turn = journal.last().unwrap().seq;
    journal.extend(step(&mut run, 2_000, Input::report(turn, outcome("x"))).unwrap());
    // `b` has its input, but did not take it.
    journal.truncate(journal.len() - 2);
    let mut run = folded(&journal);
    let stopped = Input::Stop { message: "enough".into() };
    journal.extend(step(&mut run, 3_000, stopped).unwrap());
    assert!(matches!(journal.last().unwrap().body, EventBody::RunWaiting(_)));
    let refused = recomputed(&journal).unwrap_err();
    let Divergence::Differs { expected, .. } = refused else { panic!("{refused}") };
    assert!(matches!(expected.body, EventBody::PayloadConsumed(_)), "{expected:?}");
}

#[test]
fn a_person_acts_on_a_run_that_has_started_all_it_could() {
    let mut decisions = decisions();
    let last = decisions.last_mut().unwrap();
    // Another program did not look for what can start before a person changed the mode.
    let taken = |event: &Event| matches!(event.body, EventBody::PayloadConsumed(_));
    last.truncate(last.iter().position(taken).unwrap());
    let mut journal = decisions.concat();
    let mut run = folded(&journal);
    let act = Act::GlobalMode { value: GlobalMode::Planning };
    journal.extend(step(&mut run, 3_000, Input::act(act)).unwrap());
    let refused = recomputed(&journal).unwrap_err();
    let Divergence::Differs { expected, found, .. } = refused else { panic!("{refused}") };
    assert!(matches!(found.body, EventBody::ModeChanged(_)), "{found:?}");
    assert!(taken(&expected), "{expected:?}");
}
