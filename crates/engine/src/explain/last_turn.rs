//! Why the newest turn of a node ran, or why a node has never had one.

use materia_contract::{
    Cause, Condition as When, Edge, Guard, Loop, NodeId, Plan, RouteSelected, Test, Uuid,
    on_failure_edge,
};
use materia_kernel::{Gate, Phase, Run, barred};

use super::Because;
use super::trail::{Crossing, LastTurn, Sender, Sent, Trail};

/// The answer about a node: whether it ran, how often, a sentence, and the facts behind it.
pub(super) struct Told {
    pub(super) ran: bool,
    pub(super) visits: u32,
    pub(super) sentence: String,
    pub(super) because: Vec<Because>,
}

/// Describes the newest turn of a node, or why it has had none.
pub(super) fn tell(run: &Run, plan: &Plan, index: usize, name: &NodeId, trail: &Trail) -> Told {
    match trail.turns.get(name) {
        Some(turn) => ran(name, turn, trail),
        None => did_not_run(run, plan, index, name, trail),
    }
}

/// The origin of a payload in a sentence, with its event.
pub(super) fn origin(trail: &Trail, payload: Uuid) -> Because {
    let Some(Sent { seq, by, .. }) = trail.sent.get(&payload) else {
        return Because { seq: None, text: format!("payload {payload} was given to it") };
    };
    let text = match by {
        Sender::Node(edge, from, Some(chosen)) => {
            let (seq, route) = &**chosen;
            let how = if *edge == on_failure_edge(from.as_str()) {
                // Nothing completed there: the way out of a failed turn was taken (D61).
                format!("`{from}` failed, which its `onFailure` caught (event {seq}),")
            } else {
                format!("`{from}` completed with {} (event {seq})", verdict(route))
            };
            format!("{how} and sent it a payload over `{edge}`")
        }
        Sender::Node(edge, _, None) => format!("a payload was put on `{edge}`"),
        Sender::Person if *seq <= 2 => "it is the entry and was given the request".into(),
        Sender::Person => "a person gave it an instruction".into(),
        Sender::Timer => "its interval brought a tick".into(),
    };
    Because { seq: Some(*seq), text }
}

fn verdict(route: &RouteSelected) -> &'static str {
    match route.satisfied {
        Some(true) => "satisfied: true",
        Some(false) => "satisfied: false",
        None => "no verdict",
    }
}

fn ran(name: &NodeId, turn: &LastTurn, trail: &Trail) -> Told {
    let mut because: Vec<Because> =
        turn.consumed.iter().map(|payload| origin(trail, *payload)).collect();
    let (seq, text) = match &turn.cause {
        Cause::Input => (None, None),
        Cause::Foreach { index } => {
            (None, Some(format!("its foreach reached element {}", index + 1)))
        }
        Cause::Retry { turn } => (
            Some(*turn),
            Some("its attempt before was interrupted, so it ran again with the same inputs".into()),
        ),
        Cause::Repair { turn } => (
            Some(*turn),
            Some("its attempt before broke the contract, so it was asked once more".into()),
        ),
        Cause::Recast { turn } => {
            (Some(*turn), Some("its attempt before failed and a person tried it again".into()))
        }
        Cause::Manual => {
            let asked = trail.marks(name).requested.filter(|asked| *asked < turn.seq);
            (asked, Some("a person asked for the turn".into()))
        }
    };
    because.extend(text.map(|text| Because { seq, text }));
    because.sort_by_key(|fact| fact.seq);
    let reasons: Vec<String> = because.iter().map(told).collect();
    let end = match turn.end {
        Some((seq, "interrupted")) => format!("; the turn was interrupted (event {seq})"),
        Some((seq, end)) => format!("; the turn {end} (event {seq})"),
        None => "; the turn has not ended".to_owned(),
    };
    let sentence = format!(
        "`{name}` ran (visit {}, attempt {}, event {}) because {}{end}.",
        turn.visit,
        turn.attempt,
        turn.seq,
        reasons.join(", and ")
    );
    Told { ran: true, visits: turn.visit, sentence, because }
}

fn told(fact: &Because) -> String {
    match fact.seq {
        Some(seq) => format!("{} (event {seq})", fact.text),
        None => fact.text.clone(),
    }
}

fn did_not_run(run: &Run, plan: &Plan, index: usize, name: &NodeId, trail: &Trail) -> Told {
    let mut because: Vec<Because> = if let Some(text) = waiting(run, barred(run, index)) {
        vec![Because { seq: None, text }]
    } else {
        let edges = edges_to(plan, name).map(|(from, edge)| not_taken(from, edge, trail));
        edges.chain(exits_not_taken(plan, name, trail)).collect()
    };
    if because.is_empty() {
        because.push(Because { seq: None, text: "no edge leads to it".into() });
    }
    if let Some((seq, end @ ("completed" | "failed" | "aborted" | "waiting"))) = trail.status {
        let text = match end {
            "waiting" => "the cast waits for a person".to_owned(),
            _ => format!("the cast has {end}"),
        };
        because.push(Because { seq: Some(seq), text });
    }
    let reasons: Vec<String> = because.iter().map(told).collect();
    let sentence = format!("`{name}` has not run: {}.", reasons.join("; "));
    Told { ran: false, visits: 0, sentence, because }
}

/// The edges that lead to a node, each with where it comes from.
pub(super) fn edges_to<'plan>(
    plan: &'plan Plan,
    name: &'plan NodeId,
) -> impl Iterator<Item = (&'plan NodeId, &'plan Edge)> {
    plan.nodes
        .iter()
        .flat_map(|(from, node)| {
            node.edges.iter().chain(&node.on_failure).map(move |edge| (from, edge))
        })
        .filter(move |(_, edge)| edge.to.as_ref() == Some(name))
}

/// Why a node does not start though it has an input; `None` where it has none.
fn waiting(run: &Run, barred: Option<Gate>) -> Option<String> {
    let why = match barred {
        Some(Gate::Input) => return None,
        Some(Gate::Running) => match run.phase() {
            Phase::Waiting(waiting) => {
                return Some(format!("its input waits: {}", waiting.message));
            }
            Phase::New | Phase::Running | Phase::Completed | Phase::Failed(_) | Phase::Aborted => {
                "its input waits, and the cast is at rest"
            }
        },
        None => "its input has arrived and it is about to start",
        Some(Gate::Pace) => "its input waits, and the pace is INTERACTIVE",
        Some(Gate::Mode | Gate::Control | Gate::Trigger) => {
            "its input waits, and only a person starts it"
        }
        Some(Gate::Room) => "its input waits until a turn there ends (maxInFlight)",
        Some(Gate::Dependencies) => "its input waits for what it depends on",
        Some(Gate::Approval) => "its input waits for a person's approval",
        Some(Gate::Budget) => "its input waits, and it has spent its budget",
        Some(Gate::RunBudget) => "its input waits, and the cast has spent its budget",
        Some(Gate::Concurrency) => {
            "its input waits until another turn of the cast ends (maxConcurrentTurns)"
        }
    };
    Some(why.to_owned())
}

/// Why the loops whose exits lead to a node have not led there.
pub(super) fn exits_not_taken(plan: &Plan, name: &NodeId, trail: &Trail) -> Vec<Because> {
    let leads = |region: &Loop| region.exits.iter().any(|exit| exit.to.as_ref() == Some(name));
    let loops = plan.loops.iter().filter(|(_, region)| leads(region));
    loops
        .map(|(id, _)| match trail.left.get(id) {
            Some((seq, to)) => {
                Because { seq: Some(*seq), text: format!("loop `{id}` was left to `{to}`") }
            }
            None => Because { seq: None, text: format!("loop `{id}` has not been exhausted") },
        })
        .collect()
}

/// A comparison in words.
fn told_guard(guard: &Guard) -> String {
    let path = &guard.path;
    match &guard.test {
        Test::Equals(value) => format!("{path} equals {value}"),
        Test::NotEquals(value) => format!("{path} does not equal {value}"),
        Test::Exists(true) => format!("{path} exists"),
        Test::Exists(false) => format!("{path} does not exist"),
    }
}

/// Why an edge has brought nothing.
pub(super) fn not_taken(from: &NodeId, edge: &Edge, trail: &Trail) -> Because {
    let (id, when): (_, When) = (&edge.id, edge.when);
    if let Some(Crossing { seq, fate, .. }) = trail.edges.get(id) {
        let text = format!("the newest payload over `{id}` {}", fate.word());
        return Because { seq: Some(*seq), text };
    }
    match (trail.routes.get(from), trail.turns.get(from)) {
        (Some((seq, route)), _) if route.edge_id.as_ref() == Some(id) => {
            let text = format!("`{from}` took `{id}`, and it has brought nothing yet");
            Because { seq: Some(*seq), text }
        }
        (Some((seq, route)), _) => {
            let taken = match &route.edge_id {
                Some(edge) => format!("took `{edge}`"),
                None => "matched no edge".to_owned(),
            };
            let also = edge.guard.as_ref().map(|guard| format!(", where {}", told_guard(guard)));
            let also = also.unwrap_or_default();
            let text = format!(
                "`{from}` ended with {} and {taken}, not `{id}` ({}{also})",
                verdict(route),
                when.word()
            );
            Because { seq: Some(*seq), text }
        }
        (None, Some(LastTurn { end: Some((seq, "completed")), .. })) => {
            let text = format!("`{from}`, from which `{id}` leads here, has sent nothing");
            Because { seq: Some(*seq), text }
        }
        (None, Some(turn)) => {
            let text = format!("`{from}`, from which `{id}` leads here, has not completed a turn");
            Because { seq: Some(turn.seq), text }
        }
        (None, None) => Because {
            seq: None,
            text: format!("`{from}`, from which `{id}` leads here, has not run"),
        },
    }
}
