//! The pages of the documentation, as the tests read them.

use std::path::{Path, PathBuf};

/// A page: its path from the root of the repository, and its text.
pub(crate) type Page = (String, String);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of one page.
pub(crate) fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The README, the list of examples, and every page below `docs/`, in the order of their names.
pub(crate) fn all() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned(), "examples/README.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(name);
            } else if Path::new(&name).extension().is_some_and(|it| it == "md") {
                names.push(name);
            }
        }
    }
    names.sort();
    names.into_iter().map(|name| (name.clone(), page(&name))).collect()
}

/// The fenced blocks of one kind, in order.
pub(crate) fn blocks<'a>(page: &'a str, kind: &str) -> Vec<&'a str> {
    let fence = format!("\n```{kind}\n");
    let fenced = page.split(&fence).skip(1);
    fenced.map(|rest| rest.split("\n```").next().unwrap()).collect()
}
