//! Generators, and what else a materia or a cast may ask for.

use materia_contract::Parse;

use crate::support::{Project, assert_found, looped, render};

#[test]
fn a_generator_parses_and_assigns_by_itself() {
    let plan = |assign: &str| {
        let sockets = format!(r#""plan": {{"materia": "gen", "assign": {assign}}}"#);
        let (compiled, findings) = Project::with(looped(&sockets, "")).compile(None);
        assert_eq!(render(&findings), "");
        let node = compiled.unwrap().plan.node("plan").unwrap().clone();
        assert_eq!(node.parse, Parse::Json);
        let assign = node.assign.iter().map(|(to, from)| format!("{to}={from}"));
        assign.collect::<Vec<_>>()
    };
    assert_eq!(plan("{}"), ["workItems=$.workItems"]);
    assert_eq!(plan(r#"{"x": "$.x"}"#), ["workItems=$.workItems", "x=$.x"]);
    assert_eq!(plan(r#"{"workItems": "$.tasks"}"#), ["workItems=$.tasks"], "the author's wins");
}

#[test]
fn a_generator_whose_output_is_text_is_refused() {
    assert_found(
        r#"{"materia": {"g": {"prompt": "p", "generator": true},
"t": {"prompt": "p", "generator": true, "parse": "text"}},
"loadouts": {"L": {"entry": "a", "sockets": {
"a": {"materia": "g", "parse": "text", "assign": {"x": "$.x"}, "edges": [{"to": "b"}]},
"b": {"materia": "t", "edges": [{"to": "c"}]},
"c": {"materia": "t", "parse": "json"}}}}}"#,
        "error generator::needs-json 2:50 /materia/t/parse: socket `b` is a generator, whose output is JSON
         error generator::needs-json 4:32 /loadouts/L/sockets/a/parse: socket `a` is a generator, whose output is JSON",
    );
}

#[test]
fn what_must_be_present_is_a_path() {
    assert_found(
        r#"{"materia": {"m": {"prompt": "p", "requires": ["state.x", "x", "$.x", 1]}}}"#,
        "error document::wrong-type 1:71 /materia/m/requires/3: `requires[3]` must be a string, not 1
         error path::bad-path 1:59 /materia/m/requires/1: `x` is not a path: it starts with none of $, state, item, lastJson, lastOutput
         warning path::no-output 1:64 /materia/m/requires/2: `$` is the output of `m`, which has not run yet here",
    );
}

#[test]
fn a_budget_is_not_negative() {
    assert_found(
        r#"{"budget": {"maxCost": -0.5, "maxTurns": -1, "warnAtPercent": 101}}"#,
        "error document::out-of-range 1:24 /budget/maxCost: `maxCost` must be at least 0, not -0.5
         error document::out-of-range 1:42 /budget/maxTurns: `maxTurns` must be at least 1, not -1
         error document::out-of-range 1:63 /budget/warnAtPercent: `warnAtPercent` must be at most 100, not 101",
    );
}
