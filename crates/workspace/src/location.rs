//! Folders of workspaces.

use std::path::{Path, PathBuf};

use materia_safe_fs::Folder;

use crate::fault::{At as _, Fault};

/// The folder of all workspaces in the state folder.
pub(crate) const WORKSPACES: &str = "workspaces";
/// The file beside the workspaces of a project that names its folder.
const PROJECT: &str = "project";
/// The longest path of a project.
const PATH_BYTES_MAX: u64 = 64 * 1024;
/// The longest id of a cast.
const ID_BYTES_MAX: usize = 200;

/// The place of one cast's workspace. It says nothing about whether one is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The user's state folder of Materia.
    pub state_dir: PathBuf,
    /// The project's folder, which may lie below the top of its repository.
    pub project_dir: PathBuf,
    /// The cast's id, which becomes part of names of refs and folders.
    pub cast_id: String,
}

impl Place {
    /// The folder that holds all of it: `workspaces/<project hash>/<castId>`.
    pub fn root(&self) -> PathBuf {
        self.project_root().join(&self.cast_id)
    }

    /// The bare repository, which turns may write to.
    pub fn repository(&self) -> PathBuf {
        self.root().join("repository")
    }

    /// The files, which turns may write to.
    pub fn checkout(&self) -> PathBuf {
        self.root().join("checkout")
    }

    /// The folder in the checkout that corresponds to the project's folder: where turns run.
    pub fn work_dir(&self) -> PathBuf {
        let below = self.below();
        if below.as_os_str().is_empty() { self.checkout() } else { self.checkout().join(below) }
    }

    /// The path of the project's folder below the top of its repository; empty if it is the top.
    pub fn below(&self) -> PathBuf {
        let real = real(&self.project_dir);
        let top = crate::Repository::of(&real).map(|it| it.top);
        let below = top.and_then(|top| real.strip_prefix(top).ok().map(Path::to_owned));
        below.unwrap_or_default()
    }

    /// The folder that only this crate writes to. Turns must not be able to.
    pub fn private(&self) -> PathBuf {
        self.root().join("private")
    }

    fn project_root(&self) -> PathBuf {
        self.state_dir.join(WORKSPACES).join(project_hash(&self.project_dir))
    }

    /// The git folder of the linked worktree.
    pub(crate) fn worktree(&self) -> PathBuf {
        self.repository().join("worktrees/checkout")
    }

    /// The branch of the cast, inside the workspace and where it is published.
    pub(crate) fn branch(&self) -> String {
        format!("refs/heads/materia/{}", self.cast_id)
    }

    /// Refuses an id that could not be part of a ref or a path.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        check_id(&self.cast_id)
    }

    /// Opens the folder that holds all of it, which is made where it is missing.
    pub(crate) fn make(&self) -> Result<Folder, Fault> {
        let state = &self.state_dir;
        if !state.is_dir() {
            std::fs::create_dir_all(state).at("make", state)?;
        }
        let folder = Folder::at(state).at("open", state)?;
        let of_project = Path::new(WORKSPACES).join(project_hash(&self.project_dir));
        let of_project = folder.make_folder(of_project).at("make", &self.project_root())?;
        let name = real(&self.project_dir);
        of_project
            .replace(PROJECT, name.as_os_str().as_encoded_bytes())
            .at("write", &self.project_root().join(PROJECT))?;
        of_project.make_folder(&self.cast_id).at("make", &self.root())
    }

    /// Takes the whole of it away.
    pub(crate) fn remove(&self) -> Result<(), Fault> {
        self.check()?;
        match Folder::at(&self.project_root()) {
            Ok(folder) => folder.remove_all(&self.cast_id).at("remove", &self.root()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).at("open", &self.project_root()),
        }
    }
}

/// The name of a project's folder among the workspaces.
pub fn project_hash(project_dir: &Path) -> String {
    let hash = blake3::hash(real(project_dir).as_os_str().as_encoded_bytes());
    hash.to_hex()[..16].to_owned()
}

/// The path without links, or the path itself if it cannot be resolved.
pub(crate) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn check_id(id: &str) -> Result<(), Fault> {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let bad_end = id.ends_with('.') || id.to_ascii_lowercase().ends_with(".lock");
    let starts_plain = id.starts_with(|it: char| it.is_ascii_alphanumeric());
    let fits = id.len() <= ID_BYTES_MAX && id.chars().all(plain) && !id.contains("..");
    if starts_plain && fits && !bad_end {
        return Ok(());
    }
    Err(Fault::Unusable(format!("`{id}` cannot be the id of a workspace")))
}

/// A workspace on disk.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Where it is.
    pub place: Place,
    /// Bytes on disk.
    pub bytes: u64,
}

/// All workspaces of all projects in a state folder, in the order of their paths. Links are not followed.
pub fn list(state_dir: &Path) -> Result<Vec<Listed>, Fault> {
    let all = state_dir.join(WORKSPACES);
    let folder = match Folder::at(&all) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.at("open", &all)?,
    };
    let mut found = Vec::new();
    for hash in folder.names().at("read", &all)? {
        let Ok(of_project) = folder.folder(&hash) else { continue };
        let Ok(name) = of_project.read(PROJECT, PATH_BYTES_MAX) else { continue };
        let project_dir = PathBuf::from(from_bytes(name));
        for cast in of_project.names().at("read", &all.join(&hash))? {
            let Some(cast_id) = cast.to_str().filter(|it| check_id(it).is_ok()) else { continue };
            if cast_id == PROJECT || of_project.folder(cast_id).is_err() {
                continue;
            }
            let (state_dir, project_dir) = (state_dir.to_owned(), project_dir.clone());
            let place = Place { state_dir, project_dir, cast_id: cast_id.to_owned() };
            let bytes = bytes_of(&all.join(&hash).join(cast_id));
            found.push(Listed { place, bytes });
        }
    }
    found.sort_by_key(|it| it.place.root());
    Ok(found)
}

fn from_bytes(bytes: Vec<u8>) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

/// Disk usage of a folder, in bytes. Unreadable entries count as 0.
fn bytes_of(folder: &Path) -> u64 {
    let mut open = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else { continue };
            bytes += std::os::unix::fs::MetadataExt::blocks(&found) * 512;
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}
