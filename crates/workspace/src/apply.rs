//! Merges a published branch into the user's checkout, drops it, and checks whether it was merged.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use materia_safe_fs::{Folder, Temporary};

use crate::fault::{At as _, Fault};
use crate::git::{Git, LIST_BYTES_MAX, WRITE_TIME_MAX};
use crate::location::{Place, check_id, real};
use crate::project::{Project, some_of};
use crate::publish::Published;
use crate::workspace::is_ancestor;

/// Files in a git folder that mean that something is half done.
const HALF_DONE: [&str; 7] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "index.lock",
];

/// Result of `apply`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The branch was merged already.
    Already,
    /// The user's branch moved forward to the commit of the cast.
    Forward(String),
    /// A merge commit was made.
    Merged(String),
}

/// Why nothing was merged. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ApplyRefusal {
    /// There is no such branch.
    #[error(
        "the branch `materia/{0}` is not in the repository; a cast is published when it completes"
    )]
    NotPublished(String),
    /// A merge, rebase or the like is under way.
    #[error("`{0}` is in the git folder: something is half done there; finish or abort it first")]
    HalfDone(String),
    /// Uncommitted changes would be overwritten.
    #[error("uncommitted changes would be overwritten in {}; commit or stash them first", some_of(.files))]
    Uncommitted {
        /// Their paths.
        files: Vec<String>,
    },
    /// Files that git does not track, or ignores, would be overwritten.
    #[error("files that are not in the repository would be overwritten: {}; move them away first", some_of(.files))]
    Untracked {
        /// Their paths.
        files: Vec<String>,
    },
    /// Both sides changed the same lines.
    #[error("conflicts in {}; merge `materia/{cast_id}` by hand", some_of(.files))]
    Conflict {
        /// Their paths.
        files: Vec<String>,
        /// The cast.
        cast_id: String,
    },
    /// Something failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl ApplyRefusal {
    /// The files that stand against it.
    pub fn files(&self) -> &[String] {
        match self {
            Self::Uncommitted { files }
            | Self::Untracked { files }
            | Self::Conflict { files, .. } => files,
            Self::NotPublished(_) | Self::HalfDone(_) | Self::Fault(_) => &[],
        }
    }
}

/// The published branch of a cast, if it is in the user's repository.
pub fn published(project: &Project, cast_id: &str) -> Result<Option<Published>, Fault> {
    check_id(cast_id)?;
    let branch = format!("materia/{cast_id}");
    let commit = project.id_of(&format!("refs/heads/{branch}"))?;
    Ok(commit.map(|commit| Published { branch, commit }))
}

/// Whether the published branch can be reached from a local branch outside `materia/`.
pub fn merged(project: &Project, cast_id: &str) -> Result<bool, Fault> {
    let Some(Published { commit, .. }) = published(project, cast_id)? else { return Ok(false) };
    let words = ["rev-list", "-n", "1", &commit, "--not", "--exclude=materia/*", "--branches"];
    Ok(project.git().call(words).within(WRITE_TIME_MAX).text()?.is_empty())
}

/// The ids of all casts that have a branch or refs in the user's repository, in order.
pub fn casts_in(project: &Project) -> Result<Vec<String>, Fault> {
    let words = ["for-each-ref", "--format=%(refname)", "refs/materia/", "refs/heads/materia/"];
    let refs = project.git().call(words).most(LIST_BYTES_MAX).text()?;
    let id = |name: &str| {
        let kept =
            name.strip_prefix("refs/materia/").and_then(|it| it.split_once('/')).map(|it| it.0);
        let id = kept.or_else(|| name.strip_prefix("refs/heads/materia/"))?;
        check_id(id).is_ok().then(|| id.to_owned())
    };
    Ok(refs.lines().filter_map(id).collect::<BTreeSet<_>>().into_iter().collect())
}

/// Removes the workspace, the branch and the refs of a cast. A branch that is checked out somewhere is an error.
pub fn drop_cast(project: &Project, place: &Place) -> Result<(), Fault> {
    place.check()?;
    if let Some(path) = checked_out(project, &place.branch()) {
        return Err(Fault::Unusable(format!(
            "the branch `materia/{}` is checked out in `{path}`; switch to another one first",
            place.cast_id
        )));
    }
    let prefix = format!("refs/materia/{}/", place.cast_id);
    let words = ["for-each-ref", "--format=%(refname)", &prefix, &place.branch()];
    let refs = project.git().call(words).most(LIST_BYTES_MAX).text()?;
    let mut input = String::new();
    for name in refs.lines() {
        let _ = writeln!(input, "delete {name}");
    }
    if !input.is_empty() {
        let call = project.git().call(["update-ref", "--stdin"]);
        call.input(input).within(WRITE_TIME_MAX).bytes()?;
    }
    place.remove()
}

/// The folder of the git folder in which a branch is HEAD.
fn checked_out(project: &Project, branch: &str) -> Option<String> {
    let common = real(&project.repository.common);
    let mut places = vec![common.clone()];
    let others = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    places.extend(others.map(|entry| entry.path()));
    let is_head = |place: &Path| {
        let head = Folder::at(place).and_then(|it| it.read("HEAD", 4096)).unwrap_or_default();
        head.trim_ascii() == format!("ref: {branch}").as_bytes()
    };
    places.iter().find(|place| is_head(place)).map(|place| place.display().to_string())
}

/// Merges the published branch into the user's checkout, or refuses and changes nothing. No hook runs, no filter and
/// no merge driver that settings name.
pub fn apply(project: &Project, cast_id: &str) -> Result<Applied, ApplyRefusal> {
    let Some(Published { commit: theirs, .. }) = published(project, cast_id)? else {
        return Err(ApplyRefusal::NotPublished(cast_id.to_owned()));
    };
    let own = Folder::at(&project.repository.own).at("open", &project.repository.own)?;
    if let Some(name) = HALF_DONE.iter().find(|name| own.has(name)) {
        return Err(ApplyRefusal::HalfDone((*name).to_owned()));
    }
    // The user's HEAD and index, with our settings.
    let git = Git::new(&real(&project.repository.own)).common(project.view.path());
    let git = git.top(&project.repository.top);
    let ours = git.text(["rev-parse", "--verify", "HEAD^{commit}"])?;
    if is_ancestor(&git, &theirs, &ours)? {
        return Ok(Applied::Already);
    }
    let forward = is_ancestor(&git, &ours, &theirs)?;
    let tree = if forward {
        git.text(["rev-parse", "--verify", &format!("{theirs}^{{tree}}")])?
    } else {
        merged_tree(project, &git, &ours, &theirs, cast_id)?
    };
    // The objects of a merge that may still be refused are in a separate folder.
    let files = changed_files(&git, &ours, &tree)?;
    refuse_overwriting(project, &git, &files)?;
    let commit = if forward {
        theirs
    } else {
        merge_commit(project, &git, &tree, [&ours, &theirs], cast_id)?
    };
    let call = git.call(["read-tree", "-m", "-u", &ours, &commit]);
    call.within(WRITE_TIME_MAX).bytes()?;
    let message = format!("materia: apply {cast_id}");
    let moved = git.call(["update-ref", "-m", &message, "HEAD", &commit, &ours]).bytes();
    if let Err(fault) = moved {
        let _ = git.call(["read-tree", "-m", "-u", &commit, &ours]).within(WRITE_TIME_MAX).bytes();
        return Err(fault.into());
    }
    Ok(if forward { Applied::Forward(commit) } else { Applied::Merged(commit) })
}

/// The tree of a merge. It is tried with a folder of objects of its own first: a conflict leaves nothing behind.
fn merged_tree(
    project: &Project,
    git: &Git,
    ours: &str,
    theirs: &str,
    cast_id: &str,
) -> Result<String, ApplyRefusal> {
    let scratch = Temporary::new("merge").at("make a folder in", &std::env::temp_dir())?;
    let tried = git.clone().objects(scratch.path(), &project.objects());
    let merge = |git: &Git| {
        let git = git.clone().attributes(ours);
        let words =
            ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
        git.call(words).most(LIST_BYTES_MAX).within(WRITE_TIME_MAX).run()
    };
    let said = merge(&tried)?;
    let mut fields =
        said.out.split(|byte| *byte == 0).map(|it| String::from_utf8_lossy(it).into_owned());
    let tree = fields.next().unwrap_or_default();
    match said.status {
        0 => {}
        1 if !tree.is_empty() => {
            let files: BTreeSet<String> = fields.filter(|it| !it.is_empty()).collect();
            let (files, cast_id) = (files.into_iter().collect(), cast_id.to_owned());
            return Err(ApplyRefusal::Conflict { files, cast_id });
        }
        _ => return Err(Fault::Unusable(format!("`git merge-tree` failed: {}", said.error)).into()),
    }
    // Conflicts are detected before anything is written.
    let files = changed_files(&tried, ours, &tree)?;
    refuse_overwriting(project, git, &files)?;
    merge(git)?;
    Ok(tree)
}

fn merge_commit(
    project: &Project,
    git: &Git,
    tree: &str,
    parents: [&str; 2],
    cast_id: &str,
) -> Result<String, Fault> {
    let identity = project.settings.identity();
    let git = git.clone().env("GIT_AUTHOR_NAME", &identity.name);
    let git = git.env("GIT_AUTHOR_EMAIL", &identity.email);
    let git =
        git.env("GIT_COMMITTER_NAME", &identity.name).env("GIT_COMMITTER_EMAIL", &identity.email);
    let words =
        ["commit-tree", "--no-gpg-sign", tree, "-p", parents[0], "-p", parents[1], "-F", "-"];
    let message = format!("Merge branch 'materia/{cast_id}'\n\nMateria-Cast: {cast_id}\n");
    git.call(words).input(message).text()
}

/// Paths that differ between a commit and a tree.
fn changed_files(git: &Git, from: &str, to: &str) -> Result<Vec<Vec<u8>>, Fault> {
    let words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to];
    let list = git.call(words).most(LIST_BYTES_MAX).bytes()?;
    Ok(list.split(|byte| *byte == 0).filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Refuses where one of these paths has changes, or holds something that is not in the index.
fn refuse_overwriting(project: &Project, git: &Git, files: &[Vec<u8>]) -> Result<(), ApplyRefusal> {
    let words = [
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=no",
        "--no-renames",
        "--ignore-submodules=all",
    ];
    let list = git.call(words).most(LIST_BYTES_MAX).bytes()?;
    let dirty: BTreeSet<&[u8]> =
        list.split(|byte| *byte == 0).filter(|it| it.len() > 3).map(|it| &it[3..]).collect();
    let list = git.call(["ls-files", "-z", "--cached"]).most(LIST_BYTES_MAX).bytes()?;
    let tracked: BTreeSet<&[u8]> = list.split(|byte| *byte == 0).collect();
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let inside = |path: &[u8], folder: &[u8]| {
        path.len() > folder.len() && path.starts_with(folder) && path[folder.len()] == b'/'
    };
    let (mut uncommitted, mut untracked) = (BTreeSet::new(), BTreeSet::new());
    for path in files {
        let path = path.as_slice();
        uncommitted.extend(
            dirty
                .iter()
                .filter(|it| **it == path || inside(it, path) || inside(path, it))
                .map(|it| text(it)),
        );
        if tracked.contains(path) {
            continue;
        }
        // A file of that name, a folder with others in it, or a file in the place of a folder on the way.
        let mut at = Path::new(OsStr::from_bytes(path));
        loop {
            let bytes = at.as_os_str().as_bytes();
            let found = project.repository.top.join(at).symlink_metadata();
            match found {
                Ok(found) if found.is_dir() => {
                    if bytes == path {
                        let others = untracked_in(git, path)?;
                        untracked.extend(others.iter().map(|it| text(it)));
                    }
                    break;
                }
                Ok(_) => {
                    if !tracked.contains(bytes) {
                        untracked.insert(text(bytes));
                    }
                    break;
                }
                Err(_) => match at.parent().filter(|it| !it.as_os_str().is_empty()) {
                    Some(parent) => at = parent,
                    None => break,
                },
            }
        }
    }
    if !uncommitted.is_empty() {
        return Err(ApplyRefusal::Uncommitted { files: uncommitted.into_iter().collect() });
    }
    if !untracked.is_empty() {
        return Err(ApplyRefusal::Untracked { files: untracked.into_iter().collect() });
    }
    Ok(())
}

/// Files in a folder that are not in the index, ignored ones included.
fn untracked_in(git: &Git, folder: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
    let words = ["ls-files", "-z", "--others", "--"].map(OsStr::new);
    let words = words.into_iter().chain([OsStr::from_bytes(folder)]);
    let list = git.call(words).most(LIST_BYTES_MAX).bytes()?;
    Ok(list.split(|byte| *byte == 0).filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect())
}
