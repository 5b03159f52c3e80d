//! Links, and next steps.

use materia_app::views::next_steps::{Next, NodeBound};
use materia_app::{Failure, cast::prepare};
use materia_compiler::link::Invocation;
use materia_contract::{Budget, Do, NodeId, RefusalCode};
use serde_json::json;

use crate::bench::Bench;

fn asked(from: Option<&str>, targets: &[&str]) -> Invocation {
    Invocation {
        from: from.map(str::to_owned),
        targets: targets.iter().map(|target| (*target).to_owned()).collect(),
        delimited: true,
        prompt: vec!["go".to_owned()],
    }
}

#[test]
fn a_link_is_ready_to_be_cast_with_all_it_was_made_from() {
    let bench = Bench::new();
    let linking = prepare::link(&bench.project, asked(None, &["Run", "loadout:L"])).unwrap();
    let ready = linking.ready().unwrap();
    assert_eq!(ready.compiled.plan.nodes.len(), 3);
    assert_eq!(ready.origin.link.unwrap().targets.len(), 2);
    assert!(ready.origin.from_cast_id.is_none() && ready.origin.state.is_empty());
}

#[test]
fn every_fault_of_a_link_is_told_at_once() {
    let bench = Bench::new();
    let linking = prepare::link(&bench.project, asked(Some("earlier"), &["Nowhere"])).unwrap();
    let codes: Vec<String> = linking.checked.findings.iter().map(|one| one.code.clone()).collect();
    let Failure::Refused(refused) = linking.ready().err().unwrap() else { panic!() };
    assert_eq!(refused.refusal.code, RefusalCode::Resolution);
    for code in ["link::unknown-cast", "link::unknown-target"] {
        assert!(codes.iter().any(|found| found == code), "{code}: {codes:?}");
    }
}

#[test]
fn next_steps_are_data() {
    let node = NodeId::new("Build");
    let shown = |next: Next| serde_json::to_value(next).unwrap();
    assert_eq!(shown(Do::Resume { pace: None }.into()), json!({ "do": "resume" }));
    let approve = Do::approve(node.clone());
    assert_eq!(shown(approve.into()), json!({ "do": "approve", "node": "Build" }));
    assert_eq!(shown(Next::Say), json!({ "do": "say" }));
    let budget = Budget { max_turns: Some(8), ..Budget::default() };
    let larger = json!({ "do": "budget", "budget": { "maxTurns": 8 } });
    assert_eq!(shown(Do::Budget { budget }.into()), larger);
    let bounds = vec![NodeBound::TimeMs];
    let open = json!({ "do": "nodeBudget", "node": "Build", "bounds": ["timeMs"] });
    assert_eq!(shown(Next::NodeBudget { node, bounds }), open);
}
