//! Stops dataflow turns on a cycle that repeat themselves without a change (D23).

use materia_contract::{Mode, ModeChanged, Pace};

use crate::ask::repeats;
use crate::decide::draft::Draft;

/// Stops the scheduler before a node on a cycle without a bound has more turns than it may.
pub(crate) fn endless(draft: &mut Draft<'_>, index: usize) {
    let run = draft.run();
    let most = run.plan().limits.max_cycle_turns;
    let what =
        format!("lies on a cycle without a bound and has had {most} turns (limits.maxCycleTurns)");
    stop(draft, index, repeats::newest(&run.nodes[index].traces), what);
}

fn stop(draft: &mut Draft<'_>, index: usize, evidence: Vec<u64>, what: String) {
    let node = draft.run().node(index).0.clone();
    let (value, reason) = (Mode::Pace(Pace::Interactive), "stall".to_owned());
    draft.emit_at(&node, ModeChanged { value, reason, evidence, message: Some(what) });
}

/// Stops the scheduler where a node only repeats itself. Nothing is killed and nothing lost.
pub(crate) fn watch(draft: &mut Draft<'_>, index: usize) {
    let run = draft.run();
    if run.pace == Pace::Interactive {
        return;
    }
    let traces = &run.nodes[index].traces;
    let Some((evidence, what)) = repeats::repeated(traces) else { return };
    stop(draft, index, evidence, what.to_owned());
}
