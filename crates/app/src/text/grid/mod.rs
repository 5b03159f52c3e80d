//! Draws a plan as text.
//!
//! ```text
//! plan ─► graph ─► rank ─► layers ─► place ─► draw ─► lines
//!                                  └─ too wide or too large ─► list
//! ```
//!
//! * [`graph`]: the plan as boxes and arrows; [`labels`]: their texts.
//! * [`rank`]: back edges, the row of each box, connected components.
//! * [`layers`]: boxes, labels and passing lines in rows, with few crossings.
//! * [`place`]: the column of every element; [`route`]: the links between two rows.
//! * [`draw`] and [`canvas`]: characters.
//! * [`data`]: the same positions as data, for the page.
//! * [`list`]: one node after the other, for graphs that are too large to draw.
//!
//! The result depends only on the order in which the author wrote the nodes: the same plan always gives the same
//! picture. No line is wider than [`COLUMNS_MAX`].

mod canvas;
mod data;
mod draw;
mod graph;
mod labels;
mod layers;
mod list;
mod place;
mod rank;
mod route;
mod width;

use materia_contract::Plan;

pub use data::data;
use graph::Graph;
use rank::Ranks;

/// The widest line.
pub const COLUMNS_MAX: usize = 200;
/// The most boxes, labels and bends that are worth a picture; beyond, a list is read more easily.
const ELEMENTS_MAX: usize = 3000;

/// How it is to look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// Nothing but ASCII.
    pub ascii: bool,
    /// A list, even where a picture is possible.
    pub list: bool,
}

/// How much a box says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Its name and what it is.
    Full,
    /// Its name.
    Names,
}

/// A plan as text.
#[derive(Debug)]
pub struct Drawing {
    /// The text.
    pub text: String,
    /// Whether it is a list because a picture has no room.
    pub too_large: bool,
}

/// Draws a plan.
pub fn text(plan: &Plan, look: Look) -> Drawing {
    let picture = if look.list { None } else { picture(plan, look.ascii) };
    let too_large = picture.is_none() && !look.list;
    // A list has no columns to keep, so signs may become longer.
    let list = || if look.ascii { width::spelled(&list::text(plan)) } else { list::text(plan) };
    let text = picture.unwrap_or_else(list);
    Drawing { text: if look.ascii { width::ascii(&text) } else { text }, too_large }
}

/// The picture with its title and what it has no room for; `None` where there is no room at all.
fn picture(plan: &Plan, ascii: bool) -> Option<String> {
    if plan.nodes.len() > ELEMENTS_MAX {
        return None;
    }
    let (graph, drawn) = [Detail::Full, Detail::Names].into_iter().find_map(|detail| {
        let graph = Graph::new(plan, detail, ascii);
        let drawn = draw::picture(&graph)?;
        Some((graph, drawn))
    })?;
    let mut text = list::line(&plan.loadout);
    text.push_str(&drawn);
    for note in graph.notes() {
        text.push_str(&list::line(note));
    }
    text.push_str(&list::loops(plan));
    Some(text)
}

/// Where the nodes of a plan stand.
#[derive(Debug)]
pub struct Ranking {
    /// The rank of each node, in the order they are written.
    pub of: Vec<usize>,
    /// The nodes of each rank.
    pub rows: Vec<Vec<usize>>,
    /// For each node and each of its edges, whether it leads back; to itself does too.
    pub back: Vec<Vec<bool>>,
}

/// Ranks the nodes of a plan as the picture does.
pub fn ranks(plan: &Plan) -> Ranking {
    let graph = Graph::new(plan, Detail::Names, false);
    let ranks = Ranks::of_graph(&graph);
    let back = plan.nodes.iter().enumerate().map(|(from, (_, node))| {
        let to = node.edges.iter().map(|edge| edge.to.as_ref());
        let to = to.map(|to| to.and_then(|to| plan.nodes.get_index_of(to)));
        to.map(|to| to.is_some_and(|to| ranks.of[to] <= ranks.of[from])).collect()
    });
    let back = back.collect();
    Ranking { rows: ranks.rows(), of: ranks.of, back }
}
