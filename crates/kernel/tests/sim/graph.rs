//! Generator of graphs: state-machine steps and dataflow nodes, mixed.

use indexmap::IndexMap;
use materia_contract::{
    Amount, Answerer, Answerers, Approval, Behavior, Budget, Condition, Consume, Control, Cron,
    DedupeBy, Delivery, DeliveryMode, Edge, EdgeId, Exit, Foreach, GlobalMode, Guard,
    JOURNAL_VERSION_OF_PROJECT, Limits, Loop, Node, NodeBudgets, NodeId, NodeMode, OnInterrupt,
    OutputSelector, Overflow, Pace, Parse, PayloadPart, Plan, Retries, Routing, RunCreated,
    SessionPolicy, Test, Transform, Trigger, VerdictFrom, on_failure_edge,
};

use crate::dice::Dice;

const CONDITIONS: [Condition; 3] =
    [Condition::Always, Condition::Satisfied, Condition::NotSatisfied];

/// The beginning of a run over a graph of this seed.
pub(crate) fn created(dice: &mut Dice) -> RunCreated {
    let plan = plan(dice);
    let agents = answerers(dice, &plan);
    RunCreated {
        request: "please".into(),
        plan_hash: plan.hash(),
        plan,
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        pace: if dice.percent(8) { Pace::Interactive } else { Pace::Auto },
        global_mode: *dice.pick(&[GlobalMode::Planning, GlobalMode::Implementation]),
        virtual_time: false,
        script: None,
        agents,
        from_cast_id: None,
        fork: None,
        link: None,
        state: serde_json::Map::new(),
        timeline: 0,
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

/// Who answers some of the agents of a plan.
pub(crate) fn answerers(dice: &mut Dice, plan: &Plan) -> Answerers {
    let agents =
        plan.nodes.iter().filter(|(_, node)| matches!(node.behavior, Behavior::Agent { .. }));
    let mut answerers = Answerers::default();
    for (id, _) in agents {
        let answerer = dice.maybe(50, |dice| Answerer {
            provider: (*dice.pick(&["claude", "codex", "mock"])).to_owned(),
            program_version: dice.maybe(50, |dice| format!("1.{}", dice.below(3))),
            model: dice.maybe(30, |_| "m-1".to_owned()),
        });
        answerers.extend(answerer.map(|answerer| (id.clone(), answerer)));
    }
    answerers
}

fn name(index: usize) -> NodeId {
    NodeId::new(format!("n{index}"))
}

fn plan(dice: &mut Dice) -> Plan {
    let count = 1 + dice.below(6);
    let nodes: IndexMap<NodeId, Node> =
        (0..count).map(|index| (name(index), node(dice, index, count))).collect();
    let budget = Budget {
        max_turns: dice.maybe(12, |dice| u64::from(dice.within(2, 14))),
        max_tokens: dice.maybe(6, |dice| u64::from(dice.within(5, 60))),
        max_cost: dice.maybe(6, |dice| Amount::from(u64::from(dice.within(1, 8)))),
        warn_at_percent: dice.maybe(20, |dice| dice.within(10, 100)),
        max_storage_mb: None,
    };
    let limits = Limits {
        max_repairs: dice.within(0, 2),
        max_no_advance_cycles: dice.within(1, 3),
        max_concurrent_turns: *dice.pick(&[1, 2, 3, 64]),
        max_cycle_turns: dice.within(2, 6),
        max_retries: 4,
        max_storage_mb: u64::from(dice.within(1, 2_000)),
        max_output_mb: 64,
    };
    let (entry, doc_root) = (name(0), "docs".to_owned());
    let mut plan = Plan {
        loadout: "sim".into(),
        entry,
        nodes,
        loops: IndexMap::new(),
        limits,
        budget,
        doc_root,
    };
    if count > 2 && dice.percent(40) {
        add_loop(dice, &mut plan, "work", 1);
        if count > 4 && dice.percent(50) {
            add_loop(dice, &mut plan, "more", 2);
        }
    }
    add_failures(&mut dice.clone(), &mut plan);
    for (id, node) in &mut plan.nodes {
        finish(id, node);
    }
    plan
}

fn node(dice: &mut Dice, index: usize, count: usize) -> Node {
    let behavior = behavior(dice, index);
    let is_agent = matches!(behavior, Behavior::Agent { .. });
    let mut node = Node::new("m", behavior);
    node.parse = if dice.percent(60) || index == 0 { Parse::Json } else { Parse::Text };
    node.routing = if dice.percent(60) { Routing::All } else { Routing::First };
    for _ in 0..dice.weighted(&[(2, 0), (5, 1), (4, 2), (2, 3)]) {
        node.edges.push(edge(dice, count));
    }
    // Some failures lead on, to the same node or to another, some of them only so often.
    node.on_failure = dice.maybe(20, |dice| Edge {
        id: EdgeId::new(""),
        when: Condition::Always,
        guard: None,
        to: Some(name(dice.below(count))),
        fails: false,
        max_traversals: dice.maybe(50, |dice| dice.within(1, 3)),
        delivery: Delivery::default(),
    });
    if !is_agent {
        node.retries = dice.maybe(25, |dice| Retries {
            max: dice.within(1, 3),
            delay_ms: u64::from(dice.within(0, 6)),
        });
        if index > 0 {
            node.verdict = dice.maybe(20, |_| VerdictFrom::ExitCode);
        }
    }
    node.mode = if dice.percent(7) { NodeMode::Interactive } else { NodeMode::Auto };
    node.control =
        dice.weighted(&[(90, None), (5, Some(Control::Manual)), (5, Some(Control::Automatic))]);
    node.trigger = dice.weighted(&[
        (82, Trigger::OnAnyInput),
        (8, Trigger::ManualOnly),
        (10, Trigger::Scheduled),
    ]);
    if node.trigger == Trigger::Scheduled {
        if dice.percent(30) {
            let (expression, timezone) = ("* * * * *".to_owned(), "UTC".to_owned());
            node.cron = Some(Cron { expression, timezone });
        } else {
            node.interval_ms = Some(u64::from(dice.within(2, 20)));
        }
    }
    node.max_in_flight = dice.weighted(&[(4, 1), (2, 2), (1, 3)]);
    node.consume = if dice.percent(30) { Consume::One } else { Consume::All };
    node.output_selector = *dice.pick(&[
        OutputSelector::MessageFinal,
        OutputSelector::StructuredOutput,
        OutputSelector::ArtifactsDiff,
        OutputSelector::Composite,
    ]);
    node.approval = dice.maybe(14, |_| Approval::Before);
    if dice.percent(10) {
        node.depends_on.push(name(dice.below(count)));
    }
    node.budgets = dice.maybe(14, budgets);
    node.on_interrupt = if dice.percent(6) { OnInterrupt::Ask } else { OnInterrupt::Retry };
    node.multi_turn = is_agent && dice.percent(7);
    node.session = *dice.pick(&[SessionPolicy::Auto, SessionPolicy::Fresh, SessionPolicy::Keep]);
    if dice.percent(4) {
        node.requires.push("state.never".parse().unwrap());
    }
    if index > 0 && dice.percent(9) {
        let (items, cursor) = ("state.list".parse().unwrap(), "entryIndex".into());
        node.foreach = Some(Foreach { items, alias: "entry".into(), cursor });
    }
    node
}

fn behavior(dice: &mut Dice, index: usize) -> Behavior {
    if index == 0 || dice.percent(40) {
        return Behavior::Utility { command: vec!["x".into()], params: serde_json::Map::new() };
    }
    let (prompt, origin) = ("Do it.".to_owned(), String::new());
    Behavior::Agent { prompt, origin, tools: None, model: None, provider: None }
}

fn budgets(dice: &mut Dice) -> NodeBudgets {
    NodeBudgets {
        turns: dice.maybe(60, |dice| u64::from(dice.within(1, 3))),
        time_ms: dice.maybe(30, |dice| u64::from(dice.within(1, 12))),
        cost: dice.maybe(30, |dice| Amount::from(u64::from(dice.within(1, 3)))),
    }
}

fn edge(dice: &mut Dice, count: usize) -> Edge {
    let guarded = dice.percent(25);
    Edge {
        id: EdgeId::new(""),
        when: if guarded { CONDITIONS[1 + dice.below(2)] } else { Condition::Always },
        guard: dice.maybe(5, |dice| Guard {
            path: "state.list".parse().unwrap(),
            test: Test::Exists(dice.percent(70)),
        }),
        to: dice.maybe(88, |dice| name(dice.below(count))),
        fails: false,
        max_traversals: dice.maybe(12, |dice| dice.within(1, 4)),
        delivery: delivery(dice),
    }
}

fn delivery(dice: &mut Dice) -> Delivery {
    let mode = dice.weighted(&[
        (4, DeliveryMode::Queue),
        (2, DeliveryMode::Latest),
        (2, DeliveryMode::Debounce),
        (2, DeliveryMode::DropIfBusy),
    ]);
    let mut delivery = Delivery::of(mode);
    if mode == DeliveryMode::Debounce {
        delivery.debounce_ms = Some(u64::from(dice.within(1, 8)));
    }
    if dice.percent(60) {
        delivery.max_buffered = dice.within(1, 3);
    }
    delivery.overflow = *dice.pick(&[Overflow::DropNewest, Overflow::DropOldest]);
    delivery.dedupe_by =
        dice.weighted(&[(6, DedupeBy::None), (2, DedupeBy::ContentHash), (2, DedupeBy::PayloadId)]);
    delivery.dedupe_window_ms = dice.maybe(50, |dice| u64::from(dice.within(1, 20)));
    delivery.transform = dice.maybe(12, |dice| Transform {
        guard: dice.maybe(60, |dice| Guard {
            path: "$.status.ok".parse().unwrap(),
            test: Test::Equals(dice.percent(50).into()),
        }),
        map: dice
            .maybe(60, |_| (PayloadPart::Message, "$.structured.context".parse().unwrap()))
            .into_iter()
            .collect(),
    });
    delivery
}

/// Some of the nodes behind the first become a region around a list.
fn add_loop(dice: &mut Dice, plan: &mut Plan, region: &str, first: usize) {
    let count = plan.nodes.len();
    let members: Vec<usize> = (first..count.min(first + 1 + dice.below(3))).collect();
    let last = *members.last().unwrap();
    plan.nodes[last].advance = Some(*dice.pick(&CONDITIONS[..2]));
    let consumes = dice.percent(70);
    if consumes {
        let generator = &mut plan.nodes[0];
        generator.generator = true;
        generator.assign.insert("workItems".into(), "$.workItems".parse().unwrap());
    }
    let mut exits = Vec::new();
    for (place, condition) in CONDITIONS.into_iter().enumerate() {
        if dice.percent(40) {
            let id = format!("x{place}");
            let edge_id = EdgeId::new(format!("loop-exit:{region}:{id}"));
            let to = dice.maybe(80, |dice| name(dice.below(count)));
            exits.push(Exit { id, edge_id, from: name(last), condition, to, fails: false });
        }
    }
    for member in &members {
        plan.nodes[*member].loops.push(region.to_owned());
    }
    let region_plan = Loop {
        members: members.into_iter().map(name).collect(),
        consumes: consumes.then(|| name(0)),
        items: (!consumes).then(|| "state.list".parse().unwrap()),
        cursor: "workItemIndex".into(),
        exits,
    };
    plan.loops.insert(region.to_owned(), region_plan);
}

/// Some of the ways that lead to the end lead to `fail` instead, and some failures to an end.
fn add_failures(dice: &mut Dice, plan: &mut Plan) {
    for node in plan.nodes.values_mut() {
        if let Some(edge) = node.on_failure.as_mut().filter(|_| dice.percent(10)) {
            edge.to = None;
        }
        for edge in node.edges.iter_mut().chain(&mut node.on_failure) {
            edge.fails = edge.to.is_none() && dice.percent(25);
        }
    }
    for exit in plan.loops.values_mut().flat_map(|region| &mut region.exits) {
        exit.fails = exit.to.is_none() && dice.percent(40);
    }
}

/// Names the edges, and gives JSON to whatever reads a verdict.
fn finish(id: &NodeId, node: &mut Node) {
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
    let decides = node.verdict.is_some();
    if guarded || decides || node.generator || node.advance.is_some() || !node.requires.is_empty() {
        node.parse = Parse::Json;
    }
}
