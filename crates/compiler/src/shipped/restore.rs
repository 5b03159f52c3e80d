//! The scripts of a cast that goes on: its plan names files of the profile, which may have changed.

use std::path::Path;

use materia_contract::{Behavior, Plan};

use super::utilities::read;
use super::{RUNTIME, SCRIPTS, Script, ScriptStore, SyncError, sync};
use crate::files::hash;

/// Makes sure that the shipped scripts a plan names are what some version of the program put there.
///
/// A file that is missing is written again, if this version keeps the script under that name.
pub fn restore(shelf: &ScriptStore, plan: &Plan) -> Result<(), SyncError> {
    for node in plan.nodes.values() {
        let Behavior::Utility { command, .. } = &node.behavior else { continue };
        let [runtime, path] = command.as_slice() else { continue };
        let path = Path::new(path);
        if runtime == RUNTIME && shelf.has(path) {
            check(&shelf.again(), path)?;
        }
    }
    Ok(())
}

fn check(shelf: &ScriptStore, path: &Path) -> Result<(), SyncError> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let script = SCRIPTS.iter().find(|script| is_copy_of(script, &file));
    let found = read(path).ok().flatten().map(|bytes| hash(&bytes));
    if let (None, Some(script)) = (&found, script)
        && shelf.path(script) == path
    {
        return sync(shelf, &[script]);
    }
    if found.is_some() && script.is_some_and(|script| shelf.path(script) == path) {
        // Changed or not, it is the copy that runs (D53).
        return Ok(());
    }
    let unchanged = found.is_some_and(|found| {
        shelf.manifest.written.get(&file) == Some(&found)
            || script.is_some_and(|script| script.hash() == found)
    });
    if unchanged { Ok(()) } else { Err(SyncError::Changed { path: path.to_owned() }) }
}

/// Whether a file bears the script's name, or that with a hash in it.
fn is_copy_of(script: &Script, file: &str) -> bool {
    let (stem, extension) = script.name.rsplit_once('.').unwrap_or((script.name, ""));
    let rest = file.strip_prefix(stem).and_then(|rest| rest.strip_suffix(extension));
    rest.is_some_and(|rest| rest.starts_with('.'))
}
