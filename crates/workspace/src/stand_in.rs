//! Repositories on a machine that has no access to the user's: a cache of bases for each space, and for each cast one
//! that stands in for the user's repository.
//!
//! ```text
//! <state folder>/packs/<space>/
//!     bases-sha1/           bare: the histories of bases
//!     casts/<castId>/.git   objects of `bases` by alternates, and the packs of the cast
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use materia_safe_fs::Folder;

use crate::fault::{At as _, Fault};
use crate::git::{Git, LIST_BYTES_MAX, quoted};
use crate::location::{Place, check_id};
use crate::look::check_object;
use crate::packs::take;
use crate::project::{Project, id_of};
use crate::ref_list::is_id;
use crate::settings::{PATTERNS_BYTES_MAX, STAND_IN};
use crate::transfer::Written;
use crate::workspace::Workspace;

/// The folder of all spaces in the state folder.
const PACKS: &str = "packs";
/// Files of the tree with the settings, and their places in a git folder.
const SET_UP: [(&str, &str); 6] = [
    ("config", "config"),
    ("exclude", "info/exclude"),
    ("attributes", "attributes"),
    ("info-attributes", "info/attributes"),
    ("shallow", "shallow"),
    ("sparse", "info/sparse-checkout"),
];

/// The histories of bases of one space.
#[derive(Debug)]
pub struct Bases {
    folder: Folder,
    path: PathBuf,
}

impl Bases {
    /// Opens the cache for commits like this one; it is made where it is missing.
    pub fn open(state_dir: &Path, space: &str, commit: &str) -> Result<Self, Fault> {
        check_id(space)?;
        check_object(commit)?;
        std::fs::create_dir_all(state_dir).at("make", state_dir)?;
        let format = if commit.len() == 64 { "sha256" } else { "sha1" };
        let name = Path::new(PACKS).join(space).join(format!("bases-{format}"));
        let path = state_dir.join(&name);
        let state = Folder::at(state_dir).at("open", state_dir)?;
        let folder = state.make_folder(&name).at("make", &path)?;
        make_repository(&folder, format == "sha256")?;
        Ok(Self { folder, path })
    }

    fn git(&self) -> Git {
        Git::new(&self.path)
    }

    /// Whether a commit is there, and with it all that it leads to.
    pub fn has(&self, commit: &str) -> Result<bool, Fault> {
        check_object(commit)?;
        Ok(id_of(&self.git(), &format!("{commit}^{{commit}}"))?.is_some())
    }

    /// Takes a pack. Each object is checked, and so is that everything they lead to is there.
    pub fn take(&self, bytes: Vec<u8>, shallow: &[String]) -> Result<(), Fault> {
        if !shallow.is_empty() {
            shallow.iter().try_for_each(|id| check_object(id))?;
            let lock = self.folder.append("shallow.materia").at("open", &self.path)?;
            lock.lock().at("lock", &self.path)?;
            let known = self.folder.read("shallow", LIST_BYTES_MAX as u64).unwrap_or_default();
            let known = String::from_utf8_lossy(&known).into_owned();
            let all: BTreeSet<&str> =
                known.lines().chain(shallow.iter().map(String::as_str)).collect();
            let text = all.into_iter().flat_map(|id| [id, "\n"]).collect::<String>();
            let place = self.path.join("shallow");
            self.folder.replace("shallow", text.as_bytes()).at("write", &place)?;
        }
        take(&self.git(), bytes, Written::AsPack)
    }
}

/// Writes the files of an empty repository, unless they are there.
fn make_repository(folder: &Folder, sha256: bool) -> Result<(), Fault> {
    for name in ["objects/info", "objects/pack", "refs/heads", "info"] {
        folder.make_folder(name).at("make", &folder.path().join(name))?;
    }
    let version = i32::from(sha256);
    let mut config = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = true\n");
    if sha256 {
        config.push_str("[extensions]\n\tobjectformat = sha256\n");
    }
    for (name, text) in [("config", config.as_str()), ("HEAD", "ref: refs/heads/none\n")] {
        if !folder.has_file(name) {
            folder.replace(name, text.as_bytes()).at("write", &folder.path().join(name))?;
        }
    }
    Ok(())
}

/// The folder that stands in for the top of the user's repository.
pub fn stand_in(state_dir: &Path, space: &str, cast_id: &str) -> Result<PathBuf, Fault> {
    check_id(space)?;
    check_id(cast_id)?;
    Ok(state_dir.join(PACKS).join(space).join("casts").join(cast_id))
}

/// Makes the repository that stands in for the user's, unless it is there. It has no settings yet.
pub fn make_stand_in(top: &Path, bases: &Bases, commit: &str) -> Result<Project, Fault> {
    check_object(commit)?;
    std::fs::create_dir_all(top).at("make", top)?;
    let folder = Folder::at_itself(top).at("open", top)?;
    let git = folder.make_folder(".git").at("make", top)?;
    git.replace(STAND_IN, b"").at("write", top)?;
    make_repository(&git, commit.len() == 64)?;
    let mut alternates = quoted(&bases.path.join("objects")).as_encoded_bytes().to_vec();
    alternates.push(b'\n');
    git.replace("objects/info/alternates", &alternates).at("write", top)?;
    Project::open(top)
}

/// Gives a stand-in the settings of the user's repository, which came as a tree.
pub fn set_up_stand_in(top: &Path, tree: &str) -> Result<(), Fault> {
    check_object(tree)?;
    let project = Project::open(top)?;
    let git = project.git();
    let folder = Folder::at_itself(&top.join(".git")).at("open", top)?;
    for (name, to) in SET_UP {
        let object = format!("{tree}:{name}");
        if id_of(&git, &object)?.is_none() {
            continue;
        }
        let most = usize::try_from(PATTERNS_BYTES_MAX).unwrap_or(usize::MAX);
        let mut bytes = git.call(["cat-file", "blob", &object]).most(most).bytes()?;
        if name == "shallow" {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let ids = text.lines().filter(|it| is_id(it));
            bytes = ids.flat_map(|id| [id.as_bytes(), b"\n"]).flatten().copied().collect();
        }
        folder.replace(to, &bytes).at("write", &top.join(".git").join(to))?;
    }
    Ok(())
}

impl Workspace {
    /// Takes the workspace away with all that is in it, and a repository that only stood in for the user's. Refs in
    /// the user's repository stay.
    pub fn remove(self) -> Result<(), Fault> {
        self.place.remove()?;
        remove_stand_in(&self.place)
    }
}

/// Takes a stand-in away, if the place has one.
fn remove_stand_in(place: &Place) -> Result<(), Fault> {
    let all = place.state_dir.join(PACKS);
    let Ok(below) = place.project_dir.strip_prefix(&all) else { return Ok(()) };
    let mut parts = below.iter();
    let (Some(space), Some(_), Some(cast)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(());
    };
    let casts = all.join(space).join("casts");
    match Folder::at(&casts) {
        Ok(folder) => folder.remove_all(cast).at("remove", &casts.join(cast)),
        Err(_) => Ok(()),
    }
}
