//! Faults that were put into a graph on purpose, and are found.

use indexmap::IndexMap;
use materia_contract::body::{ExploreBody, ExploreKind, Proof};
use materia_contract::{
    Approval, Condition, Guard, Node, NodeBudgets, NodeId, Plan, Routing, Test, Trigger,
};
use materia_proof::bounds::Bounds;
use materia_proof::explore::{Options, Property, explore};

use crate::graphs::{agent, edge, name_edges, plan};

fn node(edges: &[(Condition, &str)]) -> Node {
    let to = |to: &str| (to != "end").then(|| NodeId::new(to));
    let edges = edges.iter().map(|(when, target)| edge(*when, to(target), None));
    Node { edges: edges.collect(), ..Node::new("m", agent()) }
}

fn of(nodes: Vec<(&str, Node)>) -> Plan {
    let nodes: IndexMap<NodeId, Node> =
        nodes.into_iter().map(|(id, node)| (NodeId::new(id), node)).collect();
    plan(nodes)
}

fn explored(plan: &Plan, prove: &[&str]) -> ExploreBody {
    let properties: Vec<Property> = prove.iter().map(|text| text.parse().unwrap()).collect();
    for property in &properties {
        property.fits(plan).unwrap();
    }
    let options = Options { properties, ..Options::default() };
    explore(plan, &options, |_, _| {}).body()
}

fn answers(body: &ExploreBody) -> Vec<Proof> {
    body.properties.iter().map(|it| it.answer).collect()
}

const ALWAYS: Condition = Condition::Always;
const YES: Condition = Condition::Satisfied;
const NO: Condition = Condition::NotSatisfied;

/// V5: an evaluator that can skip its checkpoint.
#[test]
fn a_checkpoint_that_can_be_skipped_is_found() {
    let sound = of(vec![
        ("build", node(&[(ALWAYS, "eval")])),
        ("eval", node(&[(YES, "checkpoint"), (NO, "end")])),
        ("checkpoint", node(&[(ALWAYS, "ship")])),
        ("ship", node(&[])),
    ]);
    let prove = ["always checkpoint before ship", "at-most 1 build", "never-drops", "never eval"];
    let body = explored(&sound, &prove);
    assert!(body.complete);
    assert_eq!(answers(&body), [Proof::Proved, Proof::Proved, Proof::Proved, Proof::Refuted]);
    let mut planted = sound.clone();
    planted.nodes["eval"].edges.push(edge(ALWAYS, Some(NodeId::new("ship")), None));
    planted.nodes["eval"].edges.remove(1);
    name_edges(&mut planted);
    let body = explored(&planted, &prove[..1]);
    assert_eq!(answers(&body), [Proof::Refuted]);
    let shown = body.properties[0].counterexample.as_ref().unwrap();
    let visits: Vec<&str> = shown.visits.iter().map(NodeId::as_str).collect();
    assert_eq!(visits, ["build", "eval", "ship"], "the shortest way past it");
    assert!(shown.plays, "{shown:?}");
}

/// V4: two reviewers whose order decides what is built.
#[test]
fn a_race_between_two_reviewers_is_found() {
    let both = |second: Node| {
        let mut start = node(&[(ALWAYS, "one"), (ALWAYS, "two")]);
        start.routing = Routing::All;
        let judge = |mut judge: Node| {
            judge.routing = Routing::All;
            judge.assign.insert("verdict".into(), "$.satisfied".parse().unwrap());
            judge
        };
        of(vec![
            ("start", start),
            ("one", judge(node(&[(YES, "end"), (NO, "end")]))),
            ("two", second),
        ])
    };
    let judged = {
        let mut two = node(&[(YES, "end"), (NO, "end")]);
        two.routing = Routing::All;
        two.assign.insert("verdict".into(), "$.satisfied".parse().unwrap());
        two
    };
    // A failure ends the cast before the other has answered, so that its order always counts.
    let said = serde_json::json!({ "turns": { "m": [
        { "json": { "satisfied": true } }, { "json": { "satisfied": false } },
    ] } });
    let answers = Some(serde_json::from_value(said).unwrap());
    let options = Options { answers, ..Options::default() };
    let races = |plan: &Plan| {
        let body = explore(plan, &options, |_, _| {}).body();
        let found = body.findings.into_iter().filter(|it| it.kind == ExploreKind::Race);
        found.collect::<Vec<_>>()
    };
    let found = races(&both(judged.clone()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].history.plays, "{found:?}");
    let mut apart = judged;
    apart.assign.clear();
    assert!(races(&both(apart)).is_empty(), "they write different things");
}

/// V1: a schedule that nothing bounds.
#[test]
fn an_unbounded_schedule_is_named() {
    let mut look = node(&[(ALWAYS, "tell")]);
    look.trigger = Trigger::Scheduled;
    look.interval_ms = Some(1_000);
    let mut planted = of(vec![("look", look), ("tell", node(&[]))]);
    let bounds = Bounds::of(&planted);
    assert!(!bounds.is_bounded());
    assert_eq!(bounds.unbounded, [NodeId::new("look")]);
    assert_eq!(
        bounds.body(Some(1)).sockets[1].visits.most,
        None,
        "what follows has no bound either"
    );
    planted.nodes["look"].budgets = Some(NodeBudgets { turns: Some(3), ..NodeBudgets::default() });
    assert!(Bounds::of(&planted).is_bounded());
    planted.nodes["look"].budgets = None;
    planted.budget.max_turns = Some(9);
    assert!(Bounds::of(&planted).is_bounded());
}

/// V4: a variable that a guard reads before anything has set it.
#[test]
fn a_variable_that_is_read_before_it_is_set_is_found() {
    let mut reads = node(&[(ALWAYS, "end")]);
    let path = "state.kind".parse().unwrap();
    reads.edges[0].guard = Some(Guard { path, test: Test::Equals("a".into()) });
    let mut sets = node(&[(ALWAYS, "reads")]);
    sets.parse = materia_contract::Parse::Json;
    sets.assign.insert("kind".into(), "$.kind".parse().unwrap());
    let unset = |plan: &Plan| {
        let body = explored(plan, &[]);
        body.findings.iter().filter(|it| it.kind == ExploreKind::Unset).count()
    };
    assert_eq!(unset(&of(vec![("sets", sets.clone()), ("reads", reads.clone())])), 0);
    let mut first = node(&[(YES, "sets"), (NO, "reads")]);
    first.routing = Routing::First;
    assert_eq!(unset(&of(vec![("first", first), ("sets", sets), ("reads", reads)])), 1);
}

/// V5: a turn that a person refused, and another way to what it guards.
#[test]
fn a_refused_approval_that_is_passed_another_way_is_found() {
    let mut ask = node(&[(YES, "release"), (NO, "explain")]);
    ask.approval = Some(Approval::Before);
    let sound = of(vec![("ask", ask), ("release", node(&[])), ("explain", node(&[]))]);
    let prove = ["always ask before release", "always ask before explain"];
    let body = explored(&sound, &prove);
    assert_eq!(answers(&body), [Proof::Proved, Proof::Refuted], "a refused turn did not run");
    let shown = body.properties[1].counterexample.as_ref().unwrap();
    assert!(shown.plays && shown.script.timeline.len() == 1, "{shown:?}");
    let waits = body.findings.iter().any(|it| it.kind == ExploreKind::Waits);
    assert!(waits, "a plain refusal waits: {:?}", body.ends);
    let mut planted = sound.clone();
    planted.nodes["explain"].edges.push(edge(ALWAYS, Some(NodeId::new("release")), None));
    name_edges(&mut planted);
    assert_eq!(answers(&explored(&planted, &prove[..1])), [Proof::Refuted]);
}

/// V4: loops that are left early, and items that a socket does not see.
#[test]
fn items_that_are_left_and_items_that_are_skipped_are_found() {
    let mut plan_items = node(&[(ALWAYS, "build")]);
    plan_items.generator = true;
    plan_items.assign.insert("workItems".into(), "$.workItems".parse().unwrap());
    let mut build = node(&[(ALWAYS, "eval")]);
    let mut eval = node(&[(NO, "end"), (YES, "build")]);
    eval.advance = Some(YES);
    for member in [&mut build, &mut eval] {
        member.loops.push("work".into());
    }
    let mut looped = of(vec![("plan", plan_items), ("build", build), ("eval", eval)]);
    looped.loops.insert(
        "work".into(),
        materia_contract::Loop {
            members: vec![NodeId::new("build"), NodeId::new("eval")],
            consumes: Some(NodeId::new("plan")),
            items: None,
            cursor: "i".into(),
            exits: Vec::new(),
        },
    );
    let body = explored(&looped, &["every-item build", "completes"]);
    assert!(body.findings.iter().any(|it| it.kind == ExploreKind::ItemsLeft), "{body:?}");
    assert_eq!(answers(&body), [Proof::Refuted, Proof::Refuted]);
    let mut sound = looped.clone();
    sound.nodes["eval"].edges[0] = edge(NO, Some(NodeId::new("build")), Some(1));
    name_edges(&mut sound);
    let body = explored(&sound, &["every-item build"]);
    assert_eq!(answers(&body), [Proof::Proved], "{body:?}");
}

#[test]
fn a_property_that_cannot_be_read_is_refused_with_the_forms() {
    let told = "sometimes a".parse::<Property>().unwrap_err();
    assert!(told.contains("`always SOCKET before SOCKET`"), "{told}");
    assert!("at-most many a".parse::<Property>().unwrap_err().contains("no number"));
    let plan = of(vec![("a", node(&[]))]);
    let unknown: Property = "never b".parse().unwrap();
    assert!(unknown.fits(&plan).unwrap_err().contains("no socket"));
    let outside: Property = "every-item a".parse().unwrap();
    assert!(outside.fits(&plan).unwrap_err().contains("in no loop"));
}

/// V3: an exploration that nobody waits for stops, and says so.
#[test]
fn an_exploration_that_is_cancelled_stops() {
    let plan = of(vec![("a", node(&[]))]);
    let cancelled = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let options = Options { cancelled, ..Options::default() };
    let body = explore(&plan, &options, |_, _| {}).body();
    assert!(!body.complete);
    assert_eq!(body.stopped.as_deref(), Some("it was cancelled"));
}

/// V3: with `together`, turns in flight can also end at one instant; a scheduled node ticks as often as it may.
#[test]
fn turns_can_end_together_and_schedules_tick_so_often() {
    let mut start = node(&[(ALWAYS, "one"), (ALWAYS, "two")]);
    start.routing = Routing::All;
    let plan = of(vec![("start", start), ("one", node(&[])), ("two", node(&[]))]);
    let visits = |together: bool| {
        let options = Options { together, keep_steps: true, races: false, ..Options::default() };
        let explored = explore(&plan, &options, |_, _| {});
        assert!(explored.is_complete());
        explored.links().1.len()
    };
    // `one` and `two` have two answers each, which makes four ways to end at once.
    assert_eq!(visits(true), visits(false) + 4);
    let mut look = node(&[]);
    look.trigger = Trigger::Scheduled;
    look.interval_ms = Some(1_000);
    let plan = of(vec![("look", look)]);
    for ticks in [1, 3] {
        let properties = vec![format!("at-most {} look", ticks - 1).parse().unwrap()];
        let options = Options { ticks, properties, ..Options::default() };
        let body = explore(&plan, &options, |_, _| {}).body();
        assert_eq!(answers(&body), [Proof::Refuted], "{ticks} ticks");
        let properties = vec![format!("at-most {ticks} look").parse().unwrap()];
        let options = Options { ticks, properties, ..Options::default() };
        let body = explore(&plan, &options, |_, _| {}).body();
        assert_eq!(answers(&body), [Proof::Undecided], "later ticks are not seen");
    }
}
