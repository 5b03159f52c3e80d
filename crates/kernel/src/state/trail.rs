//! The trail of work: the nodes that led to it, and the number of cycles without progress.

use std::collections::BTreeMap;
use std::sync::Arc;

use materia_contract::EdgeId;
use serde::{Deserialize, Serialize};

/// Trail of a payload (D22). Every payload has its own, so that concurrent branches do not count as a cycle.
///
/// It has one level outside all loops and one for each loop around the present node, outermost first. When an item
/// moves, the level of its loop and the levels inside are cleared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trail {
    levels: Arc<Vec<Level>>,
}

/// One level of a trail.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Level {
    /// The loop; absent outside of all.
    region: Option<usize>,
    /// Nodes entered since the work last moved, cut back to a node when it is entered again.
    path: Vec<usize>,
    /// Cycles closed since the work last moved.
    cycles: u32,
    /// How often since then each way out of a loop that has a bound came back. Such a bound counts for an item of
    /// that loop, and the items are others whenever the loop is entered again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    rounds: BTreeMap<EdgeId, u32>,
}

/// A node that receives work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) node: usize,
    /// The way to it.
    pub(crate) via: Option<&'a EdgeId>,
    /// The loops around it, outermost first.
    pub(crate) loops: &'a [usize],
    /// The loop whose exit leads there.
    pub(crate) left: Option<usize>,
}

impl Level {
    /// Where on its way it has entered a node.
    fn place(&self, to: Entry<'_>) -> Option<usize> {
        self.path.iter().position(|entered| *entered == to.node)
    }

    /// How often a way has come back.
    fn rounds(&self, via: Option<&EdgeId>) -> u32 {
        via.and_then(|via| self.rounds.get(via)).copied().unwrap_or(0)
    }

    /// A way out of a loop that has a bound comes back once more: beyond the bound it closes a cycle.
    fn goes_round(&mut self, place: usize, via: Option<&EdgeId>, bound: u32) {
        self.path.truncate(place + 1);
        let Some(via) = via else { return };
        let rounds = self.rounds.entry(via.clone()).or_default();
        *rounds += 1;
        self.cycles += u32::from(*rounds > bound);
    }
}

impl Trail {
    /// The number of levels that stay when a node receives work: those outside of every loop that is left or
    /// entered.
    fn shared(&self, to: Entry<'_>) -> usize {
        let around = self.levels.iter().skip(1).zip(to.loops);
        let same = around.take_while(|(level, region)| {
            level.region == Some(**region) && to.left != Some(**region)
        });
        1 + same.count()
    }

    /// Comes to a node; `note` says what that means for the way at the level that is shared.
    fn come(&mut self, to: Entry<'_>, note: impl FnOnce(&mut Level)) {
        let shared = self.shared(to);
        let levels = Arc::make_mut(&mut self.levels);
        if levels.is_empty() {
            levels.push(Level::default());
        }
        levels.truncate(shared);
        note(levels.last_mut().expect("the outermost level stays"));
        let entered = to.loops.iter().skip(shared - 1);
        levels.extend(entered.map(|region| Level {
            region: Some(*region),
            path: vec![to.node],
            ..Level::default()
        }));
    }

    /// The trail as far as a node, where no cycle is counted: work has just begun there, or every
    /// matching edge was taken (D23 watches those). What D23 takes for bounded is counted all the same where the
    /// bound begins anew.
    pub(crate) fn up_to(mut self, to: Entry<'_>, bound: Option<u32>) -> Self {
        if self.has_come(to) {
            // Nothing changes, and the other holders keep the same memory.
            return self;
        }
        let leaves = self.leaves(to);
        self.come(to, |level| match (level.place(to), bound) {
            (None, _) => level.path.push(to.node),
            (Some(place), Some(bound)) if leaves => level.goes_round(place, to.via, bound),
            (Some(_), _) => {}
        });
        self
    }

    /// Whether a node was entered at the innermost level, and no loop is left or entered on the way to it.
    fn has_come(&self, to: Entry<'_>) -> bool {
        let innermost = self.levels.last().filter(|_| !self.leaves(to));
        to.loops.len() < self.levels.len() && innermost.is_some_and(|it| it.place(to).is_some())
    }

    /// Whether the way to a node leads out of a loop.
    fn leaves(&self, to: Entry<'_>) -> bool {
        self.levels.len() > self.shared(to)
    }

    /// Enters a node. A way with a bound of its own closes no cycle; one that leads out of a loop closes none as
    /// often as its bound says, whatever the items are by then.
    pub(crate) fn enter(&mut self, to: Entry<'_>, bound: Option<u32>) {
        let leaves = self.leaves(to);
        self.come(to, |level| match (level.place(to), bound) {
            (None, _) => level.path.push(to.node),
            (Some(place), Some(bound)) if leaves => level.goes_round(place, to.via, bound),
            (Some(place), _) => {
                level.path.truncate(place + 1);
                level.cycles += u32::from(bound.is_none());
            }
        });
    }

    /// The cycle that entering a node would close, and how many have closed before.
    pub(crate) fn closing(&self, to: Entry<'_>, bound: Option<u32>) -> Option<(&[usize], u32)> {
        let level = self.levels.get(self.shared(to) - 1)?;
        let place = level.place(to)?;
        let closes = bound.is_none_or(|bound| self.leaves(to) && level.rounds(to.via) >= bound);
        closes.then(|| (&level.path[place..], level.cycles))
    }

    /// The item of a loop moved.
    pub(crate) fn moved(&mut self, region: usize) {
        let place = self.levels.iter().position(|level| level.region == Some(region));
        let levels = Arc::make_mut(&mut self.levels);
        let Some(place) = place else { return };
        levels.truncate(place + 1);
        levels[place] = Level { region: Some(region), ..Level::default() };
    }

    /// A command granted more cycles.
    pub(crate) fn forgive(&mut self) {
        for level in Arc::make_mut(&mut self.levels) {
            level.cycles = 0;
        }
    }

    /// Takes the other one where it has gone round more often, or further.
    pub(crate) fn join(&mut self, other: &Self) {
        let rounds = |level: &Level| level.rounds.values().sum::<u32>();
        let weight = |level: &Level| (level.cycles, rounds(level), level.path.len());
        if other.levels.iter().map(weight).gt(self.levels.iter().map(weight)) {
            self.clone_from(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(node: usize, loops: &[usize]) -> Entry<'_> {
        Entry { node, via: None, loops, left: None }
    }

    #[test]
    fn an_item_that_moves_forgets_its_own_level_alone() {
        let mut trail = Trail::default().up_to(at(0, &[]), None);
        trail.enter(at(1, &[7]), None);
        trail.enter(at(2, &[7]), None);
        trail.enter(at(1, &[7]), None);
        assert_eq!(trail.closing(at(2, &[7]), None), None, "it was cut back");
        assert_eq!(trail.closing(at(1, &[7]), None), Some(([1].as_slice(), 1)));
        trail.moved(7);
        assert_eq!(trail.closing(at(1, &[7]), None), None);
        let back = Entry { left: Some(7), ..at(0, &[]) };
        assert_eq!(
            trail.closing(back, None),
            Some(([0, 1].as_slice(), 0)),
            "the way through the loop"
        );
    }

    #[test]
    fn an_exit_into_its_own_loop_enters_it_anew() {
        let mut trail = Trail::default().up_to(at(1, &[7]), None);
        let again = Entry { left: Some(7), ..at(1, &[7]) };
        trail.moved(7);
        assert_eq!(trail.closing(again, None), Some(([1].as_slice(), 0)));
        trail.enter(again, None);
        trail.moved(7);
        assert_eq!(trail.closing(again, None), Some(([1].as_slice(), 1)));
    }

    #[test]
    fn a_bound_inside_a_loop_is_enough_and_one_that_leads_out_only_as_often_as_it_says() {
        let mut trail = Trail::default().up_to(at(0, &[]), None);
        let entered = at(1, &[7]);
        for _ in 0..9 {
            trail.enter(entered, Some(2));
            assert_eq!(trail.closing(entered, Some(2)), None, "it counts by itself");
        }
        let [edge, other] = ["back", "other"].map(EdgeId::new);
        let back = Entry { via: Some(&edge), ..at(0, &[]) };
        for round in 0..2 {
            assert_eq!(trail.closing(back, Some(2)), None, "round {round}");
            trail.enter(back, Some(2));
            trail.enter(entered, None);
        }
        let back_too = Entry { via: Some(&other), ..at(0, &[]) };
        trail.enter(back_too, Some(1));
        trail.enter(entered, None);
        for cycles in 0..3 {
            assert_eq!(trail.closing(back, Some(2)), Some(([0, 1].as_slice(), cycles)));
            trail.enter(back, Some(2));
            trail.enter(entered, None);
        }
    }
}
