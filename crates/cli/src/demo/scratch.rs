//! Scratch project of the demo.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use materia_app::Typed;
use serde_json::Value;

use crate::cast_id;
use crate::failure::Failure;
use crate::typed_path;

/// The loadout, as it is written into the project.
const LOADOUT_TEXT: &str = include_str!("loadout.json");
/// Answers of the agents.
const SCRIPT_TEXT: &str = include_str!("script.json");
/// The file that the answers are written to.
pub(super) const SCRIPT: &str = "script.json";
/// The name under which the loadout calls this program.
const OWN_NAME: &str = "/proc/self/exe";

/// Makes the folder: a new one, or the one that was named if nothing is in it.
pub(super) fn make(wanted: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(wanted) = wanted else {
        let folder = std::env::temp_dir().join(format!("materia-demo-{}", cast_id::fresh()));
        // It must be ours: a folder that is already there is refused.
        let made = fs::DirBuilder::new().mode(0o700).create(&folder);
        return made
            .and_then(|()| folder.canonicalize())
            .map_err(|error| unusable(&folder, &error));
    };
    let made = Typed::find(wanted, Path::new(".")).and_then(|typed| typed.make_folder());
    let made = made.map_err(|error| unusable(wanted, &error))?;
    if !made.names().map_err(|error| unusable(wanted, &error))?.is_empty() {
        return Err(Failure::usage(format!(
            "`{}` is not empty; the demo wants an empty or a new folder",
            wanted.display()
        )));
    }
    wanted.canonicalize().map_err(|error| unusable(wanted, &error))
}

/// For whom the demo is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// A person at a terminal.
    Terminal,
    /// A person at the page, who is asked once before something runs.
    Page,
    /// No person: the agents answer at once.
    Nobody,
}

/// Prefix of lines in the loadout that only the page uses.
const FOR_PAGE: &str = "//page ";
/// How much longer agents take where a person looks at the page: there is more to see.
const PAGE_PACE: u64 = 2;

/// Writes what the project starts with.
pub(super) fn fill(folder: &Path, audience: Audience) -> Result<(), Failure> {
    let files = [
        ("materia.json", loadout(audience)?),
        (SCRIPT, script(audience)),
        ("greet.sh", "#!/bin/sh\necho \"Hello, world!\"\n".to_owned()),
        (".gitignore", ".materia/\n".to_owned()),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        typed_path::write(&path, text.as_bytes(), true)?;
    }
    Ok(())
}

/// The loadout calls this program by a name that stays right when the file is moved; where the
/// system has no such name, by its path.
fn loadout(audience: Audience) -> Result<String, Failure> {
    let text = LOADOUT_TEXT.lines().filter_map(|line| match line.split_once(FOR_PAGE) {
        Some((before, rest)) => (audience == Audience::Page).then(|| format!("{before}{rest}\n")),
        None => Some(format!("{line}\n")),
    });
    let text: String = text.collect();
    if Path::new(OWN_NAME).exists() {
        return Ok(text);
    }
    let own = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program: {error}")))?;
    let own = Value::from(own.to_string_lossy()).to_string();
    Ok(text.replace(&format!("\"{OWN_NAME}\""), &own))
}

/// The answers are delayed so that a person can watch; a test has no delays.
fn script(audience: Audience) -> String {
    let line = |line: &str| {
        let delay = line.trim_start().strip_prefix("\"delayMs\": ");
        match (delay.map(|rest| rest.trim_end_matches(',').parse::<u64>()), audience) {
            (Some(_), Audience::Nobody) => None,
            (Some(Ok(delay)), Audience::Page) => {
                Some(format!("        \"delayMs\": {},\n", delay * PAGE_PACE))
            }
            (Some(_) | None, _) => Some(format!("{line}\n")),
        }
    };
    SCRIPT_TEXT.lines().filter_map(line).collect()
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::storage(format!("`{}` cannot be used: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(script: &materia_contract::script::Script) -> u64 {
        script.turns.values().flatten().map(|answer| answer.delay_ms.unwrap_or(0)).sum()
    }

    #[test]
    fn only_the_page_asks_before_it_publishes() {
        let at_terminal = loadout(Audience::Terminal).unwrap();
        assert!(!at_terminal.contains("Publish") && !at_terminal.contains("page"), "{at_terminal}");
        let at_page = loadout(Audience::Page).unwrap();
        assert!(at_page.contains(r#""Socket-5": { "materia": "Publish", "approval": "before" }"#));
        assert!(!at_page.contains(FOR_PAGE), "{at_page}");
    }

    #[test]
    fn a_person_can_watch_and_need_not_wait_long() {
        let script: materia_contract::script::Script =
            serde_json::from_str(&script(Audience::Terminal)).unwrap();
        assert!((3_000..8_000).contains(&total(&script)), "{} ms", total(&script));
        let slower: materia_contract::script::Script =
            serde_json::from_str(&super::script(Audience::Page)).unwrap();
        assert!((10_000..25_000).contains(&total(&slower)), "{} ms", total(&slower));
    }

    #[test]
    fn an_answer_without_delay_is_still_a_script() {
        let quick = script(Audience::Nobody);
        let script: materia_contract::script::Script = serde_json::from_str(&quick).unwrap();
        assert_eq!(script.turns["Build"].len(), 4);
        assert!(script.turns["Build"].iter().all(|answer| answer.delay_ms.is_none()));
    }
}
