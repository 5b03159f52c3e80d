//! Pairs of shipped loadouts, linked: each pair completes, with every item of both.

use materia_compiler::link::{Invocation, Linked, link};
use materia_compiler::{Loaded, compile};
use materia_contract::{Expects, Materia, Node, NodeId, Parse};
use materia_kernel::Phase;
use serde_json::json;

use crate::player::{Visit, play};
use crate::support::{Project, render};

/// The items that every plan has, as keys.
const ITEMS: [&str; 2] = ["WI-1", "WI-2"];

fn linked(loaded: &Loaded, targets: &[String]) -> Linked {
    let targets = targets.to_vec();
    let asked = Invocation { from: None, targets, delimited: true, prompt: vec!["go".into()] };
    let (linked, findings) = link(loaded, &asked);
    linked.unwrap_or_else(|| panic!("{asked:?}\n{}", render(&findings)))
}

/// Answer of a shipped materia when all goes well in a repository of that kind.
fn answer(node: &Node, vcs: &str) -> String {
    if node.parse == Parse::Text {
        return "done".to_owned();
    }
    let item = |title: &str| json!({"title": title, "context": "why"});
    let mut object = json!({"satisfied": true, "context": "fine", "state": {
        "vcs": {"kind": vcs}, "artifactIgnore": {}, "blackbeltBootstrap": {}}});
    if node.generator {
        object["workItems"] = json!([item("feat: one"), item("fix: two")]);
    }
    object.to_string()
}

/// The items that each socket was visited for, in order.
fn items(visits: &[Visit], sockets: &[NodeId], plan: &materia_contract::Plan) -> Vec<String> {
    let builds = |visit: &&Visit| {
        sockets.contains(&visit.node) && plan.nodes[&visit.node].materia == "Build"
    };
    visits.iter().filter(builds).filter_map(|visit| visit.item.clone()).collect()
}

#[test]
fn all_pairs_of_shipped_loadouts_link_and_every_item_of_both_runs() {
    let (loaded, _) = Project::new().load();
    let names: Vec<String> =
        loaded.config.loadouts.keys().map(|name| format!("loadout:{name}")).collect();
    assert!(names.len() >= 4, "{names:?}");
    for first in &names {
        for second in &names {
            for vcs in ["git", "jj"] {
                let Linked { compiled, link } = linked(&loaded, &[first.clone(), second.clone()]);
                let plan = &compiled.plan;
                let (visits, phase) = play(plan, |_, node| answer(node, vcs)).unwrap();
                assert_eq!(phase, Phase::Completed, "{first} {second} {vcs}");
                for target in &link.targets {
                    let items = items(&visits, &target.sockets, plan);
                    assert_eq!(items, ITEMS, "{first} {second} {vcs}: {target:?}");
                }
                // Everything that a part visits alone it visits here, and nothing else.
                let alone: usize = [first, second]
                    .map(|name| {
                        let name = name.strip_prefix("loadout:");
                        let plan = compile(&loaded, name).0.unwrap().plan;
                        play(&plan, |_, node| answer(node, vcs)).unwrap().0.len()
                    })
                    .iter()
                    .sum();
                assert_eq!(visits.len(), alone, "{first} {second} {vcs}");
            }
        }
    }
}

#[test]
fn shipped_materia_link_with_whatever_gives_what_they_expect() {
    let (loaded, _) = Project::new().load();
    let needs_items = |doc: &Materia| doc.expects == Some(Expects::WorkItems);
    let named = |wanted: bool| -> Vec<String> {
        let fit = loaded.config.materia.iter().filter(|(_, doc)| needs_items(doc) == wanted);
        fit.map(|(name, _)| format!("materia:{name}")).collect()
    };
    let [loadout, planner] = ["loadout:Full-Auto", "materia:Planner"].map(str::to_owned);
    for name in &named(false) {
        let plan = linked(&loaded, &[name.clone(), loadout.clone(), name.clone()]).compiled.plan;
        assert_eq!(plan.nodes.first().unwrap().1.materia, plan.nodes.last().unwrap().1.materia);
    }
    linked(&loaded, &named(false));
    assert_eq!(named(true), ["materia:Blackbelt-Maintain", "materia:Commit-Sigil"]);
    for name in named(true) {
        linked(&loaded, &[name.clone(), loadout.clone(), planner.clone(), name]);
    }
}
