//! The trail of work, and the number of cycles without progress (D22).

use std::collections::BTreeMap;
use std::sync::Arc;

/// Trail of a payload. Every payload has its own.
///
/// The first level is outside all loops, then one for each loop around the present node. A loop counts outside as the
/// member by which it was entered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail(Arc<Vec<Stretch>>);

/// The part of a trail in one loop, or outside of all loops.
#[derive(Debug, Clone, Default)]
struct Stretch {
    within: Option<usize>,
    /// Nodes entered since the work last moved, cut back to a node that is entered again.
    path: Vec<usize>,
    /// Cycles closed since then.
    cycles: u32,
    /// How often since then each way with a bound came back here out of a loop. Its bound is of an item in there,
    /// and the next entry has others.
    returns: BTreeMap<usize, u32>,
}

/// Effect of a step to a node that was entered before.
#[derive(Clone, Copy)]
enum Counted {
    /// It closes a cycle.
    Free,
    /// It has a bound.
    Bounded(u32),
    /// It is one of several ways that were taken together, with a bound or without.
    Seen(Option<u32>),
}

/// A node that receives work: the edge, the loops around it, and the loop whose exit was taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coming<'a> {
    pub(crate) to: usize,
    pub(crate) way: Option<usize>,
    pub(crate) loops: &'a [usize],
    pub(crate) exit_of: Option<usize>,
}

impl Trail {
    /// The index of the stretch that contains both ends of the step.
    fn common(&self, step: Coming<'_>) -> usize {
        let mut common = 0;
        while let (Some(stretch), Some(region)) = (self.0.get(common + 1), step.loops.get(common)) {
            if stretch.within != Some(*region) || step.exit_of == Some(*region) {
                break;
            }
            common += 1;
        }
        common
    }

    fn step(&mut self, step: Coming<'_>, counted: Counted) {
        let common = self.common(step);
        let comes_out = self.0.len() > common + 1;
        let innermost = self.0.last().filter(|_| !comes_out && step.loops.len() == common);
        if let Counted::Seen(_) = counted
            && innermost.is_some_and(|stretch| stretch.path.contains(&step.to))
        {
            // Nothing is to be noted.
            return;
        }
        let stretches = Arc::make_mut(&mut self.0);
        stretches.truncate(common + 1);
        if stretches.is_empty() {
            stretches.push(Stretch::default());
        }
        let Some(stretch) = stretches.last_mut() else { return };
        match (stretch.path.iter().position(|entered| *entered == step.to), counted) {
            (None, _) => stretch.path.push(step.to),
            (Some(place), Counted::Free) => {
                stretch.path.truncate(place + 1);
                stretch.cycles = stretch.cycles.saturating_add(1);
            }
            (Some(place), Counted::Bounded(bound) | Counted::Seen(Some(bound))) if comes_out => {
                stretch.path.truncate(place + 1);
                if let Some(way) = step.way {
                    let returns = stretch.returns.entry(way).or_default();
                    *returns = returns.saturating_add(1);
                    stretch.cycles = stretch.cycles.saturating_add(u32::from(*returns > bound));
                }
            }
            (Some(place), Counted::Bounded(_)) => stretch.path.truncate(place + 1),
            (Some(_), Counted::Seen(_)) => {}
        }
        for region in step.loops.iter().skip(common) {
            let (within, path) = (Some(*region), vec![step.to]);
            stretches.push(Stretch { within, path, ..Stretch::default() });
        }
    }

    /// The trail as far as a node, where only what comes back out of a loop by a way with a bound is counted.
    pub(crate) fn up_to(mut self, step: Coming<'_>, bound: Option<u32>) -> Self {
        self.step(step, Counted::Seen(bound));
        self
    }

    /// Enters a node. A way with a bound of its own closes no cycle, unless it came out of a loop more often than the
    /// bound says.
    pub(crate) fn enter(&mut self, step: Coming<'_>, bound: Option<u32>) {
        self.step(step, bound.map_or(Counted::Free, Counted::Bounded));
    }

    /// Whether entering a node would close one cycle more than may be.
    pub(crate) fn is_spent(&self, step: Coming<'_>, bound: Option<u32>, most: u32) -> bool {
        let common = self.common(step);
        let Some(stretch) = self.0.get(common) else { return false };
        let counts = match bound {
            None => true,
            Some(bound) => {
                let returns = step.way.and_then(|way| stretch.returns.get(&way));
                self.0.len() > common + 1 && returns.copied().unwrap_or(0) >= bound
            }
        };
        counts && stretch.cycles >= most && stretch.path.contains(&step.to)
    }

    /// The item of a loop moved: nothing inside it counts any more.
    pub(crate) fn moved(&mut self, region: usize) {
        if let Some(place) = self.0.iter().position(|stretch| stretch.within == Some(region)) {
            let stretches = Arc::make_mut(&mut self.0);
            stretches.truncate(place);
            stretches.push(Stretch { within: Some(region), ..Stretch::default() });
        }
    }

    /// Takes the other one where it has gone round more often, or further; what is outermost counts first.
    pub(crate) fn join(&mut self, other: &Self) {
        let returns = |stretch: &Stretch| stretch.returns.values().sum::<u32>();
        let far = |it: &Stretch| (it.cycles, returns(it), it.path.len());
        if other.0.iter().map(far).gt(self.0.iter().map(far)) {
            self.clone_from(other);
        }
    }

    /// A command granted more cycles.
    pub(crate) fn forgive(&mut self) {
        for stretch in Arc::make_mut(&mut self.0).iter_mut() {
            stretch.cycles = 0;
        }
    }
}
