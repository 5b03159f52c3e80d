//! Slips of the pen that were silent, or told in a way that misled.

use crate::support::{Project, loadout, render};

fn checked(text: &str) -> String {
    render(&Project::with(text).check())
}

fn help(text: &str) -> String {
    let found = Project::with(text).check();
    found.iter().filter_map(|finding| finding.help.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn sockets_that_wait_for_each_other_never_begin() {
    let itself = checked(&loadout(r#""a": {"materia": "text", "dependsOn": ["a"]}"#));
    assert!(itself.contains("error graph::dependency-circle"), "{itself}");
    assert!(itself.contains("`a` depends on itself"), "{itself}");
    let circle = checked(&loadout(
        r#""a": {"materia": "text", "routing": "all", "edges": [{"to": "b"}, {"to": "c"}]},
"b": {"materia": "text", "dependsOn": ["c"]}, "c": {"materia": "text", "dependsOn": ["b"]}"#,
    ));
    assert_eq!(circle.matches("error graph::dependency-circle").count(), 1, "{circle}");
    assert!(circle.contains("`b`, `c` depend on each other"), "{circle}");
    let fine = loadout(
        r#""a": {"materia": "text", "routing": "all", "edges": [{"to": "b"}]},
"b": {"materia": "text", "dependsOn": ["a"]}"#,
    );
    assert_eq!(checked(&fine), "");
}

#[test]
fn a_circle_without_a_way_out_is_warned_of() {
    let round = |back: &str| {
        loadout(&format!(
            r#""a": {{"materia": "json", "edges": [{{"to": "b"}}]}},
"b": {{"materia": "json", "edges": [{back}]}}"#
        ))
    };
    let found = checked(&round(r#"{"to": "a"}"#));
    assert_eq!(found.matches("warning graph::no-end").count(), 1, "{found}");
    let guarded = r#"{"when": "satisfied", "to": "end"}, {"to": "a"}"#;
    assert_eq!(checked(&round(guarded)), "", "it can end");
    let may_not_match = r#"{"when": "not_satisfied", "to": "a", "maxTraversals": 3}"#;
    assert!(!checked(&round(may_not_match)).contains("graph::no-end"));
    let both = r#"{"when": "satisfied", "to": "a"}, {"when": "not_satisfied", "to": "b"}"#;
    assert!(checked(&round(both)).contains("graph::no-end"), "whatever the verdict");
}

#[test]
fn a_file_whose_graphs_have_the_wrong_name_means_something_else() {
    for name in ["loadout", "Loadouts", "loadots"] {
        let text = format!(r#"{{"{name}": {{"L": {{"entry": "a", "sockets": {{}}}}}}}}"#);
        let found = checked(&text);
        assert!(found.contains("error config::no-loadouts 1:2"), "{name}: {found}");
    }
    let both = loadout(r#""a": {"materia": "text"}"#).replacen('{', r#"{"loadout": {}, "#, 1);
    assert!(checked(&both).contains("warning document::unknown-field"), "the others are read");
}

#[test]
fn nothing_to_ask_and_nothing_to_spend() {
    let text = r#"{"budget": {"maxTurns": 0}, "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "A"}}}},
"materia": {"A": {"prompt": " "}}}"#;
    let found = checked(text);
    assert!(found.contains("error document::out-of-range 1:25 /budget/maxTurns"), "{found}");
    assert!(found.contains("warning materia::no-prompt"), "{found}");
}

#[test]
fn an_interval_of_nothing_is_told_once() {
    let socket = r#""a": {"materia": "text", "trigger": "scheduled", "intervalMs": 0, "budgets": {"turns": 9}}"#;
    let found = checked(&loadout(socket));
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.contains("`intervalMs` must be at least 1"), "{found}");
}

#[test]
fn brackets_in_paths_are_refused_with_the_dots_that_are_meant() {
    let text =
        loadout(r#""a": {"materia": "json", "assign": {"x": "$.files[0]", "y[1]": "$.a['b'].c"}}"#);
    assert_eq!(checked(&text).matches("error path::bad-").count(), 3, "{}", checked(&text));
    let help = help(&text);
    assert!(help.contains("write `$.files.0`"), "{help}");
    assert!(help.contains("write `$.a.b.c`") && help.contains("write `y.1`"), "{help}");
}

#[test]
fn suggestions_are_near_and_are_not_the_socket_itself() {
    let text = loadout(
        r#""a": {"materia": "text", "edges": [{"to": "b"}]}, "Review": {"materia": "text", "edges": [{"to": "Reviwe"}]}"#,
    );
    let help = help(&text);
    assert!(!help.contains("did you mean"), "neither `a` nor the socket itself: {help}");
    assert!(help.contains("sockets: Review") && help.contains("sockets: a"), "{help}");
}

#[test]
fn edges_as_an_object_are_answered_with_an_example() {
    let help = help(&loadout(r#""a": {"materia": "text", "edges": {"to": "end"}}"#));
    assert!(help.contains(r#""edges": [{ "to": "Review""#), "{help}");
}

#[test]
fn comments_and_quotes_of_other_kinds_are_named() {
    assert!(help("# a comment\n{}").contains("`//`"), "{}", help("# a comment\n{}"));
    assert!(help("{ “loadouts”: {} }").contains("typographic"));
    assert!(help("{ \"a\": “b” }").contains("typographic"));
    assert!(help("{ 'a': 1 }").contains("double quotes"));
}

#[test]
fn only_a_profile_says_how_to_call_its_user() {
    let text = loadout(r#""a": {"materia": "text"}"#).replacen('{', r#"{"notify": ["true"], "#, 1);
    let found = checked(&text);
    assert!(found.contains("warning config::notify 1:2 /notify"), "{found}");
}

/// M1: a project does not choose the journal of its users.
#[test]
fn only_a_profile_says_where_casts_are_kept() {
    let fields =
        [("journal", "\"sqlite\""), ("space", "\"s\""), ("replicas", "3"), ("leaseSeconds", "9")];
    for (name, value) in fields {
        let text = loadout(r#""a": {"materia": "text"}"#);
        let found = checked(&text.replacen('{', &format!("{{\"{name}\": {value}, "), 1));
        let wanted = format!("warning config::journal 1:2 /{name}");
        assert!(found.contains(&wanted), "{found}");
    }
}
