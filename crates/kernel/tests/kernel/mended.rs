//! Regressions: faults that the verifier, or a comparison of two kernels, found.

use materia_contract::{
    Condition, Do, ErrorCode, FailureClass, Plan, RunId, RunPlace, Test, TurnOutput,
};
use materia_kernel::{Effect, Input, Phase, Report, Run, TurnOutcome, outstanding, step};
use serde_json::json;

use crate::play::{NodeExt as _, Play, agent, created, looped, outcome, plan, utility};

use Condition::{Always, Satisfied};

fn failed(class: FailureClass) -> TurnOutcome {
    TurnOutcome::Faulted {
        code: ErrorCode::ProviderFailed,
        message: "it broke".into(),
        report: TurnOutput { class: Some(class), ..TurnOutput::default() },
    }
}

/// One turn waits for its timer when another makes the run fail; a person tries both again.
#[test]
fn a_turn_that_a_person_tries_again_waits_for_no_timer() {
    let a = utility().text().all().edge(Always, "b").edge(Always, "c");
    let mut play = Play::of(plan([("a", a), ("b", agent().text()), ("c", agent().text())]));
    play.end("go");
    let turns = play.turns();
    let report = |turn: u64, class| Report { turn, outcome: failed(class) };
    play.take(Input::reports(vec![report(turns[0], FailureClass::Transient)]));
    assert!(outstanding(&play.run).any(|effect| matches!(effect, Effect::WakeAt(_))));
    play.take(Input::reports(vec![report(turns[1], FailureClass::Auth)]));
    assert!(matches!(play.run.phase(), Phase::Failed(_)));
    play.take(Input::taken_up(Do::Recast, RunPlace::named()));
    assert_eq!(play.turns().len(), 2, "both are tried again");
    play.end_all("done");
    assert_eq!(*play.run.phase(), Phase::Completed, "and nothing is waited for");
}

/// `each` sends items that say so to `urgent`, the others to `later`.
fn sorting() -> Plan {
    let each = utility()
        .text()
        .edge(Always, "urgent")
        .only_where("item.context", Test::Equals(json!("now")))
        .edge(Always, "later");
    let nodes = plan([
        ("list", utility().generator().edge(Always, "each")),
        ("each", each),
        ("urgent", utility().text().advances(Always).edge(Always, "each")),
        ("later", utility().text().advances(Always).edge(Always, "each")),
    ]);
    looped(nodes, "work", &["each", "urgent", "later"], Some("list"), &[])
}

#[test]
fn the_way_may_depend_on_the_item() {
    let mut play = Play::of(sorting());
    let items = json!([{"title": "a", "context": "some day"}, {"title": "b", "context": "now"}]);
    play.end(&json!({ "workItems": items }).to_string());
    assert!(play.end("x").contains("later 1.1 started on WI-1"));
    play.end("x");
    assert!(play.end("x").contains("urgent 1.1 started on WI-2"));
}

/// A turn that the runtime answers itself takes no time: a cycle of such turns must end.
#[test]
fn a_circle_of_turns_that_nobody_is_asked_for_comes_to_an_end() {
    let mut asks = agent().text().advances(Always).edge(Always, "asks");
    asks.requires = vec!["state.nowhere".parse().unwrap()];
    let nodes = plan([("list", utility().generator().edge(Always, "asks")), ("asks", asks)]);
    let exits = [("asks", Satisfied, "end"), ("asks", Always, "asks")];
    let circle = looped(nodes, "work", &["asks"], Some("list"), &exits);
    let mut run = Run::new(RunId::new("r"));
    step(&mut run, 1, Input::Create(created(circle).into())).unwrap();
    let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
    let items = json!({ "workItems": [{"title": "a", "context": "b"}] }).to_string();
    let events = step(&mut run, 2, Input::report(turn, outcome(&items))).unwrap();
    let Phase::Failed(failed) = run.phase() else { panic!("{:?}", run.phase()) };
    assert_eq!(failed.code, ErrorCode::NoAdvance, "{}", failed.message);
    assert!(events.len() < 20_000, "{} events", events.len());
}
