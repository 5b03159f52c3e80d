//! Which arrows lead back, and how far down each node stands.

use std::collections::VecDeque;

use super::graph::Graph;

/// The nodes of a graph, by how far from the beginning they stand.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    /// The rank of each node: the longest way to it without arrows that lead back.
    pub(super) of: Vec<usize>,
    /// For each node, the number of the part of the graph it hangs together with.
    pub(super) part: Vec<usize>,
}

impl Ranks {
    /// Ranks the nodes of a graph.
    pub(super) fn of_graph(graph: &Graph) -> Self {
        let arrows = graph.arrows.iter().filter_map(|arrow| Some((arrow.from, arrow.to.boxed()?)));
        let arrows: Vec<(usize, usize)> = arrows.collect();
        Self::new(graph.boxes.len(), graph.entry, &arrows)
    }

    /// Ranks `count` nodes, of which `entry` comes first, by `arrows` between them.
    ///
    /// An arrow leads back if it closes a cycle when one walks the graph as it is written,
    /// always going on along the first arrow that leads somewhere new.
    pub(super) fn new(count: usize, entry: usize, arrows: &[(usize, usize)]) -> Self {
        let mut leaving = vec![Vec::new(); count];
        for (place, &(from, to)) in arrows.iter().enumerate() {
            leaving[from].push((place, to));
        }
        let mut back = vec![false; arrows.len()];
        let mut seen = vec![Seen::Never; count];
        // Ends of walks first; the reverse is an order in which arrows lead forward.
        let mut settled = Vec::with_capacity(count);
        for start in std::iter::once(entry).chain(0..count).filter(|&start| start < count) {
            if seen[start] != Seen::Never {
                continue;
            }
            seen[start] = Seen::OnTheWay;
            let mut way = vec![(start, 0)];
            while let Some((node, next)) = way.last_mut() {
                let Some(&(arrow, to)) = leaving[*node].get(*next) else {
                    seen[*node] = Seen::Settled;
                    settled.push(*node);
                    way.pop();
                    continue;
                };
                *next += 1;
                followed();
                match seen[to] {
                    Seen::Never => {
                        seen[to] = Seen::OnTheWay;
                        way.push((to, 0));
                    }
                    Seen::OnTheWay => back[arrow] = true,
                    Seen::Settled => {}
                }
            }
        }
        let mut of = vec![0; count];
        for &node in settled.iter().rev() {
            for &(_, to) in leaving[node].iter().filter(|(arrow, _)| !back[*arrow]) {
                followed();
                of[to] = of[to].max(of[node] + 1);
            }
        }
        Self { of, part: parts(count, entry, arrows) }
    }

    /// The nodes of each rank, in the order they are written.
    pub(super) fn rows(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.of.iter().max().map_or(0, |most| most + 1)];
        for (node, &rank) in self.of.iter().enumerate() {
            rows[rank].push(node);
        }
        rows
    }
}

/// An arrow is followed; the tests count how often.
#[cfg(not(test))]
fn followed() {}

#[cfg(test)]
use tests::followed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Never,
    OnTheWay,
    Settled,
}

/// Numbers what hangs together, the entry's part first, the others as they are written.
fn parts(count: usize, entry: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut beside = vec![Vec::new(); count];
    for &(from, to) in arrows {
        beside[from].push(to);
        beside[to].push(from);
    }
    let mut part = vec![usize::MAX; count];
    let mut found = 0;
    for start in std::iter::once(entry).chain(0..count).filter(|&start| start < count) {
        if part[start] != usize::MAX {
            continue;
        }
        part[start] = found;
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for &other in &beside[node] {
                followed();
                if part[other] == usize::MAX {
                    part[other] = found;
                    open.push_back(other);
                }
            }
        }
        found += 1;
    }
    part
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static FOLLOWED: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts it.
    pub(super) fn followed() {
        FOLLOWED.set(FOLLOWED.get() + 1);
    }

    #[test]
    fn each_arrow_is_followed_a_few_times_however_tangled_they_are() {
        const COUNT: usize = 10_000;
        let chain: Vec<_> = (1..COUNT).map(|to| (to - 1, to)).collect();
        let fan: Vec<_> = (1..COUNT).map(|to| (0, to)).collect();
        let mut tangle = chain.clone();
        tangle.extend((0..COUNT).rev().step_by(3).zip(0..COUNT));
        tangle.extend((0..COUNT).map(|from| (from, (from * 7_919) % COUNT)));
        for arrows in [chain, fan, tangle] {
            FOLLOWED.set(0);
            assert_eq!(Ranks::new(COUNT, 0, &arrows).of.len(), COUNT);
            // Once on a walk, once for its rank, and from both ends to see what hangs together.
            let followed = FOLLOWED.get();
            assert!(followed >= 3 * arrows.len(), "they are counted: {followed}");
            assert!(followed <= 4 * arrows.len(), "{followed} for {}", arrows.len());
        }
    }

    #[test]
    fn ranks_follow_the_longest_way_and_cycles_are_cut_where_they_close() {
        // 0 → 1 → 2 → 0, 2 → 3, 0 → 3; 4 alone.
        let ranks = Ranks::new(5, 0, &[(0, 1), (1, 2), (2, 0), (2, 3), (0, 3)]);
        assert_eq!(ranks.of, [0, 1, 2, 3, 0]);
        assert_eq!(ranks.part, [0, 0, 0, 0, 1]);
        assert_eq!(ranks.rows(), [vec![0, 4], vec![1], vec![2], vec![3]]);
        // The entry need not be written first.
        let ranks = Ranks::new(2, 1, &[(0, 1), (1, 0)]);
        assert_eq!(ranks.of, [1, 0]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let arrows: Vec<_> = (1..200_000).map(|to| (to - 1, to)).collect();
        assert_eq!(Ranks::new(200_000, 0, &arrows).of[199_999], 199_999);
    }
}
