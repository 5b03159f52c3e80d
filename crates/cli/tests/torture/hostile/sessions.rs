//! Hostile session names, invented by agents or written into a session file: they become arguments of the resumed
//! agent.

use std::fs;

use serde_json::json;

use super::Stage;
use super::people::{Who, finds, people};

/// Plays any of the four: notes its arguments, and calls its session what the file `id` says.
const FAKE: &str = r#"import json, os, sys
agent, words = sys.argv[1], sys.argv[2:]
if "--version" in words:
    print("1.0.0"); sys.exit(0)
sys.stdin.read()
with open("../outside/starts", "a") as starts: starts.write(json.dumps(words) + "\n")
id = open("id", newline="").read()
def send(**event): print(json.dumps(event), flush=True)
if agent == "claude":
    send(type="system", subtype="init", session_id=id)
    send(type="result", subtype="success", is_error=False, result="done", session_id=id)
elif agent == "codex":
    send(type="thread.started", thread_id=id)
    send(type="item.completed", item=dict(id="i", type="agent_message", text="done"))
    send(type="turn.completed", usage=dict(input_tokens=1, output_tokens=1))
elif agent == "gemini":
    send(type="init", session_id=id, model="m")
    send(type="message", role="assistant", content="done")
    send(type="result", status="success", stats={})
else:
    send(type="session", id=id)
    send(type="message_end", message=dict(role="assistant", content=[dict(type="text", text="done")], stopReason="stop"))
    send(type="agent_settled")
"#;

/// Writes another name into the files of all sessions, if there is one to write, and sends the work back once.
const JUDGE: &str = r#"import glob, json, os
if os.path.exists("forged"):
    for path in glob.glob(".materia/c1/sessions/*.json"):
        kept = json.load(open(path))
        kept["session"]["id"] = open("forged", newline="").read()
        json.dump(kept, open(path, "w"))
print(json.dumps(dict(satisfied=os.path.exists("again"), context="once more")))
open("again", "w")
"#;

const AGENTS: [&str; 4] = ["claude", "codex", "gemini", "pi"];
const GOOD: &str = "a-session.of:mine_7";
const BAD: [&str; 6] =
    ["--dangerously-skip-permissions", "a/b", "-x", "with space", "../../up", "line\nbreak"];

/// An agent, a judge who sends it back once, and the agent again: each start of the agent with its arguments.
fn starts(who: Who, agent: &str, said: &str, forged: Option<&str>) -> Vec<Vec<String>> {
    let stage = Stage::new().of(who);
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Ask", "edges": [{ "to": "b" }] },
            "b": { "materia": "Judge", "parse": "json", "edges": [
                { "when": "satisfied", "to": "end" },
                { "when": "not_satisfied", "to": "a", "maxTraversals": 2 }] } } } },
        "materia": {
            "Ask": { "prompt": "Do it." },
            "Judge": { "type": "utility", "command": ["python3", "judge.py"] },
        },
        "agents": { agent: { "command": ["python3", "fake.py", agent] } },
        "provider": agent,
        "limits": { "maxRetries": 0 },
    });
    stage.write("project/materia.json", config.to_string());
    stage.write("project/fake.py", FAKE);
    stage.write("project/judge.py", JUDGE);
    stage.write("project/id", said);
    if let Some(forged) = forged {
        stage.write("project/forged", forged);
    }
    let ran = stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]);
    let what = format!("{agent} as {who:?}: {said:?} {forged:?}: {ran:?}");
    assert!([0, 1].contains(&ran.exit), "{what}");
    assert!(stage.path("project/again").exists(), "{what}");
    let starts = fs::read_to_string(stage.path("outside/starts")).unwrap();
    starts.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_session_is_called_by_the_name_that_its_agent_gave_it() {
    for who in people().into_iter().filter(|who| finds(*who, "python3")) {
        for agent in AGENTS {
            let starts = starts(who, agent, GOOD, None);
            assert_eq!(starts.len(), 2, "{agent} as {who:?}: {starts:?}");
            assert!(!starts[0].iter().any(|word| word == GOOD), "{agent}: {starts:?}");
            assert!(starts[1].iter().any(|word| word == GOOD), "{agent} as {who:?}: {starts:?}");
        }
    }
}

#[test]
fn no_name_of_a_session_becomes_an_argument_that_means_something_else() {
    for who in people().into_iter().filter(|who| finds(*who, "python3")) {
        for (nth, agent) in AGENTS.into_iter().enumerate() {
            // All of them for one agent, the first ones for the others.
            let bad = if nth == 0 { &BAD[..] } else { &BAD[..2] };
            let said = bad.iter().map(|bad| (*bad, None));
            let forged = bad[..2].iter().map(|bad| (GOOD, Some(*bad)));
            for (said, forged) in said.chain(forged) {
                let (bad, starts) = (forged.unwrap_or(said), starts(who, agent, said, forged));
                let what = format!("{agent} as {who:?}: {said:?} {forged:?}: {starts:?}");
                assert!(!starts.concat().iter().any(|word| word == bad), "{what}");
            }
        }
    }
}
