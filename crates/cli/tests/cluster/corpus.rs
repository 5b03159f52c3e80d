//! The conformance cases with their casts on a server: what holds for a journal in a file holds there (M2, M13).
//! `scripts/test --long` runs all of them.

use std::path::{Path, PathBuf};

use futures_util::TryStreamExt as _;

use crate::bench::Bench;
use crate::on;
use crate::server::Servers;

/// One case in so many is tried otherwise.
const ONE_IN: usize = 40;
/// Cases of one server: each makes a space of its own.
const ON_A_SERVER: usize = 100;

/// Cases about the file of the journal, and about several of them: a space has no file.
const ABOUT_THE_FILE: [&str; 5] = [
    // It removes the file and begins the same cast again; a space forgets no cast.
    "scheduling/same-log-twice.json",
    // It begins a cast of the same id in another folder; a space has those of all folders.
    "decisions/ids-are-derived.json",
    // It looks for a cast in another folder; a space has those of all folders.
    "link/previous-cast-of-another-root.json",
    // Another file lies in its place before the cast.
    "journal/no-journal-is-refused.json",
    // A turn puts something else in its place.
    "journal/replaced-journal-stops-the-cast.json",
];

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let (mut found, mut left) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == "json") {
                found.push(path);
            }
        }
    }
    found.sort();
    let count = found.len();
    found.retain(|path| !ABOUT_THE_FILE.iter().any(|name| *path == root.join(name)));
    assert_eq!(found.len() + ABOUT_THE_FILE.len(), count, "a case was renamed");
    assert!(count > 1_000, "{count} cases");
    let every = if std::env::var_os("MATERIA_LONG").is_some() { 1 } else { ONE_IN };
    found.into_iter().step_by(every).collect()
}

/// M2, M13: the cases pass with their casts on a server.
#[test]
fn the_corpus_holds_on_a_server() {
    let cases = cases();
    for some in cases.chunks(ON_A_SERVER) {
        let servers = Servers::start(1, "");
        let bench = Bench::new();
        for (nth, path) in some.iter().enumerate() {
            let parts: Vec<_> = path.iter().rev().take(2).map(|it| it.to_string_lossy()).collect();
            let name = format!("cases/{nth:03}-{}-{}", parts[1], parts[0]);
            bench.write(&name, &std::fs::read_to_string(path).unwrap());
        }
        let ran = on(&bench, &servers, &["conformance", "cases"]);
        assert!(
            ran.exit == 0 && ran.out.ends_with(&format!("{} passed, 0 failed\n", some.len())),
            "{}",
            ran.out
        );
        let spaces = spaces(&servers);
        assert!(spaces * 2 > some.len(), "{spaces} spaces for {} cases", some.len());
    }
}

/// How many spaces a server has.
fn spaces(servers: &Servers) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let names: Vec<String> = runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        async_nats::jetstream::new(client).stream_names().try_collect().await.unwrap()
    });
    names.iter().filter(|name| name.starts_with("materia-")).count()
}
