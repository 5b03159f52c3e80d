//! Targets composed into one graph: what they mean, where they lead on, what is refused.

use materia_compiler::link::{Invocation, Linked, link, unknown_cast};
use materia_contract::{Finding, NodeId, Plan, Severity, TargetKind};

use crate::support::{Project, assert_well_formed, render};

/// A generator, a materia that answers JSON, one that answers text, and one that bears the name of
/// a loadout.
const MATERIA: &str = r#""gen": {"prompt": "p", "generator": true},
    "json": {"prompt": "p", "parse": "json"}, "text": {"prompt": "p"}, "Both": {"prompt": "p"}"#;

fn project(loadouts: &str) -> Project {
    Project::with(format!("{{\"materia\": {{{MATERIA}}}, \"loadouts\": {{\n{loadouts}\n}}}}"))
}

fn asked(targets: &[&str]) -> Invocation {
    let targets = targets.iter().map(|word| (*word).to_owned()).collect();
    Invocation { from: None, targets, delimited: true, prompt: vec!["go".into()] }
}

fn linked(project: &Project, asked: &Invocation) -> (Option<Linked>, Vec<Finding>) {
    let (loaded, mut findings) = project.load();
    let (linked, more) = link(&loaded, asked);
    assert_well_formed(&more, &loaded);
    let refused = more.iter().any(|finding| finding.severity == Severity::Error);
    assert_eq!(linked.is_none(), refused, "a result exactly if there is no error");
    findings.extend(more);
    (linked, findings)
}

#[track_caller]
fn composed(loadouts: &str, targets: &[&str]) -> Plan {
    let (linked, findings) = linked(&project(loadouts), &asked(targets));
    linked.unwrap_or_else(|| panic!("{}", render(&findings))).compiled.plan
}

#[track_caller]
fn refused(loadouts: &str, targets: &[&str]) -> String {
    let (linked, findings) = linked(&project(loadouts), &asked(targets));
    assert!(linked.is_none(), "{:?}", linked.map(|linked| linked.link));
    let errors = findings.into_iter().filter(|one| one.severity == Severity::Error);
    render(&errors.collect::<Vec<_>>())
}

/// The ways out of every socket and loop, one line each.
fn drawn(plan: &Plan) -> String {
    let to = |to: &Option<NodeId>| to.as_ref().map_or("end".to_owned(), ToString::to_string);
    let mut lines = Vec::new();
    for (id, node) in &plan.nodes {
        let ways: Vec<_> = node
            .edges
            .iter()
            .map(|edge| format!("{} {} [{}]", edge.when.word(), to(&edge.to), edge.id))
            .collect();
        lines.push(format!("{id} {}: {}", node.materia, ways.join(", ")).trim_end().to_owned());
    }
    for (id, region) in &plan.loops {
        let members: Vec<_> = region.members.iter().map(NodeId::as_str).collect();
        let exits: Vec<_> = region
            .exits
            .iter()
            .map(|exit| {
                format!("{} {} {} [{}]", exit.from, exit.condition.word(), to(&exit.to), exit.id)
            })
            .collect();
        let (members, exits) = (members.join(" "), exits.join(", "));
        let line = format!("{id} over {members} by {}: {exits}", region.cursor);
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

#[track_caller]
fn assert_drawn(plan: &Plan, expected: &str) {
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(drawn(plan), expected.join("\n"));
}

const LOOP: &str = r#""Loop": {"entry": "plan", "sockets": {
      "plan": {"materia": "gen", "edges": [{"to": "build"}]},
      "build": {"materia": "text", "edges": [{"to": "eval"}]},
      "eval": {"materia": "json", "advance": {"when": "satisfied"}, "edges": [
        {"when": "satisfied", "to": "build"}, {"id": "back", "when": "not_satisfied", "to": "build"}]}},
    "loops": {"items": {"sockets": ["build", "eval"], "consumes": {"from": "plan", "output": "workItems"}}}}"#;

#[test]
fn materia_become_sockets_of_their_own() {
    let plan = composed("", &["text", "materia:gen", "text"]);
    assert_drawn(
        &plan,
        "Socket-1 text: always Socket-2 [Socket-1->Socket-2]
         Socket-2 gen: always Socket-3 [Socket-2->Socket-3]
         Socket-3 text: ",
    );
    assert_eq!((plan.entry.as_str(), plan.loadout.as_str()), ("Socket-1", "text → gen → text"));
    assert!(plan.nodes["Socket-2"].generator);
}

#[test]
fn names_of_targets_are_kept_apart_and_a_loop_without_exits_leads_on() {
    let plan = composed(LOOP, &["Loop", "loadout:Loop"]);
    assert_drawn(
        &plan,
        "Socket-1 gen: always Socket-2 [Socket-1->Socket-2]
         Socket-2 text: always Socket-3 [Socket-2->Socket-3]
         Socket-3 json: satisfied Socket-2 [Socket-3->Socket-2], not_satisfied Socket-2 [1-back]
         Socket-4 gen: always Socket-5 [Socket-4->Socket-5]
         Socket-5 text: always Socket-6 [Socket-5->Socket-6]
         Socket-6 json: satisfied Socket-5 [Socket-6->Socket-5], not_satisfied Socket-5 [2-back]
         1-items over Socket-2 Socket-3 by 1-workItemIndex: Socket-3 always Socket-4 [linked:Socket-3]
         2-items over Socket-5 Socket-6 by 2-workItemIndex: ",
    );
    assert_eq!(plan.nodes["Socket-5"].loops, ["2-items"]);
    assert_eq!(plan.loops["2-items"].consumes.as_ref().unwrap().as_str(), "Socket-4");
    assert_eq!(
        plan.loops["1-items"].exits[0].edge_id.as_str(),
        "loop-exit:1-items:linked:Socket-3"
    );
}

#[test]
fn every_way_to_the_end_leads_on() {
    // One socket with several ways to the end, written and unwritten, and one that never gets there.
    let ends = r#""Ends": {"entry": "a", "sockets": {
      "a": {"materia": "json", "edges": [
        {"when": "satisfied", "where": {"path": "$.x", "equals": 1}, "to": "end"},
        {"when": "not_satisfied", "to": "end", "maxTraversals": 1},
        {"when": "satisfied", "where": {"path": "$.x", "equals": 2}, "to": "a"}]},
      "alone": {"materia": "text", "edges": [{"to": "end"}]}}}"#;
    assert_drawn(
        &composed(ends, &["Ends", "text"]),
        "Socket-1 json: satisfied Socket-3 [Socket-1->Socket-3], not_satisfied Socket-3 [Socket-1->Socket-3#2], satisfied Socket-1 [Socket-1->Socket-1], always Socket-3 [Socket-1->Socket-3#3]
         Socket-2 text: always end [Socket-2->end]
         Socket-3 text: ",
    );
}

#[test]
fn results_of_a_loop_that_no_exit_covers_lead_on_too() {
    let exits = r#""Exits": {"entry": "plan", "sockets": {
      "plan": {"materia": "gen", "edges": [{"to": "one"}]},
      "one": {"materia": "json", "advance": {}, "edges": [{"to": "two"}]},
      "two": {"materia": "json", "advance": {}, "edges": [{"to": "one"}]},
      "sum": {"materia": "text"}},
    "loops": {"items": {"sockets": ["one", "two"], "consumes": {"from": "plan", "output": "workItems"},
      "exits": [
        {"id": "e1", "from": "one", "condition": "satisfied", "targetSocketId": "sum"},
        {"id": "e2", "from": "one", "condition": "not_satisfied", "targetSocketId": "end"},
        {"id": "e3", "from": "two", "condition": "always", "targetSocketId": "sum"}]}}}"#;
    assert_drawn(
        &composed(exits, &["Exits", "text"]),
        "Socket-1 gen: always Socket-2 [Socket-1->Socket-2]
         Socket-2 json: always Socket-3 [Socket-2->Socket-3]
         Socket-3 json: always Socket-2 [Socket-3->Socket-2]
         Socket-4 text: always Socket-5 [Socket-4->Socket-5]
         Socket-5 text:
         1-items over Socket-2 Socket-3 by 1-workItemIndex: Socket-2 satisfied Socket-4 [1-e1], Socket-2 not_satisfied Socket-5 [1-e2], Socket-3 always Socket-4 [1-e3], Socket-2 always Socket-5 [linked:Socket-2]",
    );
}

#[test]
fn a_loop_that_only_leads_to_the_end_is_where_the_loadout_ends() {
    let exit = LOOP.replace(
        "\"workItems\"}}}}",
        "\"workItems\"}, \"exits\": [{\"id\": \"e\", \"from\": \"eval\", \"condition\": \"always\", \"targetSocketId\": \"end\"}]}}}",
    );
    let plan = composed(&exit, &["Loop", "text"]);
    let exits = &plan.loops["1-items"].exits;
    assert_eq!(exits.len(), 1, "{exits:?}");
    assert_eq!((exits[0].id.as_str(), exits[0].to.as_ref().unwrap().as_str()), ("1-e", "Socket-4"));
    let short =
        LOOP.replace("\"workItems\"}}}}", "\"workItems\"}, \"exit\": {\"from\": \"eval\"}}}}");
    let plan = composed(&short, &["Loop", "text"]);
    assert_eq!(plan.loops["1-items"].exits[0].id, "linked:Socket-3");
}

#[test]
fn where_it_is_not_clear_how_to_go_on_the_sockets_are_named() {
    let two = r#""Two": {"entry": "a", "sockets": {
      "a": {"materia": "json", "edges": [{"when": "satisfied", "to": "b"}, {"to": "c"}]},
      "b": {"materia": "text", "edges": []}, "c": {"materia": "text", "edges": [{"to": "end"}]}}},
    "Round": {"entry": "a", "sockets": {"a": {"materia": "text", "edges": [{"to": "a"}]}}},
    "Leaky": {"entry": "plan", "sockets": {
      "plan": {"materia": "gen", "edges": [{"to": "eval"}]},
      "eval": {"materia": "json", "advance": {}, "edges": [{"when": "satisfied", "to": "eval"}]}},
    "loops": {"items": {"sockets": ["eval"], "consumes": {"from": "plan", "output": "workItems"}}}}"#;
    assert_eq!(
        refused(two, &["Two", "Round", "Leaky", "text"]),
        "error link::several-terminals 3:8 /loadouts/Two: loadout `Two` can end at `Two.b`, `Two.c`, and only one of them could lead on to `Round.a`; choosing the sockets by hand (explicit socket mapping) does not exist yet
error link::no-terminal 6:14 /loadouts/Round: loadout `Round` has no socket and no loop at which it ends, so nothing leads on to `Leaky.plan`; choosing the sockets by hand (explicit socket mapping) does not exist yet
error link::several-terminals 7:14 /loadouts/Leaky: loadout `Leaky` can end at `Leaky.eval`, loop `Leaky.items`, and only one of them could lead on to materia `text`; choosing the sockets by hand (explicit socket mapping) does not exist yet"
    );
    // Only what another target follows has to be clear.
    composed(two, &["text", "Two"]);
    composed(two, &["text", "Round"]);
}

#[test]
fn what_cannot_be_reached_does_not_count() {
    let behind = r#""Behind": {"entry": "a", "sockets": {
      "a": {"materia": "text", "edges": [{"to": "b"}, {"to": "end"}, {"to": "c"}]},
      "b": {"materia": "text"}, "c": {"materia": "text"}, "d": {"materia": "text"},
      "tick": {"materia": "text", "trigger": "manual_only"}}}"#;
    let plan = composed(behind, &["Behind", "text"]);
    let leads = |id: &str| plan.nodes[id].edges.last().and_then(|edge| edge.to.clone());
    assert_eq!(leads("Socket-2"), Some(NodeId::new("Socket-6")));
    assert_eq!(["Socket-3", "Socket-4", "Socket-5"].map(leads), [None, None, None]);
}

#[test]
fn a_loop_without_a_list_never_ends() {
    let region = r#""Region": {"entry": "a", "sockets": {
      "a": {"materia": "text", "edges": [{"to": "b"}]}, "b": {"materia": "text"}},
    "loops": {"review": {"sockets": ["a", "b"]}}}"#;
    let plan = composed(region, &["Region", "text"]);
    assert_eq!(plan.loops["1-review"].exits, []);
}

#[test]
fn a_node_that_takes_every_matching_edge_leads_on_only_where_it_would_take_none() {
    let all = |edges: &str| {
        format!(
            r#""All": {{"entry": "a", "sockets": {{
                "a": {{"materia": "json", "routing": "all", "edges": [{edges}]}}}}}}"#
        )
    };
    assert_drawn(
        &composed(&all(r#"{"when": "not_satisfied", "to": "a"}"#), &["All", "text"]),
        "Socket-1 json: not_satisfied Socket-1 [Socket-1->Socket-1], satisfied Socket-2 [Socket-1->Socket-2]
         Socket-2 text: ",
    );
    let guarded = all(r#"{"where": {"path": "$.x", "exists": true}, "to": "a"}"#);
    let said = refused(&guarded, &["All", "text"]);
    assert!(said.starts_with("error link::invalid-graph") && said.contains("`All.a`"), "{said}");
    assert_drawn(
        &composed(&all(""), &["All", "text"]),
        "Socket-1 json: always Socket-2 [Socket-1->Socket-2]
         Socket-2 text: ",
    );
}

#[test]
fn names_mean_one_thing_or_are_refused_all_at_once() {
    let loadouts = r#""Both": {"entry": "a", "sockets": {"a": {"materia": "text"}}},
      "My Review": {"entry": "a", "sockets": {"a": {"materia": "text"}}}"#;
    let targets = ["Both", "tetx", "loadout:text", "materia:", "materia:nothing-like-it", "tetx"];
    assert_eq!(
        refused(loadouts, &targets),
        "error link::ambiguous-target -: `Both` is both a materia and a loadout: write `materia:Both` or `loadout:Both`
error link::unknown-target -: there is no materia and no loadout `tetx`
error link::unknown-target -: there is no loadout `text`
error link::unknown-target -: the target `materia:` names nothing
error link::unknown-target -: there is no materia `nothing-like-it`"
    );
    let (_, findings) = linked(&project(loadouts), &asked(&targets));
    let help: Vec<_> = findings.iter().filter_map(|one| one.help.as_deref()).collect();
    assert!(help.contains(&"did you mean `materia:text`?"), "{help:?}");
    assert!(help.contains(&"there is a materia of that name: write `materia:text`"), "{help:?}");
    let quoted = ["\"loadout:My Review\"", "'materia:Both'", "loadout:Both", "My Review"];
    let (linked, _) = linked(&project(loadouts), &asked(&quoted));
    let link = linked.unwrap().link;
    let meant: Vec<_> = link.targets.iter().map(|one| (one.kind, one.name.as_str())).collect();
    let (materia, loadout) = (TargetKind::Materia, TargetKind::Loadout);
    assert_eq!(
        meant,
        [(loadout, "My Review"), (materia, "Both"), (loadout, "Both"), (loadout, "My Review")]
    );
    assert_eq!(link.targets[2].sockets, [NodeId::new("Socket-3")]);
    assert_eq!(
        link.invocation,
        "materia link 'loadout:My Review' materia:Both loadout:Both 'My Review' -- go"
    );
}

#[test]
fn a_command_without_its_parts_is_told_all_of_them() {
    let project = project("");
    let said = |asked: &Invocation| render(&linked(&project, asked).1);
    let nothing = Invocation::default();
    assert_eq!(
        said(&nothing),
        "error link::no-target -: `link` needs at least one target: a materia or a loadout
error link::no-delimiter -: `--` is missing: it stands between the targets and the request"
    );
    let undelimited =
        Invocation { delimited: false, prompt: vec![], ..asked(&["text", "do", "it"]) };
    assert_eq!(
        said(&undelimited),
        "error link::no-delimiter -: `--` is missing: it stands between the targets and the request"
    );
    let silent = Invocation { prompt: vec![" ".into()], ..asked(&["text"]) };
    assert_eq!(
        said(&silent),
        "error link::no-prompt -: nothing is asked for: there is no text behind `--`"
    );
    for id in ["../x", "a/b", "a\\b", "a..b", "", "a b"] {
        let said = said(&Invocation { from: Some(id.into()), ..asked(&["text"]) });
        assert!(said.starts_with("error link::bad-cast-id") && !said.contains('\n'), "{said}");
    }
}

#[test]
fn a_cast_that_is_not_there_is_told_as_a_finding() {
    let (loaded, _) = project("").load();
    let found = unknown_cast("there is no cast `c9` in `.materia`");
    assert_well_formed(&found, &loaded);
    assert_eq!(
        render(&found),
        "error link::unknown-cast -: `--from`: there is no cast `c9` in `.materia`"
    );
}

#[test]
fn findings_of_a_target_are_its_own_and_told_once() {
    let broken = r#""Broken": {"entry": "a", "sockets": {
      "a": {"materia": "text", "edges": [{"to": "nowhere"}]}}}"#;
    assert_eq!(
        refused(broken, &["Broken", "text", "Broken"]),
        "error graph::unknown-target 4:49 /loadouts/Broken/sockets/a/edges/0/to: there is no socket `nowhere` in loadout `Broken`"
    );
    let other =
        format!(r#"{broken}, "Fine": {{"entry": "a", "sockets": {{"a": {{"materia": "text"}}}}}}"#);
    composed(&other, &["Fine", "text"]);
}

#[test]
fn the_same_link_is_the_same_to_the_byte() {
    let project = project(LOOP);
    let once = linked(&project, &asked(&["Loop", "text"])).0.unwrap();
    let twice = linked(&project, &asked(&["loadout:Loop", "'materia:text'"])).0.unwrap();
    let bytes = |linked: &Linked| serde_json::to_vec(&linked.compiled.plan).unwrap();
    assert_eq!(bytes(&once), bytes(&twice));
    assert_eq!(once.link.loadout_id, twice.link.loadout_id);
    assert!(once.link.loadout_id.starts_with("link-"));
    let other = linked(&project, &asked(&["text", "Loop"])).0.unwrap();
    assert_ne!(once.link.loadout_id, other.link.loadout_id);
}

#[test]
fn a_link_has_a_bound() {
    let many = vec!["text"; 10_001];
    assert_eq!(
        refused("", &many),
        "error link::too-large -: together the targets have 10001 sockets, more than 10000"
    );
}

#[test]
fn what_a_target_expects_is_given_by_the_one_before() {
    let project = |expects: &str| {
        let reader = format!(r#""reader": {{"prompt": "p", "expects": "{expects}"}}"#);
        Project::with(format!("{{\"materia\": {{{MATERIA}, {reader}}}, \"loadouts\": {{}}}}"))
    };
    let fits = |expects: &str, before: &str| {
        let (linked, findings) = linked(&project(expects), &asked(&[before, "reader"]));
        let refused = render(&findings).contains("error link::incompatible-shape");
        assert_eq!(linked.is_none(), refused, "{}", render(&findings));
        !refused
    };
    for (expects, text, json, items) in
        [("text", true, true, true), ("json", false, true, true), ("workItems", false, false, true)]
    {
        let found = (fits(expects, "text"), fits(expects, "json"), fits(expects, "gen"));
        assert_eq!(found, (text, json, items), "{expects}");
    }
}

#[test]
fn an_entry_inside_a_loop_has_no_list() {
    let inside = r#""Work": {"entry": "w", "sockets": {"w": {"materia": "text", "advance": {"items": "state.tasks"}, "edges": [{"to": "w"}]}}, "loops": {"items": {"sockets": ["w"]}}}"#;
    let told = refused(inside, &["gen", "Work"]);
    assert!(
        told.contains("link::incompatible-shape") && told.contains("inside loop `items`"),
        "{told}"
    );
    let first = composed(inside, &["Work"]);
    assert_eq!(first.nodes.len(), 1, "as the first target it begins as it would alone");
}

#[test]
fn ids_in_parameters_and_ways_of_failures_are_renamed() {
    let config = r#"{"materia": {"text": {"prompt": "p"},
        "join": {"type": "utility", "command": ["sh"], "socketParams": ["sources", "one"], "params": {"sources": ["a", "j"], "one": "a", "other": "a"}}},
        "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "text", "onFailure": {"to": "j"}, "edges": [{"to": "j"}]}, "j": {"materia": "join"}}}}}"#;
    let (linked, findings) = linked(&Project::with(config), &asked(&["text", "L"]));
    let plan = linked.unwrap_or_else(|| panic!("{}", render(&findings))).compiled.plan;
    let materia_contract::Behavior::Utility { params, .. } = &plan.nodes["Socket-3"].behavior
    else {
        panic!("it is a utility")
    };
    let params = serde_json::Value::Object(params.clone());
    let expected =
        serde_json::json!({"sources": ["Socket-2", "Socket-3"], "one": "Socket-2", "other": "a"});
    assert_eq!(params, expected);
    let way = plan.nodes["Socket-2"].on_failure.as_ref().unwrap();
    assert_eq!(way.id.as_str(), "onFailure:Socket-2");
    assert_eq!(way.to.as_ref().map(NodeId::as_str), Some("Socket-3"));
}
