//! Turns that try to control casts: by the command line and through the server.

use std::process::Stdio;

use serde_json::{Value, json};

use super::Stage;
use super::people::{Who, people};
use crate::bench::until;

/// A cast `c1` that waits for approval, and a loadout whose only turn runs a script.
fn stage(who: Who, script: &str, policy: &Value) -> Stage {
    let stage = Stage::new().of(who);
    let config = json!({
        "activeLoadout": "Asks",
        "loadouts": {
            "Asks": { "entry": "a", "sockets": { "a": { "materia": "Run", "approval": "before" } } },
            "Acts": { "entry": "a", "sockets": { "a": { "materia": "Act", "policy": policy } } },
        },
        "materia": {
            "Run": { "type": "utility", "command": ["sh", "-c", "echo owned > ../outside/owned"] },
            "Act": { "type": "utility", "command": ["sh", "act.sh"] },
        },
    });
    stage.write("project/materia.json", config.to_string());
    let own = stage.materia();
    let own = own.display();
    let clean = format!(
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" MATERIA_PROFILE_DIR=\"$MATERIA_PROFILE_DIR\" MATERIA_STATE_DIR=\"$MATERIA_STATE_DIR\" {own}"
    );
    stage.write(
        "project/act.sh",
        format!("M={own}\nCLEAN='{}'\n{script}\n", clean.replace('\'', "'\\''")),
    );
    stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(3);
    stage
}

fn still_waits(stage: &Stage, what: &str) {
    let shown = stage.run(&["show", "c1", "--json"]).exits(0).lines();
    assert_eq!(shown[0]["status"], "waiting", "{what}: {shown:?}");
    assert!(!stage.path("outside/owned").exists(), "{what}");
}

/// Waits in the turn until the command is through, and says how it ended.
const ENDED: &str = "while [ ! -s ended ]; do sleep 0.05; done; cat said >&2";

#[test]
fn a_turn_approves_nothing_however_it_hides() {
    for who in people() {
        for (what, script) in [
            ("plainly", "$M approve c1 a > said 2>&1; echo $? > ended"),
            (
                "without its environment",
                "eval \"$CLEAN approve c1 a\" > said 2>&1; echo $? > ended",
            ),
            (
                "in a session of its own, its parents gone",
                "(setsid sh -c \"sleep 0.2; $CLEAN approve c1 a > said 2>&1; echo \\$? > ended\" &) ; true",
            ),
            (
                "below something that looks like a supervisor that may",
                "printf '%s' \"$CLEAN approve c1 a > said 2>&1; echo \\$? > ended\" > __supervise; sh __supervise x steer",
            ),
            (
                "by an option",
                "eval \"$CLEAN cast --trust --loadout Asks go\" > said 2>&1; echo $? > ended",
            ),
            ("by resuming", "eval \"$CLEAN resume c1\" > said 2>&1; echo $? > ended"),
            (
                "by another start",
                "eval \"$CLEAN fork c1 --at 1 --trust\" > said 2>&1; echo $? > ended",
            ),
            ("by words", "eval \"$CLEAN say c1 hello\" > said 2>&1; echo $? > ended"),
            (
                "by its own server",
                "eval \"timeout 20 $CLEAN serve --listen 127.0.0.1:0\" > said 2>&1; echo $? > ended",
            ),
        ] {
            let stage = stage(who, &format!("{script}\n{ENDED}"), &Value::Null);
            let ran = stage.run(&["cast", "--trust", "--loadout", "Acts", "--cast-id", "c2", "go"]);
            assert_eq!(ran.exit, 0, "{what}: {ran:?}");
            let ended = std::fs::read_to_string(stage.path("project/ended")).unwrap();
            let said = std::fs::read_to_string(stage.path("project/said")).unwrap();
            assert_eq!(ended.trim(), "2", "{what}: {said}");
            assert!(said.contains("policy"), "{what}: {said}");
            still_waits(&stage, what);
            let casts = stage.run(&["casts", "--json"]).exits(0).lines();
            assert_eq!(casts.len(), 2, "{what}: {casts:?}");
        }
    }
}

#[test]
fn a_turn_may_read_check_and_explore() {
    for who in people() {
        let script = "$M show c1 && $M events c1 && $M check && $M casts && $M grid && $M why c1 a && $M loadout && $M replay c1";
        let stage =
            stage(who, &format!("({script}) > said 2>&1; echo $? > ended\n{ENDED}"), &Value::Null);
        stage.run(&["cast", "--trust", "--loadout", "Acts", "go"]).exits(0);
        let said = std::fs::read_to_string(stage.path("project/said")).unwrap();
        assert_eq!(
            std::fs::read_to_string(stage.path("project/ended")).unwrap().trim(),
            "0",
            "{said}"
        );
    }
}

#[test]
fn a_turn_that_may_control_casts_is_asked_about_and_does() {
    for who in people() {
        let stage = stage(
            who,
            &format!("eval \"$CLEAN approve c1 a\" > said 2>&1; echo $? > ended\n{ENDED}"),
            &json!({ "steer": true }),
        );
        // As it was approved before, so that only the policy is new.
        let asked = Stage::new().of(who);
        for file in ["materia.json", "act.sh"] {
            let text = std::fs::read(stage.path(&format!("project/{file}"))).unwrap();
            asked.write(&format!("project/{file}"), text);
        }
        let refused = asked.watch(&["cast", "--loadout", "Acts", "go"]).exits(2).executed_nothing();
        assert!(refused.ran.err.contains("turns may control casts"), "{refused:?}");
        stage.run(&["cast", "--loadout", "Acts", "go"]).exits(0);
        let said = std::fs::read_to_string(stage.path("project/said")).unwrap();
        assert_eq!(
            std::fs::read_to_string(stage.path("project/ended")).unwrap().trim(),
            "0",
            "{said}"
        );
        assert!(stage.path("outside/owned").exists(), "{said}");
    }
}

/// Asks the server that runs, with its own token, and says with which status it answered.
const ASKS: &str = r#"
import json, os, sys, urllib.request, urllib.error
server = json.load(open(os.environ["MATERIA_STATE_DIR"] + "/server.json"))
def ask(method, path, body):
    request = urllib.request.Request(server["url"] + path, method=method, data=json.dumps(body).encode())
    request.add_header("Authorization", "Bearer " + server["token"])
    request.add_header("Content-Type", "application/json")
    request.add_header("Idempotency-Key", "k" + path)
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code
print(*[ask(*one) for one in [
    ("POST", "/api/casts/c1/commands", {"act": "approve", "node": "a"}),
    ("POST", "/api/casts/c1/drive", {}),
    ("POST", "/api/casts", {"loadout": "Asks", "noRequest": True}),
    ("POST", "/api/trust", {"project": "x", "hash": "x"}),
    ("POST", "/api/stop", {}),
]])
"#;

#[test]
fn a_turn_that_has_the_servers_token_is_refused_by_the_server() {
    for who in people() {
        let call = "env -i PATH=\"$PATH\" MATERIA_STATE_DIR=\"$MATERIA_STATE_DIR\" python3 asks.py";
        let stage = stage(
            who,
            &format!("(setsid sh -c '{call} > said 2>&1; echo $? > ended' &)\n{ENDED}"),
            &Value::Null,
        );
        stage.write("project/asks.py", ASKS);
        let mut server = stage.command(&[]);
        server
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut server = server.spawn().unwrap();
        until("the server listens", || stage.path("state/server.json").exists());
        stage.run(&["cast", "--trust", "--loadout", "Acts", "go"]).exits(0);
        let said = std::fs::read_to_string(stage.path("project/said")).unwrap();
        let alive = server.try_wait().unwrap().is_none();
        server.kill().unwrap();
        server.wait().unwrap();
        assert_eq!(said.trim(), "403 403 403 403 403", "{said}");
        assert!(alive, "it was not stopped");
        still_waits(&stage, "through the server");
    }
}
