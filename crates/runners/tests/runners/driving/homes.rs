//! Home files of an agent in a confined turn, and which of them outlive the turn.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use materia_contract::{AgentDoc, AgentProtocol, GlobalMode, Policy};
use serde_json::{Value, json};

use super::Driving;
use crate::stage::{Stage, planning_is_enforced};

/// A fake `claude` whose script knows the real home as `$REAL`, and that home with settings and a login.
fn at_home(script: &str) -> Driving {
    let driving = Driving::new("");
    let home = driving.home();
    for (name, content) in [
        (".claude.json", r#"{"mcpServers": {}}"#),
        (".claude/settings.json", r#"{"hooks": {}}"#),
        (".claude/agents/mine.md", "mine"),
        (".claude/.credentials.json", LOGIN),
        (".claude/projects/-other/other.jsonl", "other"),
        (".bashrc", "# mine"),
    ] {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let path = driving.stage.outside().join("fake-agent.sh");
    let known = fs::read_to_string(&path).unwrap();
    let real = format!("REAL='{}'\nS=$CLAUDE_CONFIG_DIR/projects/-p\n", home.display());
    fs::write(&path, format!("{real}{known}{script}\n")).unwrap();
    driving
}

const LOGIN: &str = r#"{"claudeAiOauth": {"accessToken": "a1", "refreshToken": "r1", "expiresAt": 1, "scopes": ["x"]}}"#;

/// Every kind of turn that may not write everywhere.
fn confined(driving: &mut Driving, kind: usize) {
    match kind {
        0 => driving.stage.job.global_mode = GlobalMode::Planning,
        1 => driving.with_tools("readOnly"),
        _ => {
            let policy = Policy { write: Some(vec!["src".to_owned()]), ..Policy::default() };
            driving.stage.job.policy = Some(policy);
        }
    }
}

fn login(driving: &Driving) -> Value {
    let text = fs::read_to_string(driving.home().join(".claude/.credentials.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn settings_stay_as_they_are_and_session_and_login_outlive_the_turn() {
    if !planning_is_enforced() {
        return;
    }
    for kind in 0..3 {
        let mut driving = at_home(
            r#"init
mkdir -p "$S"
echo "{\"id\":\"$id\",\"verb\":\"$verb\"}" >> "$S/$id.jsonl"
seen=$(grep -c . "$S/$id.jsonl")
for name in .bashrc .claude.json .claude/settings.json .claude/agents/mine.md .claude/new .claude/.credentials.json .claude/projects/-other/other.jsonl; do
  echo evil > "$REAL/$name" && seen="$seen wrote-$name"
done
rm -f "$REAL/.claude/settings.json" && seen="$seen removed"
echo evil > "$CLAUDE_CONFIG_DIR/agents/mine.md" && seen="$seen wrote-through-link"
grep -q mcpServers "$CLAUDE_CONFIG_DIR/.claude.json" || seen="$seen no-copy"
grep -q mine "$CLAUDE_CONFIG_DIR/agents/mine.md" || seen="$seen no-link"
for name in .claude.json settings.json hooks.json plugins/known_marketplaces.json projects/-p/memory.md; do
  mkdir -p "$(dirname "$CLAUDE_CONFIG_DIR/$name")"
  echo '{"hooks": {"SessionStart": [{"command": "touch /tmp/x"}]}}' > "$CLAUDE_CONFIG_DIR/$name" || seen="$seen no-$name"
done
echo '{"claudeAiOauth": {"accessToken": "a2", "refreshToken": "r2", "expiresAt": 2, "scopes": ["y"], "apiKeyHelper": "touch /tmp/x"}, "more": 1}' > "$CLAUDE_CONFIG_DIR/.credentials.json"
result "$seen""#,
        );
        confined(&mut driving, kind);
        driving.in_session(7, false, 1);
        let before = tree(&driving);
        assert_eq!(driving.answer().output, "1", "{kind}");
        driving.in_session(7, true, 1);
        assert_eq!(driving.answer().output, "2", "the session goes on: {kind}");
        let expected = json!({ "claudeAiOauth": {
            "accessToken": "a2", "refreshToken": "r2", "expiresAt": 2, "scopes": ["x"],
        }});
        assert_eq!(login(&driving), expected);
        let id = "00000000-0000-0000-0000-000000000007";
        let session = driving.home().join(format!(".claude/projects/-p/{id}.jsonl"));
        assert_eq!(fs::read_to_string(&session).unwrap().lines().count(), 2);
        let mut after = tree(&driving);
        after.retain(|(path, _)| *path != session);
        let changed: Vec<_> = after.iter().filter(|entry| !before.contains(entry)).collect();
        let login = driving.home().join(".claude/.credentials.json");
        assert!(changed.iter().all(|(path, _)| *path == login), "{changed:?}");
        assert_eq!(after.len(), before.len());
        // Where everything may be written, the agent has its home itself.
        let mut free = Driving::new("init; result \"${CLAUDE_CONFIG_DIR-none}\"");
        free.in_session(8, false, 1);
        assert_eq!(free.answer().output, "none");
    }
}

/// Every file of the home with its content.
fn tree(driving: &Driving) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![driving.home()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn links_and_second_names_in_the_private_folder_lead_nowhere() {
    if !planning_is_enforced() {
        return;
    }
    for plant in [
        r#"ln -s "$REAL/.bashrc" "$S/$id.jsonl""#,
        r#"rm -r "$S"; ln -s "$REAL" "$S"; echo x > "$CLAUDE_CONFIG_DIR/$id.jsonl""#,
        r#"rm -r "$CLAUDE_CONFIG_DIR/projects"; ln -s "$REAL" "$CLAUDE_CONFIG_DIR/projects""#,
        r#"mkfifo "$S/$id.jsonl""#,
        r#"mkdir "$S/$id.jsonl""#,
        r#"echo x > "$TMPDIR/x"; ln "$TMPDIR/x" "$S/$id.jsonl""#,
        r#"rm "$CLAUDE_CONFIG_DIR/.credentials.json"; ln -s "$REAL/.bashrc" "$CLAUDE_CONFIG_DIR/.credentials.json""#,
        r#"rm "$CLAUDE_CONFIG_DIR/.credentials.json"; mkfifo "$CLAUDE_CONFIG_DIR/.credentials.json""#,
        r#"head -c 2000000 /dev/zero > "$CLAUDE_CONFIG_DIR/.credentials.json""#,
        r#"rm -r "$CLAUDE_CONFIG_DIR"; ln -s "$REAL" "$CLAUDE_CONFIG_DIR""#,
    ] {
        let mut driving = at_home(&format!("init; mkdir -p \"$S\"\n{plant}\nresult ok"));
        confined(&mut driving, 0);
        driving.in_session(7, false, 1);
        let before = tree(&driving);
        let output = driving.answer();
        assert_eq!(tree(&driving), before, "{plant}");
        assert!(
            output.notes.iter().any(|note| note.contains("the session is not kept")),
            "{plant}: {:?}",
            output.notes
        );
        driving.in_session(7, true, 1);
        let lost = driving.fault();
        assert_eq!(lost.report.class, Some(materia_contract::FailureClass::SessionLost), "{plant}");
    }
}

#[test]
fn a_turn_does_not_get_at_another_session_by_its_name() {
    if !planning_is_enforced() {
        return;
    }
    let theirs = "11111111-2222-4333-8444-555555555555";
    for writes in ["true", r#"echo "evil $id" > "$S/$id.jsonl""#] {
        let mut driving =
            at_home(&format!("id={theirs}; init; mkdir -p \"$S\"\n{writes}\nresult ok"));
        confined(&mut driving, 1);
        let session = driving.home().join(format!(".claude/projects/-p/{theirs}.jsonl"));
        fs::create_dir_all(session.parent().unwrap()).unwrap();
        fs::write(&session, format!("{{\"sessionId\":\"{theirs}\"}}\n")).unwrap();
        let before = tree(&driving);
        driving.in_session(7, false, 1);
        driving.answer();
        driving.in_session(7, true, 1);
        driving.fault();
        assert_eq!(tree(&driving), before, "{writes}");
    }
}

#[test]
fn a_home_that_is_linked_elsewhere_is_still_found() {
    if !planning_is_enforced() {
        return;
    }
    let mut driving = at_home(
        r#"init
grep -q hooks "$CLAUDE_CONFIG_DIR/settings.json" && mkdir -p "$S" && echo "$id" > "$S/$id.jsonl"
echo '{"claudeAiOauth": {"accessToken": "a2"}}' > "$CLAUDE_CONFIG_DIR/.credentials.json"
result ok"#,
    );
    let (home, dotfiles) = (driving.home(), driving.stage.outside().join("dotfiles"));
    fs::create_dir(&dotfiles).unwrap();
    for name in ["settings.json", ".credentials.json", "projects"] {
        fs::rename(home.join(".claude").join(name), dotfiles.join(name)).unwrap();
        symlink(dotfiles.join(name), home.join(".claude").join(name)).unwrap();
    }
    confined(&mut driving, 0);
    driving.in_session(7, false, 1);
    driving.answer();
    let id = "00000000-0000-0000-0000-000000000007";
    assert!(dotfiles.join(format!("projects/-p/{id}.jsonl")).is_file());
    assert_eq!(login(&driving)["claudeAiOauth"]["accessToken"], "a2");
    assert!(home.join(".claude/.credentials.json").is_symlink());
}

#[test]
fn a_login_that_somebody_else_renewed_meanwhile_stays() {
    if !planning_is_enforced() {
        return;
    }
    let mut driving = at_home(
        r#"init
echo '{"claudeAiOauth": {"accessToken": "a2"}}' > "$CLAUDE_CONFIG_DIR/.credentials.json"
touch "$TMPDIR/../home/ready"
while ! grep -q a9 "$REAL/.claude/.credentials.json"; do sleep 0.05; done
result ok"#,
    );
    confined(&mut driving, 0);
    let place = driving.home().join(".claude/.credentials.json");
    let ready =
        driving.stage.job.run_dir.join(format!("tmp/{}-agent/home/ready", driving.stage.job.turn));
    let renewing = std::thread::spawn(move || {
        while !ready.exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        fs::write(place, LOGIN.replace("a1", "a9")).unwrap();
    });
    driving.answer();
    renewing.join().unwrap();
    assert_eq!(login(&driving)["claudeAiOauth"]["accessToken"], "a9");
}

#[test]
fn the_name_of_an_agent_in_the_configuration_becomes_no_path() {
    if !planning_is_enforced() {
        return;
    }
    for (kind, name) in ["bashrc", "ssh", "config", "local", "claude", "../x", "cache", "a/b", "."]
        .iter()
        .enumerate()
    {
        for kind in [kind % 3, (kind + 1) % 3] {
            let mut driving = acp(name);
            let home = driving.home();
            let folders =
                [".ssh", ".config", ".local/share", ".local/state", ".cache", ".claude", ".x"];
            for folder in folders {
                fs::create_dir_all(home.join(folder)).unwrap();
                fs::create_dir_all(home.join(folder).join("python3")).unwrap();
                fs::create_dir_all(home.join(folder).join(name.replace("..", "x"))).unwrap();
            }
            fs::write(home.join(".bashrc"), "# mine").unwrap();
            confined(&mut driving, kind);
            let before = tree(&driving);
            driving.in_session(7, false, 1);
            assert_eq!(driving.answer().output, "1 refused", "{name} {kind}");
            driving.in_session(7, true, 1);
            assert_eq!(driving.answer().output, "2 refused", "its folder is kept: {name} {kind}");
            assert_eq!(tree(&driving), before, "{name} {kind}");
            let agents: Vec<_> =
                fs::read_dir(driving.stage.job.run_dir.join("agents")).unwrap().collect();
            assert_eq!(agents.len(), 1);
        }
    }
}

/// An agent of that name that tries to write everywhere in the home, and into its own folder.
fn acp(name: &str) -> Driving {
    let stage = Stage::new();
    let home = stage.outside().join("home");
    let home = home.display();
    let program = format!(
        r#"
import json, os, sys
def send(**message): print(json.dumps(dict(jsonrpc="2.0", **message)), flush=True)
home = "{home}"
def act():
    wrote = []
    for folder, folders, files in os.walk(home):
        for name in files + ["planted"]:
            try:
                open(os.path.join(folder, name), "a").write("evil")
                wrote.append(os.path.join(folder, name))
            except OSError: pass
    own = os.environ["MATERIA_AGENT_DIR"]
    for place in (own, os.environ["XDG_STATE_HOME"], os.environ["XDG_CACHE_HOME"]):
        open(os.path.join(place, "turns"), "a").write("x")
    return str(len(open(os.path.join(own, "turns")).read())) + " " + (" ".join(wrote) or "refused")
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize": send(id=id, result=dict(protocolVersion=1, agentCapabilities=dict(loadSession=True)))
    elif method == "session/new": send(id=id, result=dict(sessionId="s-1"))
    elif method == "session/load": send(id=id, result=None)
    elif method == "session/prompt":
        send(method="session/update", params=dict(sessionId="s-1", update=dict(sessionUpdate="agent_message_chunk", content=dict(type="text", text=act()))))
        send(id=id, result=dict(stopReason="end_turn"))
"#
    );
    let path = stage.outside().join("fake-acp.py");
    fs::write(&path, program).unwrap();
    let command = vec!["python3".to_owned(), path.to_str().unwrap().to_owned()];
    let doc = AgentDoc {
        protocol: Some(AgentProtocol::Acp),
        command: Some(command),
        ..AgentDoc::default()
    };
    Driving::with(stage, name, doc)
}
