//! An existing workspace.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use materia_safe_fs::Folder;

use crate::diff::FileChange;
use crate::fault::{At as _, Fault};
use crate::git::{Git, LIST_BYTES_MAX};
use crate::location::Place;
use crate::project::Project;
use crate::ref_list::is_id;
use crate::snapshot::Look;

/// The file that says that a workspace is complete; it holds the base commit.
pub(crate) const MADE: &str = "made";
/// How long another process may hold a workspace.
const LOCK_TIME_MAX: Duration = Duration::from_mins(2);
/// How deep submodules of submodules are looked into.
const SUBMODULES_DEEP_MAX: usize = 8;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A cast's repository and its files.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) place: Place,
    /// The base commit.
    pub(crate) base: String,
    /// The lock, while an operation is under way.
    held: Mutex<Option<Arc<File>>>,
}

/// Ends an operation.
pub(crate) struct Held<'a>(&'a Workspace);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.0.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A place, and what was found there.
#[derive(Debug)]
pub enum Opened {
    /// Everything is there.
    Here(Workspace),
    /// The files were deleted, the repository is there: [`Workspace::make_checkout`] makes them again.
    CheckoutGone(Workspace),
    /// Nothing is there that could be used.
    Gone,
}

/// Looks for the workspace at a place.
pub fn open(place: &Place) -> Result<Opened, Fault> {
    place.check()?;
    let private = match Folder::at_itself(&place.private()) {
        Err(error) if is_missing(&error) => return Ok(Opened::Gone),
        opened => opened.at("open", &place.private())?,
    };
    let base = match private.read(MADE, 128) {
        Err(error) if is_missing(&error) => return Ok(Opened::Gone),
        read => read.at("read", &place.private().join(MADE))?,
    };
    let base = String::from_utf8_lossy(&base).trim().to_owned();
    if !is_id(&base) || !place.repository().join("objects").is_dir() {
        return Ok(Opened::Gone);
    }
    let workspace = Workspace::at(place, base);
    let there = place.checkout().symlink_metadata().is_ok_and(|it| it.is_dir());
    Ok(if there { Opened::Here(workspace) } else { Opened::CheckoutGone(workspace) })
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Workspace {
    pub(crate) fn at(place: &Place, base: String) -> Self {
        Self { place: place.clone(), base, held: Mutex::new(None) }
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The base commit.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// git with the workspace's refs and objects and our settings.
    pub(crate) fn git(&self) -> Git {
        // A call of git holds the lock even if it outlives this process, so that no other process writes the same
        // files.
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Git::new(&self.place.private()).attributes(&self.base).holding(held)
    }

    /// The same with the files and our index of them.
    pub(crate) fn git_with_files(&self) -> Git {
        let private = self.place.private();
        self.git().top(&self.place.checkout()).index(&private.join("index")).may_refresh()
    }

    pub(crate) fn private(&self) -> Result<Folder, Fault> {
        let path = self.place.private();
        Folder::at_itself(&path).at("open", &path)
    }

    /// The folder that turns write to. Links in it that would lead our own writing elsewhere are refused.
    pub(crate) fn repository(&self) -> Result<Folder, Fault> {
        let path = self.place.repository();
        let folder = Folder::at_itself(&path).at("open", &path)?;
        for name in ["objects", "refs"] {
            if folder.has(name) {
                folder.folder(name).at("open", &path.join(name))?;
            }
        }
        if folder.has("packed-refs") && !folder.has_file("packed-refs") {
            let path = path.join("packed-refs");
            return Err(Fault::Unusable(format!("`{}` is not a plain file", path.display())));
        }
        Ok(folder)
    }

    pub(crate) fn checkout(&self) -> Result<Folder, Fault> {
        let path = self.place.checkout();
        // Its files are the project's: made as the umask says.
        Ok(Folder::at_itself(&path).at("open", &path)?.for_umask())
    }

    /// Holds the workspace until the end of an operation: one at a time.
    pub(crate) fn lock(&self) -> Result<Held<'_>, Fault> {
        let path = self.place.private().join("lock");
        let file = self.private()?.append("lock").at("open", &path)?;
        let end = Instant::now() + LOCK_TIME_MAX;
        while file.try_lock().is_err() {
            if Instant::now() > end {
                let path = path.display();
                return Err(Fault::Unusable(format!("another process holds `{path}`")));
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        // The process that left these files has ended, because this process holds the lock now.
        let private = self.private()?;
        for name in private.names().at("read", &self.place.private())? {
            let text = name.as_bytes();
            if text.ends_with(b".lock") || text.starts_with(b"materia-") {
                private.remove_all(&name).at("remove", &self.place.private().join(&name))?;
            }
        }
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(file));
        Ok(Held(self))
    }

    /// Whether HEAD of a look goes back to the base. A cast whose HEAD does not cannot be published.
    pub fn has_base_as_ancestor(&self, look: &Look) -> Result<bool, Fault> {
        look.check()?;
        self.is_ancestor(&self.base, &look.head)
    }

    pub(crate) fn is_ancestor(&self, old: &str, new: &str) -> Result<bool, Fault> {
        is_ancestor(&self.git(), old, new)
    }

    /// The error for a complete workspace whose files were deleted: making it again would lose the content of its
    /// repository.
    pub(crate) fn without_files(&self) -> Fault {
        let files = self.place.checkout();
        Fault::Unusable(format!("the files of the workspace were deleted: `{}`", files.display()))
    }

    /// Takes the workspace away with all that is in it, and a repository that only stood in for the user's. Refs in
    /// the user's repository stay.
    pub fn remove(self) -> Result<(), Fault> {
        self.place.remove()?;
        crate::stand_in::remove_stand_in(&self.place)
    }
}

/// Whether one commit is the other or comes before it.
pub(crate) fn is_ancestor(git: &Git, old: &str, new: &str) -> Result<bool, Fault> {
    let call = git.call(["merge-base", "--is-ancestor", old, new]);
    let said = call.run()?;
    match said.status {
        0 => Ok(true),
        1 => Ok(false),
        // There is no such commit: HEAD is on a branch without one.
        _ if new.bytes().all(|it| it == b'0') => Ok(false),
        _ => Err(Fault::Unusable(format!(
            "`git merge-base` failed for {old} and {new}: {}",
            said.error
        ))),
    }
}

/// Where a cast's files are and how far they have come.
#[derive(Debug, Clone)]
pub struct Status {
    /// The checkout, if it is there.
    pub checkout: Option<PathBuf>,
    /// The base commit, if anything is known about the cast.
    pub base: Option<String>,
    /// The commits after the base, newest first, at most 1,000: id and subject.
    pub commits: Vec<(String, String)>,
    /// Files changed since the base, those that are not committed included.
    pub files: Vec<FileChange>,
    /// The commit of the branch in the user's repository.
    pub published: Option<String>,
}

/// The state of a cast's workspace or of its published branch. Takes a snapshot of the files.
pub fn status(place: &Place) -> Result<Status, Fault> {
    let project = Project::open(&place.project_dir)?;
    let published = project.id_of(&place.branch())?;
    match open(place)? {
        Opened::Here(workspace) => {
            let look = workspace.look()?;
            let base = workspace.base.clone();
            let files = crate::diff::files(&workspace.git(), &base, &look.tree)?;
            let commits = commits(&workspace.git(), &base, &look.head)?;
            let checkout = Some(place.checkout());
            Ok(Status { checkout, base: Some(base), commits, files, published })
        }
        Opened::CheckoutGone(_) | Opened::Gone => {
            let base = project.id_of(&format!("refs/materia/{}/base", place.cast_id))?;
            let (mut files, mut all) = (Vec::new(), Vec::new());
            if let (Some(base), Some(commit)) = (&base, &published) {
                files = crate::diff::files(&project.git(), base, commit)?;
                all = commits(&project.git(), base, commit)?;
            }
            Ok(Status { checkout: None, base, commits: all, files, published })
        }
    }
}

fn commits(git: &Git, base: &str, head: &str) -> Result<Vec<(String, String)>, Fault> {
    let not_base = format!("^{base}");
    let words = ["log", "--no-show-signature", "--format=%H %s", "-n", "1000", head, &not_base];
    let text = git.call(words).most(LIST_BYTES_MAX).text()?;
    let pair =
        |line: &str| line.split_once(' ').map(|(id, subject)| (id.to_owned(), subject.to_owned()));
    Ok(text.lines().filter_map(pair).collect())
}

/// Copies a file with its modification time: git compares it with the times of the listed files.
pub(crate) fn copy_index(from: &Path, folder: &Folder, name: &str) -> Result<(), Fault> {
    let copy = || {
        let mut from = File::open(from)?;
        let mut to = folder.create(name)?;
        io::copy(&mut from, &mut to)?;
        to.set_modified(from.metadata()?.modified()?)
    };
    copy().at("copy", from)
}

impl Workspace {
    /// Why the workspace must not be removed: work in it that no tree has. `None` if it may be removed.
    pub fn must_stay(&self) -> Result<Option<String>, Fault> {
        let _held = self.lock()?;
        let look = self.look_held()?;
        let nested = self.listing_of(&look)?.nested;
        let text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
        if !nested.is_empty() {
            let nested: Vec<String> = nested.iter().map(text).collect();
            let named = crate::project::some_of(&nested);
            return Ok(Some(format!("it holds other repositories, which are in no tree: {named}")));
        }
        let known = submodules(&self.git(), &self.base)?;
        let mut edited = Vec::new();
        for (path, id) in submodules(&self.git(), &look.tree)? {
            let ids = [id.as_str(), known.get(&path).map_or(id.as_str(), String::as_str)];
            if has_edits(&self.place.checkout().join(&path), ids, 0)? {
                edited.push(path.to_string_lossy().into_owned());
            }
        }
        if edited.is_empty() {
            return Ok(None);
        }
        let named = crate::project::some_of(&edited);
        Ok(Some(format!("submodules have changes or commits that are in no tree: {named}")))
    }
}

/// The submodules of a tree, each with its commit.
fn submodules(git: &Git, tree: &str) -> Result<BTreeMap<PathBuf, String>, Fault> {
    let list = git.call(["ls-tree", "-r", "-z", tree]).most(LIST_BYTES_MAX).bytes()?;
    let mut found = BTreeMap::new();
    for entry in list.split(|byte| *byte == 0).filter(|it| it.starts_with(b"160000 ")) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let about = String::from_utf8_lossy(&entry[..tab]);
        let id = about.rsplit(' ').next().unwrap_or_default().to_owned();
        found.insert(PathBuf::from(OsStr::from_bytes(&entry[tab + 1..])), id);
    }
    Ok(found)
}

/// Whether something in the folder of a submodule is nowhere else: changed files, or commits that neither its remotes
/// nor the base have. `ids` are its commits in the tree and in the base.
fn has_edits(folder: &Path, ids: [&str; 2], depth: usize) -> Result<bool, Fault> {
    if !std::fs::read_dir(folder).is_ok_and(|mut it| it.next().is_some()) {
        return Ok(false);
    }
    let Some(inner) = Project::find(folder)?.filter(|it| it.top() == folder) else {
        return Ok(true);
    };
    let git = inner.git();
    if depth > SUBMODULES_DEEP_MAX || inner.id_of("HEAD")?.as_deref() != Some(ids[0]) {
        return Ok(true);
    }
    let words =
        ["rev-list", "-n", "1", "--ignore-missing", "--all", "HEAD", "--not", "--remotes", ids[1]];
    let words_of_status =
        ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
    let status = inner.git_with_files().call(words_of_status).most(LIST_BYTES_MAX);
    if !git.text(words)?.is_empty() || !status.bytes()?.is_empty() {
        return Ok(true);
    }
    for (path, id) in submodules(&git, "HEAD")? {
        if has_edits(&folder.join(path), [&id, &id], depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}
