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

/// The rooms of a crate, which are the modules beneath its root, each with those it uses.
pub(crate) fn rooms(sources: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let modules = modules(sources);
    let room = |module: &str| module.split("::").next().unwrap().to_owned();
    let known: BTreeSet<String> = modules.keys().map(|module| room(module)).collect();
    let outermost = ["lib", "main"];
    let exports = modules.get("lib").map(|library| exports(library)).unwrap_or_default();
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, code) in modules.iter().filter(|(module, _)| !outermost.contains(&module.as_str()))
    {
        let own = room(module);
        let of = |used: String| exports.get(&used).cloned().unwrap_or(used);
        let used = uses(module, code).into_iter().map(of);
        let used = used.filter(|used| known.contains(used) && *used != own);
        rooms.entry(own.clone()).or_default().extend(used.collect::<Vec<_>>());
    }
    rooms
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
    statements.flat_map(of).collect()
}

/// Imports of a module from its own crate, outside of its own folder.
pub(crate) fn uses(module: &str, code: &str) -> BTreeSet<String> {
    let depth = module.split("::").count();
    let mut found = firsts(code, "crate::");
    // As many steps up as the module is deep lead to the root as well.
    found.extend(firsts(code, &"super::".repeat(depth)));
    found.into_iter().filter(|room| module.split("::").next() != Some(room.as_str())).collect()
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

/// A circle, if there is one, as `a -> b -> a`.
pub(crate) fn circle(rooms: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let mut done = BTreeSet::new();
    rooms.keys().find_map(|room| follow(room, rooms, &mut Vec::new(), &mut done))
}

fn follow<'a>(
    room: &'a str,
    rooms: &'a BTreeMap<String, BTreeSet<String>>,
    way: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<String> {
    if let Some(place) = way.iter().position(|passed| *passed == room) {
        let mut circle = way[place..].to_vec();
        circle.push(room);
        return Some(circle.join(" -> "));
    }
    if !done.insert(room) {
        return None;
    }
    way.push(room);
    let mut next = rooms.get(room).into_iter().flatten();
    let found = next.find_map(|next| follow(next, rooms, way, done));
    way.pop();
    found
}
