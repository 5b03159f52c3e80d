//! Work in a workspace that no tree has: other repositories, and edited submodules.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::fault::Fault;
use crate::git::{Git, LIST_BYTES_MAX};
use crate::project::{Project, some_of};
use crate::workspace::Workspace;

/// How deep submodules of submodules are looked into.
const SUBMODULES_DEEP_MAX: usize = 8;

impl Workspace {
    /// Why the workspace must not be removed: work in it that no tree has. `None` if it may be removed.
    pub fn must_stay(&self) -> Result<Option<String>, Fault> {
        let _held = self.lock()?;
        let look = self.look_held()?;
        let nested = self.listing_of(&look)?.nested;
        let text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
        if !nested.is_empty() {
            let nested: Vec<String> = nested.iter().map(text).collect();
            let named = some_of(&nested);
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
        let named = some_of(&edited);
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
