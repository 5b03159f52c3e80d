//! The meaning of a graph.

use crate::support::{Project, assert_found, loadout, render};

#[test]
fn a_sound_graph_has_no_findings() {
    assert_found(
        &loadout(
            r#""a": {"materia": "json", "assign": {"x.y": "$.state.x"}, "edges": [
                 {"when": "satisfied", "to": "b"}, {"when": "not_satisfied", "to": "a"}, {"to": "end"}]},
               "b": {"materia": "text", "edges": [
                 {"where": {"path": "state.x", "equals": null}, "to": "a"},
                 {"where": {"path": "state.x", "notEquals": null}, "to": "c"}]},
               "c": {"materia": "text", "foreach": {"items": "state.list", "as": "one"}}"#,
        ),
        "",
    );
}

#[test]
fn names_must_exist_and_the_nearest_is_offered() {
    let project = Project::with(
        r#"{
  "activeLoadout": "Mian",
  "materia": {"Craft": {"prompt": "p"}},
  "loadouts": {"Main": {"entry": "Socket-l", "sockets": {
    "Socket-1": {"materia": "Crfat", "edges": [{"to": "Craft"}]},
    "Socket-2": {"materia": "Craft", "edges": [{"to": "Socket2"}]}
  }}}
}"#,
    );
    let findings = project.check();
    assert_eq!(
        render(&findings),
        "error config::unknown-loadout 2:20 /activeLoadout: there is no loadout `Mian`\n\
         error graph::unknown-entry 4:34 /loadouts/Main/entry: loadout `Main` begins at `Socket-l`, which is none of its sockets\n\
         error graph::unknown-materia 5:29 /loadouts/Main/sockets/Socket-1/materia: there is no materia `Crfat`\n\
         error graph::unknown-target 5:55 /loadouts/Main/sockets/Socket-1/edges/0/to: there is no socket `Craft` in loadout `Main`\n\
         error graph::unknown-target 6:55 /loadouts/Main/sockets/Socket-2/edges/0/to: there is no socket `Socket2` in loadout `Main`"
    );
    let help: Vec<_> = findings.iter().map(|finding| finding.help.as_deref().unwrap()).collect();
    assert_eq!(
        help,
        [
            "did you mean `Main`?",
            "did you mean `Socket-1`?",
            "did you mean `Craft`?",
            "`Craft` is a materia; the socket that runs it is `Socket-2`",
            "did you mean `Socket-1`?",
        ]
    );
}

#[test]
fn a_loadout_needs_sockets_an_entry_and_materia() {
    assert_found(
        r#"{"loadouts": {
  "A": {},
  "B": {"sockets": {"a": {}}}
}}"#,
        "error graph::no-sockets 2:8 /loadouts/A: loadout `A` has no sockets
         error graph::no-entry 3:8 /loadouts/B: loadout `B` does not say where it begins
         error graph::no-materia 3:26 /loadouts/B/sockets/a: socket `a` names no materia",
    );
}

#[test]
fn ids_follow_the_grammar() {
    assert_found(
        &loadout(
            "\"a\": {\"materia\": \"text\", \"edges\": [{\"to\": \"end\", \"id\": \"\"}]},
\"end\": {\"materia\": \"text\", \"trigger\": \"manual_only\"},
\"b c\": {\"materia\": \"text\", \"trigger\": \"manual_only\"},
\"a.b_c-1\": {\"materia\": \"text\", \"trigger\": \"manual_only\"}",
        ),
        "error graph::bad-id 2:56 /loadouts/L/sockets/a/edges/0/id: an edge id cannot be empty
         error graph::bad-id 3:8 /loadouts/L/sockets/end: `end` cannot name a socket: it ends the graph
         error graph::bad-id 4:8 /loadouts/L/sockets/b c: `b c` cannot name a socket",
    );
}

#[test]
fn edge_ids_are_unique_written_or_not() {
    assert_found(
        &loadout(
            r#""a": {"materia": "text", "routing": "all", "edges": [
{"id": "x", "to": "b"}, {"to": "b"}, {"to": "b"}]},
"b": {"materia": "text", "routing": "all", "edges": [
{"id": "x", "to": "a"}, {"id": "a->b#2", "to": "a"}]}"#,
        ),
        "error graph::duplicate-edge-id 5:8 /loadouts/L/sockets/b/edges/0/id: two edges have the id `x`
         error graph::duplicate-edge-id 5:32 /loadouts/L/sockets/b/edges/1/id: two edges have the id `a->b#2`",
    );
}

#[test]
fn edges_behind_one_that_always_matches_are_reported() {
    assert_found(
        &loadout(
            r#""a": {"materia": "json", "edges": [
{"when": "satisfied", "to": "b"},
{"when": "satisfied", "where": {"path": "state.x", "exists": true}, "to": "c"},
{"where": {"path": "state.y", "equals": 1}, "to": "b"},
{"when": "not_satisfied", "where": {"path": "state.y", "equals": 1}, "to": "c"},
{"to": "end"},
{"when": "not_satisfied", "to": "c"}]},
"b": {"materia": "text", "routing": "all", "edges": [{"to": "end"}, {"to": "a"}]},
"c": {"materia": "text"}"#,
        ),
        "warning graph::unreachable-edge 4:1 /loadouts/L/sockets/a/edges/1: the edge to `c` is never taken: one before it matches whenever it would
         warning graph::unreachable-edge 6:1 /loadouts/L/sockets/a/edges/3: the edge to `c` is never taken: one before it matches whenever it would
         warning graph::unreachable-edge 8:1 /loadouts/L/sockets/a/edges/5: the edge to `c` is never taken: one before it matches whenever it would
         warning graph::unreachable-socket 10:6 /loadouts/L/sockets/c: no way leads from the entry `a` to socket `c`",
    );
}

#[test]
fn sockets_that_a_person_starts_need_no_way_to_them() {
    assert_found(
        &loadout(
            r#""a": {"materia": "text"},
"b": {"materia": "text", "trigger": "manual_only", "edges": [{"to": "c"}]},
"c": {"materia": "text"},
"d": {"materia": "text"}"#,
        ),
        "warning graph::unreachable-socket 5:6 /loadouts/L/sockets/d: no way leads from the entry `a` to socket `d`",
    );
}

#[test]
fn edges_that_may_all_fail_are_warned_of() {
    let found = |edges: &str| {
        let sockets = format!("\"a\": {{\"materia\": \"json\", \"edges\": {edges}}}");
        render(&Project::with(loadout(&sockets)).check())
    };
    let warning = "warning graph::may-not-match 2:35 /loadouts/L/sockets/a/edges: the edges of socket `a` may all fail; the cast then ends there";
    for may_fail in [
        r#"[{"when": "satisfied", "to": "end"}]"#,
        r#"[{"where": {"path": "state.x", "exists": true}, "to": "end"}]"#,
        r#"[{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "where": {"path": "state.x", "equals": 1}, "to": "end"}]"#,
        r#"[{"where": {"path": "state.x", "equals": 1}, "to": "end"}, {"where": {"path": "state.x", "notEquals": 2}, "to": "end"}]"#,
    ] {
        assert_eq!(found(may_fail), warning, "{may_fail}");
    }
    for covered in [
        "[]",
        r#"[{"to": "end"}]"#,
        r#"[{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "end"}]"#,
        r#"[{"when": "satisfied", "to": "end"}, {"when": "always", "to": "end"}]"#,
        r#"[{"where": {"path": "state.x", "exists": false}, "to": "end"}, {"where": {"path": "state.x", "exists": true}, "to": "end"}]"#,
        r#"[{"when": "satisfied", "to": "end"}, {"where": {"path": "state.x", "equals": 1}, "to": "end"},
            {"when": "not_satisfied", "where": {"path": "state.x", "notEquals": 1}, "to": "end"}]"#,
    ] {
        assert_eq!(found(covered), "", "{covered}");
    }
}

#[test]
fn what_reads_output_needs_json() {
    assert_found(
        &loadout(
            r#""a": {"materia": "text", "assign": {"x": "$.x", "y": "lastOutput"}, "edges": [
{"when": "satisfied", "to": "b"},
{"where": {"path": "$.ok", "equals": true}, "to": "b"},
{"to": "b"}]},
"b": {"materia": "json", "parse": "text", "assign": {"z": "$"}}"#,
        ),
        "error graph::needs-json 2:42 /loadouts/L/sockets/a/assign/x: `$.x` is copied into state, but the output of socket `a` is not parsed as JSON
         error graph::needs-json 3:10 /loadouts/L/sockets/a/edges/0/when: the edge to `b` asks for `satisfied`, but the output of socket `a` is not parsed as JSON
         error graph::needs-json 4:20 /loadouts/L/sockets/a/edges/1/where/path: the edge to `b` looks at `$.ok`, but the output of socket `a` is not parsed as JSON
         error graph::needs-json 6:59 /loadouts/L/sockets/b/assign/z: `$` is copied into state, but the output of socket `b` is not parsed as JSON",
    );
}

#[test]
fn a_socket_may_parse_what_its_materia_does_not() {
    assert_found(
        &loadout(
            r#""a": {"materia": "text", "parse": "json", "edges": [{"when": "satisfied", "to": "end"}, {"to": "end"}]}"#,
        ),
        "",
    );
}

#[test]
fn paths_and_targets_follow_the_grammar() {
    assert_found(
        &loadout(
            r#""a": {"materia": "json", "assign": {"x": "$[0]", "a..b": "$.a", "": "state"},
"foreach": {"items": "list", "as": "a.b", "cursor": ""},
"edges": [{"where": {"path": "lastOutput.x", "exists": true}, "to": "end"}]}"#,
        ),
        "error path::bad-path 2:42 /loadouts/L/sockets/a/assign/x: `$[0]` is not a path: steps stand behind dots, without brackets
         error path::bad-target 2:58 /loadouts/L/sockets/a/assign/a..b: `a..b` is no target: a step between its dots is empty
         error path::bad-target 2:69 /loadouts/L/sockets/a/assign/: `` is no target: a step between its dots is empty
         error path::bad-path 3:22 /loadouts/L/sockets/a/foreach/items: `list` is not a path: it starts with none of $, state, item, lastJson, lastOutput
         error path::bad-target 3:36 /loadouts/L/sockets/a/foreach/as: `as` must be one plain name
         error path::bad-target 3:53 /loadouts/L/sockets/a/foreach/cursor: `cursor` must be one plain name
         error path::bad-path 4:30 /loadouts/L/sockets/a/edges/0/where/path: `lastOutput.x` is not a path: lastOutput is text and has no parts",
    );
}

#[test]
fn foreach_needs_a_list_that_is_there_before() {
    assert_found(
        &loadout(
            r#""a": {"materia": "json", "foreach": {}, "edges": [{"to": "b"}]},
"b": {"materia": "json", "foreach": {"items": "$.list"}}"#,
        ),
        "error document::missing-field 2:37 /loadouts/L/sockets/a/foreach: `foreach` needs `items`
         warning path::no-output 3:47 /loadouts/L/sockets/b/foreach/items: `$` is the output of socket `b`, which has not run yet here",
    );
}

#[test]
fn where_has_exactly_one_test() {
    assert_found(
        &loadout(
            r#""a": {"materia": "json", "edges": [
{"where": {"path": "state.x"}, "to": "end"},
{"where": {"path": "state.x", "equals": null, "exists": true}, "to": "end"},
{"where": {"path": "state.x", "exists": "yes"}, "to": "end"},
{"where": {"path": "state.x", "equals": null}, "to": "end"}]}"#,
        ),
        "error document::wrong-type 5:41 /loadouts/L/sockets/a/edges/2/where/exists: `exists` must be true or false, not a string
         error where::one-test 3:11 /loadouts/L/sockets/a/edges/0/where: this `where` has no test
         error where::one-test 4:11 /loadouts/L/sockets/a/edges/1/where: this `where` has more than one test",
    );
}
