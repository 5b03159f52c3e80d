//! Outstanding effects of a run.

use materia_contract::Timer;
use materia_contract::time::Micros;

use crate::state::Run;

/// Work the kernel asks of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Run the turn whose `turn.started` is at this place. Performing it twice must settle once.
    StartTurn(u64),
    /// Publish the branch of the workspace to the user's repository. This must be idempotent.
    Publish,
    /// Say so when this instant has come.
    WakeAt(Micros),
}

/// The effects that a run waits for: its turns by their start, then the publication, then the next timer.
pub fn outstanding(run: &Run) -> impl Iterator<Item = Effect> + '_ {
    let timer = run.timers.first().map(|(at, _, _)| Effect::WakeAt(*at));
    let publish = run.is_publishing().then_some(Effect::Publish);
    run.turns.keys().map(|started| Effect::StartTurn(*started)).chain(publish).chain(timer)
}

/// Whether nothing can happen any more without a person: nothing is in flight, and every timer
/// that is left is a tick of a node that still owes one.
#[must_use]
pub fn is_idle(run: &Run) -> bool {
    let changes_nothing = |(_, index, timer): &(Micros, usize, Timer)| match timer {
        Timer::Tick => run.nodes[*index].tick_owed,
        Timer::Debounce { .. } | Timer::Retry { .. } => false,
    };
    run.turns.is_empty()
        && !run.is_publishing()
        && !run.timeline_left()
        && run.timers.iter().all(changes_nothing)
}
