//! Moves loops from one work item to the next.

use std::sync::Arc;

use materia_contract::{
    Condition, CursorAdvanced, END, EdgeId, ErrorCode, Exit, LoopEntered, LoopExhausted, NodeId,
    RouteSelected,
};
use serde_json::Value;

use crate::ask::skipping::{self, Skippable};
use crate::ask::{items, route};
use crate::decide::draft::Draft;
use crate::decide::{deliver, settle};

/// A payload arrives at a node: loops around it that its sender was not in are entered on the way.
///
/// A loop without items is exhausted before any member runs (G15) and takes its exit as if its last
/// member had finished without a verdict (D20).
pub(crate) fn arrive(
    draft: &mut Draft<'_>,
    sender: usize,
    turn: Option<u64>,
    edge: &EdgeId,
    to: &NodeId,
    exited: &mut Vec<String>,
) {
    let run = draft.run();
    let target = run.index_of(to);
    let inside = &run.node(sender).1.loops;
    let entered: Vec<String> = run
        .node(target)
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
                let socket = Some(to.clone());
                settle::fail(draft, ErrorCode::NoAdvance, message, socket, Vec::new(), None);
                return;
            }
            exited.push(region.clone());
            let way = Way { from: None, via: Some(edge.clone()), sender, turn, verdict: None };
            exit(draft, &region, &way, exited);
            return;
        }
    }
    let from = draft.run().node(sender).0.clone();
    deliver::send(draft, &from, turn, edge, to);
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

/// Effect of a completed turn on the loop around its node.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// The node's own edges lead on.
    Routes,
    /// The loop is exhausted and its exit was taken.
    Exited,
}

/// Moves the cursor of the innermost loop, if the node does that (G11), and takes the loop's exit
/// where nothing is left.
pub(crate) fn advance(
    draft: &mut Draft<'_>,
    node: usize,
    turn: Option<u64>,
    verdict: Option<bool>,
) -> Moved {
    let run = draft.run();
    let (id, plan) = run.node(node);
    let (Some(when), Some(region)) = (plan.advance, plan.loops.last()) else {
        return Moved::Routes;
    };
    if !route::matching(when, verdict) {
        return Moved::Routes;
    }
    let (id, region) = (id.clone(), region.clone());
    let (place, _, plan) =
        run.plan().loops.get_full(&region).expect("nodes name loops of the plan");
    let state = &run.loops[place];
    let late = if state.items.is_none() { items::list_of(run, plan) } else { None };
    let Some(items) = state.items.clone().or_else(|| late.clone()) else {
        return Moved::Routes;
    };
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let index = state.index + 1;
    if !moves(draft, &id, &region, (index, count), late) {
        return Moved::Routes;
    }
    let way = Way { from: Some(id), via: None, sender: node, turn, verdict };
    exit(draft, &region, &way, &mut vec![region.clone()]);
    Moved::Exited
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
    if moves(draft, &id, &region, (found.index + 1, found.count), None) {
        let verdict = Some(false);
        let way = Way { from: Some(id), via: None, sender: found.mover, turn: None, verdict };
        exit(draft, &region, &way, &mut vec![region.clone()]);
    } else {
        settle::routed(draft, found.mover, None, verdict, None);
    }
}

/// How a loop was left.
struct Way {
    /// The member that exhausted it; an empty loop has none, and any exit counts.
    from: Option<NodeId>,
    /// The edge that led into an empty loop.
    via: Option<EdgeId>,
    sender: usize,
    turn: Option<u64>,
    verdict: Option<bool>,
}

/// Takes the way out of an exhausted loop (G14): the verdict's own exit, then `always`, then the end.
fn exit(draft: &mut Draft<'_>, region: &str, way: &Way, exited: &mut Vec<String>) {
    let exits = &draft.run().plan().loops[region].exits;
    let of = |condition: Condition| {
        exits.iter().find(|exit| {
            exit.condition == condition && way.from.as_ref().is_none_or(|from| exit.from == *from)
        })
    };
    let chosen = match way.verdict {
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
    let sender = draft.run().node(way.sender).0.clone();
    draft.emit_at(
        &sender,
        LoopExhausted { region: region.to_owned(), exit: exit_id, to: word.clone() },
    );
    if let (Some(to), Some(exit)) = (&to, &chosen)
        && let Some((code, message)) = deliver::circles(draft.run(), to, &exit.edge_id)
    {
        // Only an edge can be given further allowance; an exit that led on into this loop is none.
        let plan = draft.run().plan();
        let via = way.via.clone().filter(|via| draft.run().wiring().edge(plan, via).is_some());
        settle::fail(draft, code, message, Some(sender), Vec::new(), via);
        return;
    }
    let (turn, satisfied) = (way.turn, way.verdict);
    let edge_id = chosen.map(|exit| exit.edge_id);
    draft.emit_at(&sender, RouteSelected { turn, edge_id: edge_id.clone(), to: word, satisfied });
    if fails {
        settle::give_up(draft, way.sender, turn);
        return;
    }
    if let (Some(edge), Some(to)) = (edge_id, to) {
        arrive(draft, way.sender, turn, &edge, &to, exited);
    }
}
