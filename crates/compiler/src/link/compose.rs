//! Several plans as one, each leading to the next.

use materia_contract::Plan;

use super::{remap, stitch};

/// Composes plans in their order under a name; `None` if there are none.
///
/// Each but the last must end at exactly one place, which is the caller's to check; where that
/// is so, grouping does not matter: a composition can itself be composed, and only the names
/// that are kept apart by the number of their target come out longer. Limits, budget and the
/// folder of documents are those of the configuration, which all plans share.
pub fn compose(plans: &[&Plan], name: &str) -> Option<Plan> {
    let mut first = 1;
    let remapped = plans.iter().enumerate().map(|(place, plan)| {
        let remapped = remap::remap(plan, place + 1, first);
        first += plan.nodes.len();
        remapped
    });
    let mut parts: Vec<Plan> = remapped.collect();
    for place in 1..parts.len() {
        let next = parts[place].entry.clone();
        stitch::stitch(&mut parts[place - 1], &next);
    }
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    for part in parts {
        whole.nodes.extend(part.nodes);
        whole.loops.extend(part.loops);
    }
    name.clone_into(&mut whole.loadout);
    remap::name_edges(&mut whole);
    Some(whole)
}
