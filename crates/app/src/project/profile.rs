//! Shipped utilities in the user's profile: there before anything runs, or a refusal that says why.

use std::path::Path;

use materia_compiler::shipped::{self, RUNTIME, SCRIPTS, Script, ScriptStore};
use materia_contract::{Behavior, Plan};

use crate::Result;
use crate::failure::{Failure, Hint};

/// Makes sure that these scripts can be run: the runtime and the copies exist. A user's own version of a script gives
/// a warning (D53).
pub fn ready(
    shelf: Option<ScriptStore>,
    scripts: &[&'static Script],
    warnings: &mut Vec<String>,
) -> Result<()> {
    if scripts.is_empty() {
        return Ok(());
    }
    if !shipped::has_runtime() {
        return Err(Failure::resolution(format!(
            "the shipped utilities need Node.js, and there is no `{RUNTIME}` on PATH (needed here: {}); install it, or use a loadout without them",
            names(scripts)
        )));
    }
    let Some(shelf) = shelf else {
        return Err(Failure::storage(format!(
            "the shipped utilities are run from the profile folder, and none is known (needed here: {})",
            names(scripts)
        ))
        .hint(Hint::NameProfile));
    };
    shipped::sync(&shelf, scripts).map_err(|error| Failure::storage(error.to_string()))?;
    tell_of_own(&shelf, scripts.iter().copied(), warnings);
    Ok(())
}

/// Says which of these scripts are the user's own version.
fn tell_of_own<'a>(
    shelf: &ScriptStore,
    scripts: impl Iterator<Item = &'a Script>,
    warnings: &mut Vec<String>,
) {
    for script in scripts.filter(|script| shelf.is_changed(script)) {
        warnings.push(format!(
            "`{}` is your own version of a shipped utility, and it runs as it is; remove it to have the shipped one",
            shelf.path(script).display()
        ));
    }
}

/// Makes sure that what a cast runs is still what it was when it began.
pub fn still_ready(
    shelf: Option<ScriptStore>,
    plan: &Plan,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let Some(shelf) = shelf else { return Ok(()) };
    shipped::restore(&shelf, plan).map_err(|error| Failure::storage(error.to_string()))?;
    let runs = |script: &&Script| {
        let path = shelf.path(script);
        plan.nodes.values().any(|node| match &node.behavior {
            Behavior::Utility { command, .. } => command.iter().any(|word| path == Path::new(word)),
            Behavior::Agent { .. } => false,
        })
    };
    tell_of_own(&shelf, SCRIPTS.iter().filter(runs), warnings);
    Ok(())
}

fn names(scripts: &[&'static Script]) -> String {
    let names: Vec<&str> = scripts.iter().map(|script| script.name).collect();
    names.join(", ")
}
