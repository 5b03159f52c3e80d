//! Shipped materia, loadouts, and scripts of utilities.
//!
//! All of it is part of the binary. The documents are several files under `loadouts/`, with a file for each prompt,
//! and are merged into one here. The scripts are under `utilities/`; [`sync`] copies them into the user's profile,
//! where [`ScriptStore`] finds them.
//!
//! # Invariants
//!
//! * A shipped utility that runs is, byte for byte, the one in this binary, or a copy that a person changed (D53).
//!   Files that a person changed are never written to, nor is the original system's profile.
//! * Shipped things never change: a higher layer replaces a thing of the same name as a whole.
//!
//! Deliberately absent: running a script, and approvals, which shipped scripts do not need.

mod obsolete;
mod original;
mod restore;
mod script_store;
mod scripts;
mod sync;
mod utilities;

use std::sync::LazyLock;

use serde_json::{Map, Value};

pub use obsolete::current_name;
pub use restore::restore;
pub use script_store::{MANIFEST_FILE, ScriptStore};
pub use scripts::{RUNTIME, SCRIPTS, Script, has_runtime, script};
pub use sync::{SyncError, sync};
pub use utilities::UTILITIES_DIR;

/// The documents, the first of them first in every list.
const DOCUMENTS: [&str; 6] = [
    include_str!("../../../../loadouts/Full-Auto.json"),
    include_str!("../../../../loadouts/Planning-Consult.json"),
    include_str!("../../../../loadouts/Hojo-Consult.json"),
    include_str!("../../../../loadouts/Release.json"),
    include_str!("../../../../loadouts/agents.json"),
    include_str!("../../../../loadouts/utilities.json"),
];

/// Prompt of each agent.
const PROMPTS: [(&str, &str); 10] = [
    ("Auto-Plan", include_str!("../../../../loadouts/prompts/Auto-Plan.md")),
    // The name that the original's examples of links use.
    ("Planner", include_str!("../../../../loadouts/prompts/Auto-Plan.md")),
    ("Context-Check", include_str!("../../../../loadouts/prompts/Context-Check.md")),
    ("Interactive-Plan", include_str!("../../../../loadouts/prompts/Interactive-Plan.md")),
    ("Auto-Architect", include_str!("../../../../loadouts/prompts/Auto-Architect.md")),
    ("Build", include_str!("../../../../loadouts/prompts/Build.md")),
    ("Auto-Eval", include_str!("../../../../loadouts/prompts/Auto-Eval.md")),
    ("Maintain", include_str!("../../../../loadouts/prompts/Maintain.md")),
    ("Narrate", include_str!("../../../../loadouts/prompts/Narrate.md")),
    ("Chain-Context", include_str!("../../../../loadouts/prompts/Chain-Context.md")),
];

/// The shipped configuration as one text.
pub(crate) fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        serde_json::to_string_pretty(&document()).expect("a document is data and always renders")
    });
    &TEXT
}

/// The same, read anew. It has no faults, so nothing but the tests looks for any.
pub(crate) fn document() -> Map<String, Value> {
    let mut whole = Map::new();
    for text in DOCUMENTS {
        // A part that cannot be read would be missing; the tests of this module see to it.
        let part: Map<_, _> = serde_json::from_str(&without_comments(text)).unwrap_or_default();
        for (name, value) in part {
            match (whole.get_mut(&name), value) {
                _ if name == "$schema" => {}
                (Some(Value::Object(entries)), Value::Object(more)) => entries.extend(more),
                (_, value) => {
                    whole.insert(name, value);
                }
            }
        }
    }
    for (name, prompt) in PROMPTS {
        let materia = whole.get_mut("materia").and_then(|all| all.get_mut(name));
        if let Some(Value::Object(materia)) = materia {
            materia.insert("prompt".to_owned(), prompt.trim_end().into());
        }
    }
    whole
}

/// Our documents have comments on lines of their own alone. Without them they are plain JSON, which is read quicker.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_ascii_start().starts_with("//")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Faults;
    use crate::read;

    #[test]
    fn every_part_can_be_read_and_no_name_stands_twice() {
        let mut names = Vec::new();
        for text in DOCUMENTS {
            let mut faults = Faults::default();
            let part = read::document(text, 0, &mut faults).unwrap();
            assert_eq!(faults.placeless(), []);
            let quickly: Map<_, _> = serde_json::from_str(&without_comments(text)).unwrap();
            assert_eq!(quickly, part);
            for kind in ["loadouts", "materia"] {
                let entries = part.get(kind).and_then(Value::as_object);
                names.extend(entries.into_iter().flat_map(|map| map.keys().cloned()));
            }
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let whole = document();
        let size = |kind: &str| whole[kind].as_object().unwrap().len();
        assert_eq!((size("loadouts"), size("materia")), (4, 17));
        assert_eq!(whole["activeLoadout"], "Full-Auto");
    }

    #[test]
    fn every_agent_has_a_prompt_and_every_prompt_an_agent() {
        let whole = document();
        for (name, materia) in whole["materia"].as_object().unwrap() {
            let prompt = materia["prompt"].as_str().map(str::trim_end);
            let file = PROMPTS.iter().find(|(of, _)| of == name).map(|(_, text)| text.trim_end());
            assert_eq!(prompt, file, "{name}");
            assert_eq!(prompt.is_some(), materia.get("script").is_none(), "{name}");
        }
        for (name, _) in PROMPTS {
            assert!(whole["materia"].get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_utility_names_a_script_and_every_script_is_named() {
        let whole = document();
        let materia = whole["materia"].as_object().unwrap().values();
        let mut named: Vec<_> = materia.filter_map(|one| one["script"]["name"].as_str()).collect();
        let mut known: Vec<_> = SCRIPTS.iter().map(|script| script.name).collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
    }
}
