//! Cycles: which nodes lie on one (D23), and which trail work has (D22).

use std::collections::BTreeSet;

use materia_contract::{Condition, Do, NodeId, Plan};
use materia_kernel::Phase;
use serde_json::json;

use crate::play::{NodeExt as _, Play, agent, looped, plan, utility};

use Condition::{Always, Satisfied};

/// The nodes whose turns are looked at for repetition; every node is given a turn.
fn watched(graph: Plan) -> BTreeSet<String> {
    let nodes: Vec<NodeId> = graph.nodes.keys().cloned().collect();
    let mut play = Play::of(graph);
    for node in nodes.into_iter().skip(1) {
        play.act(Do::trigger(node, None));
    }
    let turns = play.turns().into_iter().map(|turn| play.run.turn(turn).unwrap());
    let looked_at = turns.filter(|turn| play.run.watches(turn));
    looked_at.map(|turn| play.run.node_of(turn).0.to_string()).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn a_node_is_looked_at_exactly_where_it_can_reach_itself() {
    const NODES: [&str; 4] = ["a", "b", "c", "d"];
    // One bit for each edge that four nodes can have; a part of all such graphs.
    for edges in (0u32..1 << 16).step_by(127) {
        let has = |from: usize, to: usize| edges >> (from * 4 + to) & 1 == 1;
        let node = |from: usize| {
            let targets = (0..4).filter(|to| has(from, *to));
            targets.fold(utility().text().all(), |node, to| node.edge(Always, NODES[to]))
        };
        let mut reaches = [[false; 4]; 4];
        for (from, row) in reaches.iter_mut().enumerate() {
            for (to, cell) in row.iter_mut().enumerate() {
                *cell = has(from, to);
            }
        }
        for (middle, from, to) in (0..64).map(|n| (n / 16, n / 4 % 4, n % 4)) {
            reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
        }
        let expected = (0..4).filter(|at| reaches[*at][*at]).map(|at| NODES[at].to_owned());
        let graph = plan([("a", node(0)), ("b", node(1)), ("c", node(2)), ("d", node(3))]);
        assert_eq!(watched(graph), expected.collect(), "{edges:016b}");
    }
}

#[test]
fn only_nodes_that_take_every_edge_are_looked_at() {
    let a = || utility().text().edge(Always, "b");
    let b = || utility().text().edge(Always, "a");
    assert_eq!(watched(plan([("a", a()), ("b", b())])), names(&[]));
    assert_eq!(watched(plan([("a", a().all()), ("b", b())])), names(&["a"]));
    assert_eq!(watched(plan([("a", a()), ("b", b().all())])), names(&["b"]));
}

#[test]
fn the_exit_of_a_loop_can_close_a_cycle() {
    let nodes = || {
        plan([
            ("a", agent().generator().all().edge(Always, "b")),
            ("b", utility().text().all().advances(Always).edge(Always, "end")),
            ("c", utility().text().all().edge(Always, "a")),
        ])
    };
    let with = |exits: &[(&str, Condition, &str)]| {
        watched(looped(nodes(), "work", &["b"], Some("a"), exits))
    };
    assert_eq!(with(&[]), names(&[]));
    assert_eq!(with(&[("b", Always, "end")]), names(&[]));
    assert_eq!(with(&[("b", Satisfied, "c")]), names(&["a", "b", "c"]));
}

#[test]
fn a_node_that_lies_on_no_cycle_may_put_out_the_same_as_often_as_it_likes() {
    let nodes = [("a", utility().text().all().edge(Always, "b")), ("b", utility().text().all())];
    let mut play = Play::of(plan(nodes));
    play.end("go");
    for _ in 0..5 {
        play.offer("a->b", "more");
        assert!(play.end("same").ends_with("started"));
    }
    assert!(play.end("same").ends_with("b 6.1 completed\ncompleted"));
}

/// Goes on until the run fails; says what its last turn led to.
fn until_it_fails(play: &mut Play) -> String {
    for _ in 0..20 {
        let told = play.end("again");
        if *play.run.phase() != Phase::Running {
            return told;
        }
    }
    panic!("it goes round for ever")
}

#[test]
fn where_two_ways_meet_that_are_equally_long_the_older_one_counts() {
    // `z` is reached over `b` and over `c`, and sends the work back to `b`.
    let mut play = Play::of(plan([
        ("a", utility().text().all().edge(Always, "b").edge(Always, "c")),
        ("b", utility().text().edge(Always, "z")),
        ("c", utility().text().edge(Always, "z")),
        ("z", utility().text().edge(Always, "b")),
    ]));
    play.end("go");
    assert!(play.end_all("done").ends_with("z 1.1 started"));
    let told = until_it_fails(&mut play);
    assert!(told.contains("z 4.1 completed"), "{told}");
    assert!(told.contains("failed no_advance: the cast goes in circles: b -> z -> b"), "{told}");
}

#[test]
fn a_way_through_a_loop_without_items_is_part_of_the_circle() {
    // Nothing runs at `b`: its loop is empty, and its exit leads to `c`, which leads back to `b`.
    let nodes = plan([
        ("a", agent().generator().edge(Always, "b")),
        ("b", utility().text().advances(Always).edge(Always, "b")),
        ("c", utility().text().edge(Always, "b")),
    ]);
    let mut play = Play::of(looped(nodes, "work", &["b"], Some("a"), &[("b", Always, "c")]));
    play.end(r#"{"workItems": []}"#);
    let told = until_it_fails(&mut play);
    assert!(told.contains("c 4.1 completed"), "it ran once and after three cycles: {told}");
    assert!(told.contains("failed no_advance: the cast goes in circles: b -> c -> b"), "{told}");
}

#[test]
fn a_loop_that_is_entered_again_and_found_empty_is_left_by_its_other_exit() {
    // `b` empties the list and asks for another round; the new round has nothing to do.
    let b = utility().advances(Always).edge(Always, "b");
    let nodes = plan([("a", utility().edge(Always, "b")), ("b", b), ("c", utility().text())]);
    let exits = [("b", Satisfied, "b"), ("b", Always, "c")];
    let mut nodes = looped(nodes, "work", &["b"], None, &exits);
    nodes.loops["work"].items = Some("state.list".parse().unwrap());
    let mut play = Play::of(nodes);
    play.end(&json!({"state": {"list": ["only"]}}).to_string());
    let told = play.end(&json!({"satisfied": true, "state": {"list": []}}).to_string());
    insta::assert_snapshot!(told, @r#"
    b 1.1 completed
    patched {"list":[]} {}
    workItemIndex at 1 of 1
    work exhausted, to b
    b routes to b
    entered work (2): 0 items
    work exhausted, to c
    b routes to c
    sent over loop-exit:work:b:always
    delivered to c
    consumed by c
    c 1.1 started
    "#);
}
