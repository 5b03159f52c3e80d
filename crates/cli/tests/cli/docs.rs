//! The pages under `docs/` say what the program does: every code, every command, every example.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench::Bench;
use crate::pages::{all, blocks, page};

const ERRORS: &str = "docs/reference/errors.md";
const WRITING: &str = "docs/how-to/write-a-loadout.md";
const SCRIPTS: &str = "docs/how-to/scripts.md";

/// Findings that depend on the machine and not on the example.
const OF_THE_MACHINE: &str = "utility::program-missing";

/// The cells of every table row below a heading that begins so, without the heads of tables.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let below = page.split("\n## ").find(|part| part.starts_with(heading)).unwrap();
    let lines = below.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The codes in the first cells below a heading; each stands there once.
fn codes<'a>(page: &'a str, heading: &str) -> BTreeSet<&'a str> {
    let rows = rows(page, heading);
    let codes: BTreeSet<_> = rows.iter().map(|cells| cells[0].trim_matches('`')).collect();
    assert_eq!(codes.len(), rows.len(), "a code stands twice below {heading}");
    codes
}

/// The words of an enumeration in the published schema of events, which is made from the types.
fn words(of: &str) -> BTreeSet<String> {
    let text = materia_compiler::schema("event.schema.json").unwrap();
    let schema: Value = serde_json::from_str(text).unwrap();
    let words = schema["$defs"][of]["oneOf"].as_array().unwrap();
    words.iter().map(|word| word["const"].as_str().unwrap().to_owned()).collect()
}

/// The codes of refusals. The binary shows them to nobody, so they are read from its source.
fn refusals() -> BTreeSet<String> {
    let source = include_str!("../../../app/src/failure.rs");
    let found = source.split("RefusalCode::").skip(1);
    let word = |rest: &str| rest.split(|c: char| !c.is_alphabetic()).next().unwrap().to_lowercase();
    found.map(word).collect()
}

fn owned(words: &BTreeSet<&str>) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn every_finding_is_explained_in_the_words_of_the_program() {
    let page = page(ERRORS);
    let rows = rows(&page, "Findings");
    let explained: BTreeSet<_> =
        rows.iter().map(|cells| (cells[0].trim_matches('`'), cells[1])).collect();
    let known: BTreeSet<_> = materia_compiler::CODES.iter().copied().collect();
    assert_eq!(explained, known);
    for cells in rows {
        assert!(["error", "warning", "info"].contains(&cells[2]), "{cells:?}");
        assert!(!cells[3].is_empty(), "{cells:?}");
    }
}

#[test]
fn no_page_names_a_finding_that_does_not_exist() {
    let group = |code: &str| code.split("::").next().unwrap().to_owned();
    let groups: BTreeSet<_> = materia_compiler::CODES.iter().map(|(code, _)| group(code)).collect();
    for (name, text) in all() {
        for quoted in text.split('`').filter(|text| text.contains("::")) {
            let word = |c: char| c.is_ascii_lowercase() || "-:".contains(c);
            if quoted.chars().all(word) && groups.contains(&group(quoted)) {
                let known = materia_compiler::CODES.iter().any(|(code, _)| *code == quoted);
                assert!(known, "{name}: `{quoted}`");
            }
        }
    }
}

#[test]
fn every_way_to_fail_to_wait_and_to_be_refused_is_explained() {
    let page = page(ERRORS);
    assert_eq!(owned(&codes(&page, "Errors of a cast")), words("ErrorCode"));
    assert_eq!(owned(&codes(&page, "Reasons for waiting")), words("WaitReason"));
    let refusals = refusals();
    assert!(refusals.len() >= 5, "the source reads differently now: {refusals:?}");
    assert_eq!(owned(&codes(&page, "Refusals")), refusals);
}

#[test]
fn the_map_lists_every_page() {
    let map = page("docs/README.md");
    let pages = all();
    let names = pages.iter().filter_map(|(name, _)| name.strip_prefix("docs/"));
    for name in names.filter(|name| *name != "README.md") {
        assert!(map.contains(&format!("]({name})")), "docs/README.md does not list docs/{name}");
    }
}

/// With `MATERIA_BLESS=1` the pages are written.
#[test]
fn the_generated_pages_have_not_drifted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bless = std::env::var_os("MATERIA_BLESS").is_some_and(|value| value == "1");
    let mut script = Command::new("python3");
    script.arg(root.join("scripts/reference.py")).arg(env!("CARGO_BIN_EXE_materia"));
    if bless {
        script.arg("--write");
    }
    let ran = script.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn every_command_and_every_event_type_has_its_heading() {
    let commands = page("docs/reference/commands.md");
    let help = Bench::new().run(&["--help"]).exits(0).out;
    let (_, listed) = help.split_once("\nCommands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    let names: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 12, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(commands.contains(&format!("\n## `materia {name}`\n")), "{name}");
    }
    let text = materia_compiler::schema("event.schema.json").unwrap();
    let schema: Value = serde_json::from_str(text).unwrap();
    let events = page("docs/reference/events.md");
    for one in schema["oneOf"].as_array().unwrap() {
        let name = one["properties"]["type"]["const"].as_str().unwrap();
        assert!(events.contains(&format!("\n### `{name}`\n")), "{name}");
    }
}

#[test]
fn every_exit_code_of_the_help_is_explained() {
    let help = Bench::new().run(&["--help"]).exits(0).out;
    let (_, listed) = help.split_once("\nExit status:\n").unwrap();
    let said: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(said.len() >= 6, "{said:?}");
    let page = page("docs/reference/exit-codes.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let explained: Vec<_> = rows.map(|row| row.split('`').next().unwrap()).collect();
    assert_eq!(said, explained);
}

/// Whether a block is a whole configuration: `loadouts` is a field of the outermost object.
fn is_configuration(block: &str) -> bool {
    let whole = block.contains("\n  \"loadouts\": {");
    assert_eq!(whole, block.contains("\"sockets\""), "indent it as the others: {block}");
    whole
}

#[test]
fn every_configuration_in_the_pages_is_sound() {
    let pages = all();
    let blocks = pages.iter().flat_map(|(_, text)| blocks(text, "json"));
    let configurations: Vec<_> = blocks.filter(|block| is_configuration(block)).collect();
    assert!(configurations.len() >= 8, "{}", configurations.len());
    for text in configurations {
        let bench = Bench::new();
        bench.write("materia.json", text);
        let report = bench.run(&["check", "--json"]).exits(0).json();
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.iter().all(|one| one["code"] == OF_THE_MACHINE), "{findings:?}\n{text}");
    }
}

#[test]
fn the_script_in_the_pages_answers_the_loadout_before_it() {
    let text = page(SCRIPTS);
    let blocks = blocks(&text, "json");
    let place = blocks.iter().position(|block| block.contains("\n  \"turns\": {")).unwrap();
    let bench = Bench::new();
    bench.write("materia.json", blocks[place - 1]);
    bench.write("answers.json", blocks[place]);
    let command = "materia cast --script answers.json --virtual-time --cast-id c1 rain";
    assert!(text.contains(command), "the page says how");
    let args: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let report = bench.run(&args).exits(0).json();
    assert_eq!(report["visits"].as_array().unwrap().len(), 4, "as the page says");
}

#[test]
fn the_finding_in_the_pages_is_drawn_so() {
    let text = page(WRITING);
    let configuration =
        blocks(&text, "json").into_iter().find(|it| it.contains("\"to\": \"Tell\"")).unwrap();
    let (_, picture) = text.split_once("\n```text\nerror[").unwrap();
    let picture = format!("error[{}\n", picture.split("\n```\n").next().unwrap());
    let bench = Bench::new();
    bench.write("materia.json", &configuration.replace("\"to\": \"Tell\"", "\"to\": \"Tel\""));
    let said = bench.run(&["check"]).exits(2).err;
    assert!(said.contains(&picture), "{said}\nis not\n{picture}");
}

#[test]
fn the_answer_of_why_in_the_pages_is_printed_so() {
    let text = page(WRITING);
    let (_, section) = text.split_once("\n## Two sockets and an edge\n").unwrap();
    let bench = Bench::new();
    bench.write("materia.json", blocks(section, "json")[0]);
    let (_, programs) = section.split_once("\n```python\n# find.py\n").unwrap();
    let (find, rest) = programs.split_once("# tell.py\n").unwrap();
    bench.write("find.py", find);
    bench.write("tell.py", rest.split("\n```\n").next().unwrap());
    for name in ["a.txt", "b.txt"] {
        bench.write(name, "TODO");
    }
    bench.run(&["cast", "--trust", "--no-request"]).exits(0);
    let (_, said) = text.split_once("`materia why last Count` begins: *").unwrap();
    let said = said.split(".*").next().unwrap().replace('\n', " ");
    let printed = bench.run(&["why", "last", "Count"]).exits(0).out;
    assert_eq!(printed.lines().next().unwrap(), format!("{said}."));
}

/// Does what a reader of the tutorial does: writes each file that is shown and runs each line, in order.
#[test]
fn the_tutorial_can_be_followed_from_its_first_line_to_its_last() {
    let text = page("docs/start/tutorial.md");
    let bench = Bench::new();
    let (mut ran, mut before) = (0, "");
    for (index, part) in text.split("\n```").enumerate() {
        if index % 2 == 0 {
            before = part;
            continue;
        }
        let (kind, body) = part.split_once('\n').unwrap();
        let body = format!("{body}\n");
        if ["json", "python"].contains(&kind) {
            // The file's name is the last one in backticks before its text.
            let name = before.rsplit('`').nth(1).unwrap();
            bench.write(name, &body);
        }
        let lines = body.lines().filter(|_| kind == "sh");
        for line in lines.filter_map(|line| line.strip_prefix("materia ")) {
            let line = line.split("  #").next().unwrap().trim();
            let (line, says) = line.split_once(" # ").unwrap_or((line, ""));
            assert_eq!(says, "", "two spaces before a comment");
            if line.starts_with("demo") || line.starts_with("ui") || line.starts_with("doctor") {
                continue;
            }
            if line.starts_with("init") {
                std::fs::remove_file(bench.project().join("materia.json")).ok();
            }
            let args = crate::doclines::words(line);
            let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
            if args[0] == "cast" && args.contains(&"--max-cost") {
                args.splice(1..1, ["--provider", "mock"]);
            }
            let ended = bench.run(&args);
            let expected = i32::from(before.contains("exits with 1"));
            assert_eq!(ended.exit, expected, "{line}: {ended:?}");
            if line.starts_with("init") {
                // The reader writes the command that tests the own project.
                let path = bench.project().join("materia.json");
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(text.contains(r#"["npm", "test"]"#), "{text}");
                std::fs::write(&path, text.replace(r#"["npm", "test"]"#, r#"["true"]"#)).unwrap();
            }
            ran += 1;
        }
    }
    assert!(ran >= 12, "{ran} lines");
}
