//! `foreach`: one node, once for each element of a list, then its edges once (D43).

use std::sync::Arc;

use materia_contract::{CursorAdvanced, ErrorCode, PayloadConsumed};

use crate::ask::scope::Scope;
use crate::decide::agenda::{Due, Leaving};
use crate::decide::draft::Draft;
use crate::decide::ending;
use crate::state::Payload;

/// Next step after a completed turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The node's edges.
    Routes,
    /// Another element, as soon as there is room.
    Element,
}

/// Freezes the list and takes the inputs. An empty list runs nothing and routes without a verdict.
pub(crate) fn enter(draft: &mut Draft<'_>, index: usize, payloads: &[Payload]) {
    let run = draft.run();
    let (id, node) = run.node(index);
    let id = id.clone();
    let foreach = node.foreach.as_ref().expect("only called where there is one");
    let cursor = foreach.cursor.clone();
    let Some(items) = Scope::of(run).list(&foreach.items) else {
        let message = format!("`{id}` cannot iterate: {} is not a list", foreach.items);
        ending::fail(draft, ErrorCode::ContractError, message, Some(id), Vec::new(), None);
        return;
    };
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let exhausted = count == 0;
    let (region, items) = (None, Some(Arc::new(items)));
    draft.emit_at(&id, CursorAdvanced { cursor, index: 0, count, exhausted, region, items });
    for payload in payloads {
        draft.emit_at(&id, PayloadConsumed { payload_id: payload.id });
    }
    if exhausted {
        draft.then(Due::Leave(Leaving { node: index, turn: None, verdict: None }));
    }
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
    let (region, items) = (None, None);
    draft.emit_at(&id, CursorAdvanced { cursor, index: next, count, exhausted, region, items });
    if exhausted { Next::Routes } else { Next::Element }
}
