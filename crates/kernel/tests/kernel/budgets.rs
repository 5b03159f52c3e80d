//! Warnings about spending: once, and at the share that the author named.

use materia_contract::{Budget, Condition, EventBody, RunId, TurnOutput};
use materia_kernel::{Effect, Input, Run, TurnOutcome, outstanding, step};

use crate::play::{NodeExt as _, agent, created, plan};

#[test]
fn a_warning_comes_once_when_the_named_share_is_spent() {
    let mut plan = plan([("a", agent().text().edge(Condition::Always, "a").bounded(50))]);
    let (max_turns, warn_at_percent) = (Some(10), Some(50));
    plan.budget = Budget { max_turns, warn_at_percent, ..Budget::default() };
    let mut run = Run::new(RunId::new("r"));
    let mut warned = Vec::new();
    let mut events = step(&mut run, 0, Input::Create(Box::new(created(plan)))).unwrap();
    for now in 1..10 {
        let turns = run.usage().turns;
        warned.extend(events.iter().filter_map(|event| match &event.body {
            EventBody::BudgetWarned(data) => Some((turns, data.spent, data.limit)),
            _ => None,
        }));
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { break };
        let output = TurnOutput { output: format!("{now}"), ..TurnOutput::default() };
        events = step(&mut run, now, Input::report(turn, TurnOutcome::Ended(output))).unwrap();
    }
    assert_eq!(warned, [(5, 5.0, 10.0)]);
}
