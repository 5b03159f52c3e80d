//! Generator of small graphs of every kind.

use indexmap::IndexMap;
use materia_contract::{
    Approval, Behavior, Budget, Condition, Delivery, DeliveryMode, Edge, EdgeId, Exit, Limits,
    Loop, Node, NodeBudgets, NodeId, Parse, Plan, Retries, Routing, Trigger, on_failure_edge,
};

use materia_proof::dice::Dice;

/// Features that a generated graph may have.
#[derive(Clone, Copy)]
pub(crate) struct Sort {
    /// Nodes that take every matching edge, and what goes with them.
    pub(crate) dataflow: bool,
}

pub(crate) fn name(index: usize) -> NodeId {
    NodeId::new(format!("n{index}"))
}

pub(crate) fn agent() -> Behavior {
    Behavior::Agent {
        prompt: "Do it.".into(),
        origin: String::new(),
        tools: None,
        model: None,
        provider: None,
    }
}

fn utility() -> Behavior {
    Behavior::Utility { command: vec!["true".into()], params: serde_json::Map::new() }
}

/// A plan of these nodes.
pub(crate) fn plan(nodes: IndexMap<NodeId, Node>) -> Plan {
    let mut plan = Plan {
        loadout: "L".into(),
        entry: nodes.keys().next().unwrap().clone(),
        nodes,
        loops: IndexMap::new(),
        limits: Limits { max_repairs: 0, ..Limits::default() },
        budget: Budget::default(),
        doc_root: "docs".into(),
    };
    name_edges(&mut plan);
    plan
}

/// An edge.
pub(crate) fn edge(when: Condition, to: Option<NodeId>, most: Option<u32>) -> Edge {
    Edge {
        id: EdgeId::new(""),
        when,
        guard: None,
        to,
        fails: false,
        max_traversals: most,
        delivery: Delivery::default(),
    }
}

/// Gives the edges their names, and JSON to whatever reads a verdict.
pub(crate) fn name_edges(plan: &mut Plan) {
    for (id, node) in &mut plan.nodes {
        let mut seen: IndexMap<String, u32> = IndexMap::new();
        for edge in &mut node.edges {
            let name = format!("{id}->{}", edge.target());
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            edge.id = EdgeId::new(if *count == 1 { name } else { format!("{name}#{count}") });
        }
        if let Some(edge) = &mut node.on_failure {
            edge.id = on_failure_edge(id.as_str());
        }
        let guarded = node.edges.iter().any(|edge| edge.when != Condition::Always);
        if guarded || node.generator || node.advance.is_some() {
            node.parse = Parse::Json;
        }
    }
}

/// The graph of a seed.
pub(crate) fn graph(seed: u64, sort: Sort) -> Plan {
    let dice = &mut Dice::new(seed);
    let count = 2 + dice.below(3);
    let mut nodes: IndexMap<NodeId, Node> = IndexMap::new();
    for index in 0..count {
        let mut node = Node::new("m", if dice.percent(60) { agent() } else { utility() });
        for _ in 0..=dice.below(2) {
            let when =
                [Condition::Always, Condition::Satisfied, Condition::NotSatisfied][dice.below(3)];
            let to = dice.percent(80).then(|| name(dice.below(count)));
            let most = dice.percent(40).then(|| 1 + u32::try_from(dice.below(2)).unwrap());
            node.edges.push(edge(when, to, most));
        }
        node.on_failure = dice
            .percent(15)
            .then(|| edge(Condition::Always, Some(name(dice.below(count))), Some(1)));
        if sort.dataflow {
            flows(dice, &mut node, count);
        }
        nodes.insert(name(index), node);
    }
    let mut plan = plan(nodes);
    plan.limits.max_no_advance_cycles = 1 + u32::try_from(dice.below(2)).unwrap();
    plan.limits.max_cycle_turns = 3;
    if count > 2 && dice.percent(60) {
        add_loop(dice, &mut plan);
    }
    name_edges(&mut plan);
    plan
}

fn flows(dice: &mut Dice, node: &mut Node, count: usize) {
    if dice.percent(50) {
        node.routing = Routing::All;
    }
    if dice.percent(10) {
        node.approval = Some(Approval::Before);
    }
    if dice.percent(10) {
        node.depends_on.push(name(dice.below(count)));
    }
    if dice.percent(10) {
        node.budgets = Some(NodeBudgets { turns: Some(2), ..NodeBudgets::default() });
    }
    if matches!(node.behavior, Behavior::Utility { .. }) && dice.percent(20) {
        node.retries = Some(Retries { max: 1, delay_ms: 2_000 });
    }
    if dice.percent(8) {
        node.trigger = Trigger::Scheduled;
        node.interval_ms = Some(5_000);
        node.budgets = Some(NodeBudgets { turns: Some(2), ..NodeBudgets::default() });
    }
    for edge in &mut node.edges {
        if dice.percent(15) {
            edge.delivery = Delivery::of(DeliveryMode::DropIfBusy);
        } else if dice.percent(10) {
            edge.delivery = Delivery::of(DeliveryMode::Latest);
        }
    }
}

/// The nodes behind the first become a loop over its items.
fn add_loop(dice: &mut Dice, plan: &mut Plan) {
    let count = plan.nodes.len();
    let last = 1 + dice.below(count - 1);
    let members: Vec<NodeId> = (1..=last).map(name).collect();
    plan.nodes[0].generator = true;
    plan.nodes[0].assign.insert("workItems".into(), "$.workItems".parse().unwrap());
    plan.nodes[last].advance =
        Some(if dice.percent(50) { Condition::Always } else { Condition::Satisfied });
    let to = dice.percent(60).then(|| name(dice.below(count)));
    let exits = vec![Exit {
        id: "x".into(),
        edge_id: EdgeId::new("loop-exit:work:x"),
        from: name(last),
        condition: Condition::Always,
        to,
        fails: false,
    }];
    for member in &members {
        plan.nodes[member].loops.push("work".into());
    }
    let region = Loop { members, consumes: Some(name(0)), items: None, cursor: "i".into(), exits };
    plan.loops.insert("work".into(), region);
}
