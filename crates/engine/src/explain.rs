//! Why a node ran, or why it did not: read off the events, so that it is what really happened.

use std::collections::BTreeMap;

use materia_contract::{
    Cause, ChainHash, Edge, EdgeId, Event, EventBody, Guard, Loop, NodeId, Plan, RouteSelected,
    RunId, Test, Uuid,
};
use materia_kernel::{Gate, Phase, Run, barred, evolve};
use serde::Serialize;

use crate::load::walk;
use crate::{Journal, LoadError};

/// Why a node ran, or why it did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The node.
    pub node: NodeId,
    /// Whether it has had a turn.
    pub ran: bool,
    /// How many turns it has had.
    pub visits: u32,
    /// The answer in one sentence, with event numbers.
    pub sentence: String,
    /// The facts behind it, oldest first.
    pub because: Vec<Because>,
}

/// One fact behind an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Because {
    /// The event that made it true, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What is true.
    pub text: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// The run could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The plan has no such node.
    #[error("cast `{run}` has no socket `{node}`; it has {}", .known.join(", "))]
    UnknownNode {
        /// The run.
        run: RunId,
        /// What was asked for.
        node: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The place that was asked for is not in the run.
    #[error("cast `{run}` has {last} events; there is no event {asked}")]
    NoSuchEvent {
        /// The run.
        run: RunId,
        /// What was asked for.
        asked: u64,
        /// What there is.
        last: u64,
    },
}

/// Explains a node, at the end of a run or as of event `at`.
pub fn why(
    journal: &dyn Journal,
    id: &RunId,
    node: &str,
    at: Option<u64>,
) -> Result<Why, WhyError> {
    let mut run = Run::new(id.clone());
    let mut trail = Trail::default();
    let mut last = 0;
    walk(journal, id, 0, ChainHash::origin(id), |_, event| {
        last = event.seq;
        if at.is_none_or(|at| event.seq <= at) {
            evolve(&mut run, event);
            trail.note(event);
        }
    })?;
    if let Some(asked) = at.filter(|at| last > 0 && (*at == 0 || *at > last)) {
        return Err(WhyError::NoSuchEvent { run: id.clone(), asked, last });
    }
    let plan = &run.created().ok_or_else(|| LoadError::Unknown(id.clone()))?.plan;
    let Some((index, name, _)) = plan.nodes.get_full(node) else {
        let known = plan.nodes.keys().map(ToString::to_string).collect();
        return Err(WhyError::UnknownNode { run: id.clone(), node: node.to_owned(), known });
    };
    Ok(match trail.turns.get(name) {
        Some(turn) => ran(name, turn, &trail),
        None => did_not_run(&run, plan, index, name, &trail),
    })
}

/// What the events say about turns, routes and payloads.
#[derive(Default)]
struct Trail {
    turns: BTreeMap<NodeId, LastTurn>,
    routes: BTreeMap<NodeId, Chosen>,
    /// Loops that were left, with the event and the way they were left by.
    left: BTreeMap<String, (u64, String)>,
    /// Where each payload came from.
    sent: BTreeMap<Uuid, Sent>,
    ended: Option<(u64, &'static str)>,
}

/// A choice of a way, and the event that records it.
type Chosen = (u64, RouteSelected);

/// Where a payload came from.
struct Sent {
    /// The event that sent it.
    seq: u64,
    /// Its edge and sender, with the choice that took the edge; a person's words have none.
    over: Option<(EdgeId, NodeId, Option<Chosen>)>,
}

struct LastTurn {
    seq: u64,
    visit: u32,
    attempt: u32,
    cause: Cause,
    consumed: Vec<Uuid>,
    end: Option<(u64, &'static str)>,
}

impl Trail {
    fn note(&mut self, event: &Event) {
        let kind = event.body.type_name();
        match (&event.body, &event.node) {
            (EventBody::TurnStarted(data), Some(node)) => {
                let turn = LastTurn {
                    seq: event.seq,
                    visit: data.visit,
                    attempt: data.attempt,
                    cause: data.cause.clone(),
                    consumed: data.consumed.clone(),
                    end: None,
                };
                self.turns.insert(node.clone(), turn);
            }
            (
                EventBody::TurnCompleted(_)
                | EventBody::TurnFailed(_)
                | EventBody::TurnInterrupted(_),
                Some(node),
            ) => {
                if let Some(turn) = self.turns.get_mut(node) {
                    turn.end = Some((event.seq, kind.trim_start_matches("turn.")));
                }
            }
            (EventBody::RouteSelected(data), Some(node)) => {
                self.routes.insert(node.clone(), (event.seq, data.clone()));
            }
            (EventBody::LoopExhausted(data), _) => {
                self.left.insert(data.region.clone(), (event.seq, data.to.clone()));
            }
            (EventBody::HandoffSent(data), Some(node)) => {
                // The newest choice of the sender is the one that sent it.
                let chosen = self.routes.get(node).cloned();
                let over = Some((data.edge_id.clone(), node.clone(), chosen));
                self.sent.insert(data.payload_id, Sent { seq: event.seq, over });
            }
            (EventBody::PayloadDelivered(data), _) if data.edge_id.is_none() => {
                self.sent.insert(data.payload_id, Sent { seq: event.seq, over: None });
            }
            _ if kind.starts_with("run.") => {
                self.ended = Some((event.seq, kind.trim_start_matches("run.")));
            }
            _ => {}
        }
    }

    /// What a payload is, in words.
    fn origin(&self, payload: Uuid) -> Because {
        match self.sent.get(&payload) {
            Some(Sent { seq, over: Some((edge, from, chosen)) }) => {
                let verdict = chosen
                    .as_ref()
                    .map(|(seq, route)| format!(" with {} (event {seq})", verdict(route)))
                    .unwrap_or_default();
                let text =
                    format!("`{from}` completed{verdict} and sent it a payload over `{edge}`");
                Because { seq: Some(*seq), text }
            }
            Some(Sent { seq, over: None }) if *seq <= 2 => Because {
                seq: Some(*seq),
                text: "it is the entry and was given the request".into(),
            },
            Some(Sent { seq, over: None }) => {
                Because { seq: Some(*seq), text: "a person gave it an instruction".into() }
            }
            None => Because { seq: None, text: format!("payload {payload} was given to it") },
        }
    }
}

fn verdict(route: &RouteSelected) -> &'static str {
    match route.satisfied {
        Some(true) => "satisfied: true",
        Some(false) => "satisfied: false",
        None => "no verdict",
    }
}

fn ran(name: &NodeId, turn: &LastTurn, trail: &Trail) -> Why {
    let mut because: Vec<Because> =
        turn.consumed.iter().map(|payload| trail.origin(*payload)).collect();
    match &turn.cause {
        Cause::Input => {}
        Cause::Foreach { index } => because.push(Because {
            seq: None,
            text: format!("its foreach reached element {}", index + 1),
        }),
        Cause::Retry { turn } => because.push(Because {
            seq: Some(*turn),
            text: "its attempt before was interrupted, so it ran again with the same inputs".into(),
        }),
        Cause::Repair { turn } => because.push(Because {
            seq: Some(*turn),
            text: "its attempt before broke the contract, so it was asked once more".into(),
        }),
        Cause::Recast { turn } => because.push(Because {
            seq: Some(*turn),
            text: "its attempt before failed and a person tried it again".into(),
        }),
        Cause::Manual => {
            because.push(Because { seq: None, text: "a person asked for the turn".into() });
        }
    }
    because.sort_by_key(|fact| fact.seq);
    let reasons: Vec<String> = because.iter().map(told).collect();
    let end = match turn.end {
        Some((seq, end)) => format!("; the turn {} (event {seq})", past(end)),
        None => "; the turn has not ended".to_owned(),
    };
    let sentence = format!(
        "`{name}` ran (visit {}, attempt {}, event {}) because {}{end}.",
        turn.visit,
        turn.attempt,
        turn.seq,
        reasons.join(", and ")
    );
    Why { node: name.clone(), ran: true, visits: turn.visit, sentence, because }
}

fn past(end: &str) -> &str {
    match end {
        "interrupted" => "was interrupted",
        other => other,
    }
}

fn told(fact: &Because) -> String {
    match fact.seq {
        Some(seq) => format!("{} (event {seq})", fact.text),
        None => fact.text.clone(),
    }
}

fn did_not_run(run: &Run, plan: &Plan, index: usize, name: &NodeId, trail: &Trail) -> Why {
    let mut because = match waiting(run, barred(run, index)) {
        Some(text) => vec![Because { seq: None, text }],
        None => plan
            .nodes
            .iter()
            .flat_map(|(from, node)| node.edges.iter().map(move |edge| (from, edge)))
            .filter(|(_, edge)| edge.to.as_ref() == Some(name))
            .map(|(from, edge)| not_taken(from, edge, trail))
            .collect(),
    };
    because.extend(exits_not_taken(plan, name, trail));
    if because.is_empty() {
        because.push(Because { seq: None, text: "no edge leads to it".into() });
    }
    if let Some((seq, end @ ("completed" | "failed" | "aborted" | "waiting"))) = trail.ended {
        let text = match end {
            "waiting" => "the cast waits for a person".to_owned(),
            _ => format!("the cast has {end}"),
        };
        because.push(Because { seq: Some(seq), text });
    }
    let reasons: Vec<String> = because.iter().map(told).collect();
    let sentence = format!("`{name}` has not run: {}.", reasons.join("; "));
    Why { node: name.clone(), ran: false, visits: 0, sentence, because }
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
fn exits_not_taken(plan: &Plan, name: &NodeId, trail: &Trail) -> Vec<Because> {
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
fn not_taken(from: &NodeId, edge: &Edge, trail: &Trail) -> Because {
    let (id, when) = (&edge.id, edge.when.word());
    match (trail.routes.get(from), trail.turns.get(from)) {
        (Some((seq, route)), _) => {
            let taken = match &route.edge_id {
                Some(edge) => format!("took `{edge}`"),
                None => "matched no edge".to_owned(),
            };
            let also = edge.guard.as_ref().map(|guard| format!(", where {}", told_guard(guard)));
            let also = also.unwrap_or_default();
            let text = format!(
                "`{from}` ended with {} and {taken}, not `{id}` ({when}{also})",
                verdict(route)
            );
            Because { seq: Some(*seq), text }
        }
        (None, Some(LastTurn { end: Some((seq, "completed")), .. })) => {
            let text = format!("`{from}`, from which `{id}` leads here, waits for a person");
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
