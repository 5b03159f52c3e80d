//! Warnings about spending: once, and at the share that the author named.

use materia_contract::{Amount, Budget, Condition, EventBody, RunId, TurnOutput, TurnUsage};
use materia_kernel::{Effect, Input, Phase, Run, TurnOutcome, outstanding, step};

use crate::play::{NodeExt as _, agent, created, plan};

#[test]
fn a_warning_comes_once_when_the_named_share_is_spent() {
    let mut plan = plan([("a", agent().text().edge(Condition::Always, "a").bounded(50))]);
    let (max_turns, warn_at_percent) = (Some(10), Some(50));
    plan.budget = Budget { max_turns, warn_at_percent, ..Budget::default() };
    let mut run = Run::new(RunId::new("r"));
    let mut warned = Vec::new();
    let mut events = step(&mut run, 0, Input::Create(created(plan).into())).unwrap();
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
    assert_eq!(warned, [(5, Amount::from(5_u64), Amount::from(10_u64))]);
}

/// Turns of these costs, one after the other, as far as a budget lets them begin.
fn spent_under(max_cost: Amount, costs: &[f64]) -> (usize, Run) {
    let mut plan = plan([("a", agent().text().edge(Condition::Always, "a").bounded(50))]);
    plan.budget = Budget { max_cost: Some(max_cost), ..Budget::default() };
    let mut run = Run::new(RunId::new("r"));
    step(&mut run, 0, Input::Create(created(plan).into())).unwrap();
    for (turns, cost) in costs.iter().enumerate() {
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { return (turns, run) };
        let cost = Some(Amount::try_from(*cost).unwrap());
        let usage = Some(TurnUsage { cost, ..TurnUsage::default() });
        let output = TurnOutput { output: format!("{turns}"), usage, ..TurnOutput::default() };
        let now = i64::try_from(turns).unwrap() + 1;
        step(&mut run, now, Input::report(turn, TurnOutcome::Ended(output))).unwrap();
    }
    (costs.len(), run)
}

#[test]
fn a_sum_of_decimals_reaches_its_bound_exactly() {
    let bound = Amount::from_millionths(800_000);
    let (turns, run) = spent_under(bound, &[0.7, 0.1, 0.1]);
    assert_eq!((turns, run.usage().cost), (2, Some(bound)));
    let Phase::Waiting(waiting) = run.phase() else { panic!("{:?}", run.phase()) };
    assert!(waiting.message.contains("0.8 of 0.8 cost"), "{}", waiting.message);
    let (turns, _) = spent_under(bound, &[0.7, 0.099_999, 0.1, 0.1]);
    assert_eq!(turns, 3, "a millionth less is less");
}

#[test]
fn a_sum_of_tokens_that_cannot_be_held_is_the_most_and_the_budget_is_spent() {
    for (input, output) in [(u64::MAX - 10, 20), (u64::MAX, u64::MAX), (1, u64::MAX)] {
        let mut plan = plan([("a", agent().text().edge(Condition::Always, "a").bounded(50))]);
        plan.budget = Budget { max_tokens: Some(u64::MAX), ..Budget::default() };
        let mut run = Run::new(RunId::new("r"));
        step(&mut run, 0, Input::Create(created(plan).into())).unwrap();
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("no turn") };
        let usage =
            TurnUsage { input_tokens: Some(input), output_tokens: Some(output), cost: None };
        let said =
            TurnOutput { output: "x".to_owned(), usage: Some(usage), ..TurnOutput::default() };
        step(&mut run, 1, Input::report(turn, TurnOutcome::Ended(said))).unwrap();
        assert_eq!(run.usage().tokens, u64::MAX, "{input} and {output}");
        assert!(matches!(run.phase(), Phase::Waiting(_)), "{:?}", run.phase());
    }
}
