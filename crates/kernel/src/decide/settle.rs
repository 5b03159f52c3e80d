//! Settles a turn that has ended.
//!
//! The order is fixed (G12): parse, assign, move the cursor, route.

use std::sync::Arc;

use materia_contract::{
    ErrorCode, NodeId, OutputFieldsIgnored, Parse, Report, ReportedIn, StatePatched, TurnCompleted,
    TurnOutcome, TurnOutput,
};

use crate::ask::output::{self, Reading};
use crate::decide::agenda::{Due, Leaving};
use crate::decide::draft::Draft;
use crate::decide::fault::fault;
use crate::decide::{elements, stall};
use crate::state::Turn;

/// A turn ended. A report of a turn that is no longer in flight says nothing.
pub(crate) fn report(draft: &mut Draft<'_>, Report { turn, outcome }: Report) {
    if draft.run().turn(turn).is_none() {
        return;
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

/// A turn ended by itself.
fn ended(draft: &mut Draft<'_>, started: u64, report: TurnOutput) {
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
        draft.then(Due::Leave(Leaving { node: turn.node, turn: Some(started), verdict }));
    }
}
