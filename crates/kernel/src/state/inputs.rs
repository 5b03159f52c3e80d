//! Queues and buffers where payloads wait.

use std::collections::{BTreeSet, VecDeque};

use materia_contract::time::Micros;
use materia_contract::{EdgeId, EnvelopeKind, Uuid};
use serde::{Deserialize, Serialize};

use super::Payload;
use crate::tally::{Look, look};

/// The delivery queue of one edge: payloads that crossed it and are not yet attached (D9).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeliveryQueue {
    pub(crate) waiting: VecDeque<Payload>,
    /// How many ticks are among them.
    ticks: u32,
    /// Payloads of this edge that are not yet consumed, waiting here or attached.
    pub(crate) pending: u32,
    /// When the quiet period of a `debounce` edge ends.
    pub(crate) quiet_until: Option<Micros>,
    /// The newest accepted payloads, where sameness is looked for.
    pub(crate) accepted: VecDeque<Accepted>,
}

/// An accepted payload, as far as sameness is concerned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Accepted {
    pub(crate) id: Uuid,
    pub(crate) ts: Micros,
    pub(crate) key: String,
}

impl DeliveryQueue {
    pub(crate) fn push(&mut self, payload: Payload) {
        self.ticks += u32::from(payload.kind == EnvelopeKind::Tick);
        self.pending += 1;
        self.waiting.push_back(payload);
    }

    /// Takes a payload out; of several with one id the oldest.
    pub(crate) fn take(&mut self, id: Uuid) -> Option<Payload> {
        let place = self.waiting.iter().position(|payload| payload.id == id)?;
        self.take_at(place)
    }

    /// Takes a payload out; of several with one id the newest.
    pub(crate) fn take_newest(&mut self, id: Uuid) -> Option<Payload> {
        let place = self.waiting.iter().rposition(|payload| payload.id == id)?;
        self.take_at(place)
    }

    fn take_at(&mut self, place: usize) -> Option<Payload> {
        let taken = self.waiting.remove(place)?;
        self.ticks -= u32::from(taken.kind == EnvelopeKind::Tick);
        Some(taken)
    }

    /// Payloads that a turn could take now: none during the quiet period.
    pub(crate) fn late(&self) -> Late {
        match (self.waiting.front(), self.quiet_until) {
            (Some(first), None) => Late { front: Some((first.ts, first.id)), ticks: self.ticks },
            (Some(_) | None, Some(_)) | (None, None) => Late::default(),
        }
    }

    /// A payload of the edge was consumed or dropped.
    pub(crate) fn ended(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// The newest payload was not accepted after all.
    pub(crate) fn forget(&mut self, id: Uuid) {
        if self.accepted.back().is_some_and(|newest| newest.id == id) {
            self.accepted.pop_back();
        }
    }
}

/// Payloads of one edge that a turn could take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Late {
    /// The oldest of them.
    front: Option<(Micros, Uuid)>,
    ticks: u32,
}

/// The input buffer of one node: what its next turn can take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct InputBuffer {
    /// Payloads attached and not yet consumed, oldest first.
    pub(crate) attached: VecDeque<Payload>,
    /// Edges on which payloads wait to be attached when a turn is put together, by the oldest of each.
    pub(crate) fronts: BTreeSet<(Micros, Uuid, EdgeId)>,
    /// How many ticks are among all these.
    pub(crate) ticks: u32,
}

impl InputBuffer {
    /// The oldest payload that a turn could take.
    pub(crate) fn oldest(&self) -> Option<(Micros, Uuid)> {
        let attached = self.attached.front().map(|payload| (payload.ts, payload.id));
        let waiting = self.fronts.first().map(|(ts, id, _)| (*ts, *id));
        attached.into_iter().chain(waiting).inspect(|_| look(Look::Oldest)).min()
    }

    /// Attaches a payload. It has been waiting on its edge, and newer ones may be there before it.
    pub(crate) fn attach(&mut self, payload: Payload) {
        self.ticks += u32::from(payload.kind == EnvelopeKind::Tick);
        let newest = self.attached.back().is_none_or(|last| last.ts <= payload.ts);
        let place = if newest {
            self.attached.len()
        } else {
            self.attached.partition_point(|other| other.ts <= payload.ts)
        };
        self.attached.insert(place, payload);
    }

    pub(crate) fn detach(&mut self, id: Uuid) -> Option<Payload> {
        let place = self.attached.iter().position(|payload| payload.id == id)?;
        let payload = self.attached.remove(place)?;
        self.ticks -= u32::from(payload.kind == EnvelopeKind::Tick);
        Some(payload)
    }

    /// Keeps up with an edge on which payloads wait.
    pub(crate) fn follow(&mut self, edge: &EdgeId, before: Late, after: Late) {
        self.ticks = self.ticks + after.ticks - before.ticks;
        if before.front == after.front {
            return;
        }
        if let Some((ts, id)) = before.front {
            self.fronts.remove(&(ts, id, edge.clone()));
        }
        if let Some((ts, id)) = after.front {
            self.fronts.insert((ts, id, edge.clone()));
        }
    }
}
