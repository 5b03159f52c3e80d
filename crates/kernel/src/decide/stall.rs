//! Going in circles without a change, where turns of a dataflow graph lie on a cycle (D23).

use materia_contract::{Mode, ModeChanged, Pace};

use crate::ask::alike;
use crate::decide::draft::Draft;

/// Stops the scheduler where a node only repeats itself. Nothing is killed and nothing lost.
pub(crate) fn watch(draft: &mut Draft<'_>, index: usize) {
    let run = draft.run();
    if run.pace == Pace::Interactive {
        return;
    }
    let traces = &run.nodes[index].traces;
    let Some((evidence, what)) = alike::repeated(traces) else { return };
    let node = run.node(index).0.clone();
    let (value, reason) = (Mode::Pace(Pace::Interactive), "stall".to_owned());
    draft.emit_at(&node, ModeChanged { value, reason, evidence, message: Some(what.to_owned()) });
}
