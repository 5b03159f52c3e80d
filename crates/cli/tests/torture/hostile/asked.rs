//! What is asked before anything of a repository takes part: its settings, the files that agents take commands from, and
//! programs that run more than they say. And how it is asked: whole.

use serde_json::{Value, json};

use super::{Stage, link};

/// A loadout of one socket with this materia.
fn one(materia: &Value) -> Value {
    json!({
        "activeLoadout": "L", "provider": "mock",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
        "materia": { "M": materia },
    })
}

/// Refused for want of consent: nothing ran, nothing was written, and this was said.
fn refused(stage: &Stage, args: &[&str], says: &[&str]) {
    let seen = stage.watch(args).exits(2).says("--trust").executed_nothing().wrote_nothing();
    for words in says {
        assert!(seen.ran.err.contains(words), "{args:?}: `{words}`: {seen:?}");
    }
}

#[test]
fn every_setting_of_a_repository_is_asked_about_before_anything_shipped_runs() {
    const LINK: &[&str] = &["link", "Detect-VCS", "--", "go"];
    const CAST: &[&str] = &["cast", "go"];
    let shipped = json!({ "entry": "a", "sockets": { "a": { "materia": "Detect-VCS" } } });
    let cases = [
        ("materia.json", json!({ "artifactDir": "casts" }), LINK, "artifactDir = \"casts\""),
        (".materia/materia.json", json!({ "docRoot": "src" }), LINK, "docRoot = \"src\""),
        (".pi/pi-materia.json", json!({ "artifactDir": ".pi/pi-materia" }), LINK, "artifactDir = "),
        ("materia.json", json!({ "limits": { "maxRepairs": 9 } }), LINK, "limits.maxRepairs = 9"),
        ("materia.json", json!({ "budget": { "maxTurns": 9 } }), LINK, "budget.maxTurns = 9"),
        ("materia.json", json!({ "somethingNew": { "x": [1] } }), LINK, "somethingNew.x = [1]"),
        ("materia.json", json!({ "loadouts": { "L": shipped } }), CAST, "loadouts: L"),
        (
            "materia.json",
            json!({ "loadouts": { "Full-Auto": shipped }, "activeLoadout": "Full-Auto" }),
            CAST,
            "loadout `Full-Auto` takes the place of the shipped one",
        ),
    ];
    for (file, config, args, says) in cases {
        let stage = Stage::new();
        stage.write(&format!("project/{file}"), config.to_string());
        refused(&stage, args, &[says, file]);
        let trusted = [&args[..1], &["--trust"], &args[1..]].concat();
        stage.run(&trusted).exits(0);
        stage.run(args).exits(0);
        // Another value is another question; a file without a word asks nothing.
        let mut other = config.clone();
        other["limits"] = json!({ "maxRepairs": 3 });
        stage.write(&format!("project/{file}"), other.to_string());
        let seen = stage.watch(args).exits(2).executed_nothing();
        assert!(seen.ran.err.contains("limits.maxRepairs"), "{config}: {seen:?}");
    }
    let stage = Stage::new();
    stage.write("project/materia.json", "{}");
    stage.run(LINK).exits(0);
}

#[test]
fn a_repository_keeps_casts_in_a_plainly_named_folder_of_its_own_or_nowhere() {
    for dir in [
        "'; echo owned >> ~/.bashrc; #",
        "a b",
        "$(touch owned)",
        "`touch owned`",
        "x\n*",
        "x\u{1b}[2J",
        "ünder",
        "a\\b",
        "..",
        "../outside",
        "a/../b",
        "a/..",
        ".",
        "./x",
        "a//b",
        "a/",
        "/tmp/owned",
        "~",
        "~/x",
        "",
        "a\u{0}b",
        ".git",
        ".git/casts",
        ".GIT/hooks",
        "sub/.Git",
        ".claude",
        ".pi/extensions",
        "x/.codex",
        ".gemini/casts",
    ] {
        let stage = Stage::new();
        link(&stage.path("project/.gitignore"), "../home/.bashrc");
        stage.write("project/.git/config", "");
        let config = json!({ "artifactDir": dir,
            "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "Ignore-Artifacts" } } } } });
        stage.write("project/materia.json", config.to_string());
        for args in [
            &["cast", "--trust", "go"][..],
            &["cast", "go"],
            &["check"],
            &["link", "--trust", "Detect-VCS", "--", "go"],
        ] {
            let seen =
                stage.watch(args).exits(2).says("artifactDir").executed_nothing().wrote_nothing();
            assert!(seen.ran.err.contains("config::artifact-dir"), "{dir:?} {args:?}: {seen:?}");
        }
        // Whoever only looks makes no folder and follows no link.
        for args in [&["casts"][..], &["show", "last"], &["grid"], &["loadout"]] {
            stage.watch(args).wrote_nothing().executed_nothing();
        }
        // The user may name any folder that can be named.
        if !dir.is_empty() && !dir.contains('\0') && dir != "a b" {
            continue;
        }
        if dir == "a b" {
            stage.write("outside/mine.json", json!({ "artifactDir": dir }).to_string());
            let args =
                ["--config", "../outside/mine.json", "link", "--trust", "Detect-VCS", "--", "go"];
            stage.run(&args).exits(0);
            assert!(stage.path("project/a b/journal.db").exists());
        }
    }
}

#[test]
fn casts_in_a_folder_of_sources_leave_it_as_it_was() {
    let stage = Stage::new();
    stage.write("project/src/main.rs", "precious\n");
    stage.write("project/materia.json", json!({ "artifactDir": "src" }).to_string());
    refused(&stage, &["link", "Detect-VCS", "--", "go"], &["artifactDir = \"src\""]);
    stage.run(&["link", "--trust", "Detect-VCS", "--", "go"]).exits(0);
    assert!(stage.path("project/src/journal.db").exists());
    // Version control goes on to see what else is there.
    assert!(!stage.path("project/src/.gitignore").exists());
    stage.write("project/materia.json", json!({ "artifactDir": "casts" }).to_string());
    stage.run(&["link", "--trust", "Detect-VCS", "--", "go"]).exits(0);
    assert!(stage.path("project/casts/.gitignore").exists());
}

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
        let stage = with_agent("true");
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
        let stage = with_agent("true");
        stage.write(&format!("project/{file}"), HOOKS);
        stage.write("project/a/b/x", "");
        stage.run(&["-C", "a/b", "cast", "go"]).exits(0);
        stage.write("project/.git/HEAD", "");
        let seen = stage.watch(&["-C", "a/b", "cast", "go"]).exits(2).executed_nothing();
        assert!(seen.ran.err.contains(&format!("../../{file}")), "{seen:?}");
    }
    let stage = with_agent("true");
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

#[test]
fn files_of_agents_that_come_change_or_go_are_asked_about_again() {
    let stage = with_agent("true");
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

#[test]
fn what_an_agent_writes_for_the_next_one_is_asked_about_when_a_cast_begins_and_goes_on() {
    let stage = with_agent("mkdir -p .claude; echo '{\"hooks\": 1}' > .claude/settings.local.json");
    let mut mine: Value =
        serde_json::from_slice(&std::fs::read(stage.path("profile/config.json")).unwrap()).unwrap();
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

#[test]
fn what_cannot_be_looked_at_is_refused_and_never_waited_for() {
    let pipe = |stage: &Stage, path: &str| {
        let path = stage.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    for path in
        ["project/.mcp.json", "project/.claude/settings.json", "project/.pi/extensions/x.ts"]
    {
        let stage = with_agent("true");
        pipe(&stage, path);
        let seen = stage.watch(&["cast", "--trust", "go"]).exits(2).executed_nothing();
        assert!(seen.ran.err.contains("neither a file nor a folder"), "{path}: {seen:?}");
    }
    let stage = with_agent("true");
    link(&stage.path("project/.claude/settings.json"), "/dev/zero");
    stage.watch(&["cast", "--trust", "go"]).exits(2).says("neither a file nor a folder");
    let stage = with_agent("true");
    stage.write("project/.claude/x", "");
    std::fs::File::options()
        .write(true)
        .open(stage.path("project/.claude/x"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    stage.watch(&["cast", "--trust", "go"]).exits(2).says("more than can be looked at");
    let stage = with_agent("true");
    link(&stage.path("project/.claude"), "/");
    stage.watch(&["cast", "--trust", "go"]).exits(2).executed_nothing();
}

#[test]
fn programs_that_run_more_than_they_say_are_named_and_what_they_name_is_asked_about_again() {
    let utility = |command: Value, env: Value| {
        one(&json!({ "type": "utility", "command": command, "env": env }))
    };
    let verify = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": {
            "materia": "Verify", "params": { "command": ["make", "t"] } } } } },
    });
    let none = || json!({});
    for (config, file, by) in [
        (utility(json!(["make", "t"]), none()), "Makefile", "make"),
        (verify, "Makefile", "make"),
        (utility(json!(["sh", "-c", "make t || true"]), none()), "Makefile", "make"),
        (utility(json!(["env", "X=1", "nice", "-n", "3", "make"]), none()), "Makefile", "make"),
        (utility(json!(["sh", "-c", ". ./env; true"]), none()), "env", ""),
        (utility(json!(["bash", "-ec", "sh -c 'source \"./en\"v'"]), none()), "env", ""),
        (utility(json!(["t"]), json!({ "PATH": "./bin:/usr/bin:/bin" })), "bin/t", "PATH"),
        (utility(json!(["env", "PATH=bin:/usr/bin:/bin", "t"]), none()), "bin/t", "PATH"),
        (
            utility(json!(["node", "-e", "1"]), json!({ "NODE_OPTIONS": "--require=./pre" })),
            "pre.js",
            "node",
        ),
        (utility(json!(["node", "--import", "./pre.js", "-e", "1"]), none()), "pre.js", "node"),
        (utility(json!(["python3", "-m", "pkg"]), none()), "pkg/__main__.py", "python3"),
        (utility(json!(["python3", "-mpkg"]), none()), "pkg/__init__.py", "python3"),
        (utility(json!(["node", "."]), none()), "lib/main.js", "node"),
        (utility(json!(["npm", "test"]), none()), "package.json", "npm"),
        (utility(json!(["bash", "-c", "true"]), json!({ "BASH_ENV": "env" })), "env", ""),
        (utility(json!(["python3", "-m", "pytest"]), none()), "conftest.py", "pytest"),
    ] {
        let stage = Stage::new();
        for (path, text) in [
            ("Makefile", "t:\n\t@true\n"),
            ("env", "X=1\n"),
            ("pre.js", "1;\n"),
            ("pkg/__init__.py", ""),
            ("pkg/__main__.py", ""),
            ("lib/main.js", "1;\n"),
            ("conftest.py", ""),
            ("package.json", r#"{"main": "lib/main.js", "scripts": {"test": "true"}}"#),
        ] {
            stage.write(&format!("project/{path}"), text);
        }
        stage.program("project/bin/t", "#!/bin/sh\ntrue\n");
        stage.write("project/materia.json", config.to_string());
        let said = if by.is_empty() {
            ""
        } else {
            "It may run code of this project that can change without another question"
        };
        refused(&stage, &["cast", "go"], &[said, by, file]);
        let ran = stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]);
        assert!([0, 1].contains(&ran.exit), "{config}: {ran:?}");
        let before = std::fs::read_to_string(stage.path(&format!("project/{file}"))).unwrap();
        let mode = stage.path(&format!("project/{file}")).metadata().unwrap().permissions();
        stage.write(&format!("project/{file}"), format!("{before}\n# owned\n"));
        std::fs::set_permissions(stage.path(&format!("project/{file}")), mode).unwrap();
        let seen = stage.watch(&["cast", "go"]).exits(2).executed_nothing();
        assert!(seen.ran.err.contains(&format!("changed: file `{file}`")), "{config}: {seen:?}");
    }
}

#[test]
fn what_a_repository_gives_a_program_of_the_users_own_is_looked_at_when_a_cast_goes_on() {
    let stage = Stage::new();
    let mine = json!({ "materia": { "Run": { "type": "utility", "command": ["true"] } } });
    stage.write("profile/config.json", mine.to_string());
    let theirs = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Run", "env": { "ENV": "./env" }, "edges": [{ "to": "b" }] },
            "b": { "materia": "Run", "env": { "ENV": "./env" }, "approval": "before" } } } },
    });
    stage.write("project/materia.json", theirs.to_string());
    stage.write("project/env", "true\n");
    stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(3);
    stage.write("project/env", "echo owned > ../outside/owned\n");
    let seen = stage.watch(&["approve", "c1", "b"]).exits(2).executed_nothing();
    assert!(seen.ran.err.contains("changed: file `env`"), "{seen:?}");
}

#[test]
fn what_is_asked_about_is_shown_whole_without_a_terminal_too() {
    let long = format!("true {} # tail-of-it", "x ".repeat(3_000));
    let mut config = one(&json!({ "type": "utility", "command": ["sh", "-c", long],
        "env": { "LONG": format!("{}tail-of-env", "y".repeat(3_000)) } }));
    config["somethingNew"] = json!(format!("{}tail-of-setting", "z".repeat(3_000)));
    for n in 0..120 {
        config["materia"][format!("Other{n}")] =
            json!({ "type": "utility", "command": [format!("./other{n}")] });
    }
    let stage = Stage::new();
    stage.write("project/materia.json", config.to_string());
    refused(
        &stage,
        &["cast", "go"],
        &["# tail-of-it", "tail-of-env", "tail-of-setting", "/other0\"]", "/other119\"]"],
    );
    // A prompt is shown as it begins, with its length and the command that shows the rest.
    let words = format!("Begin here. {}tail-of-prompt", "w".repeat(1_000));
    let chars = words.len();
    let stage = Stage::new();
    let mut config = one(&json!({ "prompt": words }));
    config["materia"]["Filed; touch owned"] = json!({ "prompt": { "file": "words.md" } });
    config["loadouts"]["L"]["sockets"]["a"]["prompt"] = json!({ "file": "words.md" });
    stage.write("project/materia.json", config.to_string());
    stage.write("project/words.md", &words);
    let told = format!("a prompt of {chars} characters: “Begin here.");
    refused(
        &stage,
        &["cast", "go"],
        &[
            &told,
            "whole by: materia materia M\n",
            "whole by: materia materia 'Filed; touch owned'\n",
            "whole by: materia loadout --show=L\n",
        ],
    );
    for args in
        [&["materia", "M"][..], &["materia", "Filed; touch owned"], &["loadout", "--show=L"]]
    {
        let ran = stage.run(args).exits(0);
        assert!(ran.out.contains("tail-of-prompt"), "{args:?}: {ran:?}");
    }
    // A turn that waits for consent is told of in the same way.
    let mut config = one(&json!({ "type": "utility", "command": ["sh", "-c", long] }));
    config["loadouts"]["L"]["sockets"]["a"]["approval"] = json!("before");
    stage.write("project/materia.json", config.to_string());
    stage.run(&["cast", "--trust", "--cast-id", "c2", "go"]).exits(3);
    let ran = stage.run(&["events", "c2", "--type", "run.created", "--json"]).exits(0);
    assert!(ran.out.contains("tail-of-it"), "{ran:?}");
}
