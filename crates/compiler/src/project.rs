//! Project settings: the folder of the casts, and the folders that turns may write to.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use materia_contract::{Finding, Loadout, WorkspaceKind};

use crate::command::stays_inside;
use crate::fault::{Fault, Faults};
use crate::files::Sources;
use crate::layers::{LayerKind, Loaded, Lowest, load_over};
use crate::locate::pointer;

const ARTIFACT_DIR_DEFAULT: &str = ".materia";
const DOC_ROOT_DEFAULT: &str = "docs";
/// Folders in which casts may be kept, whatever is configured.
const CAST_FOLDERS: [&str; 2] = [".materia", ".pi"];
/// Folders of a project in which agents look for commands, hooks and servers.
pub const AGENT_FOLDERS: [&str; 5] = [".agents", ".claude", ".codex", ".gemini", ".pi"];
/// Files of a project in which agents look for the same.
pub const AGENT_FILES: [&str; 1] = [".mcp.json"];
/// Files of the original system in an agent's folder: its casts, and its configuration. No agent reads them.
pub const NOT_OF_AGENTS: [&str; 2] = [".pi/pi-materia", ".pi/pi-materia.json"];

/// The folder that casts are kept in, absolute. Where the configured one is refused, this is
/// the default: reading from there does no harm.
pub fn artifact_dir(loaded: &Loaded) -> PathBuf {
    let configured = loaded.config.artifact_dir.as_deref();
    let configured = configured.filter(|dir| artifact_fault(loaded, dir).is_none());
    let path = loaded.project_dir.join(configured.unwrap_or(ARTIFACT_DIR_DEFAULT));
    path.components().collect()
}

/// The folder that casts are kept in, as the user's and the project's files have it. Nothing shipped names one.
pub fn artifact_root(sources: &Sources) -> PathBuf {
    artifact_dir(&load_over(Lowest::empty(), sources, &BTreeMap::new()).0)
}

/// Where turns of these loadouts work: in a workspace of their own where one of them asks for it.
pub(crate) fn workspace<'a>(
    loaded: &Loaded,
    loadouts: impl IntoIterator<Item = &'a Loadout>,
) -> WorkspaceKind {
    let mut told = loadouts.into_iter().filter_map(|loadout| loadout.workspace).peekable();
    if told.peek().is_none() {
        return loaded.config.workspace.unwrap_or(WorkspaceKind::Project);
    }
    let own = told.any(|kind| kind == WorkspaceKind::Own);
    if own { WorkspaceKind::Own } else { WorkspaceKind::Project }
}

/// The places of the configuration that ask for workspaces of their own: with the loadout, where it is one's.
pub fn own_workspaces(loaded: &Loaded) -> Vec<(Option<&str>, String)> {
    let own = |kind: Option<WorkspaceKind>| kind == Some(WorkspaceKind::Own);
    let of_config = own(loaded.config.workspace).then(|| (None, "/workspace".to_owned()));
    let loadouts = loaded.config.loadouts.iter().filter(|(_, loadout)| own(loadout.workspace));
    let of_loadouts =
        loadouts.map(|(name, _)| (Some(name.as_str()), pointer(["loadouts", name, "workspace"])));
    of_config.into_iter().chain(of_loadouts).collect()
}

/// Findings about places that ask for workspaces which cannot be had, each with its reason.
pub fn refused_workspaces(loaded: &Loaded, refused: &[(String, String)]) -> Vec<Finding> {
    let mut faults = Faults::default();
    for (pointer, reason) in refused {
        let message = format!("a workspace of its own is not possible here: {reason}");
        let help = "deal with the reason, or write `\"workspace\": \"project\"`";
        let fault = Fault::error("config::workspace", message).help(help);
        // The layer is known of the nearest value around it that one layer gave as a whole.
        let around =
            std::iter::successors(Some(pointer.as_str()), |at| Some(at.rsplit_once('/')?.0));
        let layer = around.filter(|at| !at.is_empty()).find_map(|at| loaded.origins.of(at));
        faults.push(match layer {
            Some(layer) => fault.at(layer, pointer),
            None => fault,
        });
    }
    faults.place(&loaded.layers)
}

/// The only folder that may be written to in Planning mode, relative to the project.
pub(crate) fn doc_root(loaded: &Loaded) -> String {
    loaded.config.doc_root.clone().unwrap_or_else(|| DOC_ROOT_DEFAULT.to_owned())
}

/// Fields that count in the user's own profile only, and the codes of their findings.
const OF_PROFILE: [(&str, &str); 5] = [
    ("notify", "config::notify"),
    ("journal", "config::journal"),
    ("space", "config::journal"),
    ("replicas", "config::journal"),
    ("leaseSeconds", "config::journal"),
];

/// Checks the folders that the configuration names.
pub(crate) fn check_folders(loaded: &Loaded, faults: &mut Faults) {
    for (name, code) in OF_PROFILE {
        let key = format!("/{name}");
        let found = loaded.origins.of(&key).and_then(|at| Some((at, loaded.layers.get(at)?)));
        if let Some((at, _)) = found.filter(|(_, layer)| layer.kind != LayerKind::Profile) {
            let message = format!("`{name}` counts in your own profile only, and not in this file");
            let fault = Fault::warning(code, message).help("move it to your profile");
            faults.push(fault.at_key(at, &key));
        }
    }
    if let Some(dir) = &loaded.config.artifact_dir
        && let Some(fault) = artifact_fault(loaded, dir)
    {
        faults.push(place(loaded, fault, "/artifactDir"));
    }
    if let Some(dir) = &loaded.config.doc_root
        && let Some(what) = unfit_doc_root(loaded, dir)
    {
        let fault = Fault::error("config::doc-root", format!("`docRoot` {what}"))
            .help("name a folder inside the project that holds documents alone, such as `docs`");
        faults.push(place(loaded, fault, "/docRoot"));
    }
}

/// Fault of a folder that turns may write to in Planning mode, if there is one. It may only hold documents: write
/// access to a repository allows running programs, and write access to a journal allows forging it.
pub fn unfit_doc_root(loaded: &Loaded, dir: &str) -> Option<&'static str> {
    let project = &loaded.project_dir;
    if let Some(what) = outside(project, dir) {
        return Some(what);
    }
    let mut way = project.clone();
    let parts = Path::new(dir).components().filter(|part| matches!(part, Component::Normal(_)));
    let parts: Vec<_> = parts.map(Component::as_os_str).collect();
    if parts.is_empty() {
        return Some("is the project itself");
    }
    for name in parts {
        if name.eq_ignore_ascii_case(".git") {
            return Some("belongs to a repository");
        }
        if AGENT_FOLDERS.iter().any(|folder| name.eq_ignore_ascii_case(folder)) {
            return Some("is where agents look for their settings");
        }
        way.push(name);
        let at = way.symlink_metadata();
        if at.as_ref().is_ok_and(std::fs::Metadata::is_symlink) {
            return Some("is a link, or lies behind one");
        }
        if at.is_ok_and(|found| !found.is_dir()) {
            return Some("is no folder");
        }
    }
    let mut casts = CAST_FOLDERS.map(|folder| project.join(folder)).to_vec();
    // Where the project is its own folder of casts, its folders are not.
    casts.push(artifact_dir(loaded));
    casts.retain(|folder| !project.starts_with(folder));
    if casts.iter().any(|folder| way.starts_with(folder) || folder.starts_with(&way)) {
        return Some("is where casts are kept, or holds that");
    }
    holds_repository(&way).then_some("holds a repository")
}

/// Whether a folder contains a repository. Links are not followed.
fn holds_repository(folder: &Path) -> bool {
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_name().eq_ignore_ascii_case(".git") {
                return true;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(entry.path());
            }
        }
    }
    false
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
        outside(&loaded.project_dir, dir).or_else(|| unfit_name(dir))?
    } else if dir.is_empty() {
        "is empty"
    } else if dir.contains('\0') {
        "holds a NUL character"
    } else {
        return None;
    };
    let help = if from_project {
        "name a folder inside the project, such as `.materia` or `build/casts`, in letters, digits, `.`, `_` and `-`; \
         only your own profile or a file you name may say otherwise"
    } else {
        "name a folder, such as `.materia`"
    };
    Some(Fault::error("config::artifact-dir", format!("`artifactDir` {what}")).help(help))
}

/// Fault in the name of a folder for casts that a project chose. Programs and version control read this name, so it
/// must not contain their special characters.
fn unfit_name(dir: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let segments: Vec<&str> = dir.split('/').collect();
    if segments.iter().any(|one| one.is_empty() || *one == "." || !one.chars().all(plain)) {
        return Some("is not made of plain names with `/` between them");
    }
    if segments.iter().any(|one| one.eq_ignore_ascii_case(".git")) {
        return Some("belongs to a repository");
    }
    // Agents would take what a cast leaves there for their settings, or a project its settings for casts.
    let of_agents = |one: &&str| AGENT_FOLDERS.iter().any(|known| one.eq_ignore_ascii_case(known));
    let original = Path::new(dir).starts_with(NOT_OF_AGENTS[0]);
    (!original && segments.iter().any(of_agents))
        .then_some("is where agents look for their settings")
}

/// Fault of a folder that must be inside the project.
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
