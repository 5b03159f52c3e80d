//! A further attempt is the same turn: same item, same input for the runner.

use materia_contract::{
    Cause, Condition, Do, Event, EventBody, NodeId, Plan, RunCreated, RunId, RunPlace,
    ScriptBinding, TurnStarted,
};
use materia_kernel::{Effect, Input, Run, outstanding, step};

use crate::play::{NodeExt as _, agent, created, looped, outcome, plan};

use Condition::Always;

/// A planner, and a builder that works on each of its items; a script answers the builder.
fn scripted() -> RunCreated {
    let a = agent().generator().edge(Always, "b");
    let nodes = plan([("a", a), ("b", agent().advances(Always).edge(Always, "b"))]);
    let nodes: Plan = looped(nodes, "work", &["b"], Some("a"), &[]);
    let keys = [(NodeId::new("b"), "building".to_owned())].into_iter().collect();
    let script = Some(ScriptBinding { path: "script.json".into(), keys });
    RunCreated { script, ..created(nodes) }
}

const ITEMS: &str =
    r#"{"workItems": [{"title": "x", "context": "1"}, {"title": "y", "context": "2"}]}"#;

fn end(run: &mut Run, answer: &str) -> Vec<Event> {
    let Some(Effect::StartTurn(turn)) = outstanding(run).next() else { panic!("a turn is on") };
    step(run, 5, Input::report(turn, outcome(answer))).unwrap()
}

/// The turn that these events start.
fn started(events: &[Event]) -> TurnStarted {
    let starts = events.iter().filter_map(|event| match &event.body {
        EventBody::TurnStarted(data) => Some(TurnStarted::clone(data)),
        _ => None,
    });
    let starts: Vec<_> = starts.collect();
    let [one] = starts.as_slice() else { panic!("{} turns start", starts.len()) };
    one.clone()
}

/// The run when its builder has begun with the second item, and that turn.
fn at_the_second_item() -> (Run, TurnStarted) {
    let mut run = Run::new(RunId::new("r"));
    step(&mut run, 1, Input::Create(scripted().into())).unwrap();
    let first = started(&end(&mut run, ITEMS));
    let script = first.script.expect("the script answers the builder");
    assert_eq!((script.key.as_str(), script.index), ("building", 0));
    let second = started(&end(&mut run, "{}"));
    (run, second)
}

fn script_index(turn: &TurnStarted) -> Option<u32> {
    turn.script.as_ref().map(|entry| entry.index)
}

#[test]
fn what_was_interrupted_runs_again_with_the_same_work_item_session_prompt_and_answer() {
    let (mut run, before) = at_the_second_item();
    assert_eq!((before.item.as_deref(), script_index(&before)), (Some("WI-2"), Some(1)));
    assert!(before.session.is_some() && !before.layers.is_empty());
    step(&mut run, 6, Input::Stopped { reports: Vec::new(), message: "stop".into() }).unwrap();
    let resume = Input::taken_up(Do::Resume { pace: None }, RunPlace::named());
    let again = started(&step(&mut run, 7, resume).unwrap());
    assert_eq!(again.attempt, 2);
    assert!(matches!(again.cause, Cause::Retry { .. }) && again.consumed.len() == 1);
    let same = TurnStarted { attempt: 1, cause: before.cause.clone(), ..again };
    assert_eq!(same, before);
}

#[test]
fn an_answer_that_broke_the_contract_is_used_up_and_the_repair_adds_its_reason() {
    let (mut run, before) = at_the_second_item();
    let again = started(&end(&mut run, "nonsense"));
    assert_eq!((again.item.as_deref(), again.attempt), (Some("WI-2"), 2));
    assert_eq!(script_index(&again), Some(2), "the next answer of the list");
    assert_eq!((&again.session, &again.consumed), (&before.session, &before.consumed));
    let (prompt, old) = (again.prompt.unwrap(), before.prompt.unwrap());
    assert!(prompt.starts_with(&old) && prompt.contains("Your last answer could not be used"));
    assert_eq!(again.layers[..before.layers.len()], before.layers);
    assert_eq!(again.layers.last().unwrap().name, "repair");
    assert_eq!(again.layers.last().unwrap().end, prompt.len(), "no byte without a layer");
}
