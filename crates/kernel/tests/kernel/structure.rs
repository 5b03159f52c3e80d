//! Allowed imports inside the kernel, checked in its sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Each room with those it may use beside itself. What is not named here may use everything.
const ROOMS: [(&str, &[&str]); 8] = [
    ("shorten", &[]),
    ("span", &[]),
    ("tally", &[]),
    ("handoff", &["shorten"]),
    ("state", &["span", "tally", "shorten"]),
    ("ask", &["handoff", "span", "state", "tally", "shorten"]),
    ("evolve", &["ask", "span", "state", "shorten"]),
    ("decide", &["ask", "evolve", "span", "state", "tally", "shorten"]),
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file of the kernel but its tests, by its module path.
fn modules(folder: &Path, found: &mut BTreeMap<Vec<String>, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            modules(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let inside = path.strip_prefix(sources()).unwrap().with_extension("");
            let mut module: Vec<String> =
                inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            module.pop_if(|last| last == "mod");
            if module[0] != "tests" {
                found.insert(module, without_tests(&std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
}

/// The code without comments, and without the tests at its end.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let line = |line: &str| line.split("//").next().unwrap().to_owned() + "\n";
    code.lines().map(line).collect()
}

/// The paths that begin with this word, as far as their first part behind it; a group has several.
fn firsts(code: &str, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (place, _) in code.match_indices(word) {
        let before = code[..place].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || "_:".contains(before)) {
            continue;
        }
        let behind = &code[place + word.len()..];
        match behind.strip_prefix('{') {
            None => found.push(name(behind)),
            Some(group) => found.extend(members(group)),
        }
    }
    found
}

fn name(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// The first part of each member of a group whose brace is open.
fn members(group: &str) -> Vec<String> {
    let (mut depth, mut begins, mut found) = (0, true, Vec::new());
    for (place, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !letter.is_whitespace() => {
                found.push(name(&group[place..]));
                begins = false;
            }
            _ => {}
        }
    }
    found
}

/// The rooms that a module uses; `exports` says where the names at the root come from.
fn uses(module: &[String], code: &str, exports: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = firsts(code, "crate::");
    // As many steps up as the module is deep lead to the root as well.
    found.extend(firsts(code, &"super::".repeat(module.len())));
    let room = |name: String| exports.get(&name).cloned().unwrap_or(name);
    found.into_iter().map(room).filter(|room| *room != module[0]).collect()
}

/// The names that the root exports, with the rooms they come from.
fn exports(library: &str) -> BTreeMap<String, String> {
    let statements = library.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
    let of = |statement: &str| {
        let room = name(statement);
        let names = match statement.split_once('{') {
            Some((_, group)) => members(group),
            None => statement.rsplit("::").next().map(name).into_iter().collect(),
        };
        names.into_iter().map(move |name| (name, room.clone())).collect::<Vec<_>>()
    };
    // `evolve` and `decide` are rooms, and functions of the same name in them.
    statements.flat_map(of).filter(|(name, room)| name != room).collect()
}

/// Every use of a room that may not be used there, as `module -> room`.
fn offences(modules: &BTreeMap<Vec<String>, String>) -> Vec<String> {
    let exports = exports(&modules[&vec!["lib".to_owned()]]);
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.into_iter().collect();
    let mut found = Vec::new();
    for (module, code) in modules {
        let Some(may) = rooms.get(module[0].as_str()) else { continue };
        let used = uses(module, code, &exports).into_iter();
        let offending = used.filter(|room| !may.contains(&room.as_str()));
        found.extend(offending.map(|room| format!("{} -> {room}", module.join("::"))));
    }
    found
}

fn of_the_kernel() -> BTreeMap<Vec<String>, String> {
    let mut found = BTreeMap::new();
    modules(&sources(), &mut found);
    found
}

#[test]
fn no_room_knows_one_above_it() {
    let modules = of_the_kernel();
    assert_eq!(offences(&modules), Vec::<String>::new());
    for (room, _) in ROOMS {
        assert!(modules.keys().any(|module| module[0] == room), "there is a room `{room}`");
    }
}

#[test]
fn every_way_to_name_a_room_is_seen() {
    let named = |module: &str, code: &str| {
        let mut modules = of_the_kernel();
        let module: Vec<String> = module.split("::").map(str::to_owned).collect();
        modules.insert(module, code.to_owned());
        offences(&modules)
    };
    let told = |module: &str, room: &str| vec![format!("{module} -> {room}")];
    assert_eq!(named("state::x", "use crate::ask::items;"), told("state::x", "ask"));
    assert_eq!(named("ask::x", "use crate::{Run, decide::draft::Now};"), told("ask::x", "decide"));
    assert_eq!(
        named("evolve::x", "use crate::{\n    Run,\n    step,\n};"),
        told("evolve::x", "decide")
    );
    assert_eq!(
        named("ask::work::x", "fn f() { crate::evolve(a) }"),
        told("ask::work::x", "evolve")
    );
    assert_eq!(named("state::x", "use super::super::ask::items;"), told("state::x", "ask"));
    assert_eq!(named("state", "use super::ask::items;"), told("state", "ask"));
    assert_eq!(named("handoff::x", "use crate::state::Run;"), told("handoff::x", "state"));
    assert!(named("evolve::x", "use crate::ask::items;\nuse super::turns::weigh;").is_empty());
    assert!(named("decide::x", "use crate::{Run, evolve, outstanding};").is_empty());
}

#[test]
fn what_the_kernel_says_names_no_command() {
    for (module, code) in of_the_kernel() {
        assert!(!code.contains("`materia "), "{} names a command", module.join("::"));
    }
}
