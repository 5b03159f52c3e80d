//! The same scripted casts in a file, with one worker and with four: the same events (M13).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::{Bench, until};
use crate::on;
use crate::server::Servers;
use crate::workers::{Worker, contents};

/// One case in so many is tried; `scripts/test --long` tries all.
const ONE_IN: usize = 100;

/// A case of `conformance/` that is one scripted cast.
struct Case {
    name: String,
    config: Value,
    script: Value,
    files: Value,
    words: Vec<String>,
}

fn case(path: &Path) -> Option<Case> {
    let case: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let words: Vec<String> = serde_json::from_value(case["args"].clone()).unwrap_or_default();
    let began = [0, 1, 3].map(Value::from).contains(&case["expect"]["exit"]);
    let plain = ["git", "input"].iter().all(|field| case.get(field).is_none());
    // Options that a worker does not get, or that are no cast of a loadout of the project.
    let options = ["--script", "--detach", "--workspace", "--config", "--record", "--replay"];
    let stray = words.iter().any(|word| options.contains(&word.as_str()) || word.contains('{'));
    let fits = case["config"].is_object() && case["script"].is_object() && began && plain;
    if !fits || stray || words.first().is_none_or(|word| word != "cast") {
        return None;
    }
    Some(Case {
        name: path.display().to_string(),
        config: case["config"].clone(),
        script: case["script"].clone(),
        files: case["files"].clone(),
        words,
    })
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let sorted = |folder: &Path| {
        let found = std::fs::read_dir(folder).unwrap();
        let mut found: Vec<PathBuf> = found.map(|it| it.unwrap().path()).collect();
        found.sort();
        found
    };
    let folders = sorted(&root).into_iter().filter(|path| path.is_dir());
    let files: Vec<PathBuf> = folders.flat_map(|folder| sorted(&folder)).collect();
    let json = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let all: Vec<Case> = files.iter().filter(json).filter_map(|path| case(path)).collect();
    assert!(all.len() > 300, "{} cases", all.len());
    let every = if std::env::var_os("MATERIA_LONG").is_some() { 1 } else { ONE_IN };
    all.into_iter().step_by(every).collect()
}

/// Writes the project of a case over the one before.
fn write(bench: &Bench, case: &Case) {
    bench.write("materia.json", &case.config.to_string());
    bench.write("answers.json", &case.script.to_string());
    for (name, content) in case.files.as_object().into_iter().flatten() {
        let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        match name.strip_prefix("profile/") {
            None => bench.write(name, &text),
            Some(rest) => {
                let path = bench.profile().join(rest);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
        }
    }
}

/// The words of a case for a cast with this id.
fn words<'a>(case: &'a Case, id: &'a str) -> Vec<&'a str> {
    let mut words = vec!["cast", "--detach", "--json", "--virtual-time"];
    words.extend(["--script", "answers.json", "--cast-id", id]);
    let mut rest = case.words[1..].iter().map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "--cast-id" => drop(rest.next()),
            "--json" | "--virtual-time" | "--trust" => {}
            other => words.push(other),
        }
    }
    words
}

/// M13: without kills the events of a cast do not depend on the journal, nor on how many workers there are.
#[test]
fn casts_are_the_same_with_any_number_of_workers() {
    let servers = [Servers::start(1, ""), Servers::start(1, "")];
    let (file, remote) = (Bench::new(), [Bench::new(), Bench::new()]);
    let start = |nth: usize| Worker::start(&remote[nth], &servers[nth], &["--slots", "1"]);
    for bench in remote.iter().chain([&file]) {
        bench.write("materia.json", &json!({}).to_string());
    }
    let _workers = [start(0), start(1), start(1), start(1), start(1)];
    for (number, case) in cases().iter().enumerate() {
        let id = format!("c{number}");
        write(&file, case);
        file.run(&words(case, &id)).exits(0);
        until(&format!("{} has rested in a file", case.name), || {
            file.run(&["show", &id, "--json"]).exits(0).json()["status"] != "running"
        });
        let expected = file.run(&["events", &id, "--json"]).exits(0);
        for (bench, servers) in remote.iter().zip(&servers) {
            write(bench, case);
            on(bench, servers, &words(case, &id)).exits(0);
            let mut heard = None;
            until(&format!("{} has rested", case.name), || {
                let ran = on(bench, servers, &["events", &id, "--json"]).exits(0);
                let rests = ran.lines().len() >= expected.lines().len();
                heard = Some(ran);
                rests
            });
            let (here, there) = (contents(&expected, &file), contents(&heard.unwrap(), bench));
            assert_eq!(here, there, "{}", case.name);
        }
    }
    file.run(&["stop"]).exits(0);
}
