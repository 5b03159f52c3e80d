//! Moves loops from one work item to the next.

use std::sync::Arc;

use materia_contract::{
    Condition, CursorAdvanced, END, ErrorCode, Exit, LoopEntered, LoopExhausted, NodeId,
    RouteSelected,
};
use serde_json::Value;

use crate::ask::skipping::{self, Skippable};
use crate::ask::{items, route};
use crate::decide::agenda::{Arrival, Due, Exhausted, Leaving};
use crate::decide::draft::Draft;
use crate::decide::{deliver, ending};

/// A payload arrives at a node: loops around it that its sender was not in are entered on the way.
///
/// A loop without items is exhausted before any member runs (G15) and takes its exit as if its last
/// member had finished without a verdict (D20).
pub(crate) fn arrive(draft: &mut Draft<'_>, arrival: Arrival) {
    let Arrival { sender, turn, edge, to, mut exited } = arrival;
    let run = draft.run();
    let inside = &run.node(sender).1.loops;
    let entered: Vec<String> = run
        .node(run.index_of(&to))
        .1
        .loops
        .iter()
        .filter(|region| !inside.contains(region) || exited.contains(region))
        .cloned()
        .collect();
    for region in entered {
        if enter(draft, &region) == Some(0) {
            if exited.iter().filter(|left| **left == region).count() > 1 {
                let message = format!("loop `{region}` is empty and its exit leads back into it");
                ending::fail(draft, ErrorCode::NoAdvance, message, Some(to), Vec::new(), None);
                return;
            }
            exited.push(region.clone());
            let by = Leaving { node: sender, turn, verdict: None };
            draft.then(Due::Exit(Exhausted { region, from: None, via: Some(edge), by, exited }));
            return;
        }
    }
    let from = draft.run().node(sender).0.clone();
    deliver::send(draft, &from, turn, &edge, &to);
}

/// Enters a loop; says how many items it has, where it has a list.
pub(crate) fn enter(draft: &mut Draft<'_>, region: &str) -> Option<u32> {
    let run = draft.run();
    let (place, _, plan) = run.plan().loops.get_full(region).expect("nodes name loops of the plan");
    let items = items::list_of(run, plan);
    let count = items.as_ref().map(|items| u32::try_from(items.len()).unwrap_or(u32::MAX));
    let entry = run.loops[place].entry + 1;
    // The items of a generator are already in the event that ended its turn.
    let items = items.filter(|_| plan.consumes.is_none());
    draft.emit(LoopEntered { region: region.to_owned(), entry, count, items });
    count
}

/// A node is done with its item: the loop around it may move on, then the edges lead on (G12).
pub(crate) fn leave(draft: &mut Draft<'_>, leaving: Leaving) {
    let due = match advance(draft, leaving) {
        Some(exhausted) => Due::Exit(exhausted),
        None => Due::Edges(leaving, None),
    };
    draft.then(due);
}

/// Moves the cursor of the innermost loop, if the node does that (G11); gives the loop if nothing is left in it.
fn advance(draft: &mut Draft<'_>, by: Leaving) -> Option<Exhausted> {
    let run = draft.run();
    let (id, plan) = run.node(by.node);
    let (when, region) = (plan.advance?, plan.loops.last()?);
    if !route::matching(when, by.verdict) {
        return None;
    }
    let (id, region) = (id.clone(), region.clone());
    let (place, _, plan) =
        run.plan().loops.get_full(&region).expect("nodes name loops of the plan");
    let state = &run.loops[place];
    let late = if state.items.is_none() { items::list_of(run, plan) } else { None };
    let items = state.items.clone().or_else(|| late.clone())?;
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let index = state.index + 1;
    let exhausted = moves(draft, &id, &region, (index, count), late);
    exhausted.then(|| Exhausted {
        exited: vec![region.clone()],
        region,
        from: Some(id),
        via: None,
        by,
    })
}

/// The cursor of a loop moves to an item; says whether none is left. `late` is the list, where it is frozen just now.
fn moves(
    draft: &mut Draft<'_>,
    by: &NodeId,
    region: &str,
    (index, count): (u32, u32),
    late: Option<Arc<Vec<Value>>>,
) -> bool {
    let cursor = draft.run().plan().loops[region].cursor.clone();
    let (exhausted, of) = (index >= count, Some(region.to_owned()));
    let moved = CursorAdvanced { cursor, index, count, exhausted, region: of, items: late };
    draft.emit_at(by, moved);
    exhausted
}

/// Moves a loop on whose current item a person has ended: as the member would that does it, and out of the loop as not
/// satisfied.
pub(crate) fn move_on(draft: &mut Draft<'_>, found: &Skippable) {
    let run = draft.run();
    let (id, verdict) = (run.node(found.mover).0.clone(), skipping::verdict_of(run, found.mover));
    let Some((region, _)) = run.plan().loops.get_index(found.region) else { return };
    let region = region.clone();
    let by = Leaving { node: found.mover, turn: None, verdict };
    if moves(draft, &id, &region, (found.index + 1, found.count), None) {
        let by = Leaving { verdict: Some(false), ..by };
        let exited = vec![region.clone()];
        draft.then(Due::Exit(Exhausted { region, from: Some(id), via: None, by, exited }));
    } else {
        draft.then(Due::Edges(by, None));
    }
}

/// Takes the way out of an exhausted loop (G14): the verdict's own exit, then `always`, then the end.
pub(crate) fn exit(draft: &mut Draft<'_>, exhausted: Exhausted) {
    let Exhausted { region, from, via, by, exited } = exhausted;
    let exits = &draft.run().plan().loops[&region].exits;
    let of = |condition: Condition| {
        exits.iter().find(|exit| {
            exit.condition == condition && from.as_ref().is_none_or(|from| exit.from == *from)
        })
    };
    let chosen = match by.verdict {
        Some(true) => of(Condition::Satisfied),
        Some(false) => of(Condition::NotSatisfied),
        None => None,
    }
    .or_else(|| of(Condition::Always))
    .cloned();
    let to = chosen.as_ref().and_then(|exit| exit.to.clone());
    let word = chosen.as_ref().map_or(END, Exit::target).to_owned();
    let fails = chosen.as_ref().is_some_and(|exit| exit.fails);
    let exit_id = chosen.as_ref().map(|exit| exit.id.clone());
    let sender = draft.run().node(by.node).0.clone();
    draft.emit_at(&sender, LoopExhausted { region, exit: exit_id, to: word.clone() });
    if let (Some(to), Some(exit)) = (&to, &chosen)
        && let Some((code, message)) = deliver::circles(draft.run(), to, &exit.edge_id)
    {
        // Only an edge can be given further allowance; an exit that led on into this loop is none.
        let plan = draft.run().plan();
        let via = via.filter(|via| draft.run().wiring().edge(plan, via).is_some());
        ending::fail(draft, code, message, Some(sender), Vec::new(), via);
        return;
    }
    let (turn, satisfied) = (by.turn, by.verdict);
    let edge_id = chosen.map(|exit| exit.edge_id);
    draft.emit_at(&sender, RouteSelected { turn, edge_id: edge_id.clone(), to: word, satisfied });
    if fails {
        ending::give_up(draft, by.node, turn);
        return;
    }
    if let (Some(edge), Some(to)) = (edge_id, to) {
        draft.then(Due::Arrive(Arrival { sender: by.node, turn, edge, to, exited }));
    }
}
