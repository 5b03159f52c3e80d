//! A turn has ended: what does its result mean?
//!
//! The order is fixed (G12): parse, assign, move the cursor, route.

use materia_contract::{
    ErrorCode, NodeId, OutputFieldsIgnored, RouteSelected, Routing, RunFailed, StatePatched,
    TurnCompleted, TurnFailed, TurnInterrupted, TurnOutput,
};

use crate::draft::Draft;
use crate::lookup::Scope;
use crate::output::{self, Reading};
use crate::{Report, Turn, TurnOutcome, TurnWork, deliver, foreach, route};

/// Turns ended. A report of a turn that is no longer in flight says nothing.
pub(crate) fn reports(draft: &mut Draft<'_>, reports: Vec<Report>) {
    for Report { turn, outcome } in reports {
        if draft.run().turn(turn).is_none() {
            continue;
        }
        match outcome {
            TurnOutcome::Ended(output) => ended(draft, turn, output),
            TurnOutcome::Faulted { code, message, report } => {
                faulted(draft, turn, code, message, report);
            }
        }
    }
}

/// A turn ended by itself.
fn ended(draft: &mut Draft<'_>, started: u64, report: TurnOutput) {
    let run = draft.run();
    let turn = run.turn(started).expect("accepted reports are of turns in flight").clone();
    let (id, node) = run.node_of(&turn);
    let id = id.clone();
    match output::read(run, &turn, node, &report.output) {
        Ok(reading) => completed(draft, started, &turn, &id, reading, report),
        Err(faults) => {
            let message = format!("`{id}` broke its contract: {faults}");
            faulted(draft, started, ErrorCode::ContractError, message, report);
        }
    }
}

fn completed(
    draft: &mut Draft<'_>,
    started: u64,
    turn: &Turn,
    id: &NodeId,
    reading: Reading,
    report: TurnOutput,
) {
    let Reading { verdict, merged, assigned, ignored } = reading;
    // Routing may look at `$`, so the text is kept before the event takes it.
    let output =
        if wants_output(draft, turn) { report.output.trim().to_owned() } else { String::new() };
    draft.emit_at(
        id,
        TurnCompleted {
            turn: started,
            visit: turn.visit,
            attempt: turn.attempt,
            satisfied: verdict,
            report,
        },
    );
    if let Some((fields, reason)) = ignored {
        draft.emit_at(id, OutputFieldsIgnored { turn: started, fields, reason: reason.to_owned() });
    }
    if !merged.is_empty() || !assigned.is_empty() {
        draft.emit_at(id, StatePatched { turn: started, merged, assigned });
    }
    if foreach::advance(draft, turn.node) == foreach::Next::Routes {
        routed(draft, turn.node, Some(started), verdict, &output);
    }
}

/// Whether some edge of the turn's node looks into the output itself.
fn wants_output(draft: &Draft<'_>, turn: &Turn) -> bool {
    let (_, node) = draft.run().node_of(turn);
    node.edges.iter().any(|edge| {
        edge.guard.as_ref().is_some_and(|guard| guard.path.root == materia_contract::Root::Output)
    })
}

/// Takes the ways out of a node. `turn` is absent where nothing ran (an empty `foreach`).
pub(crate) fn routed(
    draft: &mut Draft<'_>,
    index: usize,
    turn: Option<u64>,
    verdict: Option<bool>,
    output: &str,
) {
    let run = draft.run();
    let (id, node) = run.node(index);
    let id = id.clone();
    let parsed = serde_json::from_str(output).ok();
    let scope = Scope { output: parsed.as_ref(), ..Scope::of(run) };
    let edges: Vec<_> = route::matched(node, verdict, &scope).into_iter().cloned().collect();
    let routing = node.routing;
    if edges.is_empty() && routing == Routing::First {
        let nowhere = RouteSelected {
            turn,
            edge_id: None,
            to: materia_contract::END.into(),
            satisfied: verdict,
        };
        draft.emit_at(&id, nowhere);
    }
    for edge in edges {
        if let Some((code, message)) = deliver::forbidden(draft.run(), &id, routing, &edge) {
            fail(draft, code, message, Some(id), Vec::new());
            return;
        }
        let to = edge.to.as_ref().map_or(materia_contract::END, NodeId::as_str);
        let edge_id = Some(edge.id.clone());
        draft.emit_at(&id, RouteSelected { turn, edge_id, to: to.into(), satisfied: verdict });
        if let Some(to) = &edge.to {
            deliver::send(draft, &id, turn, &edge.id, to);
        }
    }
}

/// A turn ended badly, or its output cannot be used.
fn faulted(
    draft: &mut Draft<'_>,
    started: u64,
    code: ErrorCode,
    message: String,
    report: TurnOutput,
) {
    let run = draft.run();
    let turn = run.turn(started).expect("accepted reports are of turns in flight").clone();
    let id = run.node_of(&turn).0.clone();
    let artifacts = artifacts(draft.run().run_dir(), &id, &turn);
    let (visit, attempt) = (turn.visit, turn.attempt);
    let failed =
        TurnFailed { turn: started, visit, attempt, code, message: message.clone(), report };
    draft.emit_at(&id, failed);
    fail(draft, code, message, Some(id), artifacts);
}

/// Stops the run short. Whatever else was in flight is interrupted.
pub(crate) fn fail(
    draft: &mut Draft<'_>,
    code: ErrorCode,
    message: String,
    socket: Option<NodeId>,
    artifacts: Vec<String>,
) {
    interrupt_all(draft, materia_contract::InterruptReason::RunFailed);
    draft.emit(RunFailed { code, message, socket, artifacts });
}

/// Writes down that nobody will know how the turns in flight end.
pub(crate) fn interrupt_all(draft: &mut Draft<'_>, reason: materia_contract::InterruptReason) {
    let in_flight: Vec<_> = draft
        .run()
        .turns
        .iter()
        .map(|(started, turn)| (*started, turn.node, turn.visit, turn.attempt))
        .collect();
    for (turn, node, visit, attempt) in in_flight {
        let id = draft.run().node(node).0.clone();
        draft.emit_at(&id, TurnInterrupted { turn, visit, attempt, reason });
    }
}

/// The files that show more about a turn.
fn artifacts(run_dir: &str, id: &NodeId, turn: &Turn) -> Vec<String> {
    let extensions: &[&str] = match turn.work {
        TurnWork::Input(_) => &["input.json", "stdout", "stderr", "meta.json"],
        TurnWork::Prompt(_) => &["prompt.txt", "output.txt", "meta.json"],
    };
    let stem = format!("{run_dir}/sockets/{id}/{}-{}", turn.visit, turn.attempt);
    extensions.iter().map(|extension| format!("{stem}.{extension}")).collect()
}
