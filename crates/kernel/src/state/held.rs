//! Turns that ended without a result.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Turn;

/// A turn that ended without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// The place of the attempt that ended so.
    pub(crate) started: u64,
    pub(crate) turn: Box<Turn>,
    pub(crate) why: Why,
}

/// Why a turn has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Why {
    /// It was interrupted; its result is unknown.
    Interrupted,
    /// It broke the contract, in these ways, as the event at that place says.
    Rejected(u64, String),
    /// It failed in a way that may pass; a timer releases it.
    Passing,
    /// Its session is gone; it begins anew at once.
    Lost,
    /// It failed.
    Failed,
}

/// All turns that ended without a result and may run again, by the event that ended each. Indexed, since many can
/// wait for their timers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldTurns {
    turns: BTreeMap<u64, Held>,
    /// Those that may start as soon as there is room.
    released: BTreeSet<u64>,
    by_node: BTreeMap<usize, BTreeSet<u64>>,
}

impl HeldTurns {
    /// All of them, in the order in which they ended.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Held> {
        self.turns.values()
    }

    /// The one that was ended by the event at that place.
    pub(crate) fn get(&self, ended: u64) -> &Held {
        &self.turns[&ended]
    }

    /// Those that may start as soon as there is room, in the order in which they ended.
    pub(crate) fn released(&self) -> impl Iterator<Item = (u64, &Held)> {
        self.released.iter().map(|ended| (*ended, &self.turns[ended]))
    }

    /// The held turns of a node, in the order in which they ended.
    pub(crate) fn of_node(&self, node: usize) -> impl Iterator<Item = (u64, &Held)> {
        let of = self.by_node.get(&node).into_iter().flatten();
        of.map(|ended| (*ended, &self.turns[ended]))
    }

    pub(crate) fn count_of(&self, node: usize) -> usize {
        self.by_node.get(&node).map_or(0, BTreeSet::len)
    }

    /// The turns of a node that may start as soon as there is room.
    pub(crate) fn released_of(&self, node: usize) -> impl Iterator<Item = &Held> {
        let of = self.of_node(node).filter(|(ended, _)| self.released.contains(ended));
        of.map(|(_, held)| held)
    }

    pub(crate) fn hold(&mut self, ended: u64, held: Held) {
        self.by_node.entry(held.turn.node).or_default().insert(ended);
        self.turns.insert(ended, held);
    }

    pub(crate) fn release(&mut self, ended: u64) {
        self.released.insert(ended);
    }

    pub(crate) fn release_all(&mut self, which: impl Fn(&Held) -> bool) {
        let found = self.turns.iter().filter(|(_, held)| which(held));
        self.released.extend(found.map(|(ended, _)| *ended));
    }

    pub(crate) fn take(&mut self, ended: u64) -> Option<Held> {
        let held = self.turns.remove(&ended)?;
        self.released.remove(&ended);
        if let Some(of_node) = self.by_node.get_mut(&held.turn.node) {
            of_node.remove(&ended);
            if of_node.is_empty() {
                self.by_node.remove(&held.turn.node);
            }
        }
        Some(held)
    }
}
