//! Facts that a person approves, each with a hash of its content.

use materia_compiler::{Part, PartKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much of a piece is kept, so that it can be said later what has changed.
const SHOWN_CHARS_MAX: usize = 6_000;

/// Kind of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A materia of the project.
    Materia,
    /// A graph of the project.
    Loadout,
    /// How the project has an agent started.
    Agent,
    /// Another setting of the project.
    Setting,
    /// A file of the project that a program runs.
    File,
    /// A file of the project that agents read.
    AgentFile,
    /// The list of these files.
    AgentFiles,
    /// A cast: its plan, its folders, its mode.
    Cast,
    /// The script that answers the agents of a cast.
    Answers,
    /// A folder of conformance cases.
    Cases,
    /// An entry of an older version. It approves nothing.
    #[serde(other)]
    Other,
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Materia => "materia",
            Self::Loadout => "loadout",
            Self::Agent => "agent",
            Self::Setting => "setting",
            Self::File => "file",
            Self::AgentFile => "agents' file",
            Self::AgentFiles => "list",
            Self::Cast => "cast",
            Self::Answers => "script of answers",
            Self::Cases => "cases",
            Self::Other => "other",
        }
    }
}

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// A hash over what it says.
    pub(super) hash: String,
    /// Text of it, line by line, up to the limit.
    pub(super) shown: String,
}

impl Fact {
    pub(super) fn new(kind: Kind, name: &str, hash: String, shown: &str) -> Self {
        let shown = shown.chars().take(SHOWN_CHARS_MAX).collect();
        Self { kind, name: name.to_owned(), hash, shown }
    }

    /// Whether both approve the same.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.kind, &self.name, &self.hash) == (other.kind, &other.name, &other.hash)
    }

    /// A part of the project's configuration.
    pub(super) fn part(part: &Part) -> Self {
        let kind = match part.kind {
            PartKind::Materia => Kind::Materia,
            PartKind::Loadout => Kind::Loadout,
            PartKind::Agent => Kind::Agent,
            PartKind::Setting => Kind::Setting,
        };
        Self::new(kind, &part.name, part.hash(), &lines(&part.content))
    }

    /// Tells what it approves, so that questions about different things have different names.
    pub(super) fn identify(&self, hasher: &mut blake3::Hasher) {
        for part in [self.kind.word(), &self.name, &self.hash] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
}

/// A value line by line: each leaf with the way to it, each line of a text by itself.
pub(super) fn lines(value: &Value) -> String {
    let mut lines = Vec::new();
    walk(value, &mut String::new(), &mut lines);
    lines.join("\n")
}

fn walk(value: &Value, way: &mut String, lines: &mut Vec<String>) {
    let length = way.len();
    let mut inside = |step: &str, value: &Value| {
        if length > 0 {
            way.push('.');
        }
        way.push_str(step);
        walk(value, way, lines);
        way.truncate(length);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| inside(name, value)),
        // A command is read as a whole.
        Value::Array(list) if list.iter().any(|one| one.is_object() || one.is_array()) => {
            list.iter().enumerate().for_each(|(at, value)| inside(&at.to_string(), value));
        }
        Value::String(text) => lines.extend(text.lines().map(|line| format!("{way}: {line}"))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            lines.push(format!("{way}: {value}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_told_leaf_by_leaf_and_a_text_line_by_line() {
        let value = json!({ "prompt": "one\ntwo", "tools": ["Bash"], "a": [{ "b": 1 }] });
        assert_eq!(lines(&value), "prompt: one\nprompt: two\ntools: [\"Bash\"]\na.0.b: 1");
        assert_eq!(lines(&json!("docs")), ": docs");
    }
}
