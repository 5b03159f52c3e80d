//! How far a cast's files have come.

use std::path::PathBuf;

use crate::diff::{self, FileChange};
use crate::fault::Fault;
use crate::git::{Git, LIST_BYTES_MAX};
use crate::location::Place;
use crate::project::Project;
use crate::workspace::{Opened, open};

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
            let files = diff::files(&workspace.git(), &base, &look.tree)?;
            let commits = commits(&workspace.git(), &base, &look.head)?;
            let checkout = Some(place.checkout());
            Ok(Status { checkout, base: Some(base), commits, files, published })
        }
        Opened::CheckoutGone(_) | Opened::Gone => {
            let base = project.id_of(&format!("refs/materia/{}/base", place.cast_id))?;
            let (mut files, mut all) = (Vec::new(), Vec::new());
            if let (Some(base), Some(commit)) = (&base, &published) {
                files = diff::files(&project.git(), base, commit)?;
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
