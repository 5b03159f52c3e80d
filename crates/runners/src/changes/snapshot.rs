//! Snapshot of a project.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use materia_engine::TurnJob;
use materia_safe_fs::{Folder, Temporary};
use materia_workspace::Repository;

use super::DIFF_BYTES_MAX;
use super::git::{Git, Program};
use super::repository::settings;
use crate::raw_path::RawPath;
use crate::supervise::protocol::Writable;
use crate::supervise::sandbox;

/// The longest list of paths.
const LIST_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The name of the list that git reads.
const LIST: &str = "list";

/// The means to look at a project.
pub(super) struct Look {
    repository: Repository,
    /// The project as seen from the top of the work tree; empty if it is the top.
    project: PathBuf,
    /// The folder of the casts, which is no part of the project, as seen from the top.
    casts: Option<PathBuf>,
    /// Folders of existing objects.
    pub(super) objects: Vec<PathBuf>,
    pub(super) own: Temporary,
    program: Program,
    halt: Arc<AtomicBool>,
}

impl Look {
    pub(super) fn open(job: &TurnJob, halt: Arc<AtomicBool>) -> Option<Self> {
        let program = Program::find()?;
        let folder = job.cwd.canonicalize().ok()?;
        let repository = Repository::of(&folder)?;
        let project = folder.strip_prefix(&repository.top).ok()?.to_owned();
        let casts = job.run_dir.parent().and_then(|casts| casts.canonicalize().ok());
        let casts = casts.and_then(|it| it.strip_prefix(&repository.top).ok().map(Path::to_owned));
        let own = Temporary::new(&format!("changes-{}", job.run)).ok()?;
        furnish(&own, &repository).ok()?;
        let objects = vec![repository.common.join("objects")];
        Some(Self { repository, project, casts, objects, own, program, halt })
    }

    /// Does something with git confined to the folder of this look.
    pub(super) fn inside<T: Send>(
        &self,
        work: impl FnOnce(&Self) -> Option<T> + Send,
    ) -> Option<T> {
        let writable = Writable {
            folders: vec![RawPath::from(self.own.path())],
            offline: true,
            only_runs: self.program.only_runs(),
        };
        sandbox::inside(&writable, || work(self)).ok()?.1
    }

    fn git(&self) -> Git<'_> {
        Git {
            program: &self.program,
            own: self.own.path(),
            top: &self.repository.top,
            objects: &self.objects,
            settings: settings(&self.repository),
            halt: &self.halt,
        }
    }

    /// The name of the project's present state.
    pub(super) fn tree(&self) -> Option<String> {
        let git = self.git();
        self.forget_other_repositories(&git)?;
        let within =
            if self.project.as_os_str().is_empty() { Path::new(".") } else { &self.project };
        let within = within.as_os_str();
        // What is known and changed or gone, and what is new. Neither looks into another repository.
        let plain = ["--no-ext-diff", "--ignore-submodules=all", "--"];
        let words = ["diff-files", "-z", "--name-only"].into_iter().chain(plain).map(OsStr::new);
        let changed = git.run(words.chain([within]), None, LIST_BYTES_MAX)?;
        let words = ["ls-files", "-z", "--others", "--exclude-standard", "--"].map(OsStr::new);
        let new = git.run(words.into_iter().chain([within]), None, LIST_BYTES_MAX)?;
        let mut list = Vec::new();
        for path in changed.split(|byte| *byte == 0).chain(new.split(|byte| *byte == 0)) {
            if self.counts(path) {
                list.extend_from_slice(path);
                list.push(0);
            }
        }
        if !list.is_empty() {
            self.own.folder().write(LIST, &list).ok()?;
            let input = self.own.folder().open(LIST).ok()?;
            let words = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
            git.run(words.map(OsStr::new), Some(input), DIFF_BYTES_MAX)?;
        }
        let words = ["write-tree", "--missing-ok"].map(OsStr::new);
        let tree = String::from_utf8(git.run(words, None, DIFF_BYTES_MAX)?).ok()?;
        Some(tree.trim().to_owned())
    }

    /// Takes what the index knows of other repositories out of it: git would look into each of them, and stumble over
    /// whatever settings it finds there.
    fn forget_other_repositories(&self, git: &Git<'_>) -> Option<()> {
        if !self.may_know_others() {
            return Some(());
        }
        let words = ["ls-files", "-s", "-z"].map(OsStr::new);
        let known = git.run(words, None, LIST_BYTES_MAX)?;
        let others = known.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
        let mut list = Vec::new();
        for entry in others {
            let path = entry.iter().position(|byte| *byte == b'\t')? + 1;
            list.extend_from_slice(&entry[path..]);
            list.push(0);
        }
        if list.is_empty() {
            return Some(());
        }
        self.own.folder().write(LIST, &list).ok()?;
        let input = self.own.folder().open(LIST).ok()?;
        let words = ["update-index", "-z", "--force-remove", "--stdin"].map(OsStr::new);
        git.run(words, Some(input), DIFF_BYTES_MAX).map(drop)
    }

    /// Whether the index could know another repository. An entry of that kind has this mode, in these four bytes; where
    /// something else has them too, it is only asked once more than needed.
    fn may_know_others(&self) -> bool {
        const MODE: [u8; 4] = 0o160_000_u32.to_be_bytes();
        let folder = self.own.folder();
        let index = folder.read("index", u64::MAX).unwrap_or_default();
        index.windows(MODE.len()).any(|bytes| bytes == MODE)
            || folder.names().unwrap_or_default().iter().any(|name| is_shared_index(name))
    }

    /// Whether a path is one that a look takes in: no other repository, none of the casts, and nothing that git could
    /// not read.
    fn counts(&self, path: &[u8]) -> bool {
        if path.is_empty() || path.ends_with(b"/") {
            return false;
        }
        let path = Path::new(OsStr::from_bytes(path));
        if self.casts.as_ref().is_some_and(|casts| path.starts_with(casts)) {
            return false;
        }
        let path = self.repository.top.join(path);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => fs::File::open(&path).is_ok(),
            Ok(found) => found.is_symlink() || found.is_dir(),
            Err(error) => {
                // A folder on the way may be a file by now.
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
        }
    }

    /// Diff of two trees.
    pub(super) fn diff(&self, before: &str, after: &str) -> Option<String> {
        let words = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index"];
        let words = words.into_iter().chain(["--ignore-submodules=all", before, after]);
        let said = self.git().run(words.map(OsStr::new), None, DIFF_BYTES_MAX)?;
        Some(String::from_utf8_lossy(&said).into_owned())
    }
}

/// Makes just enough of a repository for git to take it for one.
fn furnish(own: &Temporary, repository: &Repository) -> io::Result<()> {
    let folder = own.folder();
    for name in ["objects", "refs", "info"] {
        folder.new_folder(name)?;
    }
    folder.write("HEAD", b"ref: refs/heads/none\n")?;
    if settings(repository).iter().any(|it| it == "extensions.objectformat=sha256") {
        let text = b"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n";
        folder.write("config", text)?;
    }
    let source = Folder::at(&repository.own)?;
    // With the index come the times of all files, and what did not change is not read again.
    let shared = source.names()?.into_iter();
    let shared = shared.filter(|name| is_shared_index(name));
    for name in shared.chain(["index".into()]) {
        match source.open(&name) {
            Ok(from) => copy(&from, folder, &name)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    if let Ok(from) = Folder::at(&repository.common).and_then(|it| it.open("info/exclude")) {
        copy(&from, folder, OsStr::new("info/exclude"))?;
    }
    Ok(())
}

/// Whether a file holds a part of the index.
fn is_shared_index(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"sharedindex.")
}

/// Copies a file with its modification time: git compares it with the times of the files it lists.
fn copy(from: &fs::File, folder: &Folder, name: &OsStr) -> io::Result<()> {
    let mut to = folder.create(name)?;
    io::copy(&mut &*from, &mut to)?;
    to.set_modified(from.metadata()?.modified()?)
}
