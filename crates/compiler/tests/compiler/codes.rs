//! The table of codes is complete and holds nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use materia_compiler::CODES;

const FAMILIES: [&str; 15] = [
    "agent",
    "config",
    "delivery",
    "document",
    "generator",
    "graph",
    "link",
    "loop",
    "materia",
    "path",
    "policy",
    "prompt",
    "trigger",
    "utility",
    "where",
];

/// Every text of the form `"family::name"` in a source file.
fn codes_in(text: &str, found: &mut BTreeSet<String>) {
    for quoted in text.split('"').skip(1).step_by(2) {
        let family = quoted.split_once("::").map(|(family, _)| family);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == ':' || c == '-';
        if family.is_some_and(|family| FAMILIES.contains(&family)) && quoted.chars().all(plain) {
            found.insert(quoted.to_owned());
        }
    }
}

fn sources(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn every_code_is_listed_once_in_order_and_every_listed_one_is_used_and_tested() {
    let listed: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert!(listed.is_sorted_by(|a, b| a < b), "sorted, no two alike");
    assert!(CODES.iter().all(|(_, meaning)| !meaning.is_empty()));
    let listed: BTreeSet<String> = listed.into_iter().map(str::to_owned).collect();

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    sources(&root.join("src"), &mut texts);
    let mut used = BTreeSet::new();
    for (path, text) in &texts {
        if !path.ends_with("codes.rs") {
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            // Quotes inside quotes would shift the pairing, so each line is looked at alone.
            code.lines().for_each(|line| codes_in(line, &mut used));
        }
    }
    assert_eq!(used, listed, "used on the left, listed on the right");

    sources(&root.join("tests"), &mut texts);
    let stories: String = texts
        .iter()
        .filter(|(path, _)| !path.ends_with("src/codes.rs"))
        .map(|(path, text)| {
            let inline = || text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests);
            if path.contains("/tests/") { text.as_str() } else { inline() }
        })
        .collect();
    // The schema check mends whatever does not fit, so no document leads to this one.
    let untested = ["document::invalid"];
    for code in listed.iter().filter(|code| !untested.contains(&code.as_str())) {
        assert!(stories.contains(code.as_str()), "{code} is in no test");
    }
}
