//! Inputs that wait at a node, or the edges that could bring one and why they have not.

use materia_contract::Trigger;
use materia_kernel::{quiet_until, waiting_inputs};

use super::facts::{CHILDREN_MAX, Facts, Subject};
use super::last_turn::{edges_to, exits_not_taken, not_taken, origin};
use super::{Because, Condition};

/// The facts behind the condition that something waits.
pub(super) fn facts(subject: Subject<'_>, holds: bool) -> Facts {
    let Subject { run, plan, trail, index, name } = subject;
    let waiting = waiting_inputs(run, index);
    let scheduled = plan.nodes[index].trigger == Trigger::Scheduled;
    let timer = trail.marks(name).timer.filter(|_| scheduled);
    if waiting.is_empty() {
        let text = if scheduled { "no tick is due" } else { "nothing waits here" };
        let of = ways(subject);
        let events = timer.into_iter().chain(of.iter().flat_map(|way| way.events.clone()));
        return Facts { text: text.into(), events: events.collect(), of };
    }
    let count = waiting.len();
    let noun = if count == 1 { "1 payload waits".into() } else { format!("{count} payloads wait") };
    let text = match (scheduled, holds) {
        (true, true) => format!("a tick is due ({noun})"),
        (true, false) => format!("no tick is due; {noun} for the next"),
        (false, _) => noun,
    };
    let of: Vec<Condition> = waiting
        .iter()
        .take(CHILDREN_MAX)
        .map(|payload| {
            let Because { seq, text } = origin(trail, *payload);
            let delivered = trail.sent.get(payload).and_then(|sent| sent.delivered);
            let mut events: Vec<u64> = seq.into_iter().chain(delivered).collect();
            events.dedup();
            Condition { name: "payload".into(), holds: true, text, events, of: Vec::new() }
        })
        .chain(more(count))
        .collect();
    let events = timer.into_iter().chain(of.iter().flat_map(|one| one.events.clone())).collect();
    Facts { text, events, of }
}

/// Says that there are more of something than are shown.
fn more(count: usize) -> Option<Condition> {
    let left = count.checked_sub(CHILDREN_MAX).filter(|left| *left > 0)?;
    let text = format!("{left} more");
    Some(Condition {
        name: "payload".into(),
        holds: true,
        text,
        events: Vec::new(),
        of: Vec::new(),
    })
}

/// The edges and loop exits that lead to a node, with why nothing of theirs waits.
fn ways(subject: Subject<'_>) -> Vec<Condition> {
    let Subject { run, plan, trail, name, .. } = subject;
    let mut ways: Vec<Condition> = edges_to(plan, name)
        .map(|(from, edge)| {
            let mut fact = not_taken(from, edge, trail);
            if quiet_until(run, &edge.id).is_some() {
                let quiet = edge.delivery.debounce_ms.unwrap_or(0);
                fact.text = format!("a payload over `{}` waits for {quiet} ms of quiet", edge.id);
                fact.seq = trail.marks(name).timer.or(fact.seq);
            }
            let lost = trail.edges.get(&edge.id).and_then(|crossing| crossing.lost);
            let lost = lost.filter(|(seq, _)| Some(*seq) != fact.seq).map(|(seq, fate)| {
                let text = format!("an earlier payload {}", fate.word());
                Condition {
                    name: "payload".into(),
                    holds: false,
                    text,
                    events: vec![seq],
                    of: Vec::new(),
                }
            });
            way(edge.id.to_string(), fact, lost.into_iter().collect())
        })
        .collect();
    let exits = exits_not_taken(plan, name, trail);
    ways.extend(exits.into_iter().map(|fact| way("loop".into(), fact, Vec::new())));
    if ways.is_empty() {
        let fact = Because { seq: None, text: "no edge leads to it".into() };
        ways.push(way("edge".into(), fact, Vec::new()));
    }
    ways.truncate(CHILDREN_MAX);
    ways
}

fn way(name: String, fact: Because, of: Vec<Condition>) -> Condition {
    let events = fact.seq.into_iter().collect();
    Condition { name, holds: false, text: fact.text, events, of }
}
