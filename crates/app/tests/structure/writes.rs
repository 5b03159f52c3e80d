//! Who writes files without `safe-fs`, and why that is no way out of a project.

use std::collections::BTreeSet;

use super::{HOUSE, crates, imports};

/// Calls that make, change or remove what has a path.
const WRITES: [&str; 23] = [
    "fs::write(",
    "File::create",
    "File::options",
    "OpenOptions",
    "create_dir(",
    "create_dir_all",
    "DirBuilder",
    "fs::rename(",
    "fs::copy(",
    "hard_link(",
    "fs::set_permissions(",
    "fs::remove_file(",
    "fs::remove_dir(",
    "fs::remove_dir_all(",
    "fs::symlink(",
    "openat(",
    "openat2(",
    "mkdirat(",
    "renameat(",
    "unlinkat(",
    "linkat(",
    "symlinkat(",
    "mknodat(",
];

const STATE: &str = "in the user's state folder or profile, which no project can name";
const JOURNAL: &str =
    "SQLite opens its files by their paths; `private` refuses links in their places";

/// The files that may, and why.
const ALLOWED: [(&str, &str); 25] = [
    ("app::edit::drafts", STATE),
    ("app::views::names", "only reads"),
    ("app::project::seen_warnings", STATE),
    ("app::edit::try_utility", STATE),
    ("app::trust::store", STATE),
    ("cli::demo::scratch", "a new folder among the system's temporary files"),
    ("compiler::shipped::sync", STATE),
    ("conformance::scratch", "a scratch project of a case, among the system's temporary files"),
    ("engine::ports::blobs_contract", "a suite of tests"),
    ("journal::blobs", JOURNAL),
    ("journal::notes", STATE),
    ("journal::private", JOURNAL),
    ("journal::sqlite::lease", STATE),
    ("journal::sqlite::place", JOURNAL),
    ("journal::sqlite::rescue", JOURNAL),
    (
        "runners::agents::private_files",
        "an agent's own folder in the user's home, named by a constant or the user's variable",
    ),
    ("runners::supervise::cgroup", "in the system's own tree of cgroups"),
    ("server::http::access", STATE),
    ("server::single_instance", STATE),
    ("server::projects::keys", STATE),
    ("server::projects::driven_casts", STATE),
    ("server::serve", STATE),
    ("server::http::listen", "the socket that the user names"),
    ("workspace::location", STATE),
    ("workspace::stand_in", STATE),
];

#[test]
fn nobody_writes_files_but_beneath_a_handle_or_where_no_project_leads() {
    let mut found = BTreeSet::new();
    let names = HOUSE.iter().map(|(name, _)| *name).filter(|name| *name != "safe-fs");
    for name in names {
        for (module, code) in imports::modules(&crates().join(name).join("src")) {
            let plain: Vec<&str> = WRITES.into_iter().filter(|call| code.contains(call)).collect();
            if plain.is_empty() || module.ends_with("tests") {
                continue;
            }
            let shown = format!("{name}::{module}");
            assert!(
                ALLOWED.iter().any(|(file, _)| *file == shown),
                "`{shown}` has {plain:?}: a link in a project could lead that anywhere. Use `materia_safe_fs`, or say \
                 in this test why it cannot happen there"
            );
            found.insert(shown);
        }
    }
    for (file, why) in ALLOWED {
        assert!(found.contains(file), "`{file}` needs no exception any more ({why})");
    }
}
