//! What belongs to the project as a whole: where casts are kept, and what may be written.

use std::path::{Path, PathBuf};

use crate::command::stays_inside;
use crate::fault::{Fault, Faults};
use crate::layers::{LayerKind, Loaded};

const ARTIFACT_DIR_DEFAULT: &str = ".materia";
const DOC_ROOT_DEFAULT: &str = "docs";

/// The folder that casts are kept in, absolute. Where the configured one is refused, this is
/// the default: reading from there does no harm.
#[must_use]
pub fn artifact_dir(loaded: &Loaded) -> PathBuf {
    let configured = loaded.config.artifact_dir.as_deref();
    let configured = configured.filter(|dir| artifact_fault(loaded, dir).is_none());
    let path = loaded.project_dir.join(configured.unwrap_or(ARTIFACT_DIR_DEFAULT));
    path.components().collect()
}

/// The only folder that may be written to in Planning mode, relative to the project.
pub(crate) fn doc_root(loaded: &Loaded) -> String {
    loaded.config.doc_root.clone().unwrap_or_else(|| DOC_ROOT_DEFAULT.to_owned())
}

/// Checks the folders that the configuration names.
pub(crate) fn check_folders(loaded: &Loaded, faults: &mut Faults) {
    let notify = loaded.origins.of("/notify").and_then(|at| Some((at, loaded.layers.get(at)?)));
    if let Some((at, _)) = notify.filter(|(_, layer)| layer.kind != LayerKind::Profile) {
        let message = "`notify` counts in your own profile only, and not in this file";
        let fault = Fault::warning("config::notify", message).help("move it to your profile");
        faults.push(fault.at_key(at, "/notify"));
    }
    if let Some(dir) = &loaded.config.artifact_dir
        && let Some(fault) = artifact_fault(loaded, dir)
    {
        faults.push(place(loaded, fault, "/artifactDir"));
    }
    if let Some(dir) = &loaded.config.doc_root
        && let Some(what) = outside(&loaded.project_dir, dir)
    {
        let fault = Fault::error("config::doc-root", format!("`docRoot` {what}"))
            .help("name a folder inside the project, such as `docs`");
        faults.push(place(loaded, fault, "/docRoot"));
    }
}

fn place(loaded: &Loaded, fault: Fault, pointer: &str) -> Fault {
    match loaded.origins.of(pointer) {
        Some(layer) => fault.at(layer, pointer),
        None => fault,
    }
}

/// A project may not make the program write elsewhere; its user may.
fn artifact_fault(loaded: &Loaded, dir: &str) -> Option<Fault> {
    let layer = loaded.origins.of("/artifactDir").and_then(|layer| loaded.layers.get(layer));
    let from_project = layer.is_some_and(|layer| layer.kind == LayerKind::Project);
    let what = if from_project {
        outside(&loaded.project_dir, dir)?
    } else if dir.is_empty() {
        "is empty"
    } else if dir.contains('\0') {
        "holds a NUL character"
    } else {
        return None;
    };
    let help = if from_project {
        "name a folder inside the project; only your own profile or a file you name may say otherwise"
    } else {
        "name a folder, such as `.materia`"
    };
    Some(Fault::error("config::artifact-dir", format!("`artifactDir` {what}")).help(help))
}

/// What is wrong with a folder that has to lie inside the project.
fn outside(project: &Path, dir: &str) -> Option<&'static str> {
    let path = Path::new(dir);
    if dir.is_empty() {
        Some("is empty")
    } else if dir.contains('\0') {
        Some("holds a NUL character")
    } else if path.is_absolute() {
        Some("is an absolute path")
    } else if !stays_inside(path) || path.components().any(|part| part.as_os_str() == "..") {
        Some("leaves the project with `..`")
    } else if leads_out(project, path) {
        Some("leads out of the project through a link")
    } else {
        None
    }
}

/// Whether the part of the path that exists is a link to somewhere else.
fn leads_out(project: &Path, path: &Path) -> bool {
    let Ok(home) = project.canonicalize() else { return false };
    let full = project.join(path);
    let existing = full.ancestors().find_map(|part| part.canonicalize().ok());
    existing.is_some_and(|existing| !existing.starts_with(home))
}
