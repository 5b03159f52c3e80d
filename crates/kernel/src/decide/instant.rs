//! Everything that happens at one instant, in the order of D7: reports of turns, what people send, timers, changes of
//! the mode.

use materia_contract::{Acting, Moment, TimelineReached};

use crate::decide::acts::{self, Class};
use crate::decide::agenda::Due;
use crate::decide::draft::Draft;
use crate::decide::{exclusive, halt, timers};
use crate::state::Phase;

/// Reports come first.
pub(crate) fn begin(draft: &mut Draft<'_>, moment: Moment) {
    for report in moment.reports {
        draft.then(Due::Report(report.into()));
    }
    draft.then(Due::Acts { acts: moment.acts, since: draft.run().seq });
}

/// The reports are settled; `since` is the last event before them.
pub(crate) fn others(draft: &mut Draft<'_>, mut acts: Vec<Acting>, since: u64) {
    if draft.run().seq > since && matches!(draft.run().phase, Phase::Failed(_)) {
        // One of them was the end: what else would happen now finds no run.
        return;
    }
    if let [Acting { act, .. }] = acts.as_slice()
        && !act.is_of_an_instant()
    {
        alone(draft, acts.remove(0));
        return;
    }
    // The sort is stable: within a class, the order of the list is kept.
    acts.sort_by_key(|acting| acts::class(&acting.act));
    if !acts.is_empty() {
        halt::wake(draft);
    }
    let later = acts.partition_point(|acting| acts::class(&acting.act) == Class::Arrival);
    let changes = acts.split_off(later);
    for acting in acts {
        draft.then(Due::Act(acting.into()));
    }
    draft.then(Due::Timers);
    for acting in changes {
        draft.then(Due::Act(acting.into()));
    }
    draft.then(Due::Start);
}

/// An act that is decided alone.
fn alone(draft: &mut Draft<'_>, acting: Acting) {
    let Acting { act, place, timeline } = acting;
    if let Some(index) = timeline {
        draft.emit(TimelineReached { index, act: act.clone() });
        // An act of a timeline that the run refuses has no effect.
        if exclusive::accept(draft.run(), &act).is_err() {
            draft.then(Due::Start);
            return;
        }
    }
    exclusive::perform(draft, act, place);
}

/// One act. If a refused turn has led to the end, what else would happen now finds no run.
pub(crate) fn one(draft: &mut Draft<'_>, acting: Acting) {
    if !matches!(draft.run().phase, Phase::Failed(_)) {
        acts::perform(draft, acting);
    }
}

/// The timers whose instant has come.
pub(crate) fn due_timers(draft: &mut Draft<'_>) {
    if draft.run().phase == Phase::Running {
        timers::fire_due(draft);
    }
}
