//! The picture of a graph.

use super::canvas::Canvas;
use super::graph::Graph;
use super::layers::{Layer, Layers, Link, What};
use super::rank::Ranks;
use super::{COLUMNS_MAX, ELEMENTS_MAX, place, route};

/// Blanks on the left.
const MARGIN: usize = 2;

/// Draws a graph, part by part; `None` where it does not fit.
pub(super) fn picture(graph: &Graph) -> Option<String> {
    let ranks = Ranks::of_graph(graph);
    let parts = ranks.part.iter().max().map_or(0, |most| most + 1);
    let mut drawn = Vec::new();
    let mut left = ELEMENTS_MAX;
    for part in 0..parts {
        let layers = Layers::new(graph, &ranks, part, left)?;
        left = left.saturating_sub(layers.elements.len());
        let canvas = Sheet::new(&layers).draw();
        if MARGIN + canvas.columns() > COLUMNS_MAX {
            return None;
        }
        drawn.push(canvas.render(MARGIN));
    }
    Some(drawn.join("\n"))
}

/// A part of a graph on its way to the canvas.
struct Sheet<'a> {
    layers: &'a Layers,
    /// The left column of each element.
    left: Vec<usize>,
    canvas: Canvas,
}

impl<'a> Sheet<'a> {
    fn new(layers: &'a Layers) -> Self {
        Self { layers, left: place::columns(layers), canvas: Canvas::default() }
    }

    fn draw(mut self) -> Canvas {
        let mut y = 0;
        let rows = &self.layers.rows;
        for (place, row) in rows.iter().enumerate() {
            let height =
                row.elements.iter().map(|&element| self.height(element)).max().unwrap_or(1);
            for &element in &row.elements {
                self.element(element, y, height);
            }
            let to_labels = rows.get(place + 1).is_some_and(|next| next.labels);
            y = self.links(row, to_labels, y, y + height);
        }
        self.canvas
    }

    fn height(&self, element: usize) -> usize {
        match &self.layers.elements[element].what {
            What::Box(lines) => lines.len() + 2,
            What::End(_) | What::Line(_) => 1,
        }
    }

    fn element(&mut self, element: usize, y: usize, height: usize) {
        let (x, own) = (self.left[element], &self.layers.elements[element]);
        match &own.what {
            What::Box(lines) => {
                self.canvas.frame(x, y, own.columns, lines.len() + 2);
                for (line, text) in lines.iter().enumerate() {
                    self.canvas.text(x + 2, y + 1 + line, text);
                }
            }
            What::End(word) => self.canvas.text(x, y, word),
            What::Line(label) => {
                self.canvas.down(x + own.columns / 2, y, y + height - 1);
                let start = (own.columns - super::width::of(label)) / 2;
                self.canvas.text(x + start, y, label);
            }
        }
    }

    /// Draws the links from a row that begins at `top` and ends before `y`; gives where the next
    /// row begins.
    fn links(&mut self, row: &Layer, to_labels: bool, top: usize, y: usize) -> usize {
        let links = &row.links;
        if links.is_empty() {
            return y;
        }
        let column = |sheet: &Self, link: &Link| {
            (sheet.left[link.upper] + link.upper_port, sheet.left[link.lower] + link.lower_port)
        };
        let ends: Vec<(usize, usize)> = links.iter().map(|link| column(self, link)).collect();
        let pieces = route::tracks(&ends);
        // Below boxes there is a row for the lines to leave by, above boxes one to arrive by.
        let first = y + usize::from(!row.labels);
        let after = pieces.iter().map(|piece| piece.track + 1).max().unwrap_or(0) + first;
        let next = after + usize::from(!to_labels);
        for (place, link) in links.iter().enumerate() {
            let (from, to) = ends[place];
            let mut at = (from, self.leave(link, from, top, y));
            for piece in pieces.iter().filter(|piece| piece.link == place) {
                self.canvas.down(at.0, at.1, first + piece.track);
                self.canvas.across(first + piece.track, piece.from, piece.to);
                at = (piece.to, first + piece.track);
            }
            self.canvas.down(at.0, at.1, next - 1);
            self.arrive(link, to, next);
        }
        next
    }

    /// Begins a link under its upper element; gives the row from which it goes on.
    fn leave(&mut self, link: &Link, x: usize, top: usize, y: usize) -> usize {
        match &self.layers.elements[link.upper].what {
            What::Box(lines) => {
                let border = top + lines.len() + 1;
                if link.down {
                    return border;
                }
                self.canvas.text(x, border + 1, "▲");
                border + 1
            }
            What::End(_) | What::Line(_) => y - 1,
        }
    }

    /// Ends a link above its lower element, whose row begins at `y`.
    fn arrive(&mut self, link: &Link, x: usize, y: usize) {
        match (&self.layers.elements[link.lower].what, link.down) {
            (What::Box(_) | What::End(_), true) => self.canvas.text(x, y - 1, "▼"),
            (What::Box(_) | What::End(_), false) | (What::Line(_), _) => {
                self.canvas.down(x, y - 1, y);
            }
        }
    }
}
