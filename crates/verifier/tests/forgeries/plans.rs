//! Small graphs, one for each family of rules.

use indexmap::IndexMap;
use materia_contract::{
    Approval, Behavior, Budget, Condition, Delivery, DeliveryMode, Edge, EdgeId, Exit, GlobalMode,
    JOURNAL_VERSION_OF_PROJECT, Limits, Loop, Node, NodeId, Pace, Parse, Plan, Routing, RunCreated,
    ScriptBinding, Trigger,
};

pub(crate) fn utility() -> Node {
    let command = vec!["x".to_owned()];
    let behavior = Behavior::Utility { command, params: serde_json::Map::new() };
    Node { parse: Parse::Json, ..Node::new("m", behavior) }
}

pub(crate) fn agent() -> Node {
    let (prompt, origin) = ("Do it.".to_owned(), "x".to_owned());
    let behavior = Behavior::Agent { prompt, origin, tools: None, model: None, provider: None };
    Node { parse: Parse::Json, ..Node::new("m", behavior) }
}

pub(crate) fn edge(when: Condition, to: &str) -> Edge {
    let to = (to != "end").then(|| NodeId::new(to));
    let (guard, max_traversals) = (None, None);
    Edge {
        id: EdgeId::new(""),
        when,
        guard,
        to,
        fails: false,
        max_traversals,
        delivery: Delivery::default(),
    }
}

fn plan<const N: usize>(nodes: [(&str, Node); N]) -> Plan {
    let entry = NodeId::new(nodes[0].0);
    let named = nodes.into_iter().map(|(id, mut node)| {
        for edge in &mut node.edges {
            let to = edge.to.as_ref().map_or("end", NodeId::as_str);
            edge.id = EdgeId::new(format!("{id}->{to}"));
        }
        (NodeId::new(id), node)
    });
    Plan {
        loadout: "test".into(),
        entry,
        nodes: named.collect(),
        loops: IndexMap::new(),
        limits: Limits::default(),
        budget: Budget::default(),
        doc_root: "docs".into(),
    }
}

pub(crate) fn created(plan: Plan) -> RunCreated {
    RunCreated {
        request: "please".into(),
        plan_hash: plan.hash(),
        plan,
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        pace: Pace::Auto,
        global_mode: GlobalMode::Implementation,
        virtual_time: true,
        script: None,
        agents: materia_contract::Answerers::default(),
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

/// A builder whose work a judge sends back, at most twice; what it costs comes near its bound.
pub(crate) fn sent_back() -> RunCreated {
    let mut build = utility();
    build.assign.insert("sum".into(), "$.sum".parse().unwrap());
    build.edges.push(edge(Condition::Always, "judge"));
    let mut judge = agent();
    let mut back = edge(Condition::NotSatisfied, "build");
    back.max_traversals = Some(2);
    judge.edges = vec![back, edge(Condition::Satisfied, "end")];
    let mut plan = plan([("build", build), ("judge", judge)]);
    plan.budget.max_turns = Some(8);
    let mut created = created(plan);
    let keys = [(NodeId::new("judge"), "judge".to_owned())].into_iter().collect();
    created.script = Some(ScriptBinding { path: "s".into(), keys });
    created
}

/// A generator and a loop over its list.
pub(crate) fn over_a_list() -> RunCreated {
    let mut plan_node = agent();
    plan_node.generator = true;
    plan_node.assign.insert("workItems".into(), "$.workItems".parse().unwrap());
    plan_node.edges.push(edge(Condition::Always, "work"));
    let mut work = agent();
    work.edges.push(edge(Condition::Always, "work"));
    work.advance = Some(Condition::Always);
    work.loops.push("each".into());
    let mut plan = plan([("plan", plan_node), ("work", work), ("tidy", utility())]);
    let exit = Exit {
        id: "done".into(),
        edge_id: EdgeId::new("loop-exit:each:done"),
        from: NodeId::new("work"),
        condition: Condition::Always,
        to: Some(NodeId::new("tidy")),
        fails: false,
    };
    let each = Loop {
        members: vec![NodeId::new("work")],
        consumes: Some(NodeId::new("plan")),
        items: None,
        cursor: "workItemIndex".into(),
        exits: vec![exit],
    };
    plan.loops.insert("each".into(), each);
    created(plan)
}

/// Dataflow: a quiet period, a newest one, ticks.
pub(crate) fn flowing() -> RunCreated {
    let mut source = utility();
    source.routing = Routing::All;
    let mut quiet = edge(Condition::Always, "sink");
    quiet.delivery = Delivery::of(DeliveryMode::Debounce);
    quiet.delivery.debounce_ms = Some(5);
    let mut newest = edge(Condition::Always, "slow");
    newest.delivery = Delivery::of(DeliveryMode::Latest);
    source.edges = vec![quiet, newest];
    let (mut sink, mut slow, mut clock) = (utility(), utility(), utility());
    (sink.routing, slow.routing, clock.routing) = (Routing::All, Routing::All, Routing::All);
    clock.trigger = Trigger::Scheduled;
    clock.interval_ms = Some(20);
    created(plan([("source", source), ("sink", sink), ("slow", slow), ("clock", clock)]))
}

/// A step that a person must allow, and one that only a person starts.
pub(crate) fn with_people() -> RunCreated {
    let mut first = agent();
    first.approval = Some(Approval::Before);
    first.edges.push(edge(Condition::Always, "second"));
    let mut second = agent();
    second.trigger = Trigger::ManualOnly;
    created(plan([("first", first), ("second", second)]))
}
