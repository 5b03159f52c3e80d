//! Events of journals before version 3, which left to the fold what is written down today.
//!
//! Such an event is completed before it is applied, by the rules of today. What a newer journal says it
//! says itself, so that a changed rule changes nothing about it.

use std::sync::Arc;

use materia_contract::{Event, EventBody, Node, Parse};

use crate::ask::scope::Scope;
use crate::ask::{items, output, sent};
use crate::state::Run;

/// Where the object of an output stands, where its node reads one.
#[must_use]
pub fn object_place(node: &Node, output: &str) -> Option<(usize, usize)> {
    let found = || output::find_object(node, output).map(|found| found.place);
    (node.parse == Parse::Json).then(|| found().unwrap_or((0, output.len())))
}

/// The event with the results that were not kept then.
#[must_use]
#[expect(clippy::wildcard_enum_match_arm, reason = "the list of what was left out is closed")]
pub fn completed(run: &Run, mut event: Event) -> Event {
    let node = event.node.clone();
    match &mut event.body {
        EventBody::TurnCompleted(data) => {
            let Some(turn) = run.turn(data.turn) else { return event };
            let (_, node) = run.node_of(turn);
            let text = data.report.output.as_str();
            if let Some((start, end)) = object_place(node, text) {
                let items = node.generator.then(|| Arc::new(output::items_in(&text[start..end])));
                data.object = Some((start, end));
                data.work_items = items;
            }
        }
        EventBody::LoopEntered(data) => {
            let plan = run.created().and_then(|created| created.plan.loops.get(&data.region));
            let own = plan.filter(|plan| plan.consumes.is_none());
            data.items = own.and_then(|plan| items::list_of(run, plan));
        }
        EventBody::CursorAdvanced(data) => {
            let created = run.created();
            if let Some(region) = &data.region {
                let found = created.and_then(|created| created.plan.loops.get_full(region));
                let late = found.filter(|(place, _, _)| run.loops[*place].items.is_none());
                data.items = late.and_then(|(_, _, plan)| items::list_of(run, plan));
            } else if let Some(found) = created
                .zip(node)
                .and_then(|(created, node)| created.plan.nodes.get_full(&node))
                .filter(|(index, _, _)| run.nodes[*index].foreach.is_none())
            {
                let foreach = found.2.foreach.as_ref();
                let list = foreach.and_then(|it| output::list_at(&Scope::of(run), &it.items));
                data.items = list.map(Arc::new);
            }
        }
        EventBody::HandoffSent(data) => {
            if let Some(from) = &node {
                let delivery = run.wiring().delivery(run.plan(), &data.edge_id);
                let _ = sent::shaped(run, from, data, event.ts, &delivery);
            }
        }
        _ => {}
    }
    event
}
