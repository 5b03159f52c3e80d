//! Settles a turn that has ended.
//!
//! The order is fixed (G12): parse, assign, move the cursor, route.

use std::sync::Arc;

use materia_contract::{
    Condition, Edge, EdgeId, ErrorCode, FileState, FollowUpCaptured, InterruptReason, Node, NodeId,
    OutputFieldsIgnored, Parse, Report, ReportedIn, Root, RouteSelected, Routing, RunFailed,
    StatePatched, TurnCompleted, TurnInterrupted, TurnOutcome, TurnOutput,
};

use crate::ask::output::{self, Reading};
use crate::ask::scope::Scope;
use crate::ask::{items, route, work};
use crate::decide::draft::Draft;
use crate::decide::fault::fault;
use crate::decide::{cursor, deliver, elements, stall};
use crate::state::{Phase, Turn};

/// Turns ended. A report of a turn that is no longer in flight says nothing.
pub(crate) fn reports(draft: &mut Draft<'_>, reports: Vec<Report>) {
    for Report { turn, outcome } in reports {
        if draft.run().turn(turn).is_none() {
            continue;
        }
        // The end of a turn is the first event that its report leads to.
        let event = draft.next_seq();
        let faulted = matches!(outcome, TurnOutcome::Faulted { .. });
        draft.reported(ReportedIn { turn, event, faulted });
        match outcome {
            TurnOutcome::Ended(output) => ended(draft, turn, output),
            TurnOutcome::Faulted { code, message, report } => {
                fault(draft, turn, code, message, report);
            }
        }
    }
}

/// A turn ended by itself.
pub(crate) fn ended(draft: &mut Draft<'_>, started: u64, report: TurnOutput) {
    let run = draft.run();
    let turn = run.turn(started).expect("accepted reports are of turns in flight");
    let (id, node) = run.node_of(turn);
    let (id, name) = (id.clone(), Name::of(started, turn));
    match output::read(run, turn, node, &report) {
        Ok(reading) => completed(draft, name, &id, reading, report),
        Err(faults) => {
            let message = format!("`{id}` broke its contract: {faults}");
            fault(draft, started, ErrorCode::ContractError, message, report);
        }
    }
}

/// The runtime answers a turn itself: not satisfied, and why. No contract can be broken by that.
pub(crate) fn answered(draft: &mut Draft<'_>, started: u64, context: &str) {
    let turn = draft.run().turn(started).expect("it was just started");
    let (id, name) = (draft.run().node_of(turn).0.clone(), Name::of(started, turn));
    let node = draft.run().node_of(turn).1;
    let answer = serde_json::json!({ "satisfied": false, "context": context }).to_string();
    let reading = Reading {
        verdict: Some(false),
        object: (node.parse == Parse::Json).then_some((0, answer.len())),
        items: node.generator.then(Vec::new),
        ..Reading::default()
    };
    let report = TurnOutput { output: answer, ..TurnOutput::default() };
    completed(draft, name, &id, reading, report);
}

/// Which turn it is.
#[derive(Clone, Copy)]
struct Name {
    started: u64,
    node: usize,
    visit: u32,
    attempt: u32,
}

impl Name {
    fn of(started: u64, turn: &Turn) -> Self {
        Self { started, node: turn.node, visit: turn.visit, attempt: turn.attempt }
    }
}

fn completed(draft: &mut Draft<'_>, turn: Name, id: &NodeId, reading: Reading, report: TurnOutput) {
    let Reading { verdict, merged, assigned, ignored, object, context, items } = reading;
    let Name { started, visit, attempt, .. } = turn;
    draft.emit_at(
        id,
        TurnCompleted {
            turn: started,
            visit,
            attempt,
            satisfied: verdict,
            object,
            context,
            work_items: items.map(Arc::new),
            report,
        },
    );
    for (fields, reason) in ignored {
        let reason = reason.to_owned();
        draft.emit_at(id, OutputFieldsIgnored { turn: started, fields, reason });
    }
    if !merged.is_empty() || !assigned.is_empty() {
        draft.emit_at(id, StatePatched { turn: started, merged, assigned });
    }
    if draft.run().wiring().cyclic.contains(&turn.node) {
        stall::watch(draft, turn.node);
    }
    // A multi-turn node goes on only when a person says so.
    let paused = draft.run().paused.contains_key(&turn.node);
    if !paused && elements::advance(draft, turn.node) == elements::Next::Routes {
        leave(draft, turn.node, Some(started), verdict);
    }
}

/// A node is done with its item: the loop around it may move on, then the edges lead on (G12).
pub(crate) fn leave(draft: &mut Draft<'_>, index: usize, turn: Option<u64>, verdict: Option<bool>) {
    if cursor::advance(draft, index, turn, verdict) == cursor::Moved::Routes {
        routed(draft, index, turn, verdict, None);
    }
}

/// Takes the ways out of a node, or those from one of them on. `turn` is absent where nothing ran (an
/// empty `foreach`).
pub(crate) fn routed(
    draft: &mut Draft<'_>,
    index: usize,
    turn: Option<u64>,
    verdict: Option<bool>,
    from: Option<&EdgeId>,
) {
    let run = draft.run();
    let (id, node) = run.node(index);
    let output = run.last.json.as_deref().filter(|_| turn.is_some() && run.last.own_json);
    let parsed = output
        .filter(|_| looks_at_output(node))
        .and_then(|output| serde_json::from_str(output.trim()).ok());
    let item = items::current(run, index).map(|item| item.value);
    let scope = Scope { output: parsed.as_ref(), item, ..Scope::of(run) };
    let matched = route::matched(node, verdict, &scope).into_iter();
    let edges: Vec<_> =
        matched.skip_while(|edge| from.is_some_and(|first| edge.id != *first)).cloned().collect();
    let (id, routing) = (id.clone(), node.routing);
    if edges.is_empty() && routing == Routing::First {
        let to = materia_contract::END.into();
        draft.emit_at(&id, RouteSelected { turn, edge_id: None, to, satisfied: verdict });
    }
    for edge in edges {
        // An edge before this one may have led into an end without a way out.
        if draft.run().phase != Phase::Running {
            return;
        }
        if let Some((code, message)) = deliver::forbidden(draft.run(), &id, turn, &edge) {
            fail(draft, code, message, Some(id), Vec::new(), Some(edge.id));
            return;
        }
        take(draft, index, turn, verdict, &edge);
    }
}

/// Whether some edge of a node looks into the output itself.
fn looks_at_output(node: &Node) -> bool {
    let guards = node.edges.iter().filter_map(|edge| edge.guard.as_ref());
    guards.into_iter().any(|guard| guard.path.root == Root::Output)
}

/// Takes one edge.
pub(crate) fn take(
    draft: &mut Draft<'_>,
    index: usize,
    turn: Option<u64>,
    verdict: Option<bool>,
    edge: &Edge,
) {
    let id = draft.run().node(index).0.clone();
    let (edge_id, to) = (Some(edge.id.clone()), edge.target().to_owned());
    draft.emit_at(&id, RouteSelected { turn, edge_id, to, satisfied: verdict });
    if edge.fails {
        give_up(draft, index, turn);
    }
    let Some(to) = &edge.to else { return };
    if let (Condition::NotSatisfied, Some(false), Some(turn)) = (edge.when, verdict, turn) {
        let reason = work::follow_up_reason(draft.run(), index);
        follow_up(draft, index, turn, to, reason);
    }
    cursor::arrive(draft, index, turn, &edge.id, to, &mut Vec::new());
}

/// A way led to `fail`: the run fails, and the reason is what the socket said (D65).
pub(crate) fn give_up(draft: &mut Draft<'_>, index: usize, turn: Option<u64>) {
    let run = draft.run();
    let id = run.node(index).0.clone();
    let caught = run.caught.as_ref().filter(|caught| turn == Some(caught.turn));
    let reason = match caught {
        Some(caught) => work::reason_of(&caught.message),
        None if turn.is_some() => work::own_reason(run, index),
        None => String::new(),
    };
    let silent = reason.is_empty();
    let message = if silent { format!("`{id}` leads to `fail` and says nothing") } else { reason };
    fail(draft, ErrorCode::GraphFailed, message, Some(id), Vec::new(), None);
}

/// Keeps why work is sent back, for the item that its target will work on (D25).
pub(crate) fn follow_up(
    draft: &mut Draft<'_>,
    index: usize,
    turn: u64,
    target: &NodeId,
    reason: String,
) {
    let run = draft.run();
    let (id, target) = (run.node(index).0.clone(), target.clone());
    let item = items::of_target(run, index, run.index_of(&target));
    let item = item.map(|item| items::key(item.index));
    draft.emit_at(&id, FollowUpCaptured { turn, target, item, reason });
}

/// Stops the run short. Whatever else was in flight is interrupted.
pub(crate) fn fail(
    draft: &mut Draft<'_>,
    code: ErrorCode,
    message: String,
    socket: Option<NodeId>,
    artifacts: Vec<String>,
    edge_id: Option<EdgeId>,
) {
    interrupt_all(draft, InterruptReason::RunFailed);
    draft.emit(RunFailed { code, message, socket, artifacts, edge_id });
}

/// Records that the turns in flight were interrupted and their results are unknown.
pub(crate) fn interrupt_all(draft: &mut Draft<'_>, reason: InterruptReason) {
    interrupt_each(draft, |_| (reason, None));
}

/// The same, where not all are interrupted for the same reason, or where it is known which files they left.
pub(crate) fn interrupt_each(
    draft: &mut Draft<'_>,
    reason: impl Fn(u64) -> (InterruptReason, Option<FileState>),
) {
    let in_flight: Vec<_> = draft
        .run()
        .turns
        .iter()
        .map(|(started, turn)| {
            let alone = turn.files.as_ref().map(|files| files.alone);
            (*started, turn.node, turn.visit, turn.attempt, alone)
        })
        .collect();
    for (turn, node, visit, attempt, alone) in in_flight {
        let id = draft.run().node(node).0.clone();
        let (reason, files) = reason(turn);
        let put_back = alone.filter(|_| reason != InterruptReason::Workspace);
        draft.emit_at(&id, TurnInterrupted { turn, visit, attempt, reason, files, put_back });
    }
}
