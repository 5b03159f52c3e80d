//! Inputs that the next turn of a node takes.

use materia_contract::time::Micros;
use materia_contract::{Consume, EnvelopeKind, Uuid};

use crate::state::{Payload, Run};
use crate::tally::{Look, look};

/// A payload that a turn could take, and whether it is attached already.
pub(crate) struct Takeable<'run> {
    pub(crate) payload: &'run Payload,
    pub(crate) attached: bool,
}

impl<'run> Takeable<'run> {
    fn attached(payload: &'run Payload) -> Self {
        look(Look::Taken);
        Self { payload, attached: true }
    }

    fn late(payload: &'run Payload) -> Self {
        look(Look::Taken);
        Self { payload, attached: false }
    }

    /// By age (X22).
    fn age(&self) -> (Micros, Uuid) {
        (self.payload.ts, self.payload.id)
    }

    fn is_tick(&self) -> bool {
        self.payload.kind == EnvelopeKind::Tick
    }
}

/// The inputs that a turn of a node would take now, in order (X22).
pub(crate) fn eligible(run: &Run, index: usize) -> Vec<&Payload> {
    takeable(run, index).into_iter().map(|one| one.payload).collect()
}

/// All that waits at a node, or the oldest. A tick, which is why a scheduled node runs, is taken
/// besides.
pub(crate) fn takeable(run: &Run, index: usize) -> Vec<Takeable<'_>> {
    let ticks = run.nodes[index].inputs.ticks > 0;
    let mut found: Vec<Takeable<'_>> = match run.node(index).1.consume {
        Consume::All => waiting(run, index).collect(),
        Consume::One if ticks => {
            let oldest = waiting(run, index).filter(|one| !one.is_tick()).min_by_key(Takeable::age);
            waiting(run, index).filter(Takeable::is_tick).chain(oldest).collect()
        }
        Consume::One => oldest(run, index).into_iter().collect(),
    };
    found.sort_by_key(Takeable::age);
    found
}

/// A turn that a person asked for takes everything that waits; a node that takes one at a time takes
/// the person's message first (D38).
pub(crate) fn asked(run: &Run, index: usize, message: Option<Uuid>) -> Vec<Takeable<'_>> {
    let mut found: Vec<Takeable<'_>> = match (run.node(index).1.consume, message) {
        (Consume::All, _) => waiting(run, index).collect(),
        (Consume::One, None) => oldest(run, index).into_iter().collect(),
        (Consume::One, Some(message)) => {
            let own = waiting(run, index).filter(|one| one.payload.id == message);
            own.min_by_key(Takeable::age).or_else(|| oldest(run, index)).into_iter().collect()
        }
    };
    found.sort_by_key(Takeable::age);
    found
}

/// Everything that waits at a node and could be taken, in no order.
fn waiting(run: &Run, index: usize) -> impl Iterator<Item = Takeable<'_>> {
    let inputs = &run.nodes[index].inputs;
    let queues = inputs.fronts.iter().filter_map(|(_, _, edge)| run.queues.get(edge));
    let late = queues.flat_map(|queue| &queue.waiting).map(Takeable::late);
    inputs.attached.iter().map(Takeable::attached).chain(late)
}

/// The oldest of what waits at a node and could be taken.
fn oldest(run: &Run, index: usize) -> Option<Takeable<'_>> {
    let inputs = &run.nodes[index].inputs;
    let queue = inputs.fronts.first().and_then(|(_, _, edge)| run.queues.get(edge));
    let late = queue.and_then(|queue| queue.waiting.front()).map(Takeable::late);
    inputs
        .attached
        .front()
        .map(Takeable::attached)
        .into_iter()
        .chain(late)
        .min_by_key(Takeable::age)
}
