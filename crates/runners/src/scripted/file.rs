//! Reads scripts, and maps their lists to nodes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use materia_contract::TimelineEntry;
use materia_contract::number;
use materia_contract::script::{Answer, Script, UtilityAnswer};
use materia_contract::{Behavior, Plan, ScriptBinding};
use serde::Deserialize as _;
use serde_json::Value;

use super::json_error;

/// The largest script that is read, in bytes.
pub const SCRIPT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Why a script could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("the script {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is too large.
    #[error("the script {} is larger than {SCRIPT_BYTES_MAX} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Its timeline has something that does not belong there.
    #[error("the script {} is not valid: {message}", path.display())]
    Timeline {
        /// The file.
        path: PathBuf,
        /// Description of the error.
        message: String,
    },
    /// It is no script.
    #[error("the script {}:{line}:{column} is not valid: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// Description of the error.
        message: String,
    },
}

/// Reads a script.
pub fn load(path: &Path) -> Result<Script, ScriptError> {
    let unreadable = |source| ScriptError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    // The length is taken from what is read, for a pipe or a growing file has none to ask for.
    let mut file = File::open(path).map_err(unreadable)?.take(SCRIPT_BYTES_MAX + 1);
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > SCRIPT_BYTES_MAX {
        return Err(ScriptError::TooLarge { path: path.to_owned() });
    }
    // Some editors put a mark of three bytes before the text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    held(bytes, path)?;
    // A list would be read as the fields in their order.
    if bytes.trim_ascii_start().starts_with(b"[") {
        let message = "an object is needed here, not a list".to_owned();
        return Err(ScriptError::Invalid { path: path.to_owned(), line: 1, column: 1, message });
    }
    let script: Script = serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        // The place is a field of its own here.
        let place = format!(" at line {line} column {column}");
        let first = json_error::words(message.strip_suffix(&place).unwrap_or(&message));
        let message = all_at_once(bytes).unwrap_or(first);
        ScriptError::Invalid { path: path.to_owned(), line, column, message }
    })?;
    stray_fields(bytes, &script, path)?;
    Ok(script)
}

/// Every part of a script that cannot be read, with its place, where there are several.
fn all_at_once(bytes: &[u8]) -> Option<String> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) else { return None };
    let mut wrong = Vec::new();
    let mut look = |place: String, error: Option<serde_json::Error>| {
        wrong.extend(
            error.map(|error| format!("`{place}`: {}", json_error::words(&error.to_string()))),
        );
    };
    for (field, value) in &fields {
        match (field.as_str(), value) {
            ("turns" | "utilities", Value::Object(lists)) => {
                for (key, list) in lists {
                    let Value::Array(list) = list else {
                        look(format!("{field}.{key}"), Vec::<Value>::deserialize(list).err());
                        continue;
                    };
                    for (place, one) in list.iter().enumerate() {
                        let error = match field.as_str() {
                            "turns" => Answer::deserialize(one).err(),
                            _ => UtilityAnswer::deserialize(one).err(),
                        };
                        look(format!("{field}.{key}[{place}]"), error);
                    }
                }
            }
            ("timeline", Value::Array(list)) => {
                for (place, one) in list.iter().enumerate() {
                    look(format!("timeline[{place}]"), TimelineEntry::deserialize(one).err());
                }
            }
            (_, value) => {
                let alone = Value::Object([(field.clone(), value.clone())].into_iter().collect());
                look(field.clone(), Script::deserialize(alone).err());
            }
        }
    }
    (wrong.len() > 1).then(|| wrong.join("\n"))
}

/// An integer that the reader would round is refused with its place (D55). Bytes that are no text are
/// left to the reader, which says so.
fn held(bytes: &[u8], path: &Path) -> Result<(), ScriptError> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let Some(wide) = number::too_wide(text) else { return Ok(()) };
    let before = &text[..wide.offset];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    Err(ScriptError::Invalid {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before.len() - line_start + 1,
        message: format!("{wide}; write it as a string"),
    })
}

/// An entry of the timeline has the fields of what it does and no others.
fn stray_fields(bytes: &[u8], script: &Script, path: &Path) -> Result<(), ScriptError> {
    if script.timeline.is_empty() {
        return Ok(());
    }
    let written: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let mut stray = Vec::new();
    for (place, entry) in script.timeline.iter().enumerate() {
        let known = serde_json::to_value(entry).unwrap_or_default();
        let fields = written["timeline"][place].as_object();
        let more = fields
            .into_iter()
            .flatten()
            .filter(|(field, value)| known.get(*field).is_none() && !value.is_null());
        stray.extend(more.map(|(field, _)| {
            format!("entry {place} of the timeline has a field `{field}`, which it does not take")
        }));
    }
    if stray.is_empty() {
        return Ok(());
    }
    Err(ScriptError::Timeline { path: path.to_owned(), message: stray.join("\n") })
}

/// Says which list of `script` answers each node of `plan`.
///
/// The node's own id wins over the name of its materia. Agents for which the script has neither are left out: their
/// turns fail when they come, not before. Utilities that are left out run.
pub fn bind(script: &Script, path: &str, plan: &Plan) -> ScriptBinding {
    let keys = plan.nodes.iter().filter_map(|(id, node)| {
        let has = |key: &&str| match node.behavior {
            Behavior::Agent { .. } => script.turns.contains_key(*key),
            Behavior::Utility { .. } => script.utilities.contains_key(*key),
        };
        let key = [id.as_str(), &node.materia].into_iter().find(has)?;
        Some((id.clone(), key.to_owned()))
    });
    ScriptBinding { path: path.to_owned(), keys: keys.collect() }
}

/// The keys of `turns` that name neither a node of `plan` nor the materia of one.
pub fn unmatched_keys(script: &Script, plan: &Plan) -> Vec<String> {
    let known =
        |key: &str| plan.node(key).is_some() || plan.nodes.values().any(|n| n.materia == key);
    script.turns.keys().filter(|key| !known(key)).cloned().collect()
}
