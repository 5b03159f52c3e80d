//! Links and second names in the way of what is written, and programs of a project in the way of those that are meant.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::people::{Who, people};
use super::{Stage, link, turns};
use crate::bench::Ran;

const BASHRC: &str = "# mine\n";

/// Panics unless the person's own files are as they were.
fn untouched(stage: &Stage, what: &str) {
    let read = |path: &str| fs::read_to_string(stage.path(path)).unwrap();
    assert_eq!(read("home/.bashrc"), BASHRC, "{what}");
    assert_eq!(read("outside/kept"), "kept\n", "{what}");
    let names = |path: &str| {
        let names = fs::read_dir(stage.path(path)).unwrap().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("home"), [".bashrc", ".ssh"], "{what}");
    assert_eq!(names("outside"), ["kept"], "{what}");
    assert!(names("home/.ssh").is_empty(), "{what}");
}

fn only(socket: &Value) -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": socket } }, "N": { "entry": "a", "sockets": { "a": socket } } },
        "materia": { "M": { "type": "utility", "command": ["true"] } },
    })
}

/// Prepares a stage.
type Made = fn(&Stage);

#[test]
fn no_command_writes_through_a_link_of_the_project() {
    for who in people() {
        let plain = only(&json!({ "materia": "M", "edges": [{ "to": "end" }] }));
        let out: Made = |stage| link(&stage.path("project/out"), "../outside");
        let deep: Made = |stage| link(&stage.path("project/a/out"), stage.path("home"));
        let file: Made = |stage| link(&stage.path("project/page"), "../outside/new");
        let kept: Made = |stage| link(&stage.path("project/page"), "../outside/kept");
        let rows: &[(&str, Made, &[&str])] = &[
            ("schemas into a link", out, &["schemas", "out"]),
            ("schemas behind a link", deep, &["schemas", "a/out/.ssh"]),
            ("schemas behind a detour", deep, &["schemas", "a/out/../new"]),
            (
                "a schema that is a link",
                |stage| {
                    link(&stage.path("project/s/config.schema.json"), stage.path("home/.bashrc"));
                },
                &["schemas", "s"],
            ),
            ("manual pages", out, &["man", "out"]),
            (
                "a manual page that is a link",
                |stage| {
                    link(&stage.path("project/m/materia.1"), stage.path("home/.bashrc"));
                },
                &["man", "m"],
            ),
            ("an export behind a link", out, &["export", "c1", "-o", "out/cast.html"]),
            ("an export that is a link to nowhere", file, &["export", "c1", "-o", "page"]),
            ("an export over a link", kept, &["export", "c1", "--force", "-o", "page"]),
            (
                "a loadout in a file that is a link",
                |stage| {
                    fs::rename(stage.path("project/materia.json"), stage.path("project/real"))
                        .unwrap();
                    link(&stage.path("project/materia.json"), "real");
                    link(&stage.path("project/.materia/materia.json"), stage.path("home/.bashrc"));
                },
                &["loadout", "N"],
            ),
            (
                "a loadout in a file behind a link",
                |stage| {
                    fs::remove_dir_all(stage.path("project/.materia")).unwrap();
                    fs::rename(stage.path("project/materia.json"), stage.path("project/real"))
                        .unwrap();
                    fs::create_dir(stage.path("project/pi")).unwrap();
                    fs::rename(
                        stage.path("project/real"),
                        stage.path("project/pi/pi-materia.json"),
                    )
                    .unwrap();
                    link(&stage.path("project/.pi"), "pi");
                },
                &["loadout", "N"],
            ),
            (
                "a template over a link",
                |stage| {
                    fs::remove_file(stage.path("project/materia.json")).unwrap();
                    link(&stage.path("project/materia.json"), stage.path("home/new"));
                },
                &["init"],
            ),
            ("a demo behind a link", out, &["demo", "out/demo"]),
        ];
        for (what, make, args) in rows {
            let stage = Stage::new().of(who);
            stage.write("project/materia.json", plain.to_string());
            assert_eq!(stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exit, 0);
            make(&stage);
            let ran = stage.run(args);
            assert_ne!(ran.exit, 0, "{what}: {ran:?}");
            untouched(&stage, what);
            let built = !ran.err.contains("this build cannot export");
            assert!(
                !built || ran.err.contains("link") || ran.err.contains("was not changed"),
                "{what}: {ran:?}"
            );
        }
    }
}

#[test]
fn links_of_the_person_are_followed_as_before() {
    let stage = Stage::new();
    stage.write("project/materia.json", only(&json!({ "materia": "M" })).to_string());
    fs::create_dir(stage.path("mine")).unwrap();
    link(&stage.path("shortcut"), "mine");
    assert_eq!(stage.run(&["schemas", "../shortcut/new"]).exit, 0);
    assert!(stage.path("mine/new/config.schema.json").is_file());
    assert_eq!(stage.run(&["schemas", "schemas/deep"]).exit, 0);
    let schema = stage.path("project/schemas/deep/config.schema.json");
    assert_eq!(schema.metadata().unwrap().permissions().mode() & 0o600, 0o600);
    // A profile that is kept elsewhere.
    stage.write("mine/config.json", only(&json!({ "materia": "M" })).to_string());
    link(&stage.path("profile/config.json"), stage.path("mine/config.json"));
    fs::remove_file(stage.path("project/materia.json")).unwrap();
    assert_eq!(stage.run(&["loadout", "N"]).exit, 0);
    assert!(stage.path("profile/config.json").is_symlink());
}

#[test]
fn a_recording_is_not_made_behind_a_link_of_the_project() {
    for who in people() {
        let stage = Stage::new().of(who);
        stage.program("outer/claude", "#!/bin/sh\necho 1.0.0\n");
        let config = json!({
            "activeLoadout": "L",
            "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
            "materia": { "M": { "prompt": "Do it." } },
        });
        stage.write("project/materia.json", config.to_string());
        link(&stage.path("project/out"), "../outside");
        let path = format!("{}:/usr/bin:/bin", stage.path("outer").display());
        for dir in ["out/tape", "out"] {
            let args = ["cast", "--trust", "--provider", "claude", "--record", dir, "go"];
            let ran = stage.run_with(&args, &[("PATH", &path)]);
            assert_eq!(ran.exit, 2, "{ran:?}");
            assert!(ran.err.contains("symbolic link inside the project"), "{ran:?}");
            untouched(&stage, dir);
        }
    }
}

/// Runs a shipped utility in a cast.
fn ignoring(who: Who, params: &Value, make: impl FnOnce(&Stage)) -> (Stage, Ran) {
    let stage = Stage::new().of(who);
    let config = only(
        &json!({ "materia": "Ignore-Artifacts", "params": params, "edges": [{ "to": "end" }] }),
    );
    stage.write("project/materia.json", config.to_string());
    make(&stage);
    let ran = stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]);
    (stage, ran)
}

#[test]
fn a_shipped_utility_follows_no_link_and_stays_in_the_project() {
    for who in people() {
        let bashrc = |stage: &Stage| stage.path("home/.bashrc");
        let (stage, ran) = ignoring(who, &json!({}), |stage| {
            link(&stage.path("project/.gitignore"), bashrc(stage));
        });
        assert_eq!(ran.exit, 0, "{ran:?}");
        untouched(&stage, "a link");
        let (stage, ran) = ignoring(who, &json!({ "file": "part/.bashrc" }), |stage| {
            link(&stage.path("project/part"), stage.path("home"));
        });
        assert_eq!(ran.exit, 0, "{ran:?}");
        untouched(&stage, "a folder that is a link");
        let (stage, ran) = ignoring(who, &json!({}), |stage| {
            fs::hard_link(bashrc(stage), stage.path("project/.gitignore")).unwrap();
        });
        assert_eq!(ran.exit, 0, "{ran:?}");
        untouched(&stage, "a second name");
        assert_eq!(
            fs::read_to_string(stage.path("project/.gitignore")).unwrap(),
            "# mine\n.materia/\n"
        );
        for file in [
            "../outside/kept",
            "../home/.bashrc",
            "a/../../home/.bashrc",
            ".git/config",
            ".git/hooks/pre-commit",
        ] {
            let (stage, ran) =
                ignoring(who, &json!({ "file": file, "patterns": ["x"] }), |stage| {
                    fs::create_dir_all(stage.path("project/.git/hooks")).unwrap();
                });
            assert_ne!(ran.exit, 0, "{file}: {ran:?}");
            untouched(&stage, file);
            let git = fs::read_dir(stage.path("project/.git")).unwrap().count();
            assert_eq!(git, 1, "{file}");
        }
    }
}

#[test]
fn a_file_with_a_second_name_outside_is_not_written_through() {
    if !turns::confines() {
        return;
    }
    let planning = json!({});
    let policy = json!({ "socket": { "policy": { "write": ["docs"] } } });
    let single = json!({ "socket": { "policy": { "write": ["docs/x"] } } });
    let shell = "echo owned >> docs/x; cat docs/x; ln $HOME/.bashrc docs/y 2>/dev/null && echo owned >> docs/y; \
                 ln ../outside/kept docs/z 2>/dev/null && echo owned >> docs/z; true";
    for (what, more, args) in [
        ("planning", planning, &["cast", "--trust", "--planning", "--cast-id", "c1", "go"][..]),
        ("a folder of a policy", policy, &["cast", "--trust", "--cast-id", "c1", "go"][..]),
        ("a file of a policy", single, &["cast", "--trust", "--cast-id", "c1", "go"][..]),
    ] {
        for who in people() {
            let stage = turns::project(shell, &more).of(who);
            fs::create_dir(stage.path("project/docs")).unwrap();
            fs::hard_link(stage.path("home/.bashrc"), stage.path("project/docs/x")).unwrap();
            let ran = stage.run(args);
            assert_eq!(ran.exit, 0, "{what} as {who:?}: {ran:?}");
            untouched(&stage, what);
            let own = fs::read_to_string(stage.path("project/docs/x")).unwrap();
            assert_eq!(own, "# mine\nowned\n", "{what} as {who:?}");
            let events = stage.run(&["events", "c1", "--json"]).out;
            assert!(events.contains("had a second name elsewhere"), "{what}: {events}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_made_ones_own_keeps_the_turn_from_running() {
    // Root can read every file.
    for who in people().into_iter().filter(|who| !who.is_root()) {
        let stage = turns::project("echo owned >> docs/x", &json!({})).of(who);
        fs::create_dir(stage.path("project/docs")).unwrap();
        fs::hard_link(stage.path("home/.bashrc"), stage.path("project/docs/x")).unwrap();
        fs::set_permissions(stage.path("home/.bashrc"), fs::Permissions::from_mode(0o200)).unwrap();
        let ran = stage.run(&["cast", "--trust", "--planning", "go"]);
        fs::set_permissions(stage.path("home/.bashrc"), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(ran.exit, 1, "{ran:?}");
        assert!(ran.err.contains("has a second name elsewhere"), "{ran:?}");
        untouched(&stage, "unreadable");
    }
}

#[test]
fn files_that_a_script_writes_take_the_place_of_links_and_second_names() {
    for who in people() {
        for planning in [false, true] {
            let stage = Stage::new().of(who);
            let config = json!({
                "activeLoadout": "L",
                "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
                "materia": { "M": { "prompt": "Do it." } },
            });
            stage.write("project/materia.json", config.to_string());
            stage.write(
                "script.json",
                json!({ "turns": { "a": [{ "text": "done", "writes": { "docs/x": "new\n" } }] } })
                    .to_string(),
            );
            fs::create_dir(stage.path("project/docs")).unwrap();
            fs::hard_link(stage.path("home/.bashrc"), stage.path("project/docs/x")).unwrap();
            let mut args = vec!["cast", "--trust", "--script", "../script.json", "go"];
            if planning {
                args.push("--planning");
            }
            let ran = stage.run(&args);
            assert_eq!(ran.exit, 0, "{ran:?}");
            untouched(&stage, "a second name");
            assert_eq!(fs::read_to_string(stage.path("project/docs/x")).unwrap(), "new\n");
        }
    }
}

/// Every program that is looked for by its name, as the project would have it.
const PROGRAMS: [&str; 10] =
    ["claude", "codex", "gemini", "pi", "git", "jj", "node", "xdg-open", "sh", "true"];

#[test]
fn no_program_of_the_project_is_found_by_an_empty_or_relative_entry_of_path() {
    for who in people() {
        const HARM: &str = "#!/bin/sh\necho owned > ../outside/owned\necho owned > ../../outside/owned\necho 9.9.9\n";
        let usual = std::env::var("PATH").unwrap();
        let real: Vec<&str> = usual.split(':').filter(|folder| folder.starts_with('/')).collect();
        let real = real.join(":");
        for entry in ["", ".", "bin", "./bin", "../project/bin", "bin/."] {
            for path in [format!("{entry}:{real}"), format!("{entry}::{real}"), entry.to_owned()] {
                let stage = Stage::new().of(who);
                for name in PROGRAMS {
                    stage.program(&format!("project/{name}"), HARM);
                    stage.program(&format!("project/bin/{name}"), HARM);
                }
                let config = json!({
                    "activeLoadout": "L",
                    "loadouts": { "L": { "entry": "a", "sockets": {
                        "a": { "materia": "Detect-VCS", "edges": [{ "to": "b" }] },
                        "b": { "materia": "M", "edges": [{ "to": "end" }] } } } },
                    "materia": { "M": { "type": "utility", "command": ["sh", "-c", "true; node --version; jj root; true"] } },
                });
                stage.write("project/materia.json", config.to_string());
                let env = [("PATH", path.as_str())];
                for args in [
                    &["doctor"][..],
                    &["cast", "--trust", "go"],
                    &["cast", "--provider", "claude", "--trust", "go"],
                    &["check"],
                ] {
                    let ran = stage.run_with(args, &env);
                    assert!(
                        !ran.out.contains("9.9.9") && !ran.err.contains("9.9.9"),
                        "{path}: {ran:?}"
                    );
                    untouched(&stage, &format!("PATH={path} {args:?}"));
                }
                let mut child = stage
                    .command(&[])
                    .args(["utility", "Detect-VCS"])
                    .env("PATH", &path)
                    .stdin(Stdio::piped())
                    .spawn()
                    .unwrap();
                let given = json!({ "cwd": stage.project() }).to_string();
                let _ =
                    std::io::Write::write_all(&mut child.stdin.take().unwrap(), given.as_bytes());
                child.wait().unwrap();
                untouched(&stage, &format!("PATH={path} utility"));
            }
        }
    }
}
