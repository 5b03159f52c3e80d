//! Every command line and every JSON of README and guide: the program understands each of them.

use std::path::Path;

use serde_json::json;

use crate::bench::{Bench, finish};

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// The fenced blocks of this kind.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<&'a str> {
    let fenced = page.split(&format!("\n```{kind}\n")).skip(1).collect::<Vec<_>>();
    fenced.into_iter().map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// The words of a line as a shell takes them, up to a comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for character in line.chars() {
        match (character, quote) {
            ('"' | '\'', None) => (quote, begun) = (Some(character), true),
            (c, Some(q)) if c == q => quote = None,
            ('#', None) if word.is_empty() && !begun => break,
            (c, None) if c.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => word.push(c),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The command lines of a page that begin with `materia`, also behind a pipe.
fn commands(page: &str) -> Vec<Vec<String>> {
    let shell = blocks(page, "sh").into_iter().flat_map(str::lines);
    let lines = shell.map(|line| line.rsplit(" | ").next().unwrap_or(line).trim());
    lines.filter(|line| line.starts_with("materia ")).map(words).collect()
}

/// A project in which the examples mean something: a cast `last` whose `Deploy` asks first.
fn stage() -> Bench {
    let names = ["test", "fix", "sum-up", "Review", "Plan", "Socket-4", "Socket-3"];
    let mut sockets = json!({
        "begin": { "materia": "Begin", "edges": [{ "to": "Deploy" }] },
        "Deploy": { "materia": "Begin", "approval": "before", "parse": "json", "edges": [
            { "when": "not_satisfied", "to": "test" }, { "to": "end" },
        ] },
    });
    for name in names {
        sockets[name] = json!({ "materia": "Begin", "trigger": "manual_only" });
    }
    let bench = Bench::with(&json!({
        "loadouts": { "L": { "entry": "begin", "sockets": sockets }, "Review": { "entry": "a", "sockets": { "a": { "materia": "Begin" } } } },
        "activeLoadout": "L",
        "materia": { "Begin": { "prompt": "Begin." } },
    }));
    bench.write("task.md", "a task");
    bench.write(
        "answers.json",
        r#"{ "turns": { "Begin": [{ "json": { "satisfied": true } }] }, "repeatLast": true }"#,
    );
    bench.run(&["cast", "--provider", "mock", "--cast-id", "c1", "go"]).exits(3);
    bench
}

#[test]
fn every_command_line_is_understood() {
    for name in ["README.md", "docs/guide.md"] {
        let commands = commands(&page(name));
        assert!(commands.len() > 8, "{name}: {commands:?}");
        for command in commands {
            let mut args: Vec<&str> = command[1..].iter().map(String::as_str).collect();
            // What would ask an agent, or take long, is asked of the stand-in, or only looked at.
            let skipped = ["demo", "doctor", "ui", "serve"];
            if skipped.contains(&args[0]) || args.contains(&"--detach") {
                args = vec![args[0], "--help"];
            }
            let bench = stage();
            if args[0] == "init" {
                std::fs::remove_file(bench.project().join("materia.json")).unwrap();
            }
            let asks = ["cast", "link"].contains(&args[0]) && !args.contains(&"--script");
            let place = args.iter().position(|word| *word == "--").unwrap_or(args.len());
            if asks && !args.contains(&"--provider") {
                args.splice(1..1, ["--provider", "mock"]);
            }
            if asks && !args.contains(&"--trust") && place > 0 {
                args.splice(1..1, ["--trust"]);
            }
            if !args.contains(&"--json") {
                args.insert(1, "--json");
            }
            let mut child = bench.command(&args);
            let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
            drop(std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"a request\n"));
            let ran = finish(child);
            assert!([0, 1, 2, 3].contains(&ran.exit), "{name}: {command:?}: {ran:?}");
            // What means nothing to this cast may be refused; what cannot be read may not.
            let understood = ran.exit != 2 || ran.json()["error"]["code"] == "resolution";
            assert!(understood, "{name}: {command:?}: {ran:?}");
        }
    }
}

#[test]
fn every_json_of_the_pages_can_be_read() {
    for name in ["README.md", "docs/guide.md", "docs/workspaces.md", "examples/README.md"] {
        for block in blocks(&page(name), "json") {
            let read = jsonc_parser::parse_to_value(block, &jsonc_parser::ParseOptions::default());
            assert!(matches!(read, Ok(Some(_))), "{name}: {read:?}\n{block}");
        }
    }
}

#[test]
fn the_examples_are_linked_and_each_is_there() {
    let list = page("examples/README.md");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let tests = include_str!("examples.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_loadout = Path::new(&name).extension().is_some_and(|it| it == "json")
            && !name.ends_with("-script.json");
        if is_loadout {
            assert!(list.contains(&format!("({name})")), "{name} is listed");
            let tested = tests.contains(&name) || include_str!("casting.rs").contains(&name);
            assert!(tested, "{name} is cast by a test");
        }
    }
    assert!(page("README.md").contains("examples/README.md"), "the README leads there");
    assert!(page("README.md").contains("docs/demo.svg"), "and shows the demo");
}
