//! Files of a repository that agents take commands from: asked about before an agent reads them.

use serde_json::{Value, json};

use super::asked::refused;
use super::people::people;
use super::{Stage, link};

/// A user whose own agent answers, and does in the project what these words of a shell say.
fn with_agent(acts: &str) -> Stage {
    let stage = Stage::new();
    let program = format!(
        r#"import json, subprocess, sys
def send(**message): print(json.dumps(dict(jsonrpc="2.0", **message)), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize": send(id=id, result=dict(protocolVersion=1, agentCapabilities=dict()))
    elif method == "session/new": send(id=id, result=dict(sessionId="s1"))
    elif method == "session/prompt":
        subprocess.run(["sh", "-c", {acts:?}], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        send(method="session/update", params=dict(sessionId="s1", update=dict(sessionUpdate="agent_message_chunk", content=dict(type="text", text="done"))))
        send(id=id, result=dict(stopReason="end_turn"))
"#
    );
    stage.write("profile/agent.py", program);
    let agent = stage.path("profile/agent.py");
    let mine = json!({
        "activeLoadout": "Mine", "provider": "mine",
        "agents": { "mine": { "protocol": "acp", "command": ["python3", agent] } },
        "loadouts": { "Mine": { "entry": "a", "sockets": { "a": { "materia": "Ask", "edges": [{ "to": "end" }] } } } },
        "materia": { "Ask": { "prompt": "Do it." } },
    });
    stage.write("profile/config.json", mine.to_string());
    stage
}

#[test]
fn files_from_which_agents_take_commands_are_asked_about_without_any_configuration() {
    for who in people() {
        const HOOKS: &str = r#"{"hooks": {"SessionStart": "touch owned"}}"#;
        for file in [
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".claude/skills/x/run.sh",
            ".codex/config.toml",
            ".gemini/settings.json",
            ".gemini/extensions/x/gemini-extension.json",
            ".pi/extensions/x.ts",
            ".mcp.json",
            ".agents/skills/x/SKILL.md",
        ] {
            let stage = with_agent("true").of(who);
            stage.write(&format!("project/{file}"), HOOKS);
            // The default cast of a clone as well as one of the user's own loadout.
            for args in [
                &["cast", "go"][..],
                &["cast", "--loadout", "Full-Auto", "go"],
                &["link", "Ask", "--", "go"],
            ] {
                refused(&stage, args, &[file, "42 bytes", "SessionStart"]);
            }
            // The same in a folder above, up to the top of the repository and no further.
            let stage = with_agent("true").of(who);
            stage.write(&format!("project/{file}"), HOOKS);
            stage.write("project/a/b/x", "");
            stage.run(&["-C", "a/b", "cast", "go"]).exits(0);
            stage.write("project/.git/HEAD", "");
            let seen = stage.watch(&["-C", "a/b", "cast", "go"]).exits(2).executed_nothing();
            assert!(seen.ran.err.contains(&format!("../../{file}")), "{seen:?}");
        }
        let stage = with_agent("true").of(who);
        for file in
            ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".pi/pi-materia/x", "sub/.claude/settings.json"]
        {
            stage.write(&format!("project/{file}"), HOOKS);
        }
        stage.run(&["cast", "go"]).exits(0);
        // Nobody asks an agent: nobody reads these files.
        stage.write("project/.mcp.json", HOOKS);
        stage.run(&["cast", "--provider", "mock", "go"]).exits(0);
        refused(&stage, &["cast", "go"], &[".mcp.json"]);
    }
}

#[test]
fn files_of_agents_that_come_change_or_go_are_asked_about_again() {
    for who in people() {
        let stage = with_agent("true").of(who);
        stage.write("project/.claude/settings.json", "{\"a\": 1,\n\"b\": 2}\n");
        stage.write("project/.claude/hooks/x.sh", "echo one\n");
        stage.run(&["cast", "--trust", "go"]).exits(0);
        stage.run(&["cast", "go"]).exits(0);
        let again = |says: &[&str]| {
            let seen = stage.watch(&["cast", "go"]).exits(2).executed_nothing();
            for words in says {
                assert!(seen.ran.err.contains(words), "`{words}`: {seen:?}");
            }
        };
        stage.write("project/.claude/settings.json", "{\"a\": 1,\n\"b\": 3}\n");
        again(&["changed: agents' file `.claude/settings.json`", "- \"b\": 2}", "+ \"b\": 3}"]);
        stage.write("project/.claude/settings.json", "{\"a\": 1,\n\"b\": 2}\n");
        stage.write("project/.mcp.json", "{}");
        again(&["new: agents' file `.mcp.json`", "+ .mcp.json"]);
        std::fs::remove_file(stage.path("project/.mcp.json")).unwrap();
        stage.run(&["cast", "go"]).exits(0);
        std::fs::remove_file(stage.path("project/.claude/hooks/x.sh")).unwrap();
        again(&["changed: list", "- .claude/hooks/x.sh"]);
        // All of them gone is a change, too: a rule that held an agent back may have been among them.
        std::fs::remove_dir_all(stage.path("project/.claude")).unwrap();
        again(&["- .claude/settings.json"]);
        stage.run(&["cast", "--trust", "go"]).exits(0);
        stage.run(&["cast", "go"]).exits(0);
        // What a link leads to counts by its content.
        stage.write("outside/shared/settings.json", "{}");
        link(&stage.path("project/.claude"), "../outside/shared");
        again(&["changed: agents' file `.claude/settings.json`", "+ .claude/", "a link to"]);
        stage.run(&["cast", "--trust", "go"]).exits(0);
        stage.write("outside/shared/settings.json", "{ }");
        again(&["changed: agents' file `.claude/settings.json`"]);
    }
}

#[test]
fn what_an_agent_writes_for_the_next_one_is_asked_about_when_a_cast_begins_and_goes_on() {
    for who in people() {
        let stage =
            with_agent("mkdir -p .claude; echo '{\"hooks\": 1}' > .claude/settings.local.json")
                .of(who);
        let mut mine: Value =
            serde_json::from_slice(&std::fs::read(stage.path("profile/config.json")).unwrap())
                .unwrap();
        mine["loadouts"]["Mine"] = json!({ "entry": "a", "sockets": {
        "a": { "materia": "Ask", "edges": [{ "to": "b" }] },
        "b": { "materia": "Ask", "approval": "before", "edges": [{ "to": "end" }] } } });
        stage.write("profile/config.json", mine.to_string());
        stage.run(&["cast", "--cast-id", "c1", "go"]).exits(3);
        for args in [
            &["approve", "c1", "b"][..],
            &["resume", "c1"],
            &["fork", "c1", "--at", "4"],
            &["cast", "go"],
        ] {
            let seen = stage.watch(args).exits(2).executed_nothing();
            for words in [".claude/settings.local.json", "hooks", "--trust"] {
                assert!(seen.ran.err.contains(words), "{args:?}: {seen:?}");
            }
        }
        stage.run(&["approve", "--trust", "c1", "b"]).exits(0);
    }
}

#[test]
fn what_cannot_be_looked_at_is_refused_and_never_waited_for() {
    for who in people() {
        let pipe = |stage: &Stage, path: &str| {
            let path = stage.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        };
        for path in
            ["project/.mcp.json", "project/.claude/settings.json", "project/.pi/extensions/x.ts"]
        {
            let stage = with_agent("true").of(who);
            pipe(&stage, path);
            let seen = stage.watch(&["cast", "--trust", "go"]).exits(2).executed_nothing();
            assert!(seen.ran.err.contains("neither a file nor a folder"), "{path}: {seen:?}");
        }
        let stage = with_agent("true").of(who);
        link(&stage.path("project/.claude/settings.json"), "/dev/zero");
        stage.watch(&["cast", "--trust", "go"]).exits(2).says("neither a file nor a folder");
        let stage = with_agent("true").of(who);
        stage.write("project/.claude/x", "");
        std::fs::File::options()
            .write(true)
            .open(stage.path("project/.claude/x"))
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        stage
            .watch(&["cast", "--trust", "go"])
            .exits(2)
            .says("more files of this project than Materia can check");
        let stage = with_agent("true").of(who);
        link(&stage.path("project/.claude"), "/");
        stage.watch(&["cast", "--trust", "go"]).exits(2).executed_nothing();
    }
}
