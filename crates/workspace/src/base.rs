//! Base of an earlier cast.

use std::path::Path;

use crate::fault::Fault;
use crate::project::{Base, Project};
use crate::ref_list::is_id;
use crate::settings::Identity;

/// The base at a commit that a cast began at. It fails where the repository no longer has the commit.
pub fn base_at(
    project_dir: &Path,
    commit: &str,
    git_version: String,
    identity: Identity,
) -> Result<Base, Fault> {
    let project = Project::open(project_dir)?;
    let gone = || {
        let folder = project_dir.display();
        Fault::Unusable(format!("the repository of `{folder}` has no commit {commit} any more"))
    };
    if !is_id(commit) {
        return Err(gone());
    }
    let tree = project.id_of(&format!("{commit}^{{tree}}"))?.ok_or_else(gone)?;
    let (commit, notes, uncommitted) = (commit.to_owned(), Vec::new(), 0);
    Ok(Base { commit, tree, git_version, identity, notes, uncommitted })
}
