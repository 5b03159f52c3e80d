//! Leads on from a node: chooses its edges and takes them, one after the other.

use materia_contract::{
    Condition, END, EdgeId, FollowUpCaptured, Node, NodeId, Root, RouteSelected, Routing,
};

use crate::ask::scope::Scope;
use crate::ask::{items, route, work};
use crate::decide::agenda::{Arrival, Due, Leaving};
use crate::decide::draft::Draft;
use crate::decide::{deliver, ending};
use crate::state::Phase;

/// Chooses the edges of a node, or those from one of them on. There is no turn where nothing ran (an empty `foreach`).
pub(crate) fn choose(draft: &mut Draft<'_>, leaving: Leaving, from: Option<&EdgeId>) {
    let Leaving { node: index, turn, verdict } = leaving;
    let run = draft.run();
    let (id, node) = run.node(index);
    let output = run.last.json.as_deref().filter(|_| turn.is_some() && run.last.own_json);
    let parsed = output
        .filter(|_| looks_at_output(node))
        .and_then(|output| serde_json::from_str(output.trim()).ok());
    let item = items::current(run, index).map(|item| item.value);
    let scope = Scope { output: parsed.as_ref(), item, ..Scope::of(run) };
    let matched = route::matched(node, verdict, &scope);
    let places: Vec<usize> = matched
        .skip_while(|place| from.is_some_and(|first| node.edges[*place].id != *first))
        .collect();
    let (id, routing) = (id.clone(), node.routing);
    if places.is_empty() && routing == Routing::First {
        let to = END.into();
        draft.emit_at(&id, RouteSelected { turn, edge_id: None, to, satisfied: verdict });
    }
    for place in places {
        draft.then(Due::Edge(leaving, place));
    }
}

/// Whether some edge of a node looks into the output itself.
fn looks_at_output(node: &Node) -> bool {
    let guards = node.edges.iter().filter_map(|edge| edge.guard.as_ref());
    guards.into_iter().any(|guard| guard.path.root == Root::Output)
}

/// Takes the edge at a place of a node, unless one before it has led into an end without a way out.
pub(crate) fn take(draft: &mut Draft<'_>, leaving: Leaving, place: usize) {
    if draft.run().phase != Phase::Running {
        return;
    }
    let Leaving { node: index, turn, verdict } = leaving;
    let run = draft.run();
    let (id, node) = run.node(index);
    let edge = &node.edges[place];
    let forbidden = deliver::forbidden(run, id, turn, edge);
    let (id, edge_id, target) = (id.clone(), edge.id.clone(), edge.to.clone());
    let (to, when, fails) = (edge.target().to_owned(), edge.when, edge.fails);
    if let Some((code, message)) = forbidden {
        ending::fail(draft, code, message, Some(id), Vec::new(), Some(edge_id));
        return;
    }
    let selected = Some(edge_id.clone());
    draft.emit_at(&id, RouteSelected { turn, edge_id: selected, to, satisfied: verdict });
    if fails {
        ending::give_up(draft, index, turn);
    }
    let Some(to) = target else { return };
    if let (Condition::NotSatisfied, Some(false), Some(turn)) = (when, verdict, turn) {
        let reason = work::follow_up_reason(draft.run(), index);
        follow_up(draft, index, turn, &to, reason);
    }
    draft.then(Due::Arrive(Arrival { sender: index, turn, edge: edge_id, to, exited: Vec::new() }));
}

/// Keeps why work is sent back, for the item that its target will work on (D25).
pub(crate) fn follow_up(
    draft: &mut Draft<'_>,
    index: usize,
    turn: u64,
    target: &NodeId,
    reason: String,
) {
    let run = draft.run();
    let (id, target) = (run.node(index).0.clone(), target.clone());
    let item = items::of_target(run, index, run.index_of(&target));
    let item = item.map(|item| items::key(item.index));
    draft.emit_at(&id, FollowUpCaptured { turn, target, item, reason });
}
