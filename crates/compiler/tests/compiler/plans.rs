//! The plan: defaults written out, socket over materia.

use materia_contract::{
    Amount, Behavior, Budget, Condition, Consume, Limits, NodeMode, OnInterrupt, OutputSelector,
    Parse, Routing, SessionPolicy, Test, Trigger,
};

use crate::support::{Project, loadout, render};

#[test]
fn defaults_are_written_out() {
    let project = Project::with(
        r#"{"materia": {"ask": {"prompt": "p", "model": "m", "provider": "q"}, "run": {"type": "utility", "command": ["sh"]}},
            "loadouts": {"L": {"entry": "a", "sockets": {
              "a": {"materia": "ask", "edges": [{"to": "b"}]}, "b": {"materia": "run"}}}}}"#,
    );
    let plan = project.compile(None).0.unwrap().plan;
    assert_eq!(
        (plan.loadout.as_str(), plan.entry.as_str(), plan.doc_root.as_str()),
        ("L", "a", "docs")
    );
    assert_eq!(plan.limits, Limits::default());
    let [a, b] = ["a", "b"].map(|id| plan.node(id).unwrap().clone());
    let behavior = Behavior::Agent {
        prompt: "p".into(),
        origin: "materia.json#/materia/ask/prompt".into(),
        tools: None,
        model: Some("m".into()),
        provider: Some("q".into()),
    };
    assert_eq!(a.behavior, behavior);
    assert_eq!((a.timeout_ms, b.timeout_ms), (None, Some(30_000)));
    assert_eq!((a.parse, a.routing, a.mode), (Parse::Text, Routing::First, NodeMode::Auto));
    assert_eq!((a.control, a.trigger, a.max_in_flight), (None, Trigger::OnAnyInput, 1));
    assert_eq!((a.consume, a.output_selector), (Consume::All, OutputSelector::MessageFinal));
    assert_eq!((a.on_interrupt, a.foreach), (OnInterrupt::Retry, None));
    assert_eq!((a.generator, a.advance, a.multi_turn), (false, None, false));
    assert_eq!((a.session, a.requires.len(), a.loops.len()), (SessionPolicy::Auto, 0, 0));
    assert_eq!((plan.loops.len(), plan.budget), (0, Budget::default()));
    assert_eq!((a.edges[0].when, a.edges[0].max_traversals), (Condition::Always, None));
    assert_eq!(project.compile(None).0.unwrap().artifact_dir, project.path(".materia"));
}

#[test]
fn the_socket_wins_over_its_materia_and_assignments_merge() {
    let project = Project::with(
        r#"{"materia": {"m": {"type": "utility", "command": ["sh"], "parse": "text", "timeoutMs": 5,
              "assign": {"a": "lastOutput", "b": "lastOutput"}}},
            "limits": {"maxRepairs": 9},
            "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "m", "parse": "json", "timeoutMs": 7,
              "assign": {"b": "$.b", "c": "state.c"}, "foreach": {"items": "state.list"}}}}}}"#,
    );
    let plan = project.compile(None).0.unwrap().plan;
    let node = plan.node("a").unwrap();
    assert_eq!((node.parse, node.timeout_ms), (Parse::Json, Some(7)));
    let assign: Vec<_> = node.assign.iter().map(|(to, from)| format!("{to}={from}")).collect();
    assert_eq!(assign, ["a=lastOutput", "b=$.b", "c=state.c"]);
    let foreach = node.foreach.as_ref().unwrap();
    assert_eq!((foreach.alias.as_str(), foreach.cursor.as_str()), ("item", "aIndex"));
    assert_eq!(plan.limits, Limits { max_repairs: 9, ..Limits::default() });
}

#[test]
fn what_an_agent_asks_for_and_what_a_cast_may_spend_are_in_the_plan() {
    let mut project = Project::with(
        r#"{"materia": {"m": {"prompt": "p", "multiTurn": true, "requires": ["state.x", "item"], "session": "keep"}},
            "budget": {"maxTokens": 5, "maxCost": 0.5, "warnAtPercent": 50},
            "loadouts": {"L": {"entry": "a", "sockets": {
              "a": {"materia": "m", "edges": [{"to": "b"}]}, "b": {"materia": "m", "session": "fresh"}}}}}"#,
    );
    let text = r#"{"budget": {"maxTokens": 1, "maxTurns": 7}, "limits": {"maxRepairs": 4}}"#;
    project.write("../profile/config.json", text);
    project.sources.profile_dir = Some(project.outside().join("profile"));
    let (compiled, findings) = project.compile(None);
    assert_eq!(render(&findings), "");
    let plan = compiled.unwrap().plan;
    let budget = Budget {
        max_tokens: Some(5),
        max_cost: Some(Amount::from_millionths(500_000)),
        max_turns: Some(7),
        warn_at_percent: Some(50),
        max_storage_mb: None,
    };
    assert_eq!(plan.budget, budget, "a stronger layer wins field by field");
    assert_eq!(plan.limits.max_repairs, 4);
    let [a, b] = ["a", "b"].map(|id| plan.node(id).unwrap().clone());
    let requires: Vec<_> = a.requires.iter().map(ToString::to_string).collect();
    assert_eq!((a.multi_turn, requires), (true, vec!["state.x".to_owned(), "item".to_owned()]));
    assert_eq!((a.session, b.session), (SessionPolicy::Keep, SessionPolicy::Fresh));
}

#[test]
fn edges_get_ids_and_guards() {
    let project = Project::with(loadout(
        r#""a": {"materia": "json", "edges": [
             {"when": "satisfied", "to": "b", "maxTraversals": 2},
             {"id": "mine", "where": {"path": "state.x", "equals": null}, "to": "b"},
             {"where": {"path": "$.x", "notEquals": 1}, "to": "b"},
             {"where": {"path": "$.x", "exists": false}, "to": "end"},
             {"to": "end"}]},
           "b": {"materia": "json", "edges": [{"when": "satisfied", "to": "b"}, {"to": "end"}]}"#,
    ));
    let (compiled, findings) = project.compile(None);
    assert_eq!(render(&findings), "");
    let plan = compiled.unwrap().plan;
    let edges = &plan.node("a").unwrap().edges;
    let ids: Vec<_> = edges.iter().map(|edge| edge.id.as_str()).collect();
    assert_eq!(ids, ["a->b", "mine", "a->b#2", "a->end", "a->end#2"]);
    let tests: Vec<_> =
        edges.iter().filter_map(|edge| Some(edge.guard.as_ref()?.test.clone())).collect();
    assert_eq!(
        tests,
        [Test::Equals(().into()), Test::NotEquals(1.into()), Test::Exists(false)],
        "a written null is a value"
    );
    assert_eq!(edges[0].max_traversals, Some(2));
    assert_eq!(plan.node("b").unwrap().edges[0].id.as_str(), "b->b");
}

#[test]
fn the_same_document_gives_the_same_plan() {
    let text =
        loadout(r#""a": {"materia": "json", "edges": [{"to": "b"}]}, "b": {"materia": "text"}"#);
    let hash = || Project::with(&text).compile(None).0.unwrap().plan.hash();
    assert_eq!(hash(), hash());
}

#[test]
fn a_loadout_is_chosen_by_name_by_the_active_one_or_because_it_is_alone() {
    let two = |active: &str| {
        Project::with(format!(
            r#"{{{active} "materia": {{"m": {{"prompt": "p"}}}}, "loadouts": {{
                "One": {{"entry": "a", "sockets": {{"a": {{"materia": "m"}}}}}},
                "Two": {{"entry": "a", "sockets": {{"a": {{"materia": "m"}}}}}}}}}}"#
        ))
    };
    let name = |project: &Project, wanted| project.compile(wanted).0.map(|one| one.plan.loadout);
    assert_eq!(name(&two(r#""activeLoadout": "Two","#), None).as_deref(), Some("Two"));
    assert_eq!(name(&two(r#""activeLoadout": "Two","#), Some("One")).as_deref(), Some("One"));
    assert_eq!(name(&two(r#""activeLoadout": "Three","#), Some("One")).as_deref(), Some("One"));

    let (_, findings) = two("").compile(None);
    assert_eq!(
        render(&findings),
        "error config::no-active-loadout -: there are 2 loadouts and none is chosen"
    );
    let (_, findings) = two("").compile(Some("Twoo"));
    assert_eq!(render(&findings), "error config::unknown-loadout -: there is no loadout `Twoo`");
    assert_eq!(findings[0].help.as_deref(), Some("did you mean `Two`?"));
    assert_eq!(name(&Project::new(), None).as_deref(), Some("Full-Auto"), "the shipped default");
}

#[test]
fn only_the_chosen_loadout_must_be_sound() {
    let project = Project::with(
        r#"{"materia": {"m": {"prompt": "p"}, "broken": {"type": "utility"}}, "loadouts": {
            "Good": {"entry": "a", "sockets": {"a": {"materia": "m"}}},
            "Bad": {"entry": "a", "sockets": {"a": {"materia": "broken"}}}}}"#,
    );
    assert_eq!(render(&project.compile(Some("Good")).1), "");
    let (_, findings) = project.compile(Some("Bad"));
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, "utility::no-command");
}

#[test]
fn nothing_is_compiled_from_a_document_that_did_not_load() {
    let text = loadout(r#""a": {"materia": "json", "edges": [{"when": "maybe", "to": "end"}]}"#);
    let (compiled, findings) = Project::with(text).compile(None);
    assert_eq!(compiled, None);
    let codes: Vec<_> = findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["document::unknown-word", "config::broken"]);
    let (compiled, findings) = Project::with("{").compile(None);
    assert_eq!(compiled, None);
    let codes: Vec<_> = findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["document::syntax", "config::broken"]);
}
