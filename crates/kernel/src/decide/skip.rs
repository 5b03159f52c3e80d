//! A person ends the current item of a loop: it counts as not satisfied, and the loop moves on.

use materia_contract::{ItemSkipped, Pace, WaitReason};

use crate::ask::{items, skipping};
use crate::decide::acts;
use crate::decide::agenda::Due;
use crate::decide::draft::Draft;
use crate::state::Phase;

/// Skips the item that is meant. The next one begins as if the member that moves the loop on had just done so; behind
/// the last one the loop is left as not satisfied.
pub(crate) fn skip(draft: &mut Draft<'_>, named: Option<&str>, reason: Option<String>) {
    let run = draft.run();
    let found = skipping::meant(run, named).expect("checked before");
    // Skipping the item resolves a stall, and a run that was stopped for the skip continues.
    let goes_on = run.stopping
        || matches!(&run.phase, Phase::Waiting(waiting) if waiting.reason == WaitReason::Stall);
    let mover = run.node(found.mover).0.clone();
    let label = items::of_loops(run, found.mover).map(|item| item.label).unwrap_or_default();
    let region = run.plan().loops.get_index(found.region).map(|(name, _)| name.clone());
    let dropped = skipping::waiting(run, found.region).into_iter().map(|(.., id)| id).collect();
    let skipped = ItemSkipped {
        region: region.unwrap_or_default(),
        index: found.index,
        item: items::key(found.index),
        item_label: label,
        dropped,
        reason,
    };
    draft.emit_at(&mover, skipped);
    draft.then(Due::MoveOn(found));
    draft.then(Due::Skipped { goes_on });
    draft.then(Due::Start);
}

/// The loop has moved on.
pub(crate) fn skipped(draft: &mut Draft<'_>, goes_on: bool) {
    if goes_on && draft.run().phase == Phase::Running {
        acts::set_pace(draft, Pace::Auto, "skip");
    }
}
