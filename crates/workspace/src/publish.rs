//! Publishes a cast's branch into the user's repository.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::fault::Fault;
use crate::fork::missing;
use crate::git::WRITE_TIME_MAX;
use crate::look::Look;
use crate::project::Project;
use crate::settings::Identity;
use crate::transfer::{Written, transfer};
use crate::workspace::Workspace;

/// A cast's result.
#[derive(Debug, Clone)]
pub struct Publish {
    /// The last look.
    pub look: Look,
    /// Looks that events name: they can be forked from as long as the refs are there.
    pub looks: Vec<Look>,
    /// The date of a commit, as git reads it: RFC 3339, or seconds since 1970 and a zone.
    pub date: String,
    /// The message of the commit of what is not committed; the trailer is added.
    pub message: String,
    /// Who makes the commit.
    pub identity: Identity,
}

/// A published branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its short name: `materia/<castId>`.
    pub branch: String,
    /// Its commit.
    pub commit: String,
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishRefusal {
    /// The base is no ancestor of HEAD.
    #[error(
        "HEAD of the workspace ({head}) does not go back to the base {base}; put HEAD on a branch that does"
    )]
    BaseLost {
        /// The commit of HEAD.
        head: String,
        /// The base.
        base: String,
    },
    /// The branch is there and leads elsewhere.
    #[error(
        "the branch `{branch}` is in the repository already and leads to {found}, not to {wanted}; rename or delete it"
    )]
    BranchExists {
        /// The short name.
        branch: String,
        /// Its commit.
        found: String,
        /// The commit that would be published.
        wanted: String,
    },
    /// A branch of the user's makes the name impossible.
    #[error("a branch `materia` is in the way of `{branch}`; rename it")]
    BranchInTheWay {
        /// The short name that is wanted.
        branch: String,
    },
    /// Something failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Project {
    /// Keeps objects of a cast by refs, and makes its branch, all or nothing. The branch must not be there.
    pub(crate) fn keep<'a>(
        &self,
        cast_id: &str,
        ids: impl IntoIterator<Item = &'a str>,
        branch: Option<(&str, &str)>,
    ) -> Result<(), Fault> {
        let mut input = String::new();
        for id in ids {
            let _ = writeln!(input, "update refs/materia/{cast_id}/{id} {id}");
        }
        if let Some((name, commit)) = branch {
            let _ = writeln!(input, "create {name} {commit}");
        }
        let call = self.git().call(["update-ref", "-m", "materia: published", "--stdin"]);
        call.input(input).within(WRITE_TIME_MAX).bytes().map(drop)
    }
}

impl Workspace {
    /// Publishes a result. After a crash it is done again and finds what is there; a branch of that name that leads
    /// elsewhere is never overwritten.
    pub fn publish(&self, request: &Publish) -> Result<Published, PublishRefusal> {
        let _held = self.lock()?;
        request.look.check()?;
        request.looks.iter().try_for_each(Look::check)?;
        if !self.has_base_as_ancestor(&request.look)? {
            let (head, base) = (request.look.head.clone(), self.base.clone());
            return Err(PublishRefusal::BaseLost { head, base });
        }
        let commit = self.commit(request)?;
        let project = Project::open(&self.place.project_dir)?;
        let full = self.place.branch();
        let branch = full.trim_start_matches("refs/heads/").to_owned();
        let exists = |found: String| PublishRefusal::BranchExists {
            branch: branch.clone(),
            found,
            wanted: commit.clone(),
        };
        let found = project.id_of(&full)?;
        if let Some(found) = found.as_ref().filter(|found| **found != commit) {
            return Err(exists(found.clone()));
        }
        if project.id_of("refs/heads/materia")?.is_some() {
            return Err(PublishRefusal::BranchInTheWay { branch });
        }
        let mut ids: BTreeSet<&str> = BTreeSet::new();
        for look in request.looks.iter().chain([&request.look]) {
            ids.extend([look.tree.as_str(), &look.head, &look.refs]);
        }
        ids.retain(|id| id.bytes().any(|it| it != b'0'));
        // Files of a workspace that was deleted and made again are gone; whatever else events name is kept.
        let all: Vec<&str> = ids.iter().copied().collect();
        let gone = missing(&self.git(), &all)?;
        ids.retain(|id| !gone.iter().any(|it| it == id));
        let wanted = ids.iter().copied().chain([commit.as_str()]);
        transfer(
            &self.git(),
            &project.git(),
            wanted,
            [self.base.as_str()],
            Written::AsNeeded,
            &self.place.private(),
        )?;
        let branch_of = found.is_none().then_some((full.as_str(), commit.as_str()));
        if let Err(fault) = project.keep(&self.place.cast_id, ids, branch_of) {
            return match project.id_of(&full)? {
                // Another process made the branch in between.
                Some(found) if found != commit => Err(exists(found)),
                _ => Err(fault.into()),
            };
        }
        Ok(Published { branch, commit })
    }

    /// HEAD's commit, or one more with what is not committed. The same request makes the same commit.
    fn commit(&self, request: &Publish) -> Result<String, Fault> {
        let (look, git) = (&request.look, self.git());
        let committed = git.text(["rev-parse", "--verify", &format!("{}^{{tree}}", look.head)])?;
        if committed == look.tree {
            return Ok(look.head.clone());
        }
        let Identity { name, email } = &request.identity;
        let git = git.env("GIT_AUTHOR_NAME", name).env("GIT_AUTHOR_EMAIL", email);
        let git = git.env("GIT_COMMITTER_NAME", name).env("GIT_COMMITTER_EMAIL", email);
        let git =
            git.env("GIT_AUTHOR_DATE", &request.date).env("GIT_COMMITTER_DATE", &request.date);
        let message = request.message.trim_end();
        let message = format!("{message}\n\nMateria-Cast: {}\n", self.place.cast_id);
        let call =
            git.call(["commit-tree", "--no-gpg-sign", &look.tree, "-p", &look.head, "-F", "-"]);
        call.input(message).text()
    }
}
