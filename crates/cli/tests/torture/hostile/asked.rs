//! Questions before anything of a repository runs: about its settings, and about programs that start other programs.
//! Each question is shown in full.

use serde_json::{Value, json};

use super::people::people;
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
pub(super) fn refused(stage: &Stage, args: &[&str], says: &[&str]) {
    let seen = stage.watch(args).exits(2).says("--trust").executed_nothing().wrote_nothing();
    for words in says {
        assert!(seen.ran.err.contains(words), "{args:?}: `{words}`: {seen:?}");
    }
}

#[test]
fn every_setting_of_a_repository_is_asked_about_before_anything_shipped_runs() {
    for who in people() {
        const LINK: &[&str] = &["link", "Detect-VCS", "--", "go"];
        const CAST: &[&str] = &["cast", "go"];
        let shipped = json!({ "entry": "a", "sockets": { "a": { "materia": "Detect-VCS" } } });
        let cases = [
            ("materia.json", json!({ "artifactDir": "casts" }), LINK, "artifactDir = \"casts\""),
            (".materia/materia.json", json!({ "docRoot": "src" }), LINK, "docRoot = \"src\""),
            (
                ".pi/pi-materia.json",
                json!({ "artifactDir": ".pi/pi-materia" }),
                LINK,
                "artifactDir = ",
            ),
            (
                "materia.json",
                json!({ "limits": { "maxRepairs": 9 } }),
                LINK,
                "limits.maxRepairs = 9",
            ),
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
            let stage = Stage::new().of(who);
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
        let stage = Stage::new().of(who);
        stage.write("project/materia.json", "{}");
        stage.run(LINK).exits(0);
    }
}

#[test]
fn a_repository_keeps_casts_in_a_plainly_named_folder_of_its_own_or_nowhere() {
    for who in people() {
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
            let stage = Stage::new().of(who);
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
                let seen = stage
                    .watch(args)
                    .exits(2)
                    .says("artifactDir")
                    .executed_nothing()
                    .wrote_nothing();
                assert!(
                    seen.ran.err.contains("config::artifact-dir"),
                    "{dir:?} {args:?}: {seen:?}"
                );
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
                let args = [
                    "--config",
                    "../outside/mine.json",
                    "link",
                    "--trust",
                    "Detect-VCS",
                    "--",
                    "go",
                ];
                stage.run(&args).exits(0);
                assert!(stage.path("project/a b/journal.db").exists());
            }
        }
    }
}

#[test]
fn casts_in_a_folder_of_sources_leave_it_as_it_was() {
    for who in people() {
        let stage = Stage::new().of(who);
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
}

#[test]
fn programs_that_run_more_than_they_say_are_named_and_what_they_name_is_asked_about_again() {
    for who in people() {
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
            let stage = Stage::new().of(who);
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
            assert!(
                seen.ran.err.contains(&format!("changed: file `{file}`")),
                "{config}: {seen:?}"
            );
        }
    }
}

#[test]
fn what_a_repository_gives_a_program_of_the_users_own_is_looked_at_when_a_cast_goes_on() {
    for who in people() {
        let stage = Stage::new().of(who);
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
}

#[test]
fn what_is_asked_about_is_shown_whole_without_a_terminal_too() {
    for who in people() {
        let long = format!("true {} # tail-of-it", "x ".repeat(3_000));
        let mut config = one(&json!({ "type": "utility", "command": ["sh", "-c", long],
        "env": { "LONG": format!("{}tail-of-env", "y".repeat(3_000)) } }));
        config["somethingNew"] = json!(format!("{}tail-of-setting", "z".repeat(3_000)));
        for n in 0..120 {
            config["materia"][format!("Other{n}")] =
                json!({ "type": "utility", "command": [format!("./other{n}")] });
        }
        let stage = Stage::new().of(who);
        stage.write("project/materia.json", config.to_string());
        refused(
            &stage,
            &["cast", "go"],
            &["# tail-of-it", "tail-of-env", "tail-of-setting", "/other0\"]", "/other119\"]"],
        );
        // A prompt is shown as it begins, with its length and the command that shows the rest.
        let words = format!("Begin here. {}tail-of-prompt", "w".repeat(1_000));
        let chars = words.len();
        let stage = Stage::new().of(who);
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
}
