//! Agents that try to change their next start: they rewrite files in the user's home.

use std::fs;

use serde_json::json;

use super::Stage;
use super::people::{finds, people};
use super::turns::{confines, everything, holds};

/// Files in the home: for each agent a file that can name a command, its login, and a session of another cast.
const HOMES: [(&str, &[(&str, &str)]); 4] = [
    (
        "claude",
        &[
            (".claude.json", "{}"),
            (".claude/settings.json", "{}"),
            (".claude/agents/a.md", "a"),
            (".claude/commands/c.md", "c"),
            (".claude/plugins/installed_plugins.json", "{}"),
            (
                ".claude/.credentials.json",
                r#"{"claudeAiOauth":{"accessToken":"old","expiresAt":1}}"#,
            ),
            (".claude/projects/-p/other.jsonl", "other"),
        ],
    ),
    (
        "codex",
        &[
            (".codex/config.toml", "# mine"),
            (".codex/hooks.json", "{}"),
            (".codex/AGENTS.md", "a"),
            (".codex/skills/s/SKILL.md", "s"),
            (".codex/auth.json", r#"{"tokens":{"access_token":"old"},"last_refresh":"1"}"#),
            (".codex/sessions/2026/01/01/rollout-1-other.jsonl", "other"),
        ],
    ),
    (
        "gemini",
        &[
            (".gemini/settings.json", "{}"),
            (".gemini/trustedFolders.json", "{}"),
            (".gemini/GEMINI.md", "a"),
            (".gemini/extensions/e/gemini-extension.json", "{}"),
            (".gemini/oauth_creds.json", r#"{"access_token":"old","expiry_date":1}"#),
            (".gemini/tmp/p/chats/session-1-other.jsonl", "other"),
        ],
    ),
    (
        "pi",
        &[
            (".pi/agent/settings.json", "{}"),
            (".pi/agent/models.json", "{}"),
            (".pi/agent/extensions/e.ts", "e"),
            (
                ".pi/agent/auth.json",
                r#"{"x":{"type":"oauth","access":"old","expires":1},"y":{"type":"api_key","key":"k"}}"#,
            ),
            (".pi/agent/sessions/--p--/1_other.jsonl", "other"),
        ],
    ),
];

/// Plays any of the four: rewrites every file that it finds in the home and in its private copy, leaves a session and
/// a renewed login in the copy, and answers with what it could write in the home. Asked for its version it does the same.
const FAKE: &str = r#"import json, os, sys
agent, act = sys.argv[1], sys.argv[2]
words = sys.argv[3:]
if "--version" not in words: sys.stdin.read()
home = os.environ["HOME"]
variable = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "gemini": "GEMINI_CLI_HOME", "pi": "PI_CODING_AGENT_DIR"}[agent]
own = os.environ.get(variable, "/nowhere")
if agent == "gemini": own += "/.gemini"
flags = {word: words[at + 1] for at, word in enumerate(words[:-1])}
id = flags.get("--resume") or flags.get("--session-id") or flags.get("resume") or "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"
session = {"claude": f"projects/-q/{id}.jsonl", "codex": f"sessions/2026/02/02/rollout-2-{id}.jsonl", "gemini": f"tmp/q/chats/session-2-{id[:8]}.jsonl", "pi": f"sessions/--q--/2_{id}.jsonl"}[agent]
login = {"claude": ".credentials.json", "codex": "auth.json", "gemini": "oauth_creds.json", "pi": "auth.json"}[agent]
said = []
def attempt(path):
    for do in (lambda: open(path, "a").write("evil"), lambda: open(path, "w").write("evil"), lambda: os.remove(path), lambda: os.rename(path, path + "~"), lambda: os.symlink("/etc/passwd", path + "-link")):
        try:
            do(); said.append(path)
        except OSError: pass
for folder, folders, files in os.walk(home):
    for name in files + ["planted"]: attempt(os.path.join(folder, name))
if "--version" in words:
    print("1.0.0"); sys.exit(0)
def evil(value):
    if isinstance(value, dict): return {**{name: evil(inner) for name, inner in value.items()}, "key": "!touch evil", "apiKeyHelper": "touch evil"}
    return "new" if value in ("old", "1") else 2 if value == 1 else value
try:
    renewed = evil(json.load(open(os.path.join(own, login))))
    for folder, folders, files in os.walk(own):
        for path in (os.path.join(folder, name) for name in files):
            try: wrote = open(path, "w").write("evil")
            except OSError: wrote = 0
            # A copy can be written to, what lies behind a link cannot.
            if bool(wrote) == os.path.islink(path): said.append(path)
    json.dump(renewed, open(os.path.join(own, login), "w"))
    for name in ("settings.json", "config.toml", "hooks.json", "mcp.json", "projects/evil.json", "sessions/evil.jsonl", "tmp/evil.sh", "commands2/x"):
        os.makedirs(os.path.dirname(os.path.join(own, name)), exist_ok=True)
        open(os.path.join(own, name), "w").write("evil")
except OSError as error: said.append("copy: " + str(error))
path = os.path.join(own, session)
os.makedirs(os.path.dirname(path), exist_ok=True)
open(path, "w").write(json.dumps(dict(id=id)) + "\n")
if act == "links":
    for name, to in ((path, home + "/.bashrc"), (os.path.join(own, login), home + "/.bashrc")):
        os.remove(name); os.symlink(to, name)
text = "wrote " + " ".join(said) if said else "refused"
def send(**event): print(json.dumps(event), flush=True)
if agent == "claude":
    send(type="system", subtype="init", session_id=id)
    send(type="result", subtype="success", is_error=False, result=text, session_id=id)
elif agent == "codex":
    send(type="thread.started", thread_id=id)
    send(type="item.completed", item=dict(id="i", type="agent_message", text=text))
    send(type="turn.completed", usage=dict(input_tokens=1, output_tokens=1))
elif agent == "gemini":
    send(type="init", session_id=id, model="m")
    send(type="message", role="assistant", content=text)
    send(type="result", status="success", stats={})
else:
    send(type="session", id=id)
    send(type="message_end", message=dict(role="assistant", content=[dict(type="text", text=text)], stopReason="stop"))
    send(type="agent_settled")
"#;

fn stage(agent: &str, act: &str, tools: &str) -> Stage {
    let stage = Stage::new();
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
        "materia": { "M": { "prompt": "Do it.", "tools": tools } },
        "agents": { agent: { "command": ["python3", "fake.py", agent, act] } },
        "provider": agent,
        "limits": { "maxRetries": 0 },
    });
    stage.write("project/materia.json", config.to_string());
    stage.write("project/fake.py", FAKE);
    for (name, files) in HOMES {
        for (path, content) in files.iter().filter(|_| name == agent) {
            stage.write(&format!("home/{path}"), content);
        }
    }
    stage
}

/// Both ways in which an agent is confined whatever it may do otherwise.
const WAYS: [(&[&str], &str); 2] = [(&["--planning"], "coding"), (&[], "readOnly")];

#[test]
fn no_agent_rewrites_what_it_is_started_with_and_its_session_and_login_outlive_the_turn() {
    for who in people() {
        if !confines() {
            return;
        }
        for (agent, files) in HOMES {
            for (mode, tools) in WAYS {
                let stage = stage(agent, "all", tools).of(who);
                let args = [&["cast", "--trust", "--cast-id", "c1"][..], mode, &["go"]].concat();
                let seen = stage.watch(&args).exits(0);
                assert!(
                    seen.ran.out.contains("refused") || said(&stage).contains("refused"),
                    "{agent} {mode:?}: {seen:?}"
                );
                let login = files.iter().map(|(path, _)| *path).find(|path| {
                    ["credentials.json", "auth.json", "oauth_creds.json"]
                        .iter()
                        .any(|name| path.ends_with(name))
                });
                let login = login.unwrap();
                for change in &seen.outside {
                    let (path, how) = change.split_once(' ').unwrap();
                    let session = how == "came"
                        && (path.contains("-q") || path.contains("/q") || path.contains("02"));
                    let renewed = path == format!("home/{login}") && how.starts_with("changed");
                    assert!(session || renewed, "{agent} {mode:?}: {change}\n{seen:?}");
                }
                let kept = fs::read_to_string(stage.path("home").join(login)).unwrap();
                assert!(
                    kept.contains("\"new\"") && !kept.contains("evil") && !kept.contains("old"),
                    "{agent}: {kept}"
                );
                let came =
                    seen.outside.iter().filter(|change| change.ends_with("jsonl came")).count();
                assert_eq!(came, 1, "{agent} {mode:?}: {seen:?}");
                assert!(!holds(&everything(&stage.path("home")), "evil"), "{agent} {mode:?}");
            }
        }
    }
}

#[test]
fn links_in_place_of_session_and_login_are_not_followed() {
    if !confines() {
        return;
    }
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        for (agent, _) in HOMES {
            for (mode, tools) in WAYS {
                let stage = stage(agent, "links", tools).of(who);
                let args = [&["cast", "--trust", "--cast-id", "c1"][..], mode, &["go"]].concat();
                stage.watch(&args).exits(0).changed_nothing_outside();
                assert!(said(&stage).contains("refused"), "{agent} {mode:?} as {who:?}");
            }
        }
    }
}

#[test]
fn the_name_of_an_agent_opens_no_folder_of_the_home() {
    for who in people() {
        if !confines() {
            return;
        }
        for name in ["bashrc", "ssh", "config", "local", "cache", "../x", "claude"] {
            for (mode, tools) in WAYS {
                let stage = Stage::new().of(who);
                let config = json!({
                    "activeLoadout": "L",
                    "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
                    "materia": { "M": { "prompt": "Do it.", "tools": tools } },
                    "agents": { name: { "protocol": "acp", "command": ["python3", "agent.py"] } },
                    "provider": name,
                    "limits": { "maxRetries": 0 },
                });
                stage.write("project/materia.json", config.to_string());
                stage.write("project/agent.py", NAMED);
                for folder in [".config", ".local/share", ".local/state", ".cache"] {
                    stage.write(&format!("home/{folder}/{}/kept", name.replace("..", "x")), "kept");
                    stage.write(&format!("home/{folder}/python3/kept"), "kept");
                }
                let args = [&["cast", "--trust", "--cast-id", "c1"][..], mode, &["go"]].concat();
                let seen = stage.watch(&args).changed_nothing_outside();
                // A name that the configuration does not accept does no harm either.
                assert!([0, 2].contains(&seen.ran.exit), "{name} {mode:?}: {seen:?}");
                if seen.ran.exit == 0 {
                    assert!(said(&stage).contains("refused own"), "{name} {mode:?}: {seen:?}");
                }
            }
        }
    }
}

/// An agent that writes wherever it can in the home, and into its own folder.
const NAMED: &str = r#"import json, os, sys
def send(**message): print(json.dumps(dict(jsonrpc="2.0", **message)), flush=True)
def act():
    wrote = []
    for folder, folders, files in os.walk(os.environ["HOME"]):
        for name in files + ["planted"]:
            try:
                open(os.path.join(folder, name), "a").write("evil")
                wrote.append(name)
            except OSError: pass
    open(os.path.join(os.environ["MATERIA_AGENT_DIR"], "x"), "w").write("x")
    return " ".join(wrote) + " wrote" if wrote else "refused own"
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize": send(id=id, result=dict(protocolVersion=1, agentCapabilities={}))
    elif method == "session/new": send(id=id, result=dict(sessionId="s1"))
    elif method == "session/prompt":
        send(method="session/update", params=dict(sessionId="s1", update=dict(sessionUpdate="agent_message_chunk", content=dict(type="text", text=act()))))
        send(id=id, result=dict(stopReason="end_turn"))
"#;

/// Output of the turn.
fn said(stage: &Stage) -> String {
    fs::read_to_string(stage.path("project/.materia/c1/sockets/a/1-1.output.txt"))
        .unwrap_or_default()
}
