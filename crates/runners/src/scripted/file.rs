//! Reads scripts, and says which of their lists answers which node.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use materia_contract::script::Script;
use materia_contract::{Behavior, Plan, ScriptBinding};

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
    /// It is no script.
    #[error("the script {}:{line}:{column} is not valid: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
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
    serde_json::from_slice(&bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        // The place is a field of its own here.
        let place = format!(" at line {line} column {column}");
        let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
        ScriptError::Invalid { path: path.to_owned(), line, column, message }
    })
}

/// Says which list of `script` answers each agent node of `plan`.
///
/// The node's own id wins over the name of its materia. Nodes for which the script has neither
/// are left out: their turns fail when they come, not before.
#[must_use]
pub fn bind(script: &Script, path: &str, plan: &Plan) -> ScriptBinding {
    let keys = plan.nodes.iter().filter_map(|(id, node)| match node.behavior {
        Behavior::Agent { .. } => [id.as_str(), &node.materia]
            .into_iter()
            .find(|key| script.turns.contains_key(*key))
            .map(|key| (id.clone(), key.to_owned())),
        Behavior::Utility { .. } => None,
    });
    ScriptBinding { path: path.to_owned(), keys: keys.collect() }
}

/// The keys of `script` that name neither a node of `plan` nor the materia of one.
#[must_use]
pub fn unmatched_keys(script: &Script, plan: &Plan) -> Vec<String> {
    let known =
        |key: &str| plan.node(key).is_some() || plan.nodes.values().any(|n| n.materia == key);
    script.turns.keys().filter(|key| !known(key)).cloned().collect()
}
