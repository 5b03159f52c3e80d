//! Read-only questions about a node, for explanations and reports.
//!
//! Decisions are elsewhere: the conditions for a start are in `gates`.

use materia_contract::time::Micros;
use materia_contract::{EdgeId, Envelope, NodeBudgets, NodeId, PromptLayer, Timer, Uuid};
use serde_json::Value;

use crate::ask::scope::Scope;
use crate::ask::work::{self, ContextPack};
use crate::ask::{approval, taking};
use crate::state::{Payload, Run};

/// The payloads that a turn of a node would take now, in order.
#[must_use]
pub fn waiting_inputs(run: &Run, index: usize) -> Vec<Uuid> {
    taking::eligible(run, index).into_iter().map(|payload| payload.id).collect()
}

/// The same payloads, as a turn would see them.
#[must_use]
pub fn waiting_envelopes(run: &Run, index: usize) -> Vec<Envelope> {
    taking::eligible(run, index).into_iter().map(Payload::envelope).collect()
}

/// Input of a turn: an agent's prompt with the origin of each part, or a utility's object.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A prompt.
    Prompt(String, Vec<PromptLayer>),
    /// An object.
    Input(std::sync::Arc<Value>),
}

/// The input that the next turn of a node would get now. `None` for a `foreach`, whose turns each get one element.
#[must_use]
pub fn given(run: &Run, index: usize) -> Option<Given> {
    if run.node(index).1.foreach.is_some() {
        return None;
    }
    let seq = run.seq() + 1;
    let payloads: Vec<Payload> = taking::eligible(run, index).into_iter().cloned().collect();
    let session = work::session(run, index, seq);
    Some(match work::assemble(run, index, seq, &payloads, session.as_ref()) {
        ContextPack::Prompt(text, layers) => Given::Prompt(text, layers),
        ContextPack::Input(input) => Given::Input(std::sync::Arc::clone(input.at_hand()?)),
    })
}

/// The payload that was put on an edge last, where it has this id.
#[must_use]
pub fn sent(run: &Run, edge: &EdgeId, id: Uuid) -> Option<Envelope> {
    run.queues.get(edge)?.waiting.back().filter(|payload| payload.id == id).map(Payload::envelope)
}

/// An open or refused question of a node to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'run> {
    /// The node.
    pub node: &'run NodeId,
    /// Hash of the turn that would run.
    pub hash: &'run str,
    /// Whether it was refused.
    pub denied: bool,
    /// Why, in the person's words.
    pub reason: Option<&'run str>,
    /// The event that asked, or that refused.
    pub seq: u64,
}

/// The open question of a node.
#[must_use]
pub fn question<'run>(run: &'run Run, node: &NodeId) -> Option<Question<'run>> {
    let index = run.plan().nodes.get_index_of(node)?;
    let consent = approval::open(run, node)?;
    Some(Question {
        node: run.node(index).0,
        hash: &consent.hash,
        denied: consent.answer == Some(false),
        reason: consent.reason.as_deref(),
        seq: consent.seq,
    })
}

/// All that is asked of people, in the order of the plan.
pub fn questions(run: &Run) -> impl Iterator<Item = Question<'_>> {
    let approved = run.created().map(|_| &run.wiring().approved);
    let nodes = approved.into_iter().flatten().map(|index| run.node(*index).0);
    nodes.filter_map(|node| question(run, node))
}

/// The multi-turn nodes that wait for a person.
pub fn paused(run: &Run) -> impl Iterator<Item = &NodeId> {
    run.paused.keys().map(|index| run.node(*index).0)
}

/// When the quiet period of an edge ends, where one runs.
#[must_use]
pub fn quiet_until(run: &Run, edge: &EdgeId) -> Option<Micros> {
    run.queues.get(edge)?.quiet_until
}

/// Whether a person has asked for a turn of a node that has not started.
#[must_use]
pub fn is_requested(run: &Run, index: usize) -> bool {
    run.requests.first(index).is_some()
}

/// The `turn.started` of a turn that ended without a result and may run again.
#[must_use]
pub fn held_turn(run: &Run, index: usize) -> Option<u64> {
    run.held.of_node(index).next().map(|(_, held)| held.started)
}

/// The turns of a node that are in flight, by their `turn.started`.
#[must_use]
pub fn turns_in_flight(run: &Run, index: usize) -> Vec<u64> {
    run.nodes[index].in_flight.0.iter().copied().collect()
}

/// Whether a `foreach` is under way at a node.
#[must_use]
pub fn iterates(run: &Run, index: usize) -> bool {
    run.nodes[index].foreach.is_some()
}

/// Whether a turn of a node would have something to work on: a `foreach` that is entered now needs a
/// list that is not empty.
#[must_use]
pub fn has_elements(run: &Run, index: usize) -> bool {
    let Some(foreach) = &run.node(index).1.foreach else { return true };
    let list = Scope::of(run).list(&foreach.items);
    iterates(run, index) || list.is_some_and(|items| !items.is_empty())
}

/// The budget of a node.
#[must_use]
pub fn budgets_of(run: &Run, index: usize) -> Option<NodeBudgets> {
    run.nodes[index].budgets.or(run.node(index).1.budgets)
}

/// The usage of a node, in the terms of its budget.
#[must_use]
pub fn spent_by(run: &Run, index: usize) -> NodeBudgets {
    let spent = run.nodes[index].spent;
    let time_ms = u64::try_from(spent.micros / 1_000).unwrap_or(0);
    NodeBudgets { turns: Some(spent.turns), time_ms: Some(time_ms), cost: spent.cost }
}

/// How many turns of a node started, and how many of them completed.
#[must_use]
pub fn visits_of(run: &Run, index: usize) -> (u32, u32) {
    let node = &run.nodes[index];
    (node.visits, node.completed)
}

/// The timers of a run, the earliest first: when each fires, at which node, and how many ticks that node has had.
pub fn timers(run: &Run) -> impl Iterator<Item = (Micros, &NodeId, &Timer, u32)> {
    run.timers
        .iter()
        .map(|(at, index, timer)| (*at, run.node(*index).0, timer, run.nodes[*index].ticks))
}

/// Where a loop stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopStanding<'run> {
    /// Its id.
    pub id: &'run str,
    /// How often it was entered.
    pub entry: u32,
    /// The item that is current, from 0; as many as there are when it is through.
    pub index: u32,
    /// The items.
    pub items: &'run [serde_json::Value],
}

/// The loops that were entered, in the order of the plan.
pub fn loops(run: &Run) -> impl Iterator<Item = LoopStanding<'_>> {
    let of_plan = run.created().into_iter().flat_map(|created| created.plan.loops.keys());
    let both = of_plan.zip(&run.loops).filter(|(_, state)| state.entry > 0);
    both.map(|(id, state)| LoopStanding {
        id,
        entry: state.entry,
        index: state.index,
        items: state.items.as_deref().map(Vec::as_slice).unwrap_or_default(),
    })
}

/// How often a bounded edge was taken for the present item, and how often it may be in all.
pub fn traversals(run: &Run) -> impl Iterator<Item = (&EdgeId, u32, u32)> {
    let nodes = run.created().into_iter().flat_map(|created| created.plan.nodes.values());
    nodes.flat_map(|node| &node.edges).filter_map(|edge| {
        let bound = edge.max_traversals?;
        let taken = run.traversals.get(&edge.id);
        let (count, more) = taken.map_or((0, 0), |taken| (taken.count, taken.allowance));
        Some((&edge.id, count, bound.saturating_add(more)))
    })
}
