//! How programs run, and what follows when they fail.

use materia_contract::{Behavior, NodeId, Parse, Retries, VerdictFrom};

use crate::support::{Project, assert_found, checked, loadout};

#[test]
fn a_program_runs_inside_the_project_and_has_one_verdict() {
    assert_found(
        r#"{"materia": {
"a": {"type": "utility", "command": ["sh"], "cwd": "../x"},
"b": {"type": "utility", "command": ["sh"], "cwd": ""},
"c": {"type": "utility", "command": ["sh"], "env": {"A=B": "x"}},
"d": {"type": "utility", "command": ["sh"], "env": {"A": "x\u0000"}},
"e": {"type": "utility", "command": ["sh"], "verdict": "exitCode", "parse": "json"},
"f": {"type": "utility", "command": ["sh"], "verdict": "exitCode", "parse": "text", "env": {"A": "b"}, "cwd": "a/./b"},
"g": {"type": "utility", "command": ["sh"], "verdict": "exitCode", "generator": true}
}}"#,
        "error utility::outside 2:52 /materia/a/cwd: `../x` does not lie inside the project
         error utility::outside 3:52 /materia/b/cwd: `` does not lie inside the project
         error utility::bad-env 4:60 /materia/c/env/A=B: `A=B` cannot name a variable of an environment
         error utility::bad-env 5:58 /materia/d/env/A: the value of `A` holds a NUL character, which no program can be given
         error utility::verdict 6:77 /materia/e/parse: the exit code of utility `e` is its verdict, so its output is not read as JSON
         error utility::verdict 8:81 /materia/g/generator: utility `g` gives its verdict by its exit code and can put out no items",
    );
}

#[test]
fn parameters_that_hold_ids_name_sockets() {
    let with = |params: &str| {
        format!(
            r#"{{"materia": {{"j": {{"type": "utility", "command": ["sh"], "socketParams": ["sources", "gone"], "params": {params}}}}},
"loadouts": {{"L": {{"entry": "a", "sockets": {{"a": {{"materia": "j", "edges": [{{"to": "b"}}]}}, "b": {{"materia": "j"}}}}}}}}}}"#
        )
    };
    assert_eq!(checked(&with(r#"{"sources": ["a", "b"], "other": ["x"]}"#)), "");
    assert_eq!(checked(&with(r#"{"sources": "a"}"#)), "");
    let found = checked(&with(r#"{"sources": ["a", "x", 3]}"#));
    let codes = found.matches("error utility::unknown-socket").count();
    // Both sockets run that materia.
    assert!(codes >= 2, "{found}");
    assert!(found.contains("/materia/j/params/sources/1") && found.contains("has no socket `x`"));
    assert!(found.contains("/materia/j/params/sources/2"), "{found}");
}

#[test]
fn a_failure_leads_to_a_socket_or_to_an_end() {
    let found = checked(&loadout(
        r#""a": {"materia": "text", "onFailure": {"to": "end"}, "edges": [{"to": "b"}]},
"b": {"materia": "text", "onFailure": {"to": "c", "maxTraversals": 2}},
"c": {"materia": "text", "onFailure": {"to": "d"}}"#,
    ));
    assert_eq!(found.matches("error ").count(), 1, "{found}");
    assert!(found.contains("error graph::unknown-target"), "{found}");
    let ends =
        r#""a": {"materia": "text", "onFailure": {"to": "fail"}, "edges": [{"to": "fail"}]}"#;
    assert_eq!(checked(&loadout(ends)), "");
    let plan = Project::with(loadout(ends)).compile(None).0.unwrap().plan;
    let ways = plan.nodes["a"].edges.iter().chain(&plan.nodes["a"].on_failure);
    assert!(ways.clone().all(|edge| edge.fails && edge.to.is_none() && edge.target() == "fail"));
    let whole = loadout(
        r#""a": {"materia": "text", "onFailure": {"to": "b", "maxTraversals": 2}, "retries": {"max": 3, "delayMs": 5}},
"b": {"materia": "text"}"#,
    );
    assert_eq!(checked(&whole), "", "the way out of a failure is a way");
    let plan = Project::with(whole).compile(None).0.unwrap().plan;
    let edge = plan.nodes["a"].on_failure.as_ref().unwrap();
    assert_eq!((edge.id.as_str(), edge.to.as_ref()), ("onFailure:a", Some(&NodeId::new("b"))));
    assert_eq!(edge.max_traversals, Some(2));
    assert_eq!(plan.nodes["a"].retries, Some(Retries { max: 3, delay_ms: 5 }));
}

#[test]
fn a_verdict_of_false_without_a_way_is_mentioned_with_the_edge_that_fails() {
    let with = |edges: &str| {
        format!(
            r#"{{"materia": {{"t": {{"type": "utility", "command": ["sh"], "verdict": "exitCode"}}}},
"loadouts": {{"L": {{"entry": "a", "sockets": {{"a": {{"materia": "t", "edges": [{edges}]}}}}}}}}}}"#
        )
    };
    assert!(
        checked(&with("")).starts_with("info graph::false-completes"),
        "{}",
        checked(&with(""))
    );
    let half = checked(&with(r#"{"when": "satisfied", "to": "end"}"#));
    assert!(half.starts_with("warning graph::may-not-match"), "{half}");
    let whole = r#"{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "fail"}"#;
    assert_eq!(checked(&with(whole)), "");
}

#[test]
fn an_exit_code_is_a_verdict() {
    let config = r#"{"materia": {"t": {"type": "utility", "command": ["sh"], "verdict": "exitCode", "env": {"A": "b"}, "cwd": "x"}},
"loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "t", "edges": [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "a", "maxTraversals": 1}]}}}}}"#;
    assert_eq!(checked(config), "");
    let plan = Project::with(config).compile(None).0.unwrap().plan;
    let node = &plan.nodes["a"];
    assert_eq!((node.verdict, node.parse), (Some(VerdictFrom::ExitCode), Parse::Json));
    assert_eq!((node.env["A"].as_str(), node.cwd.as_deref()), ("b", Some("x")));
    assert!(matches!(node.behavior, Behavior::Utility { .. }));
}

#[test]
fn what_is_left_out_is_not_in_the_plan() {
    let plan = Project::with(loadout(r#""a": {"materia": "text"}"#)).compile(None).0.unwrap().plan;
    let text = serde_json::to_string(&plan).unwrap();
    for field in
        ["onFailure", "retries\"", "verdict", "env", "\"cwd", "socketParams", "maxCycleTurns"]
    {
        assert!(!text.contains(field), "{field}: {text}");
    }
}

#[test]
fn cycles_of_dataflow_want_a_bound() {
    let cycle = |a: &str, edge: &str| {
        loadout(&format!(
            r#""a": {{"materia": "text", "routing": "all"{a}, "edges": [{{"to": "b"}}]}},
"b": {{"materia": "text", "routing": "all", "edges": [{{"to": "a"{edge}}}]}}"#
        ))
    };
    let found = checked(&cycle("", ""));
    assert_eq!(found.matches("warning graph::unbounded-cycle").count(), 1, "{found}");
    assert!(found.contains("`a`, `b` can go round for ever"), "{found}");
    assert_eq!(checked(&cycle("", r#", "maxTraversals": 3"#)), "");
    // The other socket of the cycle has no budget of its own.
    let found = checked(&cycle(r#", "budgets": {"turns": 4}"#, ""));
    assert!(found.contains("graph::unbounded-cycle"), "{found}");
    let first = loadout(
        r#""a": {"materia": "text", "edges": [{"to": "b"}]}, "b": {"materia": "text", "edges": [{"to": "a"}]}"#,
    );
    let found = checked(&first);
    assert!(!found.contains("unbounded-cycle"), "steps of a state machine are stopped otherwise");
    assert!(found.contains("graph::no-end"), "{found}");
}

#[test]
fn a_schedule_can_be_read_and_comes() {
    let with = |fields: &str| {
        checked(&loadout(&format!(
            r#""a": {{"materia": "text", "trigger": "scheduled", "budgets": {{"turns": 9}}, {fields}}}"#
        )))
    };
    assert_eq!(with(r#""cron": "30 6 * * mon-fri", "timezone": "Europe/Zurich""#), "");
    for (fields, place) in [
        (r#""cron": "61 * * * *""#, "a/cron: this schedule cannot be kept: `61` is no minute"),
        (r#""cron": "0 0 30 2 *""#, "a/cron: this schedule cannot be kept: no day has such a date"),
        (
            r#""cron": "* * * * *", "timezone": "Nowhere""#,
            "a/timezone: this schedule cannot be kept",
        ),
    ] {
        let found = with(fields);
        assert!(found.contains("error trigger::bad-cron") && found.contains(place), "{found}");
    }
    let both = with(r#""cron": "* * * * *", "intervalMs": 5"#);
    assert!(both.contains("error trigger::interval-and-cron"), "{both}");
    let vain = checked(&loadout(r#""a": {"materia": "text", "cron": "* * * * *"}"#));
    assert!(vain.contains("warning trigger::no-effect") && vain.contains("`cron` needs"), "{vain}");
    let vain = checked(&loadout(r#""a": {"materia": "text", "timezone": "UTC"}"#));
    assert!(
        vain.contains("warning trigger::no-effect") && vain.contains("`timezone` needs"),
        "{vain}"
    );
}
