//! Finds the item of a loop that `skip` means, and checks whether it can be skipped now.

use materia_contract::{Condition, EdgeId, NodeId, Timer, Uuid};

use crate::state::{Phase, Run};

/// An item that could be skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skippable {
    /// The place of its loop.
    pub(crate) region: usize,
    /// The member that moves the loop on.
    pub(crate) mover: usize,
    /// The item, from 0.
    pub(crate) index: u32,
    /// How many there are.
    pub(crate) count: u32,
}

/// Why no item can be skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSkip {
    /// The plan has no such loop.
    #[error("the cast has no loop `{0}`")]
    UnknownLoop(String),
    /// No loop is at work on an item.
    #[error("no loop of this cast is at work on an item")]
    NoItem,
    /// The loop is not at work on an item.
    #[error("loop `{0}` is not at work on an item")]
    NotInLoop(String),
    /// Several loops are, beside each other.
    #[error("several loops are at work on an item: {}; name one of them", .0.join(", "))]
    Several(Vec<String>),
    /// A turn is under way, or about to be tried again.
    #[error(
        "`{0}` is at work on the item; wait for it, or stop the cast first and skip the item then"
    )]
    AtWork(NodeId),
    /// The run failed elsewhere.
    #[error("the cast failed outside of loop `{0}`; skipping an item of it would not bring it on")]
    FailedElsewhere(String),
}

/// The item to skip: the item of the named loop, otherwise the item of the innermost active loop.
pub(crate) fn meant(run: &Run, named: Option<&str>) -> Result<Skippable, NoSkip> {
    let found = match named {
        Some(name) => {
            let unknown = || NoSkip::UnknownLoop(name.to_owned());
            let place = run.plan().loops.get_index_of(name).ok_or_else(unknown)?;
            at_work(run, place).ok_or_else(|| NoSkip::NotInLoop(name.to_owned()))?
        }
        None => innermost(run)?,
    };
    is_free(run, &found)?;
    Ok(found)
}

/// Whether a person could skip an item now without saying of which loop.
#[must_use]
pub fn could_skip(run: &Run) -> bool {
    meant(run, None).is_ok()
}

/// The item that a loop is at, if some member moves it on.
fn at_work(run: &Run, place: usize) -> Option<Skippable> {
    let (name, _) = run.plan().loops.get_index(place)?;
    let state = &run.loops[place];
    let items = state.items.as_ref()?;
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let mut nodes = run.plan().nodes.values().enumerate();
    let is_it =
        |node: &materia_contract::Node| node.advance.is_some() && node.loops.last() == Some(name);
    let (mover, _) = nodes.find(|(_, node)| is_it(node))?;
    let entered = state.entry > 0 && state.index < count;
    entered.then_some(Skippable { region: place, mover, index: state.index, count })
}

fn innermost(run: &Run) -> Result<Skippable, NoSkip> {
    let found: Vec<Skippable> =
        (0..run.plan().loops.len()).filter_map(|place| at_work(run, place)).collect();
    let holds = |outer: &Skippable, inner: &Skippable| {
        outer.region != inner.region
            && run.node(inner.mover).1.loops.contains(&name(run, outer.region))
    };
    let mut inner: Vec<&Skippable> =
        found.iter().filter(|one| !found.iter().any(|other| holds(one, other))).collect();
    match (inner.pop(), inner.as_slice()) {
        (None, _) => Err(NoSkip::NoItem),
        (Some(one), []) => Ok(one.clone()),
        (Some(last), others) => {
            let all = others.iter().copied().chain([last]);
            Err(NoSkip::Several(all.map(|one| name(run, one.region)).collect()))
        }
    }
}

fn name(run: &Run, region: usize) -> String {
    run.plan().loops.get_index(region).map(|(name, _)| name.clone()).unwrap_or_default()
}

/// The nodes inside a loop, those of loops within it too.
pub(crate) fn inside(run: &Run, region: usize) -> Vec<usize> {
    let name = name(run, region);
    let nodes = run.plan().nodes.values().enumerate();
    nodes.filter(|(_, node)| node.loops.contains(&name)).map(|(index, _)| index).collect()
}

/// Whether nothing is under way for the item that would end by itself.
fn is_free(run: &Run, found: &Skippable) -> Result<(), NoSkip> {
    let inside = inside(run, found.region);
    let waits = |timer: &Timer| matches!(timer, Timer::Debounce { .. } | Timer::Retry { .. });
    let turn = run.turns.values().map(|turn| turn.node).find(|node| inside.contains(node));
    let timer = run.timers.iter().filter(|(_, _, timer)| waits(timer)).map(|(_, node, _)| *node);
    let busy = turn.or_else(|| timer.clone().find(|node| inside.contains(node)));
    if let Some(node) = busy {
        return Err(NoSkip::AtWork(run.node(node).0.clone()));
    }
    if let Phase::Failed(failed) = &run.phase {
        let socket = failed.socket.as_ref().map(|socket| run.index_of(socket));
        if !socket.is_some_and(|socket| inside.contains(&socket)) {
            return Err(NoSkip::FailedElsewhere(name(run, found.region)));
        }
    }
    Ok(())
}

/// Payloads that wait for the item and go with it: those that came over an edge to a member. Messages of people stay.
pub(crate) fn waiting(run: &Run, region: usize) -> Vec<(usize, EdgeId, Uuid)> {
    let mut found = Vec::new();
    for node in inside(run, region) {
        let attached = run.nodes[node].inputs.attached.iter();
        found
            .extend(attached.filter_map(|payload| Some((node, payload.edge.clone()?, payload.id))));
    }
    let inside = inside(run, region);
    for (edge, queue) in &run.queues {
        if let Some(to) = target(run, edge).filter(|to| inside.contains(to)) {
            found.extend(queue.waiting.iter().map(|payload| (to, edge.clone(), payload.id)));
        }
    }
    found.sort_by(|one, other| (one.0, &one.2).cmp(&(other.0, &other.2)));
    found
}

/// Where an edge or the exit of a loop leads.
fn target(run: &Run, edge: &EdgeId) -> Option<usize> {
    let of_edge = run.wiring().edge(run.plan(), edge).and_then(|edge| edge.to.as_ref());
    let exits = || run.plan().loops.values().flat_map(|region| &region.exits);
    let of_exit = || exits().find(|exit| exit.edge_id == *edge)?.to.as_ref();
    of_edge.or_else(of_exit).map(|to| run.index_of(to))
}

/// The verdict under which the member that moves a loop on does so.
pub(crate) fn verdict_of(run: &Run, mover: usize) -> Option<bool> {
    match run.node(mover).1.advance {
        Some(Condition::Satisfied) => Some(true),
        Some(Condition::NotSatisfied) => Some(false),
        Some(Condition::Always) | None => None,
    }
}
