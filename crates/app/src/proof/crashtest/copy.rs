//! A scratch folder for plays, with a copy of the project where its programs run, and what a play leaves in it.

use std::collections::BTreeMap;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use materia_contract::Folders;
use materia_runners::open_regular;
use materia_safe_fs::{Folder, Temporary};

use crate::project::Project;
use crate::{Failure, Result};

/// The most bytes of a project that is copied. Each play copies it anew.
const COPIED_BYTES_MAX: u64 = 1 << 30;
/// The most files.
const COPIED_FILES_MAX: usize = 100_000;

/// A folder that goes with this value; each play begins in it anew.
pub(super) struct Stage<'a> {
    folder: Temporary,
    /// The project that is copied; an empty folder where there is none.
    project: Option<&'a Project>,
    /// The folders in which casts are kept.
    roots: Vec<PathBuf>,
}

/// A file as it is compared: its kind, size and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) told: String,
    hash: Option<blake3::Hash>,
}

fn failed(error: &io::Error) -> Failure {
    Failure::storage(format!("the project cannot be copied: {error}"))
}

impl<'a> Stage<'a> {
    pub(super) fn new(project: Option<&'a Project>) -> Result<Self> {
        let folder = Temporary::new("crashtest").map_err(|error| failed(&error))?;
        let roots = project.map(Project::roots).unwrap_or_default();
        Ok(Self { folder, project, roots })
    }

    /// The folder that turns work in.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The folders of a play.
    pub(super) fn folders(&self) -> Folders {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let work = text(&self.work());
        Folders {
            project: work.clone(),
            workspace: work,
            run_dir: text(&self.folder.path().join("cast")),
            profile: self.project.and_then(Project::profile_dir).map(text).unwrap_or_default(),
        }
    }

    /// Removes what the last play left, and copies the project again.
    pub(super) fn renew(&self) -> Result<()> {
        for name in ["project", "cast"] {
            if self.folder.folder().has(name) {
                self.folder.folder().remove_all(name).map_err(|error| failed(&error))?;
            }
            self.folder.folder().new_folder(name).map_err(|error| failed(&error))?;
        }
        let Some(project) = self.project else { return Ok(()) };
        let scratch = self.folder.path();
        let mut copied = Copied { roots: &self.roots, scratch, bytes: 0, files: 0 };
        let work = self.folder.folder().folder("project").map_err(|error| failed(&error))?;
        copied.folder(&project.dir, &work).map_err(|error| failed(&error))
    }

    /// The files in the folder now.
    pub(super) fn left(&self) -> Result<BTreeMap<String, Left>> {
        let (work, mut found) = (self.work(), BTreeMap::new());
        let unreadable =
            |error: io::Error| Failure::storage(format!("a play cannot be compared: {error}"));
        look(&work, &work, &mut found).map_err(unreadable)?;
        Ok(found)
    }
}

struct Copied<'a> {
    roots: &'a [PathBuf],
    /// It may be inside the project, and is not copied into itself.
    scratch: &'a Path,
    bytes: u64,
    files: usize,
}

impl Copied<'_> {
    /// Copies the contents of a folder; links stay links. Entries that are neither file, folder nor link are left out.
    fn folder(&mut self, from: &Path, to: &Folder) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type()?;
            if path == self.scratch || self.is_of_a_cast(from, &path, kind) {
                continue;
            }
            if kind.is_dir() {
                self.folder(&path, &to.new_folder(&name)?)?;
            } else if kind.is_symlink() {
                to.link(&name, &fs::read_link(&path)?)?;
            } else if kind.is_file() {
                let mut file = open_regular(&path)?;
                let data = file.metadata()?;
                self.count(&data)?;
                let mut copy = to.create(&name)?;
                io::copy(&mut file, &mut copy)?;
                copy.set_permissions(data.permissions())?;
            }
        }
        Ok(())
    }

    fn count(&mut self, file: &Metadata) -> io::Result<()> {
        self.bytes += file.len();
        self.files += 1;
        if self.bytes > COPIED_BYTES_MAX || self.files > COPIED_FILES_MAX {
            return Err(io::Error::other(format!(
                "it has more than {COPIED_FILES_MAX} files or {} MiB, and each play copies it anew; try it in a \
                 smaller project",
                COPIED_BYTES_MAX >> 20
            )));
        }
        Ok(())
    }

    /// Journals and folders of casts are no part of the project.
    fn is_of_a_cast(&self, folder: &Path, path: &Path, kind: FileType) -> bool {
        if !self.roots.iter().any(|root| root == folder) {
            return false;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_journal = name.starts_with(materia_journal::JOURNAL_FILE) || name == "blobs";
        is_journal || (kind.is_dir() && path.join("events.jsonl").exists())
    }
}

fn look(top: &Path, folder: &Path, found: &mut BTreeMap<String, Left>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
        let left = if kind.is_dir() {
            look(top, &path, found)?;
            Left { told: "a folder".to_owned(), hash: None }
        } else if kind.is_symlink() {
            let leads = fs::read_link(&path)?;
            Left { told: format!("a link to {}", leads.display()), hash: None }
        } else if kind.is_file() {
            let data = entry.metadata()?;
            let runs = data.permissions().mode() & 0o111 != 0;
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(open_regular(&path)?)?;
            let told =
                format!("{} bytes{}", data.len(), if runs { ", can be started" } else { "" });
            Left { told, hash: Some(hasher.finalize()) }
        } else {
            Left { told: "neither file nor folder".to_owned(), hash: None }
        };
        found.insert(name, left);
    }
    Ok(())
}
