//! Finds the smallest change that lets a node run, by trying: one command first, then several, then waiting, at last
//! a fork.
//!
//! Only steps are suggested that the kernel has accepted on a copy of the run.

use materia_contract::body::Suggested;
use materia_contract::{Amount, Budget, Do, NodeBudgets, NodeId, Pace};
use materia_kernel::{
    Gate, Phase, Run, budgets_of, has_elements, held_turn, question, spent_by, turns_in_flight,
};

use super::attempt::{Attempt, Driven, is_alive};

/// By how many turns a budget is raised: one, or what turns that run again need besides.
const FURTHER_TURNS: [u64; 4] = [1, 2, 8, 64];

/// The steps that let a node run in a run that has not ended.
pub(super) fn now(run: &Run, index: usize, name: &NodeId) -> Option<Vec<Suggested>> {
    if hopeless(run, index) {
        return None;
    }
    let here = Attempt::of(run, name);
    let running = *run.phase() == Phase::Running;
    let forked = Attempt::forked(run, name, false);
    let starts = |attempt: Option<Attempt<'_>>| attempt.is_some_and(|attempt| attempt.started);
    // It is unknown here whether the driving process still lives, and the suggestion must also work on a fork.
    let works = |doings: &[Suggested]| {
        starts(here.clone().through(doings, Driven::Live))
            && (!running || starts(here.clone().through(doings, Driven::Gone)))
            && (!running || starts(forked.clone().through(doings, Driven::Live)))
    };
    let all = plans(run, index, name);
    if let Some(found) = all.iter().find(|doings| works(doings)) {
        return Some(found.clone());
    }
    all.iter().filter(|_| running).find_map(|doings| {
        let waits = waiting(here.clone().through(doings, Driven::Live)?, true)?;
        let doings: Vec<Suggested> = doings.iter().cloned().chain(waits).collect();
        starts(forked.clone().through(&doings, Driven::Live)).then_some(doings)
    })
}

/// The steps that let a node run on a fork that shares the events up to `at`; `run` is the state of the fork.
pub(super) fn fork(run: &Run, at: u64, index: usize, name: &NodeId) -> Option<Vec<Suggested>> {
    if hopeless(run, index) {
        return None;
    }
    let running = *run.phase() == Phase::Running;
    let forks = [false, true].map(|interactive| {
        (Suggested::Fork { at, interactive }, Attempt::forked(run, name, interactive))
    });
    // A fork that rests is left as it is; one that runs does not wait for a person's next command.
    let [(plain, goes_on), (held, rests)] = &forks;
    let by_hand = |doings: &[Suggested]| {
        doings.iter().any(|doing| matches!(doing, Suggested::Do(Do::Trigger { .. })))
    };
    let found = |fork: &Suggested, here: &Attempt<'_>, hand: bool, wait: bool| {
        plans(&here.run, index, name)
            .into_iter()
            .filter(|it| !running || by_hand(it) == hand)
            .find_map(|doings| {
                let done = here.clone().through(&doings, Driven::Live)?;
                let waits =
                    if wait { waiting(done, false)? } else { done.started.then(Vec::new)? };
                Some([vec![fork.clone()], doings, waits].concat())
            })
    };
    if goes_on.started {
        return Some(vec![plain.clone()]);
    }
    found(plain, goes_on, false, false)
        .or_else(|| found(held, rests, true, false).filter(|_| running))
        .or_else(|| found(held, rests, true, true).filter(|_| running))
        .or_else(|| found(plain, goes_on, false, true))
}

/// Whether no command can start a turn of a node: its `foreach` has no elements, and it has no turn to retry.
fn hopeless(run: &Run, index: usize) -> bool {
    !has_elements(run, index)
        && held_turn(run, index).is_none()
        && turns_in_flight(run, index).is_empty()
}

/// The steps that let a node run in an ended run, without a fork: recast or revive, then `and`.
pub(super) fn after_the_end(run: &Run, name: &NodeId, and: &[Suggested]) -> Option<Vec<Suggested>> {
    [Do::Recast, Do::Revive].into_iter().find_map(|what| {
        let doings = [&[Suggested::Do(what)], and].concat();
        let attempt = Attempt::of(run, name).through(&doings, Driven::Gone)?;
        attempt.started.then_some(doings)
    })
}

/// The turns that have to end before the node starts, if it then does.
fn waiting(mut attempt: Attempt<'_>, named: bool) -> Option<Vec<Suggested>> {
    let mut waits = Vec::new();
    for (turn, node) in attempt.under_way() {
        if attempt.started || !is_alive(&attempt.run) {
            break;
        }
        if !attempt.end_turn(turn) {
            return None;
        }
        waits.push(Suggested::Wait { turn: named.then_some(turn), node });
    }
    attempt.started.then_some(waits)
}

/// Everything that is worth trying, the smallest first.
fn plans(run: &Run, index: usize, name: &NodeId) -> Vec<Vec<Suggested>> {
    let node = || name.clone();
    let fails = |gate: Gate| !gate.holds(run, index);
    let mut single = Vec::new();
    if fails(Gate::Pace) {
        single.push(Suggested::Do(Do::Mode { value: Pace::Auto }));
    }
    if fails(Gate::Approval) {
        single.push(Suggested::Do(Do::approve(node())));
    }
    let spent: Vec<Vec<Suggested>> =
        FURTHER_TURNS.iter().map(|turns| raised(run, index, name, *turns, Raise::Spent)).collect();
    // Where one budget is spent it is one command, where two are it is none alone.
    single.extend(spent.iter().filter(|it| it.len() == 1).flatten().cloned());
    if let Phase::Waiting(_) = run.phase() {
        single.push(Suggested::Do(Do::Resume { pace: None }));
    }
    let mut plans = vec![Vec::new()];
    plans.extend(single.into_iter().map(|doing| vec![doing]));
    // If the node needs an approval, starting it by hand approves it, too (D56).
    let approve = question(run, name).is_some();
    let trigger = Suggested::Do(Do::Trigger { node: node(), message: None, approve, hash: None });
    plans.push(vec![trigger.clone()]);
    let bounded = FURTHER_TURNS.iter().map(|turns| raised(run, index, name, *turns, Raise::All));
    for budgets in spent.into_iter().chain(bounded).filter(|budgets| !budgets.is_empty()) {
        plans.push(budgets.clone());
        // A run that waits for budget goes on as soon as it has some; then the turn is asked for first.
        plans.push([budgets.clone(), vec![trigger.clone()]].concat());
        plans.push([vec![trigger.clone()], budgets].concat());
    }
    plans.dedup();
    plans
}

/// Which bounds are raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Raise {
    /// Those that are spent.
    Spent,
    /// Also the bounds on turns that other nodes may use up before this node starts.
    All,
}

/// The budgets of the node and of the run, raised by so many turns, or by as much as they were.
fn raised(run: &Run, index: usize, name: &NodeId, turns: u64, which: Raise) -> Vec<Suggested> {
    let mut raised = Vec::new();
    let limits = budgets_of(run, index).filter(|limits| match which {
        Raise::Spent => !Gate::Budget.holds(run, index),
        Raise::All => limits.turns.is_some(),
    });
    if let Some(limits) = limits {
        let spent = spent_by(run, index);
        let time = |limit: u64| limit.max(1).saturating_add(spent.time_ms.unwrap_or(0));
        let budgets = NodeBudgets {
            turns: limits
                .turns
                .map(|limit| more_turns(limit, spent.turns.unwrap_or(0), turns, which)),
            time_ms: limits.time_ms.map(|limit| over(limit, spent.time_ms.unwrap_or(0), time)),
            cost: limits.cost.map(|limit| more_cost(limit, spent.cost)),
        };
        raised.push(Suggested::Do(Do::NodeBudget { node: name.clone(), budgets }));
    }
    let (limits, spent) = (run.budget(), run.usage());
    // Unchanged limits are left out.
    let raise_turns = |limit: u64| more_turns(limit, spent.turns, turns, which);
    let tokens = limits.max_tokens.filter(|limit| spent.tokens >= *limit);
    let cost = limits.max_cost.zip(spent.cost).filter(|(limit, spent)| spent >= limit);
    let budget = Budget {
        max_turns: limits.max_turns.map(raise_turns).filter(|it| Some(*it) != limits.max_turns),
        max_tokens: tokens.map(|limit| limit.max(1).saturating_add(spent.tokens)),
        max_cost: cost.map(|(limit, spent)| more_cost(limit, Some(spent))),
        warn_at_percent: None,
        max_storage_mb: run.more_storage_mb(),
    };
    if budget != Budget::default() {
        raised.push(Suggested::Do(Do::Budget { budget }));
    }
    raised
}

fn more_turns(limit: u64, spent: u64, turns: u64, which: Raise) -> u64 {
    match which {
        Raise::Spent if spent < limit => limit,
        Raise::Spent => spent + turns,
        Raise::All => limit.max(spent) + turns,
    }
}

/// A limit that is spent gets another value; one that is not stays.
fn over(limit: u64, spent: u64, raise: impl Fn(u64) -> u64) -> u64 {
    if spent >= limit { raise(limit) } else { limit }
}

fn more_cost(limit: Amount, spent: Option<Amount>) -> Amount {
    match spent.filter(|spent| *spent >= limit) {
        Some(spent) if limit > Amount::default() => spent.saturating_add(limit),
        Some(spent) => spent.saturating_add(Amount::from(1_u64)),
        None => limit,
    }
}
