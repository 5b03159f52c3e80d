//! Builds plans from a loaded configuration: each loadout gives a plan or faults.
//!
//! Building and checking are one pass, over parsed parts and never over raw text.
//!
//! The order within a loadout: its loops, because they determine which sockets advance; its sockets with their edges;
//! then checks of the whole graph. A fault in one part suppresses faults that only follow from it.

mod active;
mod advance;
mod advances;
mod agent;
mod built;
mod cycle;
mod delivery;
mod edge;
mod empty_socket;
mod graph;
mod loadout;
mod materia;
mod paths;
mod program;
mod prompt_text;
mod region;
mod script;
mod socket;
mod target;
pub(crate) mod ways;

use std::collections::HashMap;
use std::path::PathBuf;

use materia_contract::{Finding, Loadout, Plan, WorkspaceKind};

pub use agent::agent_findings;
pub use prompt_text::of_layer as words_of_layer;

use crate::fault::{Fault, Faults};
use crate::layers::Loaded;
use crate::locate::{pointer, push_step};
use crate::project::{artifact_dir, check_folders, workspace};
use crate::suggest::did_you_mean;
use active::Choice;
use built::Built;

pub use active::active_loadout;
pub use script::needed as needed_scripts;

/// The longest time limit: a week.
const TIMEOUT_MS_MAX: u64 = 7 * 24 * 60 * 60 * 1000;

/// One loadout, ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// Plan of a run.
    pub plan: Plan,
    /// The folder that casts are kept in, absolute.
    pub artifact_dir: PathBuf,
    /// Where its turns work, as the loadout or the configuration says.
    pub workspace: WorkspaceKind,
    /// Whether the configuration chose the loadout, not the caller.
    pub by_choice: bool,
}

/// A value in one layer's document.
#[derive(Debug, Clone)]
struct Place {
    layer: usize,
    pointer: String,
}

impl Place {
    /// Where the named materia or loadout is written.
    fn of(loaded: &Loaded, kind: &str, name: &str) -> Self {
        let pointer = pointer([kind, name]);
        Self { layer: loaded.origins.of(&pointer).unwrap_or_default(), pointer }
    }

    fn child(&self, step: &str) -> Self {
        let mut pointer = self.pointer.clone();
        push_step(&mut pointer, step);
        Self { layer: self.layer, pointer }
    }

    /// The socket that it belongs to, if it is a part of one.
    fn socket(&self) -> Option<String> {
        let mut steps = self.pointer.split('/').skip_while(|step| *step != "sockets").skip(1);
        steps.next().map(|step| step.replace("~1", "/").replace("~0", "~"))
    }

    fn mark(&self, fault: Fault) -> Fault {
        fault.at(self.layer, &self.pointer)
    }

    /// The place for people: the file, and where in it.
    fn shown(&self, loaded: &Loaded) -> String {
        let file = loaded.layers.get(self.layer).map_or("", |layer| layer.shown.as_str());
        format!("{file}#{}", self.pointer)
    }

    /// Whether the whole value was replaced, so that nothing of it is the author's.
    fn is_replaced(&self, loaded: &Loaded) -> bool {
        loaded.layers.get(self.layer).is_some_and(|layer| layer.is_replaced(&self.pointer))
    }

    /// Whether the value, a part of it or something around it was replaced: then what is
    /// missing here may have been written, only not in a form that could be read.
    fn is_mended(&self, loaded: &Loaded) -> bool {
        loaded.layers.get(self.layer).is_some_and(|layer| layer.is_mended(&self.pointer))
    }
}

/// Checks every loadout and every materia.
pub fn check(loaded: &Loaded) -> Vec<Finding> {
    let mut faults = Faults::default();
    check_folders(loaded, &mut faults);
    agent::declared(loaded, &mut faults);
    agent::preferred(loaded, &mut faults);
    if let Some(name) = &loaded.config.active_loadout {
        active(loaded, name, &mut faults);
    }
    let names = loaded.config.materia.keys().map(String::as_str);
    let built = build_all(loaded, names, &mut faults);
    for (name, loadout) in &loaded.config.loadouts {
        let plan = loadout::build(loaded, name, loadout, &built, &mut faults);
        if let Some((plan, chosen)) = plan.zip(loaded.config.provider.as_deref()) {
            agent::plan(loaded, &plan, Some(chosen), &mut faults);
        }
    }
    faults.place(&loaded.layers)
}

/// Compiles the named loadout, or the active one.
///
/// There is a result exactly if no finding is an error. Faults of other loadouts are not
/// looked for; errors of [`load`](crate::load) refuse here too.
pub fn compile(loaded: &Loaded, loadout: Option<&str>) -> (Option<Compiled>, Vec<Finding>) {
    let mut faults = Faults::default();
    check_folders(loaded, &mut faults);
    agent::declared(loaded, &mut faults);
    let wanted_by_nobody = loadout.is_none();
    let compiled = choose(loaded, loadout, &mut faults).and_then(|(name, loadout)| {
        let used = loadout.sockets.values().filter_map(|socket| socket.materia.as_deref());
        let built = build_all(loaded, used, &mut faults);
        let plan = loadout::build(loaded, name, loadout, &built, &mut faults)?;
        let by_choice = wanted_by_nobody;
        let workspace = workspace(loaded, [loadout]);
        Some(Compiled { plan, artifact_dir: artifact_dir(loaded), workspace, by_choice })
    });
    if loaded.errors > 0 && faults.errors() == 0 {
        let message = "the configuration has errors, so nothing can be cast from it";
        faults.push(Fault::error("config::broken", message).help("`materia check` lists them"));
    }
    let compiled = compiled.filter(|_| faults.errors() == 0);
    (compiled, faults.place(&loaded.layers))
}

/// Builds several loadouts; a materia that more than one of them uses is checked once.
pub(crate) fn build_each(
    loaded: &Loaded,
    loadouts: &[(&str, &Loadout)],
    faults: &mut Faults,
) -> Vec<Option<Plan>> {
    let sockets = loadouts.iter().flat_map(|(_, loadout)| loadout.sockets.values());
    let built = build_all(loaded, sockets.filter_map(|one| one.materia.as_deref()), faults);
    let plans = loadouts.iter();
    plans.map(|(name, loadout)| loadout::build(loaded, name, loadout, &built, faults)).collect()
}

fn build_all<'a>(
    loaded: &'a Loaded,
    names: impl Iterator<Item = &'a str>,
    faults: &mut Faults,
) -> HashMap<&'a str, Built<'a>> {
    let mut built = HashMap::new();
    for name in names {
        if let Some(doc) = loaded.config.materia.get(name)
            && !built.contains_key(name)
        {
            built.insert(name, materia::build(loaded, name, doc, faults));
        }
    }
    built
}

fn choose<'a>(
    loaded: &'a Loaded,
    wanted: Option<&str>,
    faults: &mut Faults,
) -> Option<(&'a str, &'a Loadout)> {
    let loadouts = &loaded.config.loadouts;
    if let Some(name) = wanted {
        let found = loadouts.get_key_value(name);
        if found.is_none() {
            faults.push(unknown_loadout(loaded, name));
        }
        return found.map(|(name, loadout)| (name.as_str(), loadout));
    }
    match active::choose(loaded) {
        Choice::Named(name) => active(loaded, name, faults),
        // The loadouts, or the choice, may stand in what could not be read.
        Choice::Open(_) if loaded.errors > 0 => None,
        Choice::Open(names) => {
            let message = format!("there are {} loadouts and none is chosen", names.len());
            let names: Vec<&str> = names.into_iter().take(8).collect();
            let help = format!("name one with --loadout or `activeLoadout`: {}", names.join(", "));
            faults.push(Fault::error("config::no-active-loadout", message).help(help));
            None
        }
    }
}

fn active<'a>(
    loaded: &'a Loaded,
    name: &str,
    faults: &mut Faults,
) -> Option<(&'a str, &'a Loadout)> {
    let found = loaded.config.loadouts.get_key_value(name);
    if found.is_none() {
        let fault = unknown_loadout(loaded, name);
        faults.push(match loaded.origins.of("/activeLoadout") {
            Some(layer) => fault.at(layer, "/activeLoadout"),
            None => fault,
        });
    }
    found.map(|(name, loadout)| (name.as_str(), loadout))
}

fn unknown_loadout(loaded: &Loaded, name: &str) -> Fault {
    let known = loaded.config.loadouts.keys().map(String::as_str);
    Fault::error("config::unknown-loadout", format!("there is no loadout `{name}`"))
        .help(did_you_mean(name, known, "loadouts"))
}
