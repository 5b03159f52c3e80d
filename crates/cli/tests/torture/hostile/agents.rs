//! Agents that try what turns of programs try: to write elsewhere, to have a secret kept, to be believed after their supervisor died.

use serde_json::json;

use super::Stage;
use super::people::people;
use super::secrets::token;
use super::turns::{code, everything, gone, holds};

/// An agent that speaks as much of the Agent Client Protocol as it needs, and does what `act` says when it is asked.
pub(super) fn agent(act: &str) -> Stage {
    let stage = Stage::new();
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M", "edges": [{ "to": "end" }] } } } },
        "materia": { "M": { "prompt": "Do it." } },
        "agents": { "mine": { "protocol": "acp", "command": ["python3", "agent.py"] } },
        "provider": "mine",
        "limits": { "maxRetries": 0 },
    });
    stage.write("project/materia.json", config.to_string());
    stage.write("project/src/main.rs", "precious\n");
    let program = format!(
        r#"import json, os, subprocess, sys
def send(**message): print(json.dumps(dict(jsonrpc="2.0", **message)), flush=True)
def say(text): send(method="session/update", params=dict(sessionId="s1", update=dict(sessionUpdate="agent_message_chunk", content=dict(type="text", text=text))))
def shell(words): subprocess.run(["sh", "-c", words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cast = ".materia/" + os.environ["MATERIA_CAST_ID"]
def act():
{act}
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize": send(id=id, result=dict(protocolVersion=1, agentCapabilities=dict(loadSession=True)))
    elif method == "session/new": send(id=id, result=dict(sessionId="s1"))
    elif method == "session/prompt":
        act()
        send(id=id, result=dict(stopReason="end_turn"))
"#
    );
    stage.write("project/agent.py", program);
    stage
}

#[test]
fn an_agent_does_not_get_the_runtime_to_write_elsewhere_nor_to_keep_a_secret() {
    for who in people() {
        let halves = (token()[..6].to_owned(), token()[6..].to_owned());
        let says = format!("    say('it is {}' + '{}')", halves.0, halves.1);
        for (what, words) in [
            ("nothing else", "true"),
            (
                "its transcript",
                "rm -f $C/sockets/a/*; ln -s $H/.bashrc $C/sockets/a/1-1.transcript.jsonl; ln -s $H/.bashrc $C/sockets/a/1-1.output.txt",
            ),
            ("its folder", "rm -rf $C/sockets; ln -s $H $C/sockets"),
            ("its session", "rm -rf $C/sessions; ln -s $H $C/sessions"),
            ("its temporary folder", "rm -rf $C/tmp; ln -s $H $C/tmp"),
        ] {
            let act = format!("    shell(f'C={{cast}}; H=$PWD/../home; {words}')\n{says}");
            for mode in [&["--planning"][..], &[]] {
                let stage = agent(&act).of(who);
                let args = [&["cast", "--trust", "--cast-id", "c1"][..], mode, &["go"]].concat();
                let seen = stage.watch(&args).changed_nothing_outside();
                assert!([0, 1].contains(&seen.ran.exit), "{what} {mode:?}: {seen:?}");
                assert_eq!(code(&stage), "precious\n");
                let kept = everything(&stage.path("project/.materia"));
                assert!(!holds(&kept, &token()), "{what} {mode:?}: {seen:?}");
                assert!(holds(&kept, "it is [redacted]"), "{what} {mode:?}: {seen:?}");
            }
        }
    }
}

#[test]
fn an_answer_does_not_count_when_the_agent_killed_its_supervisor() {
    for who in people() {
        let stage = agent(
            "    say('done'); send(id=3, result=dict(stopReason='end_turn'))
    shell('(env -i setsid sleep 60.81 &) ; kill -9 ' + str(os.getppid()))
    shell('sleep 60.81')",
        )
        .of(who);
        let seen = stage.watch(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(1);
        assert!(seen.ran.err.contains("has an unknown end"), "{seen:?}");
        gone("60.81");
    }
}
