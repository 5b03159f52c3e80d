//! Assigns a column to every element.
//!
//! Each element should stand where its neighbours in the rows above and below are; the order within a row, and the gap
//! between two elements, must be kept. Pooling adjacent violators finds the optimum for one row; all rows together
//! converge in a few rounds.

use super::layers::{GAP, Layers, Link, What};

/// How often all rows are gone through.
const ROUNDS: usize = 24;
/// The largest bend that is worth straightening at the end.
const BEND_MAX: i32 = 3;
/// How much stronger a line holds to its own next piece than a box holds to its arrows.
const STRAIGHT: f64 = 8.0;

/// The left column of each element, the leftmost at 0.
pub(super) fn columns(layers: &Layers) -> Vec<usize> {
    let links = Neighbours::new(layers);
    let mut wanted = vec![0.0; layers.elements.len()];
    for row in &layers.rows {
        pack(layers, &row.elements, &mut wanted);
    }
    for round in 0..ROUNDS {
        let count = layers.rows.len();
        for step in 0..count {
            let row = if round % 2 == 0 { step } else { count - 1 - step };
            settle(layers, &links, &layers.rows[row].elements, &mut wanted);
        }
    }
    let mut left = whole(layers, &wanted);
    for row in 0..layers.rows.len() {
        straighten(layers, &links, row, &mut left, |link, own| link.lower == own);
    }
    for row in (0..layers.rows.len()).rev() {
        straighten(layers, &links, row, &mut left, |link, own| link.upper == own);
    }
    let leftmost = left.iter().min().copied().unwrap_or(0);
    left.iter().map(|left| usize::try_from(left - leftmost).unwrap_or(0)).collect()
}

/// The links at each element.
struct Neighbours(Vec<Vec<Link>>);

impl Neighbours {
    fn new(layers: &Layers) -> Self {
        let mut links = vec![Vec::new(); layers.elements.len()];
        for link in layers.rows.iter().flat_map(|row| &row.links) {
            links[link.upper].push(*link);
            links[link.lower].push(*link);
        }
        Self(links)
    }
}

/// Columns as a number that can be negative; a row has few of them.
fn number(columns: usize) -> i32 {
    i32::try_from(columns).unwrap_or(i32::MAX / 2)
}

/// The other end of a link, and where `own` would stand if the link were straight.
fn straight(link: &Link, own: usize) -> (usize, i32) {
    let (upper, lower) = (number(link.upper_port), number(link.lower_port));
    if link.upper == own { (link.lower, lower - upper) } else { (link.upper, upper - lower) }
}

/// How far apart the left sides of an element and the next one must be.
fn room(layers: &Layers, element: usize) -> i32 {
    number(layers.elements[element].columns + GAP)
}

/// Puts the elements of a row side by side around the middle.
fn pack(layers: &Layers, row: &[usize], wanted: &mut [f64]) {
    let all: i32 = row.iter().map(|&element| room(layers, element)).sum();
    let mut at = f64::from(number(GAP) - all) / 2.0;
    for &element in row {
        wanted[element] = at;
        at += f64::from(room(layers, element));
    }
}

/// Moves the elements of a row as close to their neighbours as their order allows.
fn settle(layers: &Layers, links: &Neighbours, row: &[usize], wanted: &mut [f64]) {
    /// Elements that touch: their count, weight and mean of what they want.
    struct Pool {
        count: usize,
        weight: f64,
        at: f64,
    }
    let is_line = |element: usize| matches!(layers.elements[element].what, What::Line(_));
    let mut pools: Vec<Pool> = Vec::new();
    let mut before = 0;
    for &element in row {
        let (mut weight, mut sum) = (0.001, 0.001 * wanted[element]);
        for link in &links.0[element] {
            let (other, shift) = straight(link, element);
            let strength = if is_line(element) && is_line(other) { STRAIGHT } else { 1.0 };
            weight += strength;
            sum += strength * (wanted[other] + f64::from(shift));
        }
        let mut pool = Pool { count: 1, weight, at: sum / weight - f64::from(before) };
        while let Some(last) = pools.pop_if(|last| last.at > pool.at) {
            let weight = last.weight + pool.weight;
            pool.at = (last.weight * last.at + pool.weight * pool.at) / weight;
            (pool.weight, pool.count) = (weight, pool.count + last.count);
        }
        pools.push(pool);
        before += room(layers, element);
    }
    let settled = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.at, pool.count));
    let mut before = 0;
    for (&element, at) in row.iter().zip(settled) {
        wanted[element] = at + f64::from(before);
        before += room(layers, element);
    }
}

/// Whole columns, in order and with room.
fn whole(layers: &Layers, wanted: &[f64]) -> Vec<i32> {
    let mut left = vec![0; wanted.len()];
    for row in &layers.rows {
        let mut free = i32::MIN;
        for &element in &row.elements {
            #[expect(clippy::cast_possible_truncation, reason = "columns are small numbers")]
            let at = wanted[element].round() as i32;
            left[element] = at.max(free);
            free = left[element] + room(layers, element);
        }
    }
    left
}

/// Takes small bends out of a row's links to one side, where there is room to.
fn straighten(
    layers: &Layers,
    links: &Neighbours,
    row: usize,
    left: &mut [i32],
    counts: impl Fn(&Link, usize) -> bool,
) {
    let elements = &layers.rows[row].elements;
    for (place, &element) in elements.iter().enumerate() {
        let least = place
            .checked_sub(1)
            .map_or(i32::MIN, |before| left[elements[before]] + room(layers, elements[before]));
        let most =
            elements.get(place + 1).map_or(i32::MAX, |&after| left[after] - room(layers, element));
        let bends = links.0[element].iter().filter(|link| counts(link, element)).map(|link| {
            let (other, shift) = straight(link, element);
            left[other] + shift
        });
        let near = bends.filter(|at| (at - left[element]).abs() <= BEND_MAX);
        if let Some(at) = near.min_by_key(|at| (at - left[element]).abs())
            && (least..=most).contains(&at)
        {
            left[element] = at;
        }
    }
}
