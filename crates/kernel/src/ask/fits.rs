//! Checks whether an event can be applied: everything that it names exists.
//!
//! [`evolve`](crate::evolve) trusts its events, because they were just decided or their hashes were checked. A reader
//! of a foreign journal checks them here first.

use materia_contract::time::DURATION_MS_MAX;
use materia_contract::{Event, EventBody, NodeId, Plan, Timer, Uuid};

use crate::state::{Phase, Run};

/// Why an event cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this `{kind}` event cannot stand here: {why}")]
pub struct Misfit {
    kind: &'static str,
    why: String,
}

/// Whether an event refers only to things that exist in the run.
pub fn fits(run: &Run, event: &Event) -> Result<(), Misfit> {
    let misfit = |why: String| Misfit { kind: event.body.type_name(), why };
    let begins = matches!(event.body, EventBody::RunCreated(_));
    if begins != (run.phase == Phase::New) {
        let why = if begins { "the cast exists already" } else { "the cast does not exist yet" };
        return Err(misfit(why.to_owned()));
    }
    if event.seq != run.seq + 1 {
        return Err(misfit(format!("event {} comes next", run.seq + 1)));
    }
    if let EventBody::RunCreated(created) = &event.body {
        return whole(&created.plan).map_err(misfit);
    }
    let node = node_of(run, event).map_err(misfit)?;
    what_it_names(run, event, node).map_err(misfit)
}

/// Whether everything that a plan names is in it.
pub(crate) fn whole(plan: &Plan) -> Result<(), String> {
    let ways = plan.nodes.values().flat_map(|node| node.edges.iter().chain(&node.on_failure));
    let edges = ways.filter_map(|edge| edge.to.as_ref());
    let exits = plan.loops.values().flat_map(|region| &region.exits);
    let ends = exits.flat_map(|exit| exit.to.iter().chain([&exit.from]));
    let needed = plan.nodes.values().flat_map(|node| &node.depends_on);
    let sources = plan.loops.values().filter_map(|region| region.consumes.as_ref());
    let mut named = edges.chain(ends).chain(needed).chain(sources).chain([&plan.entry]);
    if let Some(node) = named.find(|node| !plan.nodes.contains_key(*node)) {
        return Err(format!("its plan has no node `{node}`"));
    }
    if ways_of(plan).any(|(to, fails)| fails && to.is_some()) {
        return Err("a way of its plan leads to a node and to `fail`".to_owned());
    }
    if let Some(millis) = durations(plan).find(|millis| *millis > DURATION_MS_MAX) {
        return Err(format!("its plan has a duration of {millis} ms, and ten years are the most"));
    }
    let mut around = plan.nodes.values().flat_map(|node| &node.loops);
    match around.find(|region| !plan.loops.contains_key(*region)) {
        Some(region) => Err(format!("its plan has no loop `{region}`")),
        None => Ok(()),
    }
}

/// Where each way of a plan leads, and whether it leads to `fail`.
fn ways_of(plan: &Plan) -> impl Iterator<Item = (Option<&NodeId>, bool)> {
    let edges = plan.nodes.values().flat_map(|node| node.edges.iter().chain(&node.on_failure));
    let exits = plan.loops.values().flat_map(|region| &region.exits);
    let edges = edges.map(|edge| (edge.to.as_ref(), edge.fails));
    edges.chain(exits.map(|exit| (exit.to.as_ref(), exit.fails)))
}

/// Every duration of a plan, in milliseconds.
fn durations(plan: &Plan) -> impl Iterator<Item = u64> {
    let nodes = plan.nodes.values();
    let ways = nodes.clone().flat_map(|node| node.edges.iter().chain(&node.on_failure));
    let of_ways = ways.flat_map(|it| [it.delivery.debounce_ms, it.delivery.dedupe_window_ms]);
    let of_nodes = nodes.flat_map(|node| {
        let retries = node.retries.as_ref().map(|retries| retries.delay_ms);
        let time = node.budgets.and_then(|budgets| budgets.time_ms);
        [node.timeout_ms, node.interval_ms, retries, time]
    });
    of_ways.chain(of_nodes).flatten()
}

/// The node that an event is about, where its kind needs one.
fn node_of(run: &Run, event: &Event) -> Result<Option<usize>, String> {
    let Some(id) = &event.node else {
        return if needs_node(&event.body) { Err("it names no node".to_owned()) } else { Ok(None) };
    };
    let index = run.plan().nodes.get_index_of(id);
    index.map(Some).ok_or_else(|| format!("the plan has no node `{id}`"))
}

fn needs_node(body: &EventBody) -> bool {
    match body {
        EventBody::RunCreated(_)
        | EventBody::RunResumed(_)
        | EventBody::RunWaiting(_)
        | EventBody::RunCompleted(_)
        | EventBody::RunFailed(_)
        | EventBody::RunAborted(_)
        | EventBody::RunRevived(_)
        | EventBody::StatePatched(_)
        | EventBody::OutputFieldsIgnored(_)
        | EventBody::LoopEntered(_)
        | EventBody::LoopExhausted(_)
        | EventBody::BudgetWarned(_)
        | EventBody::BudgetChanged(_)
        | EventBody::AgentsChosen(_)
        | EventBody::StorageMeasured(_)
        | EventBody::WorkspacePublishing(_)
        | EventBody::WorkspacePublished(_)
        | EventBody::ModeChanged(_)
        | EventBody::TimelineReached(_)
        | EventBody::TurnCompleted(_)
        | EventBody::TurnFailed(_)
        | EventBody::TurnInterrupted(_) => false,
        // The cursor of a loop belongs to the loop, the cursor of a `foreach` to its node.
        EventBody::CursorAdvanced(data) => data.region.is_none(),
        EventBody::TurnStarted(_)
        | EventBody::RouteSelected(_)
        | EventBody::HandoffSent(_)
        | EventBody::PayloadDelivered(_)
        | EventBody::PayloadConsumed(_)
        | EventBody::PayloadSuperseded(_)
        | EventBody::PayloadDropped(_)
        | EventBody::PayloadDeduplicated(_)
        | EventBody::PayloadFiltered(_)
        | EventBody::TimerSet(_)
        | EventBody::TimerFired(_)
        | EventBody::FollowUpCaptured(_)
        | EventBody::NodeBlocked(_)
        | EventBody::MessageReceived(_)
        | EventBody::TurnRequested(_)
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalGiven(_)
        | EventBody::ApprovalDenied(_)
        | EventBody::ItemSkipped(_)
        | EventBody::SocketFinished(_) => true,
    }
}

/// Whether turns, payloads, timers and loops that an event names are there.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others name nothing but a node")]
fn what_it_names(run: &Run, event: &Event, node: Option<usize>) -> Result<(), String> {
    let held = |holds: bool, why: &dyn Fn() -> String| if holds { Ok(()) } else { Err(why()) };
    let turn = |turn: u64| {
        held(run.turns.contains_key(&turn), &|| format!("turn {turn} is not in flight"))
    };
    let region = |name: &str| {
        held(run.plan().loops.contains_key(name), &|| format!("the plan has no loop `{name}`"))
    };
    let known = |id: &NodeId| {
        held(run.plan().nodes.contains_key(id), &|| format!("the plan has no node `{id}`"))
    };
    let index = node.unwrap_or_default();
    match &event.body {
        EventBody::TurnCompleted(data) => {
            turn(data.turn)?;
            let stands = data.object.is_none() || data.object_text().is_some();
            held(stands, &|| "its object does not stand in its output".to_owned())
        }
        EventBody::TurnFailed(data) => turn(data.turn),
        EventBody::TurnInterrupted(data) => turn(data.turn),
        EventBody::HandoffSent(data) => known(&data.to),
        EventBody::FollowUpCaptured(data) => known(&data.target),
        EventBody::LoopEntered(data) => region(&data.region),
        EventBody::ItemSkipped(data) => region(&data.region),
        EventBody::CursorAdvanced(data) => data.region.as_deref().map_or(Ok(()), region),
        EventBody::PayloadDelivered(data) => {
            let arrives = |id: Uuid| run.nodes[index].arriving.iter().any(|one| one.id == id);
            let there = match &data.edge_id {
                None => arrives(data.payload_id),
                Some(edge) => run.queues.get(edge).is_some_and(|queue| {
                    queue.waiting.iter().any(|payload| payload.id == data.payload_id)
                }),
            };
            held(there, &|| "its payload does not wait there".to_owned())
        }
        EventBody::PayloadConsumed(data) => {
            let attached = &run.nodes[index].inputs.attached;
            let there = attached.iter().any(|payload| payload.id == data.payload_id);
            held(there, &|| "its payload was not delivered".to_owned())
        }
        EventBody::TimerFired(data) => {
            let set = |(_, at, timer): &(_, usize, Timer)| *at == index && *timer == data.timer;
            held(run.timers.iter().any(set), &|| "no such timer is set".to_owned())
        }
        _ => Ok(()),
    }
}
