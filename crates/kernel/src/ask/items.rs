//! Work items: the current item of a node, and the lists.

use std::sync::Arc;

use materia_contract::Loop;
use serde_json::Value;

use crate::ask::scope::Scope;
use crate::shorten::item_label;
use crate::state::{ItemId, LoopState, Region, Run};

/// The item that a node works on.
pub(crate) struct Item<'run> {
    pub(crate) id: ItemId,
    pub(crate) value: &'run Value,
    /// Its key, from its position (H4).
    pub(crate) key: String,
    /// Its name for people.
    pub(crate) label: String,
    pub(crate) cursor: &'run str,
    pub(crate) count: usize,
    /// The name under which it appears among a utility's variables.
    pub(crate) alias: &'run str,
    /// The source of the item, shown when a prompt is traced.
    pub(crate) origin: String,
}

/// The item of the innermost loop that has one; a `foreach` is inside all loops.
pub(crate) fn current(run: &Run, node: usize) -> Option<Item<'_>> {
    element(run, node).or_else(|| of_loops(run, node))
}

/// The item of the innermost loop around a node that has one.
pub(crate) fn of_loops(run: &Run, node: usize) -> Option<Item<'_>> {
    run.node(node).1.loops.iter().rev().find_map(|region| of_loop(run, region))
}

/// The item of the innermost loop around a loop that has one.
pub(crate) fn around_loop(run: &Run, region: usize) -> Option<ItemId> {
    let mut around = run.wiring().around[region].iter().rev();
    around.find_map(|region| {
        let LoopState { entry, items, index, .. } = &run.loops[*region];
        let there = items.as_ref().is_some_and(|items| items.len() > *index as usize);
        let region = Region::Loop(*region);
        there.then_some(ItemId { region, entry: *entry, index: *index })
    })
}

fn of_loop<'run>(run: &'run Run, region: &str) -> Option<Item<'run>> {
    let (place, _, plan) = run.plan().loops.get_full(region)?;
    let state = &run.loops[place];
    let items = state.items.as_ref()?;
    let value = items.get(state.index as usize)?;
    let id = ItemId { region: Region::Loop(place), entry: state.entry, index: state.index };
    let key = key(state.index);
    let label = item_label(value, &key);
    let origin = format!("event {}", state.entered_at);
    let (cursor, count) = (plan.cursor.as_str(), items.len());
    Some(Item { id, value, key, label, cursor, count, alias: "workItem", origin })
}

/// The item of a node that will receive work from another node. Loops that are entered on the way begin with their
/// first item.
pub(crate) fn of_target(run: &Run, sender: usize, target: usize) -> Option<ItemId> {
    let inside = &run.node(sender).1.loops;
    run.node(target).1.loops.iter().rev().find_map(|region| {
        if inside.contains(region) {
            return of_loop(run, region).map(|item| item.id);
        }
        let (place, _, plan) = run.plan().loops.get_full(region)?;
        let entered = list_of(run, plan).is_some_and(|items| !items.is_empty());
        let entry = run.loops[place].entry + 1;
        entered.then_some(ItemId { region: Region::Loop(place), entry, index: 0 })
    })
}

pub(crate) fn key(index: u32) -> String {
    format!("WI-{}", index + 1)
}

/// The positions of all loops around a node and of its own `foreach`, by cursor name.
pub(crate) fn cursors(run: &Run, node: usize) -> serde_json::Map<String, Value> {
    let mut cursors = serde_json::Map::new();
    for region in &run.node(node).1.loops {
        if let Some(item) = of_loop(run, region) {
            cursors.insert(item.cursor.to_owned(), item.id.index.into());
        }
    }
    if let Some(item) = element(run, node) {
        cursors.insert(item.cursor.to_owned(), item.id.index.into());
    }
    cursors
}

/// The list that a loop would iterate if it were entered now.
pub(crate) fn list_of(run: &Run, plan: &Loop) -> Option<Arc<Vec<Value>>> {
    match (&plan.consumes, &plan.items) {
        (Some(generator), _) => {
            Some(run.nodes[run.index_of(generator)].produced.clone().unwrap_or_default())
        }
        (None, Some(path)) => Scope::of(run).list(path).map(Arc::new),
        (None, None) => None,
    }
}

/// Whether a node has elements left behind the one that it works on.
pub(crate) fn goes_on(run: &Run, node: usize) -> bool {
    let iteration = run.nodes[node].foreach.as_ref();
    iteration.is_some_and(|it| (it.index as usize + 1) < it.items.len())
}

/// The element that a node works on, if it iterates.
pub(crate) fn element(run: &Run, node: usize) -> Option<Item<'_>> {
    let state = &run.nodes[node];
    let iteration = state.foreach.as_ref()?;
    let plan = run.node(node).1.foreach.as_ref()?;
    let value = iteration.items.get(iteration.index as usize)?;
    let region = Region::Foreach(node);
    let id = ItemId { region, entry: state.iterations, index: iteration.index };
    let key = key(iteration.index);
    let label = item_label(value, &key);
    let origin = plan.items.to_string();
    let (cursor, count, alias) = (plan.cursor.as_str(), iteration.items.len(), plan.alias.as_str());
    Some(Item { id, value, key, label, cursor, count, alias, origin })
}
