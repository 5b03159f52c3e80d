//! Configurations that were written for the original system.

use materia_contract::Severity;

use crate::support::{Project, render};

/// All that such a file may hold beside what acts: places on a page, ids of its editor, switches of
/// its surroundings.
const ORIGINAL: &str = r##"{
  "artifactDir": ".pi/pi-materia",
  "activeLoadout": "Mine",
  "limits": { "maxNoAdvanceCycles": 3 },
  "parallelism": { "maxConcurrency": 2 },
  "eventing": { "enabled": false },
  "compaction": {},
  "budget": { "maxTokens": 1000, "warnAtPercent": 75, "stopAtLimit": true },
  "loadouts": {
    "Mine": {
      "id": "default:mine", "source": "default", "lockState": "locked",
      "entry": "Socket-1",
      "layout": { "sockets": { "Socket-1": { "x": 0.5, "y": 0 } } },
      "sockets": {
        "Socket-1": { "socketKind": "entry", "empty": false, "type": "utility", "materia": "Detect-VCS",
          "layout": { "x": 1 }, "edges": [{ "when": "always", "to": "Socket-2" }] },
        "Socket-2": { "socketKind": "normal", "materia": "Plan", "parse": "json",
          "assign": { "workItems": "$.workItems" }, "edges": [{ "when": "always", "to": "Socket-3" }] },
        "Socket-3": { "socketKind": "normal", "materia": "Make", "parse": "text", "empty": false,
          "edges": [{ "when": "always", "to": "Socket-4" }] },
        "Socket-4": { "materia": "Keep", "parse": "json",
          "advance": { "cursor": "workItemIndex", "items": "state.workItems", "done": "end", "when": "satisfied" },
          "edges": [{ "when": "always", "to": "Socket-3" }] },
        "Socket-5": { "materia": "Make", "socketKind": "normal" },
        "Socket-9": { "socketKind": "normal", "empty": true, "edges": [] }
      },
      "loops": {
        "loopSelection": {
          "label": "until all is done",
          "sockets": ["Socket-3", "Socket-4"],
          "consumes": { "from": "Socket-2", "output": "workItems", "as": "workItem", "done": "end" },
          "exit": { "from": "Socket-4", "when": "satisfied", "to": "end" },
          "exits": [{ "id": "exit:Socket-4:always", "from": "Socket-4", "condition": "always", "targetSocketId": "Socket-5" }]
        }
      }
    }
  },
  "materia": {
    "Plan": { "tools": "readOnly", "prompt": "Plan.", "generator": true, "color": "materia-color-amber", "thinking": "high" },
    "Make": { "type": "agent", "tools": "coding", "prompt": "Make it.", "model": "some/model", "parallelSafe": true },
    "Keep": { "type": "utility", "color": "#abcdef", "group": "Utility",
      "script": { "kind": "shippedUtility", "name": "blackbelt-maintain.mjs", "runtime": "node" }, "parse": "json" }
  }
}"##;

#[test]
fn a_configuration_of_the_original_system_loads_and_what_does_nothing_is_named_once() {
    let project = Project::with("{}");
    std::fs::remove_file(project.path("materia.json")).unwrap();
    project.write(".pi/pi-materia.json", ORIGINAL);
    let (compiled, findings) = project.compile(None);
    let plan = compiled.unwrap_or_else(|| panic!("{}", render(&findings))).plan;
    assert_eq!(plan.nodes.len(), 5, "the empty socket is no part of the graph");
    assert_eq!(plan.loops["loopSelection"].exits.len(), 1);
    assert!(plan.nodes["Socket-4"].advance.is_some());
    assert!(findings.iter().all(|one| one.severity == Severity::Info), "{}", render(&findings));
    let mut names: Vec<_> = findings
        .iter()
        .map(|one| {
            assert_eq!(one.code, "document::no-effect");
            one.message.split('`').nth(1).unwrap()
        })
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "as",
            "compaction",
            "done",
            "empty",
            "eventing",
            "id",
            "label",
            "layout",
            "lockState",
            "parallelSafe",
            "parallelism",
            "socketKind",
            "source",
            "stopAtLimit",
            "thinking",
            "type"
        ]
    );
}

#[test]
fn an_empty_socket_that_something_leads_to_is_a_fault() {
    let project = Project::with(
        r#"{"loadouts": {"L": {"entry": "a", "sockets": {
            "a": {"materia": "Narrate", "edges": [{"to": "b"}]}, "b": {"empty": true}}}}}"#,
    );
    let (compiled, findings) = project.compile(None);
    assert!(compiled.is_none());
    assert!(findings.iter().any(|one| one.code == "graph::no-materia"), "{}", render(&findings));
}
