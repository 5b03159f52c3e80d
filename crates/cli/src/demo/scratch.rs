//! The scratch project of the demo.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::castid;
use crate::failure::Failure;

/// The loadout, as it is written into the project.
const LOADOUT_TEXT: &str = include_str!("loadout.json");
/// What the agents answer.
const SCRIPT_TEXT: &str = include_str!("script.json");
/// The file that the answers are written to.
pub(super) const SCRIPT: &str = "script.json";
/// The name under which the loadout calls this program.
const OWN_NAME: &str = "/proc/self/exe";

/// Makes the folder: a new one, or the one that was named if nothing is in it.
pub(super) fn make(wanted: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(wanted) = wanted else {
        let folder = std::env::temp_dir().join(format!("materia-demo-{}", castid::fresh()));
        // It must be ours: a folder that is already there is refused.
        let made = fs::DirBuilder::new().mode(0o700).create(&folder);
        return made
            .and_then(|()| folder.canonicalize())
            .map_err(|error| unusable(&folder, &error));
    };
    match fs::read_dir(wanted) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(Failure::usage(format!(
                    "`{}` is not empty; the demo wants an empty or a new folder",
                    wanted.display()
                )));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(wanted).map_err(|error| unusable(wanted, &error))?;
        }
        Err(error) => return Err(unusable(wanted, &error)),
    }
    wanted.canonicalize().map_err(|error| unusable(wanted, &error))
}

/// Writes what the project starts with.
pub(super) fn fill(folder: &Path, at_once: bool) -> Result<(), Failure> {
    let files = [
        ("materia.json", loadout()?),
        (SCRIPT, script(at_once)),
        ("greet.sh", "#!/bin/sh\necho \"Hello, world!\"\n".to_owned()),
        (".gitignore", ".materia/\n".to_owned()),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| unusable(&path, &error))?;
    }
    Ok(())
}

/// The loadout calls this program by a name that stays right when the file is moved; where the
/// system has no such name, by its path.
fn loadout() -> Result<String, Failure> {
    if Path::new(OWN_NAME).exists() {
        return Ok(LOADOUT_TEXT.to_owned());
    }
    let own = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program: {error}")))?;
    let own = Value::from(own.to_string_lossy()).to_string();
    Ok(LOADOUT_TEXT.replace(&format!("\"{OWN_NAME}\""), &own))
}

/// The answers take their time, so that a person can watch; nobody watches a test.
fn script(at_once: bool) -> String {
    let kept = |line: &&str| !at_once || !line.trim_start().starts_with("\"delayMs\"");
    let lines = SCRIPT_TEXT.lines().filter(kept);
    lines.fold(String::new(), |text, line| text + line + "\n")
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::storage(format!("`{}` cannot be used: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_can_watch_and_need_not_wait_long() {
        let script: materia_contract::script::Script =
            serde_json::from_str(&script(false)).unwrap();
        let answers = script.turns.values().flatten();
        let total: u64 = answers.map(|answer| answer.delay_ms.unwrap_or(0)).sum();
        assert!((3_000..8_000).contains(&total), "{total} ms");
    }

    #[test]
    fn an_answer_without_delay_is_still_a_script() {
        let quick = script(true);
        let script: materia_contract::script::Script = serde_json::from_str(&quick).unwrap();
        assert_eq!(script.turns["Build"].len(), 4);
        assert!(script.turns["Build"].iter().all(|answer| answer.delay_ms.is_none()));
    }
}
