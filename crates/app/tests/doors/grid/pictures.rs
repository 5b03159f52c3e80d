//! Known graphs, as they are drawn.

use materia_contract::{Condition, Exit, Loop, NodeId, Plan};

use super::{columns, drawn, plan};
use materia_app::text::grid::{COLUMNS_MAX, Look, ranks, text};

use Condition::{Always, NotSatisfied, Satisfied};

/// Compares a picture with what is expected, without the indentation that the test needs.
#[track_caller]
fn assert_drawn(plan: &Plan, expected: &str) {
    let expected = expected.trim_start_matches('\n');
    let found = drawn(plan);
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn a_chain() {
    assert_drawn(
        &plan(&["A", "B"], &[("A", Always, "B"), ("B", Always, "end")]),
        r"
L
  ┌─────────────────┐
  │ ▶ A             │
  │ Do-A · utility  │
  └────────┬────────┘
           │
           ▼
  ┌─────────────────┐
  │ B               │
  │ Do-B · utility  │
  └────────┬────────┘
           │
           ▼
          end
",
    );
}

#[test]
fn a_diamond() {
    let edges =
        [("A", Satisfied, "B"), ("A", NotSatisfied, "C"), ("B", Always, "D"), ("C", Always, "D")];
    assert_drawn(
        &plan(&["A", "B", "C", "D"], &edges),
        r"
L
            ┌─────────────────┐
            │ ▶ A             │
            │ Do-A · utility  │
            └───┬─────────┬───┘
                │         │
                │         └─────┐
            satisfied     not_satisfied
           ┌────┘               │
           ▼                    ▼
  ┌─────────────────┐  ┌─────────────────┐
  │ B               │  │ C               │
  │ Do-B · utility  │  │ Do-C · utility  │
  └────────┬────────┘  └────────┬────────┘
           │                    │
           └────┐         ┌─────┘
                ▼         ▼
            ┌─────────────────┐
            │ D               │
            │ Do-D · utility  │
            └─────────────────┘
",
    );
}

#[test]
fn a_cycle_with_a_tail() {
    let edges =
        [("A", Always, "B"), ("B", Always, "C"), ("C", NotSatisfied, "A"), ("C", Always, "Tail")];
    assert_drawn(
        &plan(&["A", "B", "C", "Tail"], &edges),
        r"
L
       ┌─────────────────┐
       │ ▶ A             │
       │ Do-A · utility  │
       └───┬─────────────┘
           │         ▲
           │         └─┐
           ▼           │
  ┌─────────────────┐  │
  │ B               │  │
  │ Do-B · utility  │  │
  └────────┬────────┘  │
           │           │
           └─┐         │
             │   not_satisfied
             ▼         │
         ┌─────────────┴───┐
         │ C               │
         │ Do-C · utility  │
         └────────┬────────┘
                  │
                  ▼
        ┌───────────────────┐
        │ Tail              │
        │ Do-Tail · utility │
        └───────────────────┘
",
    );
}

#[test]
fn a_loop_with_exits() {
    let edges = [
        ("Plan", Always, "Build"),
        ("Build", Always, "Check"),
        ("Check", NotSatisfied, "Build"),
        ("Check", Always, "Build"),
        ("Done", Always, "end"),
    ];
    let mut plan = plan(&["Plan", "Build", "Check", "Done"], &edges);
    plan.nodes["Plan"].generator = true;
    plan.nodes["Check"].edges[0].max_traversals = Some(3);
    plan.nodes["Check"].advance = Some(Satisfied);
    for member in ["Build", "Check"] {
        plan.nodes[member].loops = vec!["items".to_owned()];
    }
    let exit = |condition: Condition, to: Option<&str>| Exit {
        id: format!("x-{}", condition.word()),
        edge_id: materia_contract::EdgeId::new("x"),
        from: NodeId::new("Check"),
        condition,
        to: to.map(NodeId::new),
        fails: false,
    };
    let region = Loop {
        members: vec![NodeId::new("Build"), NodeId::new("Check")],
        consumes: Some(NodeId::new("Plan")),
        items: None,
        cursor: "item".to_owned(),
        exits: vec![exit(Satisfied, Some("Done")), exit(Always, None)],
    };
    plan.loops.insert("items".to_owned(), region);
    assert_drawn(
        &plan,
        r"
L
          ┌───────────────────┐
          │ ▶ Plan            │
          │ Do-Plan · utility │
          │ generator         │
          └─────────┬─────────┘
                    │
                    ▼
         ┌─────────────────────┐
         │ Build               │
         │ Do-Build · utility  │
         │ in items            │
         └──┬──────────────────┘
            │       ▲       ▲
         ┌──┘       │       └──┐
         │  not_satisfied ≤3×  │
         └┐         │         ┌┘
          ▼         │         │
     ┌──────────────┴─────────┴────┐
     │ Check                       │
     │ Do-Check · utility          │
     │ in items                    │
     │ if satisfied the next item  │
     └──────┬───────────────┬──────┘
            │               │
     exit satisfied       exit
            ▼               ▼
  ┌───────────────────┐    end
  │ Done              │
  │ Do-Done · utility │
  └─────────┬─────────┘
            │
            ▼
           end
↻ items  for each work item of Plan
  ├─ Build, Check
  ├─ exit → Done  satisfied after Check (x-satisfied)
  └─ exit → end  always after Check (x-always)
",
    );
}

#[test]
fn a_node_that_leads_to_itself_and_one_that_nothing_leads_to() {
    let edges = [("A", NotSatisfied, "A"), ("A", Always, "A")];
    assert_drawn(
        &plan(&["A", "Alone"], &edges),
        r"
L
  ┌─────────────────┐
  │ ▶ A             │
  │ Do-A · utility  │
  │ ↺ not_satisfied │
  │ ↺ always        │
  └─────────────────┘

  ┌─────────────────────┐
  │ Alone               │
  │ Do-Alone · utility  │
  └─────────────────────┘
",
    );
}

#[test]
fn ascii_is_ascii() {
    let plan = plan(&["A", "B"], &[("A", Always, "B"), ("B", NotSatisfied, "A")]);
    let found = text(&plan, Look { ascii: true, list: false }).text;
    assert!(found.is_ascii());
    let expected = r"
L
  +-----------------+
  | > A             |
  | Do-A - utility  |
  +---+-------------+
      |         ^
      |   not_satisfied
      v         |
  +-------------+---+
  | B               |
  | Do-B - utility  |
  +-----------------+
";
    assert_eq!(found, expected.trim_start());
}

#[test]
fn names_of_any_length_and_width_are_cut() {
    let mut plan = plan(&["A", "B"], &[("A", Always, "B")]);
    plan.loadout = "日本語".repeat(300);
    plan.nodes["A"].materia = "日本語".repeat(300);
    plan.nodes["B"].materia = "👩‍👩‍👧 e\u{301}\u{202e}\u{1b}[31m".to_owned();
    let found = drawn(&plan);
    assert!(found.contains("│ 日本語日本語日本語日… · utility │"), "{found}");
    assert!(found.contains("👩👩👧 e<U+202E>␛[31m · utility"), "{found}");
    let list = text(&plan, Look { ascii: false, list: true }).text;
    assert!(list.lines().all(|line| columns(line) <= COLUMNS_MAX), "{list}");
    assert!(text(&plan, Look { ascii: true, list: true }).text.is_ascii());
}

#[test]
fn what_has_no_room_on_an_arrow_stands_below() {
    let mut plan = plan(&["A", "B"], &[("A", Satisfied, "B")]);
    let guard = serde_json::json!({ "path": "state.x", "test": { "equals": "y".repeat(400) } });
    plan.nodes["A"].edges[0].guard = Some(serde_json::from_value(guard).unwrap());
    let found = drawn(&plan);
    assert!(found.contains("satisfied where state.x = \"…"), "{found}");
    assert!(found.lines().last().unwrap().starts_with("A → B: satisfied where state.x = \"yyyyy"));
}

#[test]
fn a_wide_graph_has_names_only_and_a_wider_one_is_a_list() {
    let fan = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("S{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let edges: Vec<_> = names[1..].iter().map(|to| ("S0", Always, *to)).collect();
        plan(&names, &edges)
    };
    assert!(drawn(&fan(8)).contains("Do-S7 · utility"));
    let narrow = drawn(&fan(16));
    assert!(narrow.contains("│ S15 │") && !narrow.contains("Do-S7"), "{narrow}");
    assert!(text(&fan(60), Look::default()).too_large);
    assert!(drawn(&fan(60)).contains("▶ S0   Do-S0 (utility)\n  ├─ → S1  always\n"));
}

#[test]
fn ten_thousand_nodes_are_a_list_and_a_few_hundred_a_picture() {
    let names: Vec<String> = (0..10_000).map(|number| format!("S{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let chain: Vec<_> = names.windows(2).map(|two| (two[0], Always, two[1])).collect();
    let fan: Vec<_> = names[1..].iter().map(|to| ("S0", Always, *to)).collect();
    let mut tangle = chain.clone();
    tangle.extend(names.iter().rev().step_by(3).zip(&names).map(|(a, b)| (*a, Satisfied, *b)));
    for (edges, rows) in [(&chain, Some(10_000)), (&fan, Some(2)), (&tangle, None)] {
        let plan = plan(&names, edges);
        let found = text(&plan, Look::default());
        assert!(found.too_large);
        let listed = found.text.lines().filter(|line| line.contains("Do-S")).count();
        let arrows = found.text.lines().filter(|line| line.contains("─ → S")).count();
        assert_eq!((listed, arrows), (10_000, edges.len()), "each node and each edge once");
        let standing = ranks(&plan);
        assert_eq!(standing.of.len(), 10_000);
        assert!(rows.is_none_or(|rows| rows == standing.rows.len()), "{}", standing.rows.len());
    }
    let some = &names[..400];
    let edges: Vec<_> = some.windows(2).map(|two| (two[0], Always, two[1])).collect();
    let found = text(&plan(some, &edges), Look::default());
    assert!(!found.too_large);
    assert_eq!(found.text.lines().filter(|line| line.contains("Do-S")).count(), 400);
}
