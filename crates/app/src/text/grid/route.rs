//! Routes the links between two rows.
//!
//! Each link goes down, across on a track, and down again. Links share a track if they do not overlap. Two links must
//! never run down the same column at the same height: a link that starts above the end of another must turn first. If
//! two links each have to turn before the other, one of them changes column half-way.

/// A piece of a link: down in `from`, across on a track, down in `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which link it belongs to.
    pub(super) link: usize,
    /// Its column above.
    pub(super) from: usize,
    /// Its column below.
    pub(super) to: usize,
    /// Its track, from 0 at the top.
    pub(super) track: usize,
}

/// Finds tracks for links that go from one column to another. Straight links have no piece.
/// The pieces of a link follow each other from the top.
pub(super) fn tracks(links: &[(usize, usize)]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = links
        .iter()
        .enumerate()
        .filter(|(_, (from, to))| from != to)
        .map(|(link, &(from, to))| Piece { link, from, to, track: 0 })
        .collect();
    loop {
        match order(&pieces) {
            Ok(order) => {
                assign(&mut pieces, &order);
                pieces.sort_by_key(|piece| (piece.link, piece.track));
                return pieces;
            }
            Err(stuck) => split(&mut pieces, stuck, links),
        }
    }
}

/// Whether `a` must turn above `b`.
fn above(a: &Piece, b: &Piece) -> bool {
    if a.link == b.link {
        // The first half of a link ends where the second begins.
        return a.to == b.from;
    }
    a.from == b.to
}

/// An order in which each piece comes after those that must turn above it, or the piece that
/// should be split so that there is one.
fn order(pieces: &[Piece]) -> Result<Vec<usize>, usize> {
    // Of parallel links to the right the rightmost turns first, of those to the left the
    // leftmost; then they do not cross each other.
    let urgency = |&place: &usize| {
        let Piece { from, to, .. } = pieces[place];
        if to > from { (0, usize::MAX - from, place) } else { (1, from, place) }
    };
    let mut left: Vec<usize> = (0..pieces.len()).collect();
    left.sort_by_key(urgency);
    let mut order = Vec::new();
    while !left.is_empty() {
        let free = left.iter().position(|&place| {
            !left.iter().any(|&other| other != place && above(&pieces[other], &pieces[place]))
        });
        if let Some(free) = free {
            order.push(left.remove(free));
            continue;
        }
        let is_whole = |place: &&usize| {
            let link = pieces[**place].link;
            pieces.iter().filter(|piece| piece.link == link).count() == 1
        };
        match left.iter().find(is_whole) {
            Some(&place) => return Err(place),
            // All are split already: take what comes, at the price of an overlap.
            None => order.append(&mut left),
        }
    }
    Ok(order)
}

/// Lets a link change its column half-way, in a column that no other link uses.
fn split(pieces: &mut Vec<Piece>, stuck: usize, links: &[(usize, usize)]) {
    let Piece { link, from, to, .. } = pieces[stuck];
    let used = |column: usize| {
        links.iter().any(|&(from, to)| from == column || to == column)
            || pieces.iter().any(|piece| piece.from == column || piece.to == column)
    };
    let middle = usize::midpoint(from, to);
    // Only so many columns can be used.
    let most = 2 * (links.len() + pieces.len()) + 1;
    let near = (0..=most).flat_map(|step| [middle.checked_sub(step), Some(middle + step)]);
    let Some(column) = near.flatten().find(|&column| !used(column)) else { return };
    pieces[stuck].to = column;
    pieces.push(Piece { link, from: column, to, track: 0 });
}

/// Gives each piece the track on which it crosses the fewest others and overlaps none.
fn assign(pieces: &mut [Piece], order: &[usize]) {
    let mut placed: Vec<Piece> = Vec::new();
    for &place in order {
        let mut piece = pieces[place];
        let after = placed.iter().filter(|other| above(other, &piece));
        let first = after.map(|other| other.track + 1).max().unwrap_or(0);
        let fresh = placed.iter().map(|other| other.track + 1).max().unwrap_or(0).max(first);
        let free = (first..=fresh).filter(|&track| {
            !placed.iter().any(|other| other.track == track && meet(&piece, other))
        });
        let crossed = |track: usize| {
            let here = Piece { track, ..piece };
            placed.iter().map(|other| crossings(&here, other)).sum::<usize>()
        };
        piece.track = free.min_by_key(|&track| (crossed(track), track)).unwrap_or(fresh);
        placed.push(piece);
        pieces[place] = piece;
    }
}

fn span(piece: &Piece) -> (usize, usize) {
    (piece.from.min(piece.to), piece.from.max(piece.to))
}

/// Whether two pieces would touch on one track.
fn meet(a: &Piece, b: &Piece) -> bool {
    let ((low, high), (left, right)) = (span(a), span(b));
    low <= right && left <= high
}

/// How often two pieces on different tracks cross.
fn crossings(a: &Piece, b: &Piece) -> usize {
    let (upper, lower) = if a.track < b.track { (a, b) } else { (b, a) };
    let within = |column: usize, piece: &Piece| {
        let (low, high) = span(piece);
        usize::from(low <= column && column <= high)
    };
    // The lower one comes down through the upper one's track, and that goes on through the other's.
    within(lower.from, upper) + within(upper.to, lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two pieces share a cell of a column or of a track.
    fn check(links: &[(usize, usize)]) -> Vec<Piece> {
        let pieces = tracks(links);
        let deepest = pieces.iter().map(|piece| piece.track).max().unwrap_or(0) + 2;
        let mut columns = Vec::new();
        for (link, &(from, to)) in links.iter().enumerate() {
            let own: Vec<&Piece> = pieces.iter().filter(|piece| piece.link == link).collect();
            let mut at = (from, 0);
            for piece in own {
                assert_eq!(piece.from, at.0);
                columns.push((link, piece.from, at.1, piece.track + 1));
                at = (piece.to, piece.track + 1);
            }
            assert_eq!(at.0, to);
            columns.push((link, to, at.1, deepest));
        }
        for (place, &(link, column, top, bottom)) in columns.iter().enumerate() {
            for &(other, beside, above, below) in &columns[place + 1..] {
                let meet = link != other && column == beside && top < below && above < bottom;
                assert!(!meet, "{links:?}: {pieces:?}");
            }
        }
        pieces
    }

    #[test]
    fn links_never_run_down_the_same_column() {
        assert!(check(&[(3, 3), (5, 5)]).is_empty());
        assert_eq!(check(&[(0, 4), (6, 9)]).iter().map(|piece| piece.track).max(), Some(0));
        // Parallel ones nest without crossing.
        assert_eq!(check(&[(0, 4), (2, 6)]).iter().map(|piece| piece.track).max(), Some(1));
        // One begins where the other ends.
        check(&[(0, 4), (4, 8)]);
        check(&[(4, 0), (8, 4)]);
        // They change places.
        assert_eq!(check(&[(0, 8), (8, 0)]).len(), 3);
        check(&[(0, 1), (1, 0)]);
        check(&[(0, 4), (4, 8), (8, 0)]);
        check(&[(0, 8), (4, 4), (8, 0), (2, 6), (6, 2)]);
    }

    #[test]
    fn nor_in_any_other_tangle() {
        // A small generator of numbers; what comes out is the same each time.
        let mut seed = 1_u64;
        let mut next = move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..2000 {
            let count = 2 + next(7);
            // Columns are used once above and once below, as ports are.
            let mut below: Vec<usize> = (0..count).collect();
            for place in (1..count).rev() {
                below.swap(place, next(place + 1));
            }
            check(&below.iter().enumerate().map(|(a, &b)| (2 * a, 2 * b)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_fan_does_not_cross_itself() {
        let fan = check(&[(39, 9), (44, 26), (49, 43), (53, 60), (58, 77), (63, 94)]);
        for (place, a) in fan.iter().enumerate() {
            for b in fan[place + 1..].iter().filter(|b| b.track != a.track) {
                assert_eq!(crossings(a, b), 0, "{fan:?}");
            }
        }
    }
}
