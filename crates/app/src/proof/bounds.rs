//! The most turns that a loadout can take, with what turns have cost in the project so far.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use materia_contract::body::{BoundOf, BoundsBody, CostBound, PastTurns, Quantiles, SocketBound};
use materia_contract::{Amount, Behavior, Plan};
use materia_engine::{Journal, blocking};
use materia_proof::bounds::Bounds;

use crate::Result;
use crate::project::Project;
use crate::text::sanitize::one_line;

/// Maximum casts, the newest, from which the cost of turns is estimated.
const CASTS_MAX: usize = 50;

/// The bounds of a plan, with the costs of past turns of the project.
pub fn bounds(project: &Project, plan: &Plan, items: Option<u64>) -> Result<BoundsBody> {
    let journals = project.journals()?;
    let journals =
        journals.iter().map(|(root, journal)| (root.as_path(), &**journal as &dyn Journal));
    bounds_with(project, journals, plan, items)
}

/// The same with journals that are open already.
pub fn bounds_with<'a>(
    project: &Project,
    journals: impl Iterator<Item = (&'a Path, &'a dyn Journal)>,
    plan: &Plan,
    items: Option<u64>,
) -> Result<BoundsBody> {
    let mut body = Bounds::of(plan).body(items);
    let past = past(project, journals)?;
    for socket in &mut body.sockets {
        socket.past = past.get(&socket.materia).and_then(|turns| distribution(turns));
        let enforced = plan.nodes.get(&socket.socket).and_then(|node| node.budgets?.cost);
        socket.cost = enforced.map_or_else(
            || expected(socket),
            |cost| Some(CostBound { tokens: None, cost: Some(cost), enforced: true }),
        );
    }
    let budget = plan.budget;
    body.cast.cost = if budget.max_tokens.is_some() || budget.max_cost.is_some() {
        Some(CostBound { tokens: budget.max_tokens, cost: budget.max_cost, enforced: true })
    } else {
        sum(plan, &body.sockets)
    };
    Ok(body)
}

/// Tokens and costs of past turns, by materia.
type Past = BTreeMap<String, Vec<(u64, Option<Amount>)>>;

fn past<'a>(
    project: &Project,
    journals: impl Iterator<Item = (&'a Path, &'a dyn Journal)>,
) -> Result<Past> {
    let mut past = Past::new();
    for (root, journal) in journals {
        let lines = blocking(journal).list()?.lines;
        for line in lines.into_iter().take(CASTS_MAX) {
            let folders = project.folders(root, &line.cast_id);
            // A cast that cannot be read says nothing about costs; other commands say why.
            let Ok(report) = materia_engine::report(journal, &line.cast_id, &folders) else {
                continue;
            };
            for visit in report.visits {
                if let (Some(materia), Some(tokens)) = (visit.materia, visit.tokens) {
                    past.entry(materia).or_default().push((tokens, visit.cost));
                }
            }
        }
    }
    Ok(past)
}

fn distribution(turns: &[(u64, Option<Amount>)]) -> Option<PastTurns> {
    let mut tokens: Vec<u64> = turns.iter().map(|(tokens, _)| *tokens).collect();
    let mut costs: Vec<i128> =
        turns.iter().filter_map(|(_, cost)| Some(cost.as_ref()?.millionths())).collect();
    tokens.sort_unstable();
    costs.sort_unstable();
    let money =
        |millionths: i128| Amount::from_millionths(i64::try_from(millionths).unwrap_or(i64::MAX));
    Some(PastTurns {
        turns: u64::try_from(turns.len()).unwrap_or(u64::MAX),
        tokens: quantiles(&tokens)?,
        cost: quantiles(&costs).map(|Quantiles { p50, p90, largest }| Quantiles {
            p50: money(p50),
            p90: money(p90),
            largest: money(largest),
        }),
    })
}

/// The quantiles of sorted values: the smallest that so many are not above.
fn quantiles<T: Copy>(sorted: &[T]) -> Option<Quantiles<T>> {
    let at =
        |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1).copied();
    Some(Quantiles { p50: at(50)?, p90: at(90)?, largest: sorted.last().copied()? })
}

/// The most that a socket costs if no turn costs more than the largest so far.
fn expected(socket: &SocketBound) -> Option<CostBound> {
    let (past, turns) = (socket.past.as_ref()?, socket.turns.most?);
    let cost = past.cost.map(|cost| {
        let millionths = cost.largest.millionths().saturating_mul(i128::from(turns));
        Amount::from_millionths(i64::try_from(millionths).unwrap_or(i64::MAX))
    });
    let tokens = Some(past.tokens.largest.saturating_mul(turns));
    Some(CostBound { tokens, cost, enforced: false })
}

/// The costs of all sockets together, as far as those of every agent are known. Commands cost nothing.
fn sum(plan: &Plan, sockets: &[SocketBound]) -> Option<CostBound> {
    let is_agent = |socket: &&SocketBound| {
        let node = plan.nodes.get(&socket.socket);
        node.is_some_and(|node| matches!(node.behavior, Behavior::Agent { .. }))
    };
    let costs = sockets.iter().filter(is_agent).map(|socket| socket.cost);
    let sum = costs.reduce(|sum, one| {
        let (sum, one) = (sum?, one?);
        Some(CostBound {
            tokens: sum.tokens.zip(one.tokens).map(|(sum, one)| sum.saturating_add(one)),
            cost: sum.cost.zip(one.cost).map(|(sum, one)| sum.saturating_add(one)),
            enforced: sum.enforced && one.enforced,
        })
    });
    sum.flatten().filter(|sum| sum.tokens.is_some() || sum.cost.is_some())
}

/// The bound of turns of a whole cast, and whether there is one. It reads no journal.
pub fn turns(plan: &Plan) -> (bool, BoundOf) {
    let body = Bounds::of(plan).body(None);
    (body.bounded, body.cast.turns)
}

/// The bounds as lines for a person.
pub fn told(body: &BoundsBody) -> String {
    let mut text = String::new();
    for socket in &body.sockets {
        let name = format!("{} ({})", socket.socket, one_line(&socket.materia, 60));
        let by_default = if socket.by_default { ", by default" } else { "" };
        let attempts = match socket.attempts {
            1 => String::new(),
            count => format!(" × {count} attempts"),
        };
        let visits = match (&socket.visits.formula, socket.visits.most) {
            (Some(formula), _) => format!("≤ {formula} visits{attempts}{by_default}"),
            (None, Some(most)) => format!("≤ {most} visits{attempts}{by_default}"),
            (None, None) => {
                let ticks = body.unbounded.iter().any(|none| none.socket == socket.socket);
                no_bound(ticks).to_owned()
            }
        };
        let turns = body.items.and(socket.turns.most).map(|most| format!(" = {most} turns"));
        let _ = writeln!(text, "{name} {visits}{}", turns.unwrap_or_default());
        if let Some(past) = &socket.past {
            let Quantiles { p50, p90, largest } = past.tokens;
            let _ = write!(text, "    a turn: {p50} tokens (p50), {p90} (p90), {largest} at most");
            if let Some(cost) = past.cost {
                let _ = write!(text, "; cost {}, {}, {}", cost.p50, cost.p90, cost.largest);
            }
            let _ = writeln!(text, "; from {} past turns", past.turns);
        }
        text.push_str(&cost(socket.cost.as_ref(), "    "));
    }
    let none = no_bound(!body.bounded);
    let _ = writeln!(text, "\nThe cast {}", of(&body.cast.visits, "visits", none));
    let _ = writeln!(text, "The cast {}", of(&body.cast.turns, "turns, attempts included", none));
    text.push_str(&cost(body.cast.cost.as_ref(), ""));
    if let Some(turns) = body.cast.max_turns {
        let _ = writeln!(text, "Its budget ends it after {turns} turns.");
    }
    for none in &body.unbounded {
        let _ = writeln!(text, "`{}` ticks without end; {} bounds it.", none.socket, none.field);
    }
    text
}

/// The words for a bound that cannot be told. If nothing ticks for ever there is one, but in no useful form.
fn no_bound(ticks: bool) -> &'static str {
    if ticks { "has no bound" } else { "has no useful bound" }
}

fn of(bound: &BoundOf, what: &str, none: &str) -> String {
    match (&bound.formula, bound.most) {
        (Some(formula), Some(most)) if *formula == most.to_string() => format!("≤ {most} {what}"),
        (Some(formula), Some(most)) => format!("≤ {formula} {what} = {most}"),
        (Some(formula), None) => format!("≤ {formula} {what}"),
        (None, Some(most)) => format!("≤ {most} {what}"),
        (None, None) => format!("{none} of {what}"),
    }
}

fn cost(cost: Option<&CostBound>, indent: &str) -> String {
    let Some(CostBound { tokens, cost, enforced }) = cost else { return String::new() };
    let parts =
        [tokens.map(|tokens| format!("{tokens} tokens")), cost.map(|cost| format!("cost {cost}"))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let why =
        if *enforced { "by its budget" } else { "if no turn is larger than the largest so far" };
    format!("{indent}at most {}, {why}\n", parts.join(", "))
}
