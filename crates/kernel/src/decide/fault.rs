//! Failed turns and unusable outputs: retries the turn, takes the failure edge, or fails the run.

use materia_contract::{
    Behavior, ErrorCode, NodeId, OutputFieldsIgnored, RouteSelected, StatePatched, Timer, TimerSet,
    TurnFailed, TurnOutput,
};

use crate::ask::{output, work};
use crate::decide::agenda::{Arrival, Due};
use crate::decide::draft::Draft;
use crate::decide::{deliver, edges, ending, retry};
use crate::state::{Caught, Turn, TurnWork};

/// A turn ended badly, or its output cannot be used.
pub(crate) fn fault(
    draft: &mut Draft<'_>,
    started: u64,
    code: ErrorCode,
    message: String,
    report: TurnOutput,
) {
    let run = draft.run();
    let turn = run.turn(started).expect("accepted reports are of turns in flight").clone();
    let (id, node) = run.node_of(&turn);
    let id = id.clone();
    // An agent that broke the contract is asked once more; a utility would only do it again (D27).
    let repair = code == ErrorCode::ContractError
        && matches!(node.behavior, Behavior::Agent { .. })
        && turn.repairs < run.plan().limits.max_repairs;
    let most = run.plan().limits.max_retries;
    let session_lost = retry::is_lost(code, &turn, &report);
    let retry_at =
        retry::at(draft.now(), most, node, code, &turn, &report).filter(|_| !session_lost);
    let artifacts = artifacts(run.run_dir(), &id, &turn);
    let evidence = output::evidence(node, code, report.json_text());
    let (visit, attempt, told) = (turn.visit, turn.attempt, message.clone());
    let failed = TurnFailed {
        turn: started,
        visit,
        attempt,
        code,
        message,
        repair,
        retry_at,
        session_lost,
        report,
    };
    draft.emit_at(&id, failed);
    if let Some(at) = retry_at {
        draft.emit_at(&id, TimerSet { timer: Timer::Retry { turn: started }, at });
        return;
    }
    if repair || session_lost {
        return;
    }
    if let Some(output::Evidence { merged, ignored }) = evidence {
        for (fields, reason) in ignored {
            let reason = reason.to_owned();
            draft.emit_at(&id, OutputFieldsIgnored { turn: started, fields, reason });
        }
        if !merged.is_empty() {
            let patched = StatePatched { turn: started, merged, ..StatePatched::default() };
            draft.emit_at(&id, patched);
        }
    }
    let caught = draft.run().caught.as_ref().is_some_and(|caught| caught.turn == started);
    if caught {
        draft.then(Due::FailureEdge(turn.node));
    } else {
        ending::fail(draft, code, told, Some(id), artifacts, None);
    }
}

/// A failed turn takes the way out that its node has for that (D61).
pub(crate) fn lead_on(draft: &mut Draft<'_>, index: usize) {
    let run = draft.run();
    let (id, node) = run.node(index);
    let (Some(edge), Some(Caught { turn, message, .. })) =
        (node.on_failure.clone(), run.caught.clone())
    else {
        return;
    };
    let id = id.clone();
    if let Some((code, message)) = deliver::forbidden(run, &id, Some(turn), &edge) {
        ending::fail(draft, code, message, Some(id), Vec::new(), Some(edge.id));
        return;
    }
    let (edge_id, word) = (Some(edge.id.clone()), edge.target().to_owned());
    draft.emit_at(&id, RouteSelected { turn: Some(turn), edge_id, to: word, satisfied: None });
    if edge.fails {
        ending::give_up(draft, index, Some(turn));
    }
    let Some(to) = edge.to.clone() else { return };
    edges::follow_up(draft, index, turn, &to, work::reason_of(&message));
    let (turn, exited) = (Some(turn), Vec::new());
    draft.then(Due::Arrive(Arrival { sender: index, turn, edge: edge.id, to, exited }));
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
