//! The program understands every command line and every JSON block of the documentation.

use std::path::Path;

use serde_json::json;

use crate::bench::{Bench, finish};
use crate::pages::{all, blocks, page};

/// The words of a line as a shell takes them, up to a comment.
pub(crate) fn words(line: &str) -> Vec<String> {
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
    for name in ["old.json", "new.json"] {
        bench.write(name, "{}");
    }
    bench.write(
        "answers.json",
        r#"{ "turns": { "Begin": [{ "json": { "satisfied": true } }] }, "repeatLast": true }"#,
    );
    bench.run(&["cast", "--provider", "mock", "--cast-id", "c1", "go"]).exits(3);
    bench
}

/// Runs one command line of a page in a project of its own. Nothing asks an agent or opens a server.
fn is_understood(name: &str, command: &[String]) {
    let mut args: Vec<&str> = command[1..].iter().map(String::as_str).collect();
    let help_only = ["demo", "doctor", "ui", "serve", "attach", "stop"];
    if help_only.contains(&args[0]) || args.contains(&"--detach") || args.contains(&"-C") {
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
    if args.contains(&"--drop") {
        // A person is asked before something is removed.
        args.push("--yes");
    }
    if !args.contains(&"--json") {
        args.insert(1, "--json");
    }
    let mut child = bench.command(&args);
    let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
    drop(std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"a request\n"));
    let ran = finish(child);
    assert!([0, 1, 2, 3].contains(&ran.exit), "{name}: {command:?}: {ran:?}");
    // A name that this project does not have may be refused; a command line that is wrong may not.
    let understood = ran.exit != 2 || ran.json()["error"]["code"] == "resolution";
    assert!(understood, "{name}: {command:?}: {ran:?}");
}

/// Checks the pages whose path begins with one of these.
fn are_understood(prefixes: &[&str], at_least: usize) {
    let mut lines = 0;
    for (name, text) in all() {
        if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            for command in commands(&text) {
                is_understood(&name, &command);
                lines += 1;
            }
        }
    }
    assert!(lines >= at_least, "{prefixes:?}: only {lines} command lines");
}

#[test]
fn every_command_line_of_the_readme_and_the_start_is_understood() {
    are_understood(&["README.md", "docs/start", "examples"], 15);
}

#[test]
fn every_command_line_of_the_how_to_pages_is_understood() {
    are_understood(&["docs/how-to"], 40);
}

#[test]
fn every_command_line_of_the_other_pages_is_understood() {
    are_understood(
        &["docs/README", "docs/concepts", "docs/faq", "docs/glossary", "docs/reference"],
        8,
    );
}

#[test]
fn every_json_block_can_be_read() {
    let mut read = 0;
    for (name, text) in all() {
        for block in blocks(&text, "json") {
            let value = jsonc_parser::parse_to_value(block, &jsonc_parser::ParseOptions::default());
            assert!(matches!(value, Ok(Some(_))), "{name}: {value:?}\n{block}");
            read += 1;
        }
    }
    assert!(read > 12, "only {read} blocks");
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

/// V1, V4: the README shows lines that `bounds` and `explore` really print.
#[test]
fn the_readme_shows_what_bounds_and_explore_print() {
    let bench = Bench::new();
    let mut printed = String::new();
    let mut compared = 0;
    for line in blocks(&page("README.md"), "text").concat().lines() {
        if let Some(command) = line.strip_prefix("$ materia ") {
            let args = words(command);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            printed = bench.run(&args).exits(0).out;
        } else if !line.is_empty() && line != "…" {
            assert!(printed.lines().any(|real| real == line), "{line}\n{printed}");
            compared += 1;
        }
    }
    assert!(compared >= 8, "only {compared} lines");
}
