//! The form of a document: types, words, unknown fields.

use crate::support::{Project, assert_found, checked, loadout, render};

#[test]
fn comments_trailing_commas_and_a_byte_order_mark_are_accepted() {
    let text = "\u{feff}{\n  // the graphs\n  \"loadouts\": {}, /* none */\n}\n";
    assert_found(text, "");
}

#[test]
fn a_byte_order_mark_does_not_move_columns() {
    assert_found(
        "\u{feff}{\"docRoot\": 1}",
        "error document::wrong-type 1:13 /docRoot: `docRoot` must be a string, not 1",
    );
}

#[test]
fn every_fault_is_found_at_once() {
    assert_found(
        r#"{
  "docRoot": 7,
  "limits": {"maxRepairs": -1, "maxConcurrentTurns": 0, "maxNoAdvanceCycles": 4294967296},
  "materia": {
    "u": {"type": "utility", "command": "ls -l", "timeoutMs": 1.5},
    "v": {"type": "robot", "parse": "yaml", "tools": 3},
    "w": []
  },
  "loadouts": {
    "L": {
      "entry": "a",
      "sockets": {
        "a": {"materia": "u", "edges": [
          {"when": "maybe", "to": "nowhere"},
          {"when": true, "to": "end"},
          {"when": "always"},
          "end"
        ]},
        "b": 5
      }
    }
  }
}"#,
        "error document::wrong-type 2:14 /docRoot: `docRoot` must be a string, not 7
         error document::out-of-range 3:28 /limits/maxRepairs: `maxRepairs` must be at least 0, not -1
         error document::out-of-range 3:54 /limits/maxConcurrentTurns: `maxConcurrentTurns` must be at least 1, not 0
         error document::out-of-range 3:79 /limits/maxNoAdvanceCycles: `maxNoAdvanceCycles` must be at most 4294967295, not 4294967296
         error document::wrong-type 5:41 /materia/u/command: `command` must be a list of strings, not a string
         error document::wrong-type 5:63 /materia/u/timeoutMs: `timeoutMs` must be a whole number, not 1.5
         error document::unknown-word 6:19 /materia/v/type: `type` must be one of agent, utility, not `robot`
         error document::unknown-word 6:37 /materia/v/parse: `parse` must be one of text, json, not `yaml`
         error document::wrong-type 6:54 /materia/v/tools: `tools` must be one of none, readOnly, coding, or a list of strings, not 3
         error document::wrong-type 7:10 /materia/w: `w` must be an object, not a list
         error document::unknown-word 14:20 /loadouts/L/sockets/a/edges/0/when: `when` must be one of always, satisfied, not_satisfied, not `maybe`
         error document::wrong-type 15:20 /loadouts/L/sockets/a/edges/1/when: `when` must be one of always, satisfied, not_satisfied, not true
         error document::missing-field 16:11 /loadouts/L/sockets/a/edges/2: an edge needs `to`
         error document::wrong-type 17:11 /loadouts/L/sockets/a/edges/3: `edges[3]` must be an object, not a string
         error document::wrong-type 19:14 /loadouts/L/sockets/b: `b` must be an object, not 5
         error graph::unknown-target 14:35 /loadouts/L/sockets/a/edges/0/to: there is no socket `nowhere` in loadout `L`",
    );
}

#[test]
fn unknown_fields_are_warned_of_with_the_nearest_name() {
    let project = Project::with(
        r#"{"activeLodout": "x", "materia": {"m": {"prompt": "p", "tmeoutMs": 1, "colour": "red"}}, "whatever": {}}"#,
    );
    let findings = project.check();
    assert_eq!(
        render(&findings),
        "warning document::unknown-field 1:2 /activeLodout: `activeLodout` is not a field of a configuration\n\
         warning document::unknown-field 1:56 /materia/m/tmeoutMs: `tmeoutMs` is not a field of a materia\n\
         warning document::unknown-field 1:71 /materia/m/colour: `colour` is not a field of a materia\n\
         warning document::unknown-field 1:90 /whatever: `whatever` is not a field of a configuration"
    );
    let help: Vec<_> = findings.iter().map(|finding| finding.help.as_deref().unwrap()).collect();
    assert_eq!(help[0], "did you mean `activeLoadout`?");
    assert_eq!(help[1], "did you mean `timeoutMs`?");
    assert_eq!(help[2], "did you mean `color`?");
    assert_eq!(help[3], "it is kept, but nothing reads it");
    assert_eq!(project.load().0.config.extra["whatever"], serde_json::json!({}), "it is kept");
}

#[test]
fn a_word_that_is_nearly_right_is_offered() {
    let findings = Project::with(loadout(
        r#""a": {"materia": "json", "edges": [{"when": "satified", "to": "end"}]}"#,
    ))
    .check();
    assert_eq!(findings[0].code, "document::unknown-word");
    assert_eq!(findings[0].help.as_deref(), Some("did you mean `satisfied`?"));
}

#[test]
fn fields_of_the_original_system_are_mentioned_once_a_file() {
    assert_found(
        &loadout(
            r#""a": {"materia": "text", "socketKind": "x", "layout": {}, "edges": [{"to": "b"}]},
               "b": {"materia": "text", "socketKind": "y", "layout": {}}"#,
        ),
        "info document::no-effect 2:26 /loadouts/L/sockets/a/socketKind: `socketKind` belongs to the original system and has no effect here
         info document::no-effect 2:45 /loadouts/L/sockets/a/layout: `layout` belongs to the original system and has no effect here",
    );
}

#[test]
fn no_field_of_the_format_is_without_effect() {
    let text = loadout(
        r#""a": {"materia": "text", "approval": "before", "trigger": "scheduled", "intervalMs": 5, "budgets": {"turns": 9}, "outputSelector": "composite",
            "artifacts": ["diff"], "policy": {"tools": "readOnly", "write": ["docs"], "network": false},
            "edges": [{"to": "b", "deliveryMode": "latest", "maxBuffered": 1, "dedupeBy": "contentHash", "dedupeWindowMs": 5,
                "transform": {"where": {"path": "$.status.ok", "equals": false}, "map": {"message": "$.structured.diff"}}}]},
"b": {"materia": "text", "routing": "all", "dependsOn": ["a"], "trigger": "manual_only", "outputSelector": "artifacts:diff",
            "edges": [{"to": "a", "deliveryMode": "debounce", "debounceMs": 5, "maxBuffered": 2}, {"to": "end"}]}"#,
    );
    let found = checked(&text);
    assert_eq!(found, "");
}

#[test]
fn two_keys_of_one_name_are_warned_of_and_the_last_counts() {
    let project = Project::with(r#"{"docRoot": "a", "docRoot": "b"}"#);
    assert_eq!(
        render(&project.check()),
        "warning document::duplicate-key 1:18 /docRoot: `docRoot` is written twice here; only this last one counts"
    );
    assert_eq!(project.load().0.config.doc_root.as_deref(), Some("b"));
}

#[test]
fn text_that_is_no_document_is_refused_with_its_place() {
    for (text, expected) in [
        ("", "error document::syntax 1:1: there is no JSON in this file"),
        ("  // nothing\n", "error document::syntax 1:1: there is no JSON in this file"),
        ("{\n \"a\": }", "error document::syntax 2:7: this is not JSON: unexpected close brace"),
        (
            "{\n \"a\": 1\n",
            "error document::syntax 2:8: this is not JSON: unterminated object: it begins at 1:1, and the text ends before its `}`",
        ),
        (
            "{\n \"a\": [1,\n",
            "error document::syntax 2:10: this is not JSON: unterminated array: it begins at 2:7, and the text ends before its `]`",
        ),
        (
            "{\"a\" 1}",
            "error document::syntax 1:6: this is not JSON: expected colon after the string or word in object property",
        ),
        (
            "{'a': 1}",
            "error document::syntax 1:2: this is not JSON: single-quoted strings are not allowed",
        ),
        (
            "{a: 1}",
            "error document::syntax 1:2: this is not JSON: expected string for object property",
        ),
        (
            "{} {}",
            "error document::syntax 1:4: this is not JSON: text cannot contain more than one JSON value",
        ),
        (
            "[1]",
            "error document::not-an-object 1:1: a configuration is an object, and this is a list",
        ),
        (
            "\"x\"",
            "error document::not-an-object 1:1: a configuration is an object, and this is a string",
        ),
        (
            "null",
            "error document::not-an-object 1:1: a configuration is an object, and this is null",
        ),
    ] {
        assert_eq!(checked(text), expected, "{text:?}");
    }
}

#[test]
fn null_is_the_same_as_leaving_a_field_out() {
    assert_found(r#"{"docRoot": null, "limits": null, "budget": {"maxTurns": null}}"#, "");
}
