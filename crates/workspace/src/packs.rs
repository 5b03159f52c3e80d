//! Packs of git objects by which the files of a cast come to other machines.
//!
//! A base is one pack: the history of a commit, less that of bases which are stored already. Each snapshot is a
//! further pack with the objects that it adds. The settings of the repository are a tree in the first of these.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::fault::{At as _, Fault};
use crate::fork::missing;
use crate::git::{Git, LIST_BYTES_MAX, WRITE_TIME_MAX};
use crate::look::{Look, check_object};
use crate::project::Project;
use crate::publish::PublishRefusal;
use crate::ref_list::is_id;
use crate::settings::PATTERNS_BYTES_MAX;
use crate::transfer::{PACK, Written, count, packed, reading, with_tree};
use crate::workspace::{Workspace, is_ancestor};

/// The largest pack: it is held in memory.
const PACK_BYTES_MAX: u64 = 2 << 30;
/// So many stored bases are tried for one that the new base continues.
const BASES_TRIED_MAX: usize = 32;
/// So many bases on other branches are left out of a pack.
const SIBLINGS_MAX: usize = 4;
/// The file with the mark of a workspace.
const MARK: &str = "mark";

/// The history of a base commit.
#[derive(Debug)]
pub struct BasePack {
    /// The pack; `None` if the stored bases have all of it.
    pub bytes: Option<Vec<u8>>,
    /// Bases that must be there before it.
    pub needs: Vec<String>,
    /// Commits whose parents the repository does not have.
    pub shallow: Vec<String>,
}

/// Packs the history of a commit, less that of bases that are stored (oldest first).
pub fn pack_base(
    project_dir: &Path,
    scratch: &Path,
    commit: &str,
    stored: &[String],
) -> Result<BasePack, Fault> {
    check_object(commit)?;
    let project = Project::open(project_dir)?;
    let git = project.git();
    let tried: Vec<&str> = stored.iter().rev().take(BASES_TRIED_MAX).map(String::as_str).collect();
    let gone = missing(&git, &tried)?;
    let here: Vec<&str> = tried.into_iter().filter(|id| !gone.iter().any(|it| it == id)).collect();
    let mut needs = Vec::new();
    for id in &here {
        if is_ancestor(&git, id, commit)? {
            needs = vec![(*id).to_owned()];
            break;
        }
    }
    if needs.is_empty() {
        needs = here.into_iter().take(SIBLINGS_MAX).map(str::to_owned).collect();
    }
    let bytes = pack(&git, [commit], needs.iter().flat_map(|id| with_tree(id)), scratch)?;
    let shallow = project.view.folder().read("shallow", LIST_BYTES_MAX as u64).unwrap_or_default();
    let shallow = String::from_utf8_lossy(&shallow);
    let shallow = shallow.lines().filter(|it| is_id(it)).map(str::to_owned).collect();
    Ok(BasePack { bytes, needs, shallow })
}

/// The bytes of a pack; `None` if there is no object in it.
fn pack<'a>(
    git: &Git,
    wanted: impl IntoIterator<Item = &'a str>,
    known: impl IntoIterator<Item = String>,
    scratch: &Path,
) -> Result<Option<Vec<u8>>, Fault> {
    let (own, count) = packed(git, wanted, known, scratch)?;
    let path = own.path().join(PACK);
    let bytes = own.folder().open(PACK).and_then(|file| file.metadata()).at("read", &path)?.len();
    if bytes > PACK_BYTES_MAX {
        let (has, most) = (bytes >> 20, PACK_BYTES_MAX >> 20);
        return Err(Fault::Unusable(format!(
            "the files to be stored are a pack of {has} MiB, and the largest is {most} MiB"
        )));
    }
    if count == 0 {
        return Ok(None);
    }
    own.folder().read(PACK, PACK_BYTES_MAX).at("read", &path).map(Some)
}

impl Workspace {
    /// The objects that a look names: its own three, and those its refs lead to.
    pub fn ids(&self, look: &Look) -> Result<Vec<String>, Fault> {
        look.check()?;
        let listing = self.listing_of(look)?;
        let mut ids: BTreeSet<&str> = listing.ids().collect();
        ids.extend([look.tree.as_str(), &look.head, &look.refs]);
        ids.retain(|id| is_id(id) && id.bytes().any(|it| it != b'0'));
        let all: Vec<&str> = ids.iter().copied().collect();
        let gone = missing(&self.git(), &all)?;
        ids.retain(|id| !gone.iter().any(|it| it == id));
        Ok(ids.into_iter().map(str::to_owned).collect())
    }

    /// A pack of objects and all that they lead to, less the base and what leads from `known`. Objects of `known`
    /// that are not here do not count. `None` if nothing is left.
    pub fn pack(&self, wanted: &[String], known: &[String]) -> Result<Option<Vec<u8>>, Fault> {
        wanted.iter().chain(known).try_for_each(|id| check_object(id))?;
        let git = self.git();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let gone = missing(&git, &known)?;
        let known = known.into_iter().filter(|id| !gone.iter().any(|it| it == id));
        let known = with_tree(&self.base).into_iter().chain(known.map(str::to_owned));
        pack(&git, wanted.iter().map(String::as_str), known, &self.place.private())
    }

    /// Writes the settings of the user's repository that a workspace depends on as a tree.
    pub fn keep_set_up(&self) -> Result<String, Fault> {
        let project = Project::open(&self.place.project_dir)?;
        let git = self.git();
        let mut entries = String::new();
        for (name, bytes) in project.set_up()? {
            let id = git.call(["hash-object", "-w", "--stdin"]).input(bytes).text()?;
            let _ = writeln!(entries, "100644 blob {id}\t{name}");
        }
        git.call(["mktree"]).input(entries).text()
    }

    /// A word that tells this workspace from others of the same cast, if it was given one.
    pub fn mark(&self) -> Option<String> {
        String::from_utf8(self.private().ok()?.read(MARK, 256).ok()?).ok()
    }

    /// Gives the workspace that word.
    pub fn set_mark(&self, mark: &str) -> Result<(), Fault> {
        let place = self.place.private().join(MARK);
        self.private()?.replace_durably(MARK, mark.as_bytes()).at("write", &place)
    }
}

impl Project {
    /// Files of settings and patterns that decide how a workspace reads and writes files.
    fn set_up(&self) -> Result<Vec<(&'static str, Vec<u8>)>, Fault> {
        let mut config = self.settings.text(false);
        config.push_str(&self.settings.remotes(self.top(), true));
        let mut files = vec![("config", config.into_bytes())];
        let view = self.view.folder();
        let mut exclude = self.user_patterns("core.excludesfile", "ignore").unwrap_or_default();
        exclude.push(b'\n');
        exclude.extend(view.read("info/exclude", PATTERNS_BYTES_MAX).unwrap_or_default());
        files.push(("exclude", exclude));
        let attributes = self.user_patterns("core.attributesfile", "attributes");
        files.extend(attributes.map(|bytes| ("attributes", bytes)));
        let of_own = materia_safe_fs::Folder::at(&self.repository.own);
        let own = of_own.at("open", &self.repository.own)?;
        for (name, found) in [
            ("info-attributes", view.read("info/attributes", PATTERNS_BYTES_MAX)),
            ("shallow", view.read("shallow", LIST_BYTES_MAX as u64)),
            ("sparse", own.read("info/sparse-checkout", PATTERNS_BYTES_MAX)),
        ] {
            files.extend(found.ok().map(|bytes| (name, bytes)));
        }
        Ok(files)
    }

    /// Whether it has all of these objects.
    pub fn has(&self, ids: &[String]) -> Result<bool, Fault> {
        ids.iter().try_for_each(|id| check_object(id))?;
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        Ok(missing(&self.git(), &ids)?.is_empty())
    }

    /// Takes the objects of a pack. Each is checked, and so is that everything they lead to is there.
    pub fn take_pack(&self, bytes: Vec<u8>) -> Result<(), Fault> {
        take(&self.git(), bytes, Written::AsNeeded)
    }

    /// Keeps objects of a cast by refs, and makes its branch at a commit. A branch that leads elsewhere is left alone.
    pub fn keep_cast(
        &self,
        cast_id: &str,
        ids: &BTreeSet<&str>,
        published: Option<&str>,
    ) -> Result<(), PublishRefusal> {
        crate::location::check_id(cast_id)?;
        ids.iter().copied().chain(published).try_for_each(check_object)?;
        let full = format!("refs/heads/materia/{cast_id}");
        let found = self.id_of(&full)?;
        if let (Some(found), Some(wanted)) = (&found, published)
            && found != wanted
        {
            return Err(PublishRefusal::BranchExists {
                branch: format!("materia/{cast_id}"),
                found: found.clone(),
                wanted: wanted.to_owned(),
            });
        }
        let new = published.filter(|_| found.is_none()).map(|commit| (full.as_str(), commit));
        Ok(self.keep(cast_id, ids.iter().copied(), new)?)
    }
}

/// Has git read a pack.
pub(crate) fn take(git: &Git, bytes: Vec<u8>, written: Written) -> Result<(), Fault> {
    let Some(header) = bytes.first_chunk::<12>() else {
        return Err(Fault::Unusable("a pack is cut off".to_owned()));
    };
    let call = git.call(reading(count(header), written));
    call.input(bytes).within(WRITE_TIME_MAX).bytes().map(drop)
}
