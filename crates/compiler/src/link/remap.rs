//! New names for everything in a plan that has one, so that no two targets collide (D31).
//!
//! Sockets are numbered through all targets. Loops, cursors, exits and edges with a name get the number of their
//! target as prefix. Every pattern here lists all fields, so that a new field of a plan does not compile before its
//! names are handled.

use std::collections::HashMap;

use materia_contract::{
    Behavior, Edge, EdgeId, Exit, Foreach, Loop, Node, NodeId, Plan, on_failure_edge,
};
use serde_json::Value;

/// The socket of that number.
pub(super) fn socket(number: usize) -> NodeId {
    NodeId::new(format!("Socket-{number}"))
}

/// The names of one target, old to new.
struct Names {
    /// Prefix of the target's own names.
    prefix: String,
    sockets: HashMap<NodeId, NodeId>,
}

impl Names {
    fn socket(&self, old: &mut NodeId) {
        if let Some(new) = self.sockets.get(old) {
            *old = new.clone();
        }
    }

    fn own(&self, name: &mut String) {
        name.insert_str(0, &self.prefix);
    }
}

/// Renames everything in a plan: `number` is the number of the target, `first` the number of its first socket.
pub(super) fn remap(plan: &Plan, number: usize, first: usize) -> Plan {
    let sockets = plan.nodes.keys().cloned().zip((first..).map(socket)).collect();
    let names = Names { prefix: format!("{number}-"), sockets };
    let Plan { loadout, entry, nodes, loops, limits, budget, doc_root } = plan.clone();
    let mut entry = entry;
    names.socket(&mut entry);
    let nodes = nodes.into_iter().map(|(mut id, mut node)| {
        let old = id.clone();
        names.socket(&mut id);
        rename_node(&names, &old, &mut node);
        (id, node)
    });
    let loops = loops.into_iter().map(|(mut id, mut region)| {
        names.own(&mut id);
        rename_loop(&names, &id, &mut region);
        (id, region)
    });
    let (nodes, loops) = (nodes.collect(), loops.collect());
    Plan { loadout, entry, nodes, loops, limits, budget, doc_root }
}

fn rename_node(names: &Names, old: &NodeId, node: &mut Node) {
    let Node {
        edges,
        on_failure,
        foreach,
        loops,
        depends_on,
        behavior,
        socket_params,
        materia: _,
        color: _,
        parse: _,
        verdict: _,
        env: _,
        cwd: _,
        retries: _,
        assign: _,
        timeout_ms: _,
        routing: _,
        mode: _,
        control: _,
        trigger: _,
        max_in_flight: _,
        consume: _,
        output_selector: _,
        artifacts: _,
        interval_ms: _,
        cron: _,
        approval: _,
        policy: _,
        on_interrupt: _,
        run_at_start: _,
        generator: _,
        advance: _,
        budgets: _,
        requires: _,
        reads: _,
        multi_turn: _,
        session: _,
    } = node;
    for edge in edges {
        rename_edge(names, old, edge);
    }
    if let Some(Foreach { cursor, items: _, alias: _ }) = foreach {
        names.own(cursor);
    }
    for id in loops {
        names.own(id);
    }
    for id in depends_on {
        names.socket(id);
    }
    if let Some(Edge { id, to, when: _, guard: _, fails: _, max_traversals: _, delivery: _ }) =
        on_failure
    {
        let mut new = old.clone();
        names.socket(&mut new);
        *id = on_failure_edge(new.as_str());
        if let Some(to) = to {
            names.socket(to);
        }
    }
    if let Behavior::Utility { params, .. } = behavior {
        for name in socket_params {
            params.get_mut(name.as_str()).into_iter().for_each(|ids| rename_ids(names, ids));
        }
    }
}

/// Renames the id, or the list of ids, that a parameter holds (D50).
fn rename_ids(names: &Names, value: &mut Value) {
    match value {
        Value::String(id) => {
            let mut new = NodeId::new(id.as_str());
            names.socket(&mut new);
            *id = new.to_string();
        }
        Value::Array(list) => list.iter_mut().for_each(|id| rename_ids(names, id)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// An edge that its author did not name is named again when it is known where it leads.
fn rename_edge(names: &Names, from: &NodeId, edge: &mut Edge) {
    let derived = is_derived(from, edge);
    let Edge { id, to, when: _, guard: _, fails: _, max_traversals: _, delivery: _ } = edge;
    *id = EdgeId::new(if derived { String::new() } else { format!("{}{id}", names.prefix) });
    if let Some(to) = to {
        names.socket(to);
    }
}

/// Whether an edge has the id that it gets where its author gives it none.
fn is_derived(from: &NodeId, edge: &Edge) -> bool {
    let base = base(from, edge);
    let Some(rest) = edge.id.as_str().strip_prefix(&base) else { return false };
    let number = rest.strip_prefix('#').map(str::parse::<u32>);
    rest.is_empty() || matches!(number, Some(Ok(_)))
}

fn base(from: &NodeId, edge: &Edge) -> String {
    let to = edge.target();
    format!("{from}->{to}")
}

fn rename_loop(names: &Names, new: &str, region: &mut Loop) {
    let Loop { members, consumes, cursor, exits, items: _ } = region;
    for member in members.iter_mut().chain(consumes) {
        names.socket(member);
    }
    names.own(cursor);
    for exit in exits {
        let Exit { id, edge_id, from, to, condition: _, fails: _ } = exit;
        names.own(id);
        *edge_id = exit_edge(new, id);
        names.socket(from);
        if let Some(to) = to {
            names.socket(to);
        }
    }
}

/// The id of the edge that is drawn for an exit (G19).
pub(super) fn exit_edge(region: &str, exit: &str) -> EdgeId {
    EdgeId::new(format!("loop-exit:{region}:{exit}"))
}

/// Gives every edge without an id the one that it would have in a loadout: `FROM->TO`, with `#2`,
/// `#3` for further ones.
pub(super) fn name_edges(plan: &mut Plan) {
    for (from, node) in &mut plan.nodes {
        let mut counts: HashMap<String, u32> = HashMap::new();
        for edge in node.edges.iter_mut().filter(|edge| edge.id.as_str().is_empty()) {
            let base = base(from, edge);
            let count = counts.entry(base.clone()).or_default();
            *count += 1;
            edge.id = EdgeId::new(if *count == 1 { base } else { format!("{base}#{count}") });
        }
    }
}
