//! The scheduler's conditions for one node, each with the events that made it true or false.
//!
//! Whether a condition holds comes from the scheduler's own [`Gate`]; only the text and the events are found here.

use materia_contract::{Control, NodeId, NodeMode, Pace, Trigger, WaitReason};
use materia_kernel::{
    Effect, Gate, Phase, budgets_of, held_turn, is_requested, iterates, outstanding, question,
    spent_by, turns_in_flight,
};

use super::facts::{CHILDREN_MAX, Facts, Subject};
use super::{Condition, inputs};

/// All conditions, in the order of [`Gate::ALL`].
pub(super) fn all(subject: Subject<'_>) -> Vec<Condition> {
    Gate::ALL.into_iter().map(|gate| one(subject, gate)).collect()
}

fn one(subject: Subject<'_>, gate: Gate) -> Condition {
    let holds = gate.holds(subject.run, subject.index);
    let Facts { text, events, of } = match gate {
        Gate::Input => inputs::facts(subject, holds),
        Gate::Pace => pace(subject),
        Gate::Mode => mode(subject),
        Gate::Control => control(subject),
        Gate::Trigger => trigger(subject),
        Gate::Room => room(subject),
        Gate::Dependencies => dependencies(subject),
        Gate::Budget => budget(subject, holds),
        Gate::RunBudget => run_budget(subject, holds),
        Gate::Concurrency => concurrency(subject),
        Gate::Approval => approval(subject, holds),
        Gate::Running => running(subject),
    };
    Condition { name: word(gate).to_owned(), holds, text, events, of }
}

/// The name under which a condition appears.
pub(super) fn word(gate: Gate) -> &'static str {
    match gate {
        Gate::Input => "input",
        Gate::Pace => "pace",
        Gate::Mode => "mode",
        Gate::Control => "control",
        Gate::Trigger => "trigger",
        Gate::Room => "room",
        Gate::Dependencies => "dependencies",
        Gate::Budget => "budget",
        Gate::RunBudget => "runBudget",
        Gate::Concurrency => "concurrency",
        Gate::Approval => "approval",
        Gate::Running => "running",
    }
}

fn pace(Subject { run, trail, .. }: Subject<'_>) -> Facts {
    let (seq, why) = trail.pace.clone().unwrap_or((1, String::new()));
    let text = match run.pace() {
        Pace::Auto => "the pace is AUTO".to_owned(),
        Pace::Interactive => match why.as_str() {
            "stall" => "the pace is INTERACTIVE: the cast went in circles".to_owned(),
            _ => "the pace is INTERACTIVE: nothing starts by itself".to_owned(),
        },
    };
    Facts::new(text, [seq])
}

/// The event that contains the plan, for facts that the author of the graph decided.
const PLANNED: [u64; 1] = [1];

const BY_HAND: &str = "only a person starts it";

fn mode(Subject { plan, index, .. }: Subject<'_>) -> Facts {
    let text = match plan.nodes[index].mode {
        NodeMode::Auto => "its mode is auto".to_owned(),
        NodeMode::Interactive => format!("its mode is interactive: {BY_HAND}"),
    };
    Facts::new(text, PLANNED)
}

fn control(Subject { plan, index, .. }: Subject<'_>) -> Facts {
    let text = match plan.nodes[index].control {
        None => "it is not under manual control".to_owned(),
        Some(Control::Automatic) => "its control is automatic".to_owned(),
        Some(Control::Manual) => format!("its control is manual: {BY_HAND}"),
    };
    Facts::new(text, PLANNED)
}

fn trigger(Subject { plan, index, .. }: Subject<'_>) -> Facts {
    let text = match plan.nodes[index].trigger {
        Trigger::OnAnyInput => "any input starts it".to_owned(),
        Trigger::Scheduled => "its interval starts it".to_owned(),
        Trigger::ManualOnly => format!("its trigger is manual_only: {BY_HAND}"),
    };
    Facts::new(text, PLANNED)
}

fn room(Subject { run, plan, trail, index, name }: Subject<'_>) -> Facts {
    let turns = turns_in_flight(run, index);
    let most = plan.nodes[index].max_in_flight;
    let mut text = format!("{} of {most} turns are under way here", turns.len());
    let mut events = turns.clone();
    let mut of: Vec<Condition> =
        turns.iter().take(CHILDREN_MAX).map(|turn| under_way(*turn, name)).collect();
    if let Some(turn) = held_turn(run, index) {
        text.push_str(", and one is to run again");
        events.push(turn);
        let text = format!("a turn of `{name}` ended without a result and keeps its place");
        of.push(Condition {
            name: "turn".into(),
            holds: false,
            text,
            events: vec![turn],
            of: vec![],
        });
    }
    if iterates(run, index) {
        text.push_str(", and its foreach is not done");
        events.extend(trail.marks(name).cursor);
    }
    if events.is_empty() {
        events.extend(trail.turns.get(name).and_then(|turn| turn.end).map(|(seq, _)| seq));
    }
    Facts { text, events, of }
}

/// A turn that is in flight.
fn under_way(turn: u64, node: &NodeId) -> Condition {
    let text = format!("a turn of `{node}` is under way");
    Condition { name: "turn".into(), holds: false, text, events: vec![turn], of: Vec::new() }
}

fn concurrency(Subject { run, plan, .. }: Subject<'_>) -> Facts {
    let most = plan.limits.max_concurrent_turns;
    let turns: Vec<u64> = outstanding(run)
        .filter_map(|effect| match effect {
            Effect::StartTurn(turn) => Some(turn),
            Effect::WakeAt(_) | Effect::Publish => None,
        })
        .collect();
    let text = format!("{} of {most} turns of the cast are under way", turns.len());
    let full = turns.len() >= most as usize;
    let named = turns.iter().filter(|_| full).take(CHILDREN_MAX).filter_map(|turn| {
        let node = run.node_of(run.turn(*turn)?).0;
        Some(under_way(*turn, node))
    });
    let of = named.collect();
    Facts { text, events: turns.into_iter().take(CHILDREN_MAX).collect(), of }
}

fn dependencies(Subject { plan, trail, index, .. }: Subject<'_>) -> Facts {
    let needed = &plan.nodes[index].depends_on;
    let of: Vec<Condition> = needed
        .iter()
        .map(|node| {
            let completed = trail.marks(node).completed;
            let text = match completed {
                Some(_) => format!("`{node}` has completed a turn"),
                None => format!("`{node}` has not completed a turn"),
            };
            let (holds, events) = (completed.is_some(), completed.into_iter().collect());
            Condition { name: node.to_string(), holds, text, events, of: Vec::new() }
        })
        .collect();
    let missing: Vec<String> =
        of.iter().filter(|one| !one.holds).map(|one| format!("`{}`", one.name)).collect();
    let text = match (needed.is_empty(), missing.is_empty()) {
        (true, _) => "it depends on no other socket".to_owned(),
        (false, true) => "all it depends on has completed a turn".to_owned(),
        (false, false) => format!("it waits for a completed turn of {}", missing.join(", ")),
    };
    let events = of.iter().flat_map(|one| one.events.clone()).collect();
    Facts { text, events, of }
}

fn budget(Subject { run, trail, index, name, .. }: Subject<'_>, holds: bool) -> Facts {
    let Some(limits) = budgets_of(run, index) else {
        return Facts::new("it has no budget of its own", []);
    };
    let spent = spent_by(run, index);
    let mut parts = Vec::new();
    if let (Some(limit), Some(spent)) = (limits.turns, spent.turns) {
        parts.push(format!("{spent} of {limit} turns"));
    }
    if let (Some(limit), Some(spent)) = (limits.time_ms, spent.time_ms) {
        parts.push(format!("{spent} of {limit} ms"));
    }
    if let Some(limit) = limits.cost {
        let spent = spent.cost.map_or_else(|| "an unknown part".to_owned(), |it| it.to_string());
        parts.push(format!("cost {spent} of {limit}"));
    }
    let verb = if holds { "it has used" } else { "it has spent its budget:" };
    let marks = trail.marks(name);
    let turn = trail.turns.get(name).map(|turn| turn.seq);
    let events = marks.budget.into_iter().chain(turn).chain(marks.blocked);
    Facts::new(format!("{verb} {}", parts.join(", ")), events)
}

fn run_budget(Subject { run, trail, .. }: Subject<'_>, holds: bool) -> Facts {
    let (budget, spent) = (run.budget(), run.usage());
    let mut parts = Vec::new();
    parts.extend(budget.max_turns.map(|limit| format!("{} of {limit} turns", spent.turns)));
    parts.extend(budget.max_tokens.map(|limit| format!("{} of {limit} tokens", spent.tokens)));
    parts.extend(budget.max_cost.map(|limit| {
        let spent = spent.cost.map_or_else(|| "an unknown part".to_owned(), |it| it.to_string());
        format!("cost {spent} of {limit}")
    }));
    if parts.is_empty() {
        return Facts::new("the cast has no budget", []);
    }
    let verb = if holds { "the cast has used" } else { "the cast has spent its budget:" };
    Facts::new(format!("{verb} {}", parts.join(", ")), trail.budget)
}

fn approval(Subject { run, plan, trail, index, name }: Subject<'_>, holds: bool) -> Facts {
    if plan.nodes[index].approval.is_none() {
        return Facts::new("it needs no approval", []);
    }
    let word = trail.marks(name).approval;
    let text = match word {
        Some((_, "given")) if holds => "a person has approved exactly this turn",
        Some((_, "given")) => "a person approved a turn, but what it would take has changed",
        Some((_, "refused")) => {
            let reason = question(run, name).and_then(|it| it.reason);
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let text = format!("a person has refused the turn{reason}");
            return Facts::new(text, word.map(|(seq, _)| seq));
        }
        Some(_) => "the turn waits for a person's approval",
        None => "a person must approve its turn, and has not been asked yet",
    };
    Facts::new(text, word.map(|(seq, _)| seq))
}

fn running(Subject { run, trail, index, name, .. }: Subject<'_>) -> Facts {
    let text = match run.phase() {
        Phase::New => "the cast has not begun".to_owned(),
        Phase::Running if is_requested(run, index) => {
            "the cast runs, and a person has asked for a turn here".to_owned()
        }
        Phase::Running => "the cast runs".to_owned(),
        Phase::Waiting(waiting) if waiting.reason == WaitReason::Interactive => {
            format!("the cast rests: {}", waiting.message)
        }
        Phase::Waiting(waiting) => format!("the cast waits: {}", waiting.message),
        Phase::Completed => "the cast has completed".to_owned(),
        Phase::Failed(failed) => format!("the cast has failed: {}", failed.message),
        Phase::Aborted => "the cast was aborted".to_owned(),
    };
    let asked = trail.marks(name).requested.filter(|_| is_requested(run, index));
    Facts::new(text, trail.status.map(|(seq, _)| seq).into_iter().chain(asked))
}
