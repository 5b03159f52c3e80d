//! Pictures of known graphs, and of many others read back.

mod pictures;
mod reading;

use indexmap::IndexMap;
use materia_app::text::grid::{COLUMNS_MAX, Look, text};
use materia_contract::{Behavior, Condition, Edge, EdgeId, Limits, Node, NodeId, Plan};

use unicode_width::UnicodeWidthChar;

/// A plan with these nodes and edges; `to` is `end` for the end.
fn plan(nodes: &[&str], edges: &[(&str, Condition, &str)]) -> Plan {
    let mut plan = Plan {
        loadout: "L".to_owned(),
        entry: NodeId::new(nodes[0]),
        nodes: IndexMap::new(),
        loops: IndexMap::new(),
        limits: Limits::default(),
        budget: materia_contract::Budget::default(),
        doc_root: "docs".to_owned(),
    };
    for node in nodes {
        let behavior = Behavior::Utility { command: Vec::new(), params: serde_json::Map::new() };
        plan.nodes.insert(NodeId::new(*node), Node::new(format!("Do-{node}"), behavior));
    }
    for (place, (from, when, to)) in edges.iter().enumerate() {
        let edge = Edge {
            id: EdgeId::new(format!("e{place}")),
            when: *when,
            guard: None,
            to: (!["end", "fail"].contains(to)).then(|| NodeId::new(*to)),
            fails: *to == "fail",
            max_traversals: None,
            delivery: materia_contract::Delivery::default(),
        };
        plan.nodes[*from].edges.push(edge);
    }
    plan
}

/// The columns that a line takes.
fn columns(line: &str) -> usize {
    line.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// The picture, which must be the same each time and no wider than a line.
fn drawn(plan: &Plan) -> String {
    let drawn = text(plan, Look::default()).text;
    assert_eq!(drawn, text(plan, Look::default()).text);
    for line in drawn.lines() {
        assert!(columns(line) <= COLUMNS_MAX, "{line}");
    }
    drawn
}
