//! Places boxes, labels and passing lines in rows, with few crossings.
//!
//! The rows of boxes are the ranks. A row of labels is between two of them if an arrow that crosses there has a label.
//! An arrow over several rows gets an element in each, so that links only join neighbouring rows. A back edge is the
//! same with its head at the other end.

use std::collections::HashMap;

use super::graph::Graph;
use super::rank::Ranks;
use super::{COLUMNS_MAX, width};

/// How often the order of the rows is improved.
const SWEEPS: usize = 16;
/// The columns between two elements of a row.
pub(super) const GAP: usize = 2;

/// Element of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// The box of a node, line by line.
    Box(Vec<String>),
    /// An end of the graph, by its word.
    End(&'static str),
    /// An arrow on its way, with its label where it has one and this is the place.
    Line(String),
}

/// Something in a row.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) what: What,
    pub(super) columns: usize,
}

/// A piece of an arrow, from a row to the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// Whether the arrow leads down here.
    pub(super) down: bool,
    /// The column of its upper end, from the left of the upper element.
    pub(super) upper_port: usize,
    /// The column of its lower end, from the left of the lower element.
    pub(super) lower_port: usize,
}

/// A row.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// From left to right.
    pub(super) elements: Vec<usize>,
    /// Whether it is a row of labels.
    pub(super) labels: bool,
    /// The links to the next row.
    pub(super) links: Vec<Link>,
}

/// A part of a graph in rows.
#[derive(Debug, Default)]
pub(super) struct Layers {
    pub(super) elements: Vec<Element>,
    pub(super) rows: Vec<Layer>,
}

impl Layers {
    /// Puts a part of the graph into rows; `None` if they need more than `most` elements or
    /// more columns than a line has.
    pub(super) fn new(graph: &Graph, ranks: &Ranks, part: usize, most: usize) -> Option<Self> {
        let mut layers = Builder::new(graph, ranks, part).build(most)?;
        layers.order();
        layers.widen();
        let fits = |row: &Layer| layers.columns(row) <= COLUMNS_MAX;
        layers.rows.iter().all(fits).then_some(layers)
    }

    fn columns(&self, row: &Layer) -> usize {
        row.elements.iter().map(|&element| self.elements[element].columns + GAP).sum::<usize>()
    }

    /// The place of each element in its row.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.elements.len()];
        for row in &self.rows {
            for (place, &element) in row.elements.iter().enumerate() {
                places[element] = place;
            }
        }
        places
    }

    /// Orders each row by where its neighbours stand, down and up again, and keeps the best.
    fn order(&mut self) {
        let rows = |layers: &Self| -> Vec<Vec<usize>> {
            layers.rows.iter().map(|row| row.elements.clone()).collect()
        };
        let mut best = (usize::MAX, rows(self));
        let mut places = self.places();
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let count = self.rows.len();
            for step in 1..count {
                self.sort_row(if down { step } else { count - 1 - step }, down, &mut places);
            }
            let crossings = self.crossings(&places);
            if crossings < best.0 {
                best = (crossings, rows(self));
            }
            if crossings == 0 {
                break;
            }
        }
        for (row, elements) in self.rows.iter_mut().zip(best.1) {
            row.elements = elements;
        }
    }

    /// Orders one row by the mean place of its neighbours above, or below.
    fn sort_row(&mut self, row: usize, by_above: bool, places: &mut [usize]) {
        let mut sums: HashMap<usize, (usize, usize)> = HashMap::new();
        let links = if by_above { &self.rows[row - 1].links } else { &self.rows[row].links };
        for link in links {
            let (own, other) =
                if by_above { (link.lower, link.upper) } else { (link.upper, link.lower) };
            let sum = sums.entry(own).or_default();
            (sum.0, sum.1) = (sum.0 + places[other], sum.1 + 1);
        }
        // Compared as fractions of whole numbers, so that equal is equal.
        let mean = |element: usize| sums.get(&element).copied().unwrap_or((places[element], 1));
        self.rows[row].elements.sort_by(|&a, &b| {
            let ((a, of_a), (b, of_b)) = (mean(a), mean(b));
            (a * of_b).cmp(&(b * of_a))
        });
        for (place, &element) in self.rows[row].elements.iter().enumerate() {
            places[element] = place;
        }
    }

    fn crossings(&self, places: &[usize]) -> usize {
        let mut count = 0;
        for row in &self.rows {
            let ends: Vec<(usize, usize)> =
                row.links.iter().map(|link| (places[link.upper], places[link.lower])).collect();
            for (place, a) in ends.iter().enumerate() {
                let crosses =
                    |b: &&(usize, usize)| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1);
                count += ends[place + 1..].iter().filter(crosses).count();
            }
        }
        count
    }

    /// Gives each link its ports, and each element the columns that its ports need.
    fn widen(&mut self) {
        let places = self.places();
        let count = self.elements.len();
        let (mut below, mut above) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (at, row) in self.rows.iter().enumerate() {
            for (place, link) in row.links.iter().enumerate() {
                below[link.upper].push((places[link.lower], at, place));
                above[link.lower].push((places[link.upper], at, place));
            }
        }
        for (element, (below, above)) in self.elements.iter_mut().zip(below.iter().zip(&above)) {
            let ports = below.len().max(above.len());
            // Odd, so that there is a middle.
            element.columns = element.columns.max(2 * ports + 1 - usize::from(ports == 1) * 2) | 1;
        }
        for (sides, is_below) in [(below, true), (above, false)] {
            for (element, mut side) in sides.into_iter().enumerate() {
                side.sort_unstable();
                let ports = side.len();
                for (number, (_, at, place)) in side.into_iter().enumerate() {
                    let port = (2 * number + 1) * self.elements[element].columns / (2 * ports);
                    let link = &mut self.rows[at].links[place];
                    *(if is_below { &mut link.upper_port } else { &mut link.lower_port }) = port;
                }
            }
        }
    }
}

/// Puts a part of a graph into rows.
struct Builder<'a> {
    graph: &'a Graph,
    ranks: &'a Ranks,
    part: usize,
    layers: Layers,
    /// The row of boxes of each rank.
    box_rows: Vec<usize>,
}

impl<'a> Builder<'a> {
    fn new(graph: &'a Graph, ranks: &'a Ranks, part: usize) -> Self {
        Self { graph, ranks, part, layers: Layers::default(), box_rows: Vec::new() }
    }

    /// The arrows of this part: from which rank to which, from above to below.
    fn arrows(&self) -> impl Iterator<Item = (usize, usize, usize, bool)> {
        let graph = self.graph;
        let of = &self.ranks.of;
        let own = graph.arrows.iter().enumerate();
        let own = own.filter(|(_, arrow)| self.ranks.part[arrow.from] == self.part);
        own.map(move |(number, arrow)| match arrow.to.boxed() {
            None => (number, of[arrow.from], of[arrow.from] + 1, true),
            Some(to) if of[to] > of[arrow.from] => (number, of[arrow.from], of[to], true),
            Some(to) => (number, of[to], of[arrow.from], false),
        })
    }

    fn build(mut self, most: usize) -> Option<Layers> {
        let boxes: Vec<usize> = (0..self.graph.boxes.len())
            .filter(|&node| self.ranks.part[node] == self.part)
            .collect();
        let arrows: Vec<_> = self.arrows().collect();
        let spans: usize = arrows.iter().map(|(_, top, bottom, _)| 2 * (bottom - top)).sum();
        if boxes.len() + spans > most {
            return None;
        }
        self.add_rows(&boxes, &arrows);
        let mut of_box = vec![usize::MAX; self.graph.boxes.len()];
        for &node in &boxes {
            let lines = self.graph.boxes[node].clone();
            // A border and a blank on either side.
            let columns = lines.iter().map(|line| width::of(line)).max().unwrap_or(0) + 4;
            let row = self.box_rows[self.ranks.of[node]];
            of_box[node] = self.add(row, What::Box(lines), columns);
        }
        for (number, top, bottom, down) in arrows {
            let arrow = &self.graph.arrows[number];
            let from = of_box[arrow.from];
            let to = if let Some(to) = arrow.to.boxed() {
                of_box[to]
            } else {
                let word = arrow.to.word();
                self.add(self.box_rows[bottom], What::End(word), width::of(word))
            };
            let (upper, lower) = if down { (from, to) } else { (to, from) };
            self.connect(upper, lower, top, bottom, down, &arrow.label);
        }
        Some(self.layers)
    }

    /// Makes the rows: one for each rank, and one of labels after each that needs it.
    fn add_rows(&mut self, boxes: &[usize], arrows: &[(usize, usize, usize, bool)]) {
        let deepest = boxes.iter().map(|&node| self.ranks.of[node]);
        let deepest = deepest.chain(arrows.iter().map(|&(_, _, bottom, _)| bottom)).max();
        for rank in 0..=deepest.unwrap_or(0) {
            self.box_rows.push(self.layers.rows.len());
            self.layers.rows.push(Layer::default());
            let labelled = arrows.iter().any(|&(number, top, bottom, down)| {
                !self.graph.arrows[number].label.is_empty()
                    && rank == if down { top } else { bottom - 1 }
            });
            if labelled {
                self.layers.rows.push(Layer { labels: true, ..Layer::default() });
            }
        }
    }

    fn add(&mut self, row: usize, what: What, columns: usize) -> usize {
        let element = self.layers.elements.len();
        self.layers.elements.push(Element { what, columns });
        self.layers.rows[row].elements.push(element);
        element
    }

    /// Leads an arrow through all rows between its ends. Its label stands next to where it begins.
    fn connect(
        &mut self,
        upper: usize,
        lower: usize,
        top: usize,
        bottom: usize,
        down: bool,
        label: &str,
    ) {
        let (first, last) = (self.box_rows[top], self.box_rows[bottom]);
        let label_row = if down { first + 1 } else { last - 1 };
        let mut above = upper;
        for row in first..last {
            let below = if row + 1 == last {
                lower
            } else if row + 1 == label_row && self.layers.rows[row + 1].labels {
                self.add(row + 1, What::Line(label.to_owned()), width::of(label).max(1))
            } else {
                self.add(row + 1, What::Line(String::new()), 1)
            };
            let link = Link { upper: above, lower: below, down, upper_port: 0, lower_port: 0 };
            self.layers.rows[row].links.push(link);
            above = below;
        }
    }
}
