//! Converts the plan into boxes and arrows.

use indexmap::IndexMap;
use materia_contract::{Condition, END, FAIL, NodeId, Plan};

use super::{Detail, labels, width};

/// The widest line in a box.
const BOX_COLUMNS_MAX: usize = 32;
/// The widest label of an arrow.
const LABEL_COLUMNS_MAX: usize = 28;
/// The same, where only names are shown.
const NAME_COLUMNS_MAX: usize = 16;

/// Boxes and arrows.
#[derive(Debug)]
pub(super) struct Graph {
    /// The box where a cast begins.
    pub(super) entry: usize,
    /// Text of each box, line by line.
    pub(super) boxes: Vec<Vec<String>>,
    pub(super) arrows: Vec<Arrow>,
    notes: Vec<String>,
}

/// An arrow.
#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: To,
    /// Empty where nothing is special about it.
    pub(super) label: String,
}

/// Where an arrow leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Box(usize),
    /// The end of the graph.
    End,
    /// The end of the graph as failed.
    Fail,
}

impl To {
    /// The box, if it is one.
    pub(super) fn boxed(self) -> Option<usize> {
        match self {
            Self::Box(place) => Some(place),
            Self::End | Self::Fail => None,
        }
    }

    /// The word that stands for an end of the graph.
    pub(super) fn word(self) -> &'static str {
        if self == Self::Fail { FAIL } else { END }
    }
}

impl Graph {
    /// The graph of a plan.
    pub(super) fn new(plan: &Plan, detail: Detail, ascii: bool) -> Self {
        let spelled = |text: String| if ascii { width::spelled(&text) } else { text };
        let place: IndexMap<&NodeId, usize> =
            plan.nodes.keys().enumerate().map(|(place, id)| (id, place)).collect();
        let entry = place.get(&plan.entry).copied().unwrap_or(0);
        let mut graph = Self { entry, boxes: Vec::new(), arrows: Vec::new(), notes: Vec::new() };
        for (id, node) in &plan.nodes {
            let from = graph.boxes.len();
            let mark = if *id == plan.entry { "▶ " } else { "" };
            let mut lines = vec![format!("{mark}{id}")];
            if detail == Detail::Full {
                // The kind is the same few letters each time; a long name must not push it out.
                let kind = format!(" · {}", labels::kind(node));
                let room = BOX_COLUMNS_MAX - width::of(&kind);
                lines.push(width::fit(&node.materia, room) + &kind);
                lines.extend(labels::features(node).into_iter().map(spelled));
            } else {
                lines.extend(labels::starts(node).into_iter().map(spelled));
            }
            let mut ways: Vec<(&str, String)> =
                node.edges.iter().map(|edge| (edge.target(), labels::label(edge))).collect();
            ways.extend(node.on_failure.iter().map(|edge| (edge.target(), labels::failure(edge))));
            for region in plan.loops.values() {
                let exits = region.exits.iter().filter(|exit| exit.from == *id);
                ways.extend(exits.map(|exit| (exit.target(), labels::exit(exit))));
            }
            for (to, label) in ways {
                let label = graph.labelled(id, to, &spelled(label), detail);
                let to = match place.get(&NodeId::new(to)) {
                    Some(to) => To::Box(*to),
                    None if to == FAIL => To::Fail,
                    None => To::End,
                };
                if to == To::Box(from) {
                    // A line around a box says less than a word in it.
                    let when = if label.is_empty() { Condition::Always.word() } else { &label };
                    lines.push(format!("↺ {when}"));
                } else {
                    graph.arrows.push(Arrow { from, to, label });
                }
            }
            let columns = match detail {
                Detail::Full => BOX_COLUMNS_MAX,
                Detail::Names => NAME_COLUMNS_MAX,
            };
            graph.boxes.push(lines.iter().map(|line| width::fit(line, columns)).collect());
        }
        graph
    }

    /// A label that fits. One that is cut off is shown in full beneath the picture.
    fn labelled(&mut self, from: &NodeId, to: &str, label: &str, detail: Detail) -> String {
        let columns = match detail {
            Detail::Full => LABEL_COLUMNS_MAX,
            Detail::Names => NAME_COLUMNS_MAX,
        };
        let fitted = width::fit(label, columns);
        if fitted != label {
            self.notes.push(format!("{from} → {to}: {label}"));
        }
        fitted
    }

    /// Texts that did not fit into the picture.
    pub(super) fn notes(&self) -> impl Iterator<Item = &String> {
        self.notes.iter()
    }
}
