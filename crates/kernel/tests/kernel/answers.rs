//! Any answer of a model: a valid handoff or a named contract error. Only a real boolean decides a route.

use materia_contract::{Condition, EventBody, Plan};
use proptest::prelude::*;
use serde_json::Value;

use crate::play::{NodeExt as _, agent, created, looped, plan, run};

/// A judge whose verdict routes, behind a planner.
fn judged() -> Plan {
    let nodes = [
        ("plan", agent().generator().edge(Condition::Always, "judge")),
        ("judge", agent().edge(Condition::Satisfied, "yes").edge(Condition::NotSatisfied, "no")),
        ("yes", agent().text()),
        ("no", agent().text()),
        ("each", agent().text().advances(Condition::Always)),
    ];
    looped(plan(nodes), "loop", &["each"], Some("plan"), &[])
}

/// Pieces that models put together in ways nobody expects.
const PIECES: [&str; 28] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "```",
    "```json\n",
    "\n```\n",
    "\n",
    " ",
    "\\",
    "\u{1b}[31m",
    "\u{0}",
    "\u{201c}satisfied\u{201d}",
    "true",
    "false",
    "null",
    "1",
    "\"true\"",
    "\"satisfied\": ",
    "{\"satisfied\": true}",
    "{\"satisfied\": false, \"context\": \"a } ``` {\"}",
    "Here you are: ",
    "{\"workItems\": [{\"title\": \"t\", \"context\": \"c\"}]}",
    "\"workItems\": [",
    "\u{2028}",
];

fn any_answer() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12).prop_map(|p| p.concat()),
        any::<String>(),
        any_json().prop_map(|value| value.to_string()),
        (any_json(), 0usize..400).prop_map(|(value, cut)| {
            let text = value.to_string();
            text.chars().take(cut).collect()
        }),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let key =
            prop::sample::select(vec!["satisfied", "workItems", "context", "title", "state", "x"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4).prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn no_answer_routes_by_anything_but_a_boolean(first in any_answer()) {
        // A leading `!` means a fault to the player of these stories.
        let first = format!(" {first}");
        let items = r#"{"workItems": []}"#;
        let mut created = created(judged());
        created.plan.limits.max_repairs = 0;
        let (run, events) = match std::panic::catch_unwind(|| run(created, &[items, &first])) {
            Ok(played) => played,
            Err(_) => return Err(TestCaseError::fail(format!("panicked at {first:?}"))),
        };
        let routed = events.iter().find_map(|event| match &event.body {
            EventBody::RouteSelected(data) if data.to == "yes" || data.to == "no" => Some(data.clone()),
            _ => None,
        });
        match routed {
            // The text holds the boolean as a JSON boolean under its own name.
            Some(data) => {
                let word = if data.to == "yes" { "true" } else { "false" };
                prop_assert_eq!(data.satisfied, Some(data.to == "yes"));
                prop_assert!(first.contains("satisfied") && first.contains(word), "{:?}", first);
            }
            None => {
                let failed = matches!(run.phase(), materia_kernel::Phase::Failed(failed)
                    if failed.code == materia_contract::ErrorCode::ContractError);
                prop_assert!(failed, "{:?} led to {:?}", first, run.phase());
            }
        }
    }
}
