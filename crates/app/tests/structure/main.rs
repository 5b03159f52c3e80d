//! Dependency rules: crates by their manifests, files by their imports.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod imports;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each crate with those of the house that it may depend on.
const HOUSE: [(&str, &[&str]); 19] = [
    ("contract-derive", &[]),
    ("page", &[]),
    ("contract", &["contract-derive"]),
    ("schemas", &["contract"]),
    ("safe-fs", &[]),
    ("kernel", &["contract"]),
    ("verifier", &["contract"]),
    ("proof", &["contract", "kernel"]),
    ("compiler", &["contract"]),
    ("conformance", &["contract"]),
    ("engine", &["contract", "kernel", "verifier"]),
    ("journal", &["safe-fs", "contract", "engine"]),
    ("nats", &["contract", "engine"]),
    ("workspace", &["safe-fs", "contract"]),
    ("runners", &["safe-fs", "contract", "engine", "workspace"]),
    (
        "app",
        &[
            "safe-fs",
            "contract",
            "kernel",
            "proof",
            "compiler",
            "engine",
            "journal",
            "nats",
            "workspace",
            "runners",
        ],
    ),
    (
        "server",
        &[
            "safe-fs", "page", "contract", "kernel", "compiler", "engine", "journal", "runners",
            "app",
        ],
    ),
    ("terminal", &["contract", "compiler", "engine", "runners", "app"]),
    (
        "cli",
        &[
            "contract",
            "kernel",
            "compiler",
            "conformance",
            "engine",
            "journal",
            "runners",
            "app",
            "server",
            "terminal",
        ],
    ),
];

/// Dependencies that only the command line and the server may have: arguments, terminals, the current folder, the
/// environment.
const OF_DOORS: [&str; 12] = [
    "clap",
    "indicatif",
    "anstream",
    "anstyle",
    "std::env",
    "env::var",
    "current_dir(",
    "stdin(",
    "stdout(",
    "stderr(",
    "IsTerminal",
    "ExitCode",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The names in a section of a manifest.
fn named(manifest: &str, section: &str) -> BTreeSet<String> {
    let inside = manifest.split(&format!("[{section}]\n")).nth(1).unwrap_or_default();
    let lines = inside.lines().take_while(|line| !line.starts_with('['));
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap().to_owned();
    lines.map(name).filter(|name| !name.is_empty() && !name.starts_with('#')).collect()
}

fn dependencies(name: &str) -> BTreeSet<String> {
    named(&std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap(), "dependencies")
}

#[test]
fn no_crate_knows_one_above_it() {
    let mut seen = BTreeSet::new();
    for (name, may) in HOUSE {
        let known = dependencies(name);
        let known = known.iter().filter_map(|one| one.strip_prefix("materia-"));
        for other in known {
            assert!(may.contains(&other), "`{name}` must not know `{other}`");
            assert!(seen.contains(other), "`{other}` stands below `{name}` in the list");
        }
        seen.insert(name.to_owned());
    }
    let folders = std::fs::read_dir(crates()).unwrap();
    let folders = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(folders.collect::<BTreeSet<_>>(), seen, "each crate has its place in the house");
}

#[test]
fn what_every_door_shares_knows_no_door() {
    for name in ["app", "conformance", "engine", "kernel", "compiler", "contract"] {
        for unwanted in OF_DOORS {
            assert!(!dependencies(name).contains(unwanted), "`{name}` depends on `{unwanted}`");
        }
    }
    for (module, code) in imports::modules(&crates().join("app/src")) {
        for unwanted in OF_DOORS {
            assert!(!code.contains(unwanted), "app::{module} has `{unwanted}`");
        }
    }
}

#[test]
fn what_every_door_shares_names_no_command() {
    for (module, code) in imports::modules(&crates().join("app/src")) {
        for unwanted in ["`materia ", "`--", "MATERIA_"] {
            assert!(!code.contains(unwanted), "app::{module} has `{unwanted}`");
        }
    }
}

/// A door drives runs by way of the application, where the gate of trust stands.
#[test]
fn no_door_drives_a_run_by_itself() {
    for door in ["cli", "server"] {
        for (module, code) in imports::modules(&crates().join(door).join("src")) {
            for unwanted in
                ["engine::cast(", "engine::carry_on(", "engine::resume(", "host::Setting"]
            {
                assert!(!code.contains(unwanted), "{door}::{module} has `{unwanted}`");
            }
        }
    }
}

/// Files and folders beside each other have an order, in every folder of every crate: none imports one that imports it,
/// if only by a detour.
#[test]
fn no_two_rooms_know_each_other() {
    for (name, _) in HOUSE {
        let modules = imports::modules(&crates().join(name).join("src"));
        for folder in imports::folders(&modules) {
            let circles = imports::circles(&imports::rooms(&modules, &folder));
            assert!(circles.is_empty(), "circles in `{name}::{folder}`: {circles:?}");
        }
    }
}

#[test]
fn every_way_to_import_and_every_circle_is_seen() {
    let uses = |code: &str| imports::uses("a::b", "", code).into_iter().collect::<Vec<_>>();
    assert_eq!(uses("use crate::c::D;"), ["c"]);
    assert_eq!(uses("use crate::{c::D, d, e::{F, g}};"), ["c", "d", "e"]);
    assert_eq!(uses("fn f() { crate::c::d() }"), ["c"]);
    assert_eq!(uses("use super::super::c;"), ["c"]);
    assert_eq!(uses("use super::c; use crate::a::x;"), [""; 0], "that is the same room");
    assert_eq!(imports::uses("a", "", "use super::c::D;").into_iter().collect::<Vec<_>>(), ["c"]);
    let rooms = |edges: &[(&str, &str)]| {
        let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            rooms.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            rooms.entry((*to).to_owned()).or_default();
        }
        rooms
    };
    let circles =
        |edges: &[(&str, &str)]| imports::circles(&rooms(edges)).into_iter().collect::<Vec<_>>();
    assert_eq!(circles(&[("a", "b"), ("b", "c"), ("a", "c")]), [""; 0]);
    assert_eq!(circles(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]), ["b, c"]);
    let inside = |code: &str| imports::uses("a::b::c", "a", code).into_iter().collect::<Vec<_>>();
    assert_eq!(
        inside("use super::super::d; use crate::a::{e::F, b::G}; use crate::h;"),
        ["d", "e"]
    );
}
