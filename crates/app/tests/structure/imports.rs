//! Imports of a crate, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The code of every module but tests, by its path.
pub(crate) fn modules(sources: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(sources, sources, &mut found);
    found
}

fn collect(sources: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            collect(sources, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let inside = path.strip_prefix(sources).unwrap().with_extension("");
            let mut module: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
            module.pop_if(|last| *last == "mod");
            let code = std::fs::read_to_string(&path).unwrap();
            found.insert(module.join("::"), without_tests(&code));
        }
    }
}

/// The code without comments, and without the tests at its end.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let line = |line: &str| line.split("//").next().unwrap().to_owned() + "\n";
    code.lines().map(line).collect()
}

/// The modules of a crate that have modules beneath them; the root is the empty name.
pub(crate) fn folders(modules: &BTreeMap<String, String>) -> BTreeSet<String> {
    let above = |module: &String| module.rsplit_once("::").map_or("", |it| it.0).to_owned();
    modules.keys().map(above).collect()
}

/// The rooms of a folder, which are the modules beneath it with all that is in them, each with those it uses.
pub(crate) fn rooms(
    modules: &BTreeMap<String, String>,
    folder: &str,
) -> BTreeMap<String, BTreeSet<String>> {
    let inside = |module: &str| {
        let rest = if folder.is_empty() { Some(module) } else { module.strip_prefix(folder) };
        let rest = rest.filter(|rest| folder.is_empty() || rest.starts_with("::"))?;
        let outermost = folder.is_empty() && (module == "lib" || module == "main");
        let parts: Vec<&str> = rest.split("::").filter(|part| !part.is_empty()).collect();
        (!outermost).then(|| parts.first().map(|first| (*first).to_owned())).flatten()
    };
    let known: BTreeSet<String> = modules.keys().filter_map(|module| inside(module)).collect();
    let own = if folder.is_empty() { "lib" } else { folder };
    let exports = modules.get(own).map(|code| exports(code, modules)).unwrap_or_default();
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, code) in modules {
        let Some(own) = inside(module) else { continue };
        let of = |used: String| exports.get(&used).cloned().unwrap_or(used);
        let used = uses(module, folder, code).into_iter().map(of);
        let used = used.filter(|used| known.contains(used) && *used != own);
        rooms.entry(own.clone()).or_default().extend(used.collect::<Vec<_>>());
    }
    rooms
}

/// The names that a module exports for the rooms beneath it, with the rooms they come from.
fn exports(code: &str, modules: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let statements = code.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
    let of = |statement: &str| {
        let room = name(statement);
        let names = match statement.split_once('{') {
            Some((_, group)) => members(group),
            None if statement.ends_with("::*") => {
                let inside =
                    modules.iter().filter(|(module, _)| module.split("::").next() == Some(&room));
                inside.flat_map(|(_, code)| defined(code)).collect()
            }
            None => statement.rsplit("::").next().map(name).into_iter().collect(),
        };
        names.into_iter().map(move |name| (name, room.clone())).collect::<Vec<_>>()
    };
    statements.flat_map(of).collect()
}

/// The public names that a module defines.
fn defined(code: &str) -> Vec<String> {
    let kinds = ["struct", "enum", "trait", "type", "fn", "const", "static"];
    let of = |kind: &str| {
        let begins = format!("pub {kind} ");
        code.split(&begins).skip(1).map(name).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of).collect()
}

/// Imports of a module from a folder around it, by the first part of their path there.
pub(crate) fn uses(module: &str, folder: &str, code: &str) -> BTreeSet<String> {
    let depth = |path: &str| path.split("::").filter(|part| !part.is_empty()).count();
    let root = if folder.is_empty() { "crate::".to_owned() } else { format!("crate::{folder}::") };
    let mut found = firsts(code, &root);
    // As many steps up as the module is deep lead to the folder as well.
    found.extend(firsts(code, &"super::".repeat(depth(module) - depth(folder))));
    let own = module.split("::").nth(depth(folder));
    found.into_iter().filter(|room| own != Some(room.as_str())).collect()
}

/// The first parts of the paths that begin with this word; a group has several.
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
    found.retain(|name| name != "super");
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

/// The rooms that know each other, if only by a detour, as `a, b, c`: one line for each group.
pub(crate) fn circles(rooms: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let known: BTreeMap<&str, BTreeSet<&str>> =
        rooms.keys().map(|room| (room.as_str(), reached(room, rooms))).collect();
    let group = |room: &str| {
        let each_other =
            |other: &&&str| known[room].contains(**other) && known[**other].contains(room);
        known.keys().filter(each_other).copied().collect::<Vec<_>>().join(", ")
    };
    known
        .iter()
        .filter(|(room, known)| known.contains(*room))
        .map(|(room, _)| group(room))
        .collect()
}

/// All rooms that a room knows, if only by a detour.
fn reached<'a>(room: &str, rooms: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = rooms.get(room).into_iter().flatten().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(rooms.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    found
}
