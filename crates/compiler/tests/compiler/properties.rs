//! Whatever is written, it is answered.

use materia_compiler::{artifact_dir, parts};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::Project;

/// Words that lead a random document into the places where documents have meaning.
const WORDS: &[&str] = &[
    "loadouts",
    "materia",
    "sockets",
    "edges",
    "entry",
    "to",
    "when",
    "where",
    "path",
    "equals",
    "exists",
    "assign",
    "parse",
    "json",
    "text",
    "type",
    "utility",
    "agent",
    "command",
    "script",
    "params",
    "timeoutMs",
    "foreach",
    "items",
    "as",
    "cursor",
    "advance",
    "loops",
    "exits",
    "exit",
    "from",
    "condition",
    "targetSocketId",
    "consumes",
    "output",
    "workItems",
    "generator",
    "requires",
    "multiTurn",
    "session",
    "limits",
    "maxRepairs",
    "budget",
    "activeLoadout",
    "artifactDir",
    "docRoot",
    "id",
    "trigger",
    "scheduled",
    "routing",
    "all",
    "satisfied",
    "always",
    "end",
    "a",
    "b",
    "$.x",
    "state.a",
    "sh",
    "",
    "..",
    "$",
    "dependsOn",
    "tools",
    "kind",
    "shippedUtility",
    "name",
    "$schema",
    "prompt",
    "layout",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A document that reaches most places where documents have meaning.
fn sound() -> Value {
    json!({
        "activeLoadout": "L", "artifactDir": "out", "docRoot": "docs", "limits": {"maxRepairs": 1},
        "budget": {"maxTurns": 9, "maxCost": 1.5},
        "materia": {"a": {"type": "utility", "command": ["sh", "x"], "params": {}, "parse": "json",
            "assign": {"x": "$.x"}, "timeoutMs": 5}, "b": {"prompt": "p", "tools": ["read"],
            "requires": ["state.x"], "multiTurn": true, "session": "keep"},
            "g": {"prompt": "p", "generator": true}},
        "loadouts": {"L": {"entry": "g", "loops": {
                "l": {"sockets": ["a", "c"], "consumes": {"from": "g", "output": "workItems"},
                    "exits": [{"id": "e", "from": "a", "condition": "always", "targetSocketId": "b"}],
                    "exit": {"from": "a", "when": "satisfied", "to": "b"}},
                "m": {"sockets": ["c"], "exits": []}},
            "sockets": {
                "g": {"materia": "g", "edges": [{"to": "a"}]},
                "a": {"materia": "a", "edges": [{"when": "satisfied", "to": "c"},
                    {"where": {"path": "state.x", "equals": 1}, "to": "end"}, {"to": "a"}]},
                "c": {"materia": "a", "advance": {"cursor": "i", "items": "state.x", "when": "satisfied"},
                    "edges": [{"to": "a"}]},
                "b": {"materia": "b", "foreach": {"items": "state.x"}, "edges": []}}}}
    })
}

/// The sound document with one value put out of place.
fn disturbed() -> impl Strategy<Value = Value> {
    let sound = sound();
    let mut places = Vec::new();
    collect(&sound, String::new(), &mut places);
    (prop::sample::select(places), value()).prop_map(move |(place, new)| {
        let mut document = sound.clone();
        *document.pointer_mut(&place).expect("collected from it") = new;
        document
    })
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, one)| collect(one, format!("{place}/{key}"), places));
        }
        Value::Array(list) => {
            list.iter()
                .enumerate()
                .for_each(|(n, one)| collect(one, format!("{place}/{n}"), places));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    places.push(place);
}

/// Runs everything; the support code holds each finding to its promises.
fn answer(text: &[u8]) {
    let project = Project::with(text);
    let checked = project.check();
    assert!(checked.iter().all(|one| one.code != "document::invalid"), "{checked:?}");
    for name in [None, Some("L"), Some("a"), Some("")] {
        project.compile(name);
    }
    let (loaded, _) = project.load();
    let home = project.path("");
    assert!(artifact_dir(&loaded).starts_with(home), "a project writes into itself");
    for part in parts(&loaded) {
        assert!(!part.hash().is_empty() && part.file == "materia.json");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_is_answered(value in value()) {
        answer(value.to_string().as_bytes());
    }

    #[test]
    fn any_disturbed_document_is_answered(value in disturbed()) {
        answer(value.to_string().as_bytes());
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        answer(&bytes);
    }

    #[test]
    fn a_document_cut_short_is_answered(value in disturbed(), cut in any::<prop::sample::Index>()) {
        let text = value.to_string().into_bytes();
        answer(&text[..cut.index(text.len() + 1)]);
    }
}

/// Loops over four sockets, by the members of each.
fn families() -> impl Strategy<Value = Vec<std::collections::BTreeSet<usize>>> {
    prop::collection::vec(prop::collection::btree_set(0..4usize, 1..5), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn loops_are_sound_exactly_if_each_two_are_apart_or_nested(family in families()) {
        let sockets: Map<_, _> =
            (0..4).map(|n| (format!("s{n}"), json!({"materia": "m", "trigger": "manual_only"}))).collect();
        let loops: Map<_, _> = family.iter().enumerate().map(|(n, members)| {
            let members: Vec<_> = members.iter().map(|n| format!("s{n}")).collect();
            (format!("l{n}"), json!({"sockets": members}))
        }).collect();
        let text = json!({"materia": {"m": {"prompt": "p"}}, "loadouts": {"L":
            {"entry": "s0", "sockets": sockets, "loops": loops}}}).to_string();
        let (compiled, findings) = Project::with(text).compile(None);
        let apart = |a: &usize, b: &usize| {
            let (a, b) = (&family[*a], &family[*b]);
            a.is_disjoint(b) || (a != b && (a.is_subset(b) || b.is_subset(a)))
        };
        let sound = (0..family.len()).all(|a| (0..a).all(|b| apart(&a, &b)));
        prop_assert_eq!(compiled.is_some(), sound, "{:?}", findings);
        prop_assert!(sound || findings.iter().all(|one| one.code == "loop::overlap"));
        for (id, node) in compiled.iter().flat_map(|one| &one.plan.nodes) {
            let socket: usize = id.as_str()[1..].parse().unwrap();
            let around: Vec<usize> = node.loops.iter().map(|id| id[1..].parse().unwrap()).collect();
            let mut expected: Vec<_> =
                (0..family.len()).filter(|at| family[*at].contains(&socket)).collect();
            expected.sort_by_key(|at| std::cmp::Reverse(family[*at].len()));
            prop_assert_eq!(around, expected);
        }
    }
}

#[test]
fn the_undisturbed_document_is_sound() {
    let (compiled, findings) = Project::with(sound().to_string()).compile(None);
    assert!(compiled.is_some(), "{findings:?}");
}
