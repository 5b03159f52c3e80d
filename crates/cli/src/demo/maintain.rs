//! The checkpoint utility of the demo: JSON in, JSON out, like any other utility.

use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use super::git::Git;
use crate::failure::{Ended, Exit, Failure};
use crate::terminal::Terminal;

/// The most that is read of the input.
const INPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Reads what the cast gives it, commits, and says what it did.
pub(crate) fn maintain(terminal: &mut Terminal) -> Ended {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    let given: Value = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("this is the utility of `materia demo`; its input is JSON: {error}"))
    })?;
    let Some(cwd) = given["cwd"].as_str() else {
        return Err(Failure::usage("the input has no `cwd`"));
    };
    let named = |name: &str| given[name].as_str().unwrap_or_default();
    let title = format!("{}: {}", named("itemKey"), named("itemLabel"));
    let answer = match checkpoint(Path::new(cwd), &title) {
        Ok(commit) => {
            let mut all = given["state"]["checkpoints"].as_array().cloned().unwrap_or_default();
            all.push(json!({ "item": given["itemKey"], "commit": commit }));
            let context = format!("Committed {commit} for {title}.");
            json!({ "satisfied": true, "context": context, "state": { "checkpoints": all } })
        }
        // A missing checkpoint is no reason to stop: the work itself is there.
        Err(why) => json!({ "satisfied": false, "context": format!("No checkpoint: {why}.") }),
    };
    terminal.data(&answer)?;
    Ok(Exit::Done)
}

fn checkpoint(project: &Path, title: &str) -> Result<String, String> {
    let git = Git::at(project);
    if !git.has_repository() {
        return Err("the project is no git repository".to_owned());
    }
    git.commit_all(title).map_err(|error| error.to_string())
}
