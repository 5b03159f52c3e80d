//! The pages under `docs/` say what the program does: every code, every command, every example.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::bench::Bench;

/// Findings that depend on the machine and not on the example.
const OF_THE_MACHINE: &str = "utility::program-missing";

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join("docs").join(name)).unwrap()
}

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
    let begins = ["Self::refused(\"", "let (code, message) = (\""];
    let found = begins.iter().flat_map(|begin| source.split(begin).skip(1));
    found.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

fn owned(words: &BTreeSet<&str>) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn every_finding_is_explained_in_the_words_of_the_program() {
    let page = page("errors.md");
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
    for name in ["errors.md", "guide.md"] {
        for quoted in page(name).split('`').filter(|text| text.contains("::")) {
            let word = |c: char| c.is_ascii_lowercase() || "-:".contains(c);
            if quoted.chars().all(word) {
                let known = materia_compiler::CODES.iter().any(|(code, _)| *code == quoted);
                assert!(known, "{name}: `{quoted}`");
            }
        }
    }
}

#[test]
fn every_way_to_fail_to_wait_and_to_be_refused_is_explained() {
    let page = page("errors.md");
    assert_eq!(owned(&codes(&page, "Errors of a cast")), words("ErrorCode"));
    assert_eq!(owned(&codes(&page, "What a waiting cast waits for")), words("WaitReason"));
    let refusals = refusals();
    assert!(refusals.len() >= 5, "the source reads differently now: {refusals:?}");
    assert_eq!(owned(&codes(&page, "Refusals")), refusals);
}

#[test]
fn every_command_is_in_the_guide() {
    let guide = page("guide.md");
    let help = Bench::new().run(&["--help"]).exits(0).out;
    let (_, commands) = help.split_once("\nCommands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let commands: Vec<_> =
        commands.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in commands {
        let ends = [' ', '`', '\n'];
        let mentioned = ends.iter().any(|end| guide.contains(&format!("materia {command}{end}")));
        assert!(mentioned, "`materia {command}`");
    }
}

/// The fenced JSON blocks of the guide, in order.
fn blocks(guide: &str) -> Vec<&str> {
    let fenced = guide.split("\n```json\n").skip(1);
    fenced.map(|rest| rest.split("\n```\n").next().unwrap()).collect()
}

/// Whether a block is a whole configuration: `loadouts` is a field of the outermost object.
fn is_configuration(block: &str) -> bool {
    let whole = block.contains("\n  \"loadouts\": {");
    assert_eq!(whole, block.contains("\"sockets\""), "indent it as the others: {block}");
    whole
}

#[test]
fn every_configuration_in_the_guide_is_sound() {
    let guide = page("guide.md");
    let configurations: Vec<_> =
        blocks(&guide).into_iter().filter(|block| is_configuration(block)).collect();
    assert!(configurations.len() >= 3);
    for text in configurations {
        let bench = Bench::new();
        bench.write("materia.json", text);
        let report = bench.run(&["check", "--json"]).exits(0).json();
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.iter().all(|one| one["code"] == OF_THE_MACHINE), "{findings:?}\n{text}");
    }
}

#[test]
fn the_script_in_the_guide_answers_the_loadout_before_it() {
    let guide = page("guide.md");
    let blocks = blocks(&guide);
    let place = blocks.iter().position(|block| block.contains("\n  \"turns\": {")).unwrap();
    let bench = Bench::new();
    bench.write("materia.json", blocks[place - 1]);
    bench.write("answers.json", blocks[place]);
    let command = "materia cast --script answers.json --virtual-time --cast-id c1 rain";
    assert!(guide.contains(command), "the guide says how");
    let args: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let report = bench.run(&args).exits(0).json();
    assert_eq!(report["visits"].as_array().unwrap().len(), 4, "as the guide says");
}

#[test]
fn the_finding_in_the_guide_is_drawn_so() {
    let guide = page("guide.md");
    let text = blocks(&guide).into_iter().find(|block| block.contains("\"to\": \"Tell\"")).unwrap();
    let (_, picture) = guide.split_once("\n```text\nerror[").unwrap();
    let picture = format!("error[{}\n", picture.split("\n```\n").next().unwrap());
    let bench = Bench::new();
    bench.write("materia.json", &text.replace("\"to\": \"Tell\"", "\"to\": \"Tel\""));
    let said = bench.run(&["check"]).exits(2).err;
    assert!(said.contains(&picture), "{said}\nis not\n{picture}");
}

#[test]
fn what_the_guide_says_about_why_is_what_is_printed() {
    let guide = page("guide.md");
    let (_, section) = guide.split_once("\n## Two sockets, and ways between them\n").unwrap();
    let bench = Bench::new();
    bench.write("materia.json", blocks(section)[0]);
    let (_, programs) = section.split_once("\n```python\n# find.py\n").unwrap();
    let (find, rest) = programs.split_once("# tell.py\n").unwrap();
    bench.write("find.py", find);
    bench.write("tell.py", rest.split("\n```\n").next().unwrap());
    for name in ["a.txt", "b.txt"] {
        bench.write(name, "TODO");
    }
    bench.run(&["cast", "--trust", "--no-request"]).exits(0);
    let (_, said) = guide.split_once("`materia why last Count` begins: *").unwrap();
    let said = said.split(".*").next().unwrap().replace('\n', " ");
    let printed = bench.run(&["why", "last", "Count"]).exits(0).out;
    assert_eq!(printed.lines().next().unwrap(), format!("{said}."));
}
