//! Shipped utilities: from the name of a script to a command.

use materia_contract::{Extra, Node, Plan, ScriptLocator};

use super::Place;
use crate::command::is_program;
use crate::fault::{Fault, Faults};
use crate::layers::{LayerKind, Loaded};
use crate::shipped::{self, RUNTIME, SCRIPTS, Script};
use crate::suggest::did_you_mean;

/// The command that a script locator stands for: the runtime and the copy in the profile.
///
/// The copy need not exist yet: the caller runs [`shipped::sync`] before it starts the command.
pub(super) fn argv(
    loaded: &Loaded,
    name: &str,
    locator: &ScriptLocator,
    place: &Place,
    faults: &mut Faults,
) -> Option<Vec<String>> {
    if place.is_mended(loaded) {
        return None;
    }
    let script = find(&locator.name, &place.child("name"), faults);
    let runtime = locator.runtime.as_deref().unwrap_or(RUNTIME);
    if runtime != RUNTIME {
        let message = format!("the script of utility `{name}` cannot be run by `{runtime}`");
        let fault = place.child("runtime").mark(Fault::error("utility::unknown-runtime", message));
        faults.push(fault.help(format!("shipped scripts are run by `{RUNTIME}`; leave it out")));
        return None;
    }
    // A cast without the runtime is refused; here it is worth a word only to who wrote the file.
    let own = loaded.layers.get(place.layer).is_some_and(|one| one.kind != LayerKind::Shipped);
    if own && !is_program(RUNTIME) {
        let message = format!("the program `{RUNTIME}` of utility `{name}` was not found");
        let fault = place.mark(Fault::warning("utility::program-missing", message));
        faults.push(fault.help("install Node.js, or put its folder on PATH"));
    }
    let script = script?;
    let path = loaded.shelf().map_or_else(|| script.name.into(), |shelf| shelf.path(script));
    let Ok(path) = path.into_os_string().into_string() else {
        let message =
            "the profile folder has a name that is not UTF-8, so no script in it can be named";
        let fault = place.mark(Fault::error("config::not-utf8", message));
        faults.push(fault.help("name another one with MATERIA_PROFILE_DIR"));
        return None;
    };
    Some(vec![RUNTIME.to_owned(), path])
}

fn find(name: &str, place: &Place, faults: &mut Faults) -> Option<&'static Script> {
    let found = shipped::script(name);
    if found.is_some() {
        return found;
    }
    let fault = if let Some(fault) = obsolete(name) {
        fault
    } else if name.contains(['/', '\\']) || name == ".." || name.is_empty() {
        let message = format!("`{name}` is not the name of a shipped script: it has a path in it");
        let help = "write the file name alone; a script of your own is run by `command`";
        Fault::error("utility::bad-script", message).help(help)
    } else {
        let known = SCRIPTS.iter().map(|script| script.name);
        let help = did_you_mean(name, known, "shipped scripts");
        let message = format!("there is no shipped script `{name}`");
        Fault::error("utility::unknown-script", message).help(help)
    };
    faults.push(place.mark(fault));
    None
}

/// Fault for a name that a shipped utility had in the original system (U16).
pub(super) fn obsolete(name: &str) -> Option<Fault> {
    let current = shipped::current_name(name)?;
    let message = format!("`{name}` is an obsolete name: this utility is called `{current}` now");
    let help = format!("name the materia `{current}` in a socket; it is shipped");
    Some(Fault::error("utility::obsolete", message).help(help))
}

/// Fault for the field `utility`, with which the original system named built-in utilities.
pub(super) fn alias(extra: &Extra, owner: &Place) -> Option<Fault> {
    let name = extra.get("utility")?.as_str()?;
    obsolete(name).map(|fault| owner.child("utility").mark(fault))
}

/// The shipped script that a node runs.
pub(crate) fn of_node(loaded: &Loaded, node: &Node) -> Option<&'static Script> {
    let locator = loaded.config.materia.get(&node.materia)?.script.as_ref()?;
    shipped::script(&locator.name)
}

/// The shipped scripts that a plan runs, each once. They must be in the profile before it does.
pub fn needed(loaded: &Loaded, plan: &Plan) -> Vec<&'static Script> {
    let mut needed: Vec<&Script> = Vec::new();
    for script in plan.nodes.values().filter_map(|node| of_node(loaded, node)) {
        if !needed.contains(&script) {
            needed.push(script);
        }
    }
    needed
}
