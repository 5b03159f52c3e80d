//! Configurations to start from.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use materia_contract::WorkspaceKind;
use materia_safe_fs::Typed;
use serde_json::json;

use crate::{Failure, Result};

/// The file that a project's configuration begins in.
pub const PROJECT_FILE: &str = "materia.json";

/// Files in which a project may have its configuration already.
const PROJECT_FILES: [&str; 3] = [PROJECT_FILE, ".materia/materia.json", ".pi/pi-materia.json"];

/// A configuration to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Its name.
    pub name: &'static str,
    /// Description in a few words.
    pub about: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them, the smallest first.
pub const TEMPLATES: [Template; 6] = [
    Template {
        name: "hello",
        about: "one program: the smallest loadout",
        text: include_str!("templates/hello.json"),
    },
    Template {
        name: "test-and-fix",
        about: "runs the tests; an agent fixes what fails, at most five times",
        text: include_str!("templates/test-and-fix.json"),
    },
    Template {
        name: "plan-build-review",
        about: "plans work items, then builds and reviews each of them",
        text: include_str!("templates/plan-build-review.json"),
    },
    Template {
        name: "fan-out-review",
        about: "three reviewers at once, a join, one summary",
        text: include_str!("templates/fan-out-review.json"),
    },
    Template {
        name: "watch",
        about: "looks every ten minutes, and into what is wrong",
        text: include_str!("templates/watch.json"),
    },
    Template {
        name: "release-with-approval",
        about: "tests, writes notes, asks a person, releases",
        text: include_str!("templates/release-with-approval.json"),
    },
];

/// Finds one by its name.
pub fn find(name: &str) -> Result<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == name).ok_or_else(|| {
        let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        let help = materia_compiler::did_you_mean(name, names, "templates");
        Failure::usage(format!("there is no template `{name}`; {help}"))
    })
}

/// Writes a template into a project that has no configuration yet, with the `workspace` setting where one is given.
/// An existing configuration is never touched.
pub fn write(
    folder: &Path,
    template: &Template,
    workspace: Option<WorkspaceKind>,
) -> Result<PathBuf> {
    let there = PROJECT_FILES.iter().find(|name| folder.join(name).symlink_metadata().is_ok());
    if let Some(name) = there {
        return Err(Failure::resolution(format!("`{name}` exists already and was not changed")));
    }
    let path = folder.join(PROJECT_FILE);
    let text = match workspace {
        Some(kind) => materia_compiler::edit::set(template.text, "workspace", &json!(kind))
            .map_err(|error| {
                Failure::resolution(format!("the template cannot take it: {error}"))
            })?,
        None => template.text.to_owned(),
    };
    let written = Typed::find(&path, folder).and_then(|typed| typed.write(text.as_bytes(), false));
    match written {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(Failure::resolution(format!("`{PROJECT_FILE}` exists already and was not changed")))
        }
        Err(error) => Err(Failure::storage(format!("cannot write `{}`: {error}", path.display()))),
    }
}
