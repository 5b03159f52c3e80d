//! `foreach`: one node, once for each element of a list, then its edges once (D43).

use materia_contract::{Cause, CursorAdvanced, ErrorCode};
use serde_json::Value;

use crate::draft::Draft;
use crate::lookup::Scope;
use crate::state::Payload;
use crate::{Run, output, schedule, settle};

/// What follows a completed turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The node's edges.
    Routes,
    /// Another element; its turn has been started.
    Element,
}

/// Freezes the list. Says whether there is an element to run.
///
/// An empty list consumes what waits, runs nothing and routes without a verdict.
pub(crate) fn enter(draft: &mut Draft<'_>, index: usize, payloads: &[Payload]) -> bool {
    let run = draft.run();
    let (id, node) = run.node(index);
    let id = id.clone();
    let foreach = node.foreach.as_ref().expect("only called where there is one");
    let cursor = foreach.cursor.clone();
    let Some(items) = output::list_at(&Scope::of(run), &foreach.items) else {
        let message = format!("`{id}` cannot iterate: {} is not a list", foreach.items);
        settle::fail(draft, ErrorCode::ContractError, message, Some(id), Vec::new());
        return false;
    };
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let exhausted = count == 0;
    draft.emit_at(&id, CursorAdvanced { cursor, index: 0, count, exhausted });
    if exhausted {
        for payload in payloads {
            let consumed = materia_contract::PayloadConsumed { payload_id: payload.id };
            draft.emit_at(&id, consumed);
        }
        settle::routed(draft, index, None, None, "");
    }
    !exhausted
}

/// Starts the turn of the current element.
pub(crate) fn begin_element(draft: &mut Draft<'_>, index: usize) {
    let iteration = draft.run().nodes[index].foreach.as_ref().expect("it was entered");
    let cause = Cause::Foreach { index: iteration.index };
    let payloads = iteration.payloads.clone();
    schedule::start_turn(draft, index, cause, &payloads);
}

/// Moves on after a completed turn.
pub(crate) fn advance(draft: &mut Draft<'_>, index: usize) -> Next {
    let run = draft.run();
    let Some(iteration) = &run.nodes[index].foreach else { return Next::Routes };
    let (id, node) = run.node(index);
    let id = id.clone();
    let cursor = node.foreach.as_ref().expect("it iterates").cursor.clone();
    let count = u32::try_from(iteration.items.len()).unwrap_or(u32::MAX);
    let next = iteration.index + 1;
    let exhausted = next >= count;
    draft.emit_at(&id, CursorAdvanced { cursor, index: next, count, exhausted });
    if exhausted {
        return Next::Routes;
    }
    begin_element(draft, index);
    Next::Element
}

/// The element that a node works on, if it iterates.
pub(crate) fn current_item(run: &Run, index: usize) -> Option<&Value> {
    let iteration = run.nodes[index].foreach.as_ref()?;
    iteration.items.get(iteration.index as usize)
}

/// The key of the current element, from its position (H4).
pub(crate) fn item_key(run: &Run, index: usize) -> String {
    let position = run.nodes[index].foreach.as_ref().map_or(0, |iteration| iteration.index);
    format!("WI-{}", position + 1)
}
