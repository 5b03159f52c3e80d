//! Makes a workspace from a state of another one.

use std::collections::BTreeMap;

use crate::create::furnish;
use crate::fault::Fault;
use crate::git::{Git, LIST_BYTES_MAX};
use crate::location::Place;
use crate::look::Look;
use crate::project::{Base, Project};
use crate::ref_list::{Listing, Target};
use crate::transfer::{Written, transfer};
use crate::workspace::{Opened, Workspace, open};

/// Where the objects of a look are.
#[derive(Debug, Clone)]
pub enum Source {
    /// In the workspace of the other cast.
    Workspace(Place),
    /// In the user's repository, where the other cast was published; with its id.
    Published(String),
}

/// Why there is no fork.
#[derive(Debug, thiserror::Error)]
pub enum ForkRefusal {
    /// The other cast's files are gone.
    #[error("the files of `{cast_id}` as of that event are gone: {reason}")]
    Gone {
        /// The other cast.
        cast_id: String,
        /// The missing part.
        reason: String,
    },
    /// Something failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Makes a workspace with the files, HEAD and refs of a snapshot of another cast. The branch of the other cast
/// becomes the branch of this one. `base` is the base of the other cast.
pub fn fork(
    from: &Source,
    at: &Look,
    to: &Place,
    base: &Base,
) -> Result<(Workspace, Look), ForkRefusal> {
    to.check()?;
    at.check()?;
    match open(to)? {
        Opened::Here(workspace) => {
            let look = workspace.look()?;
            return Ok((workspace, look));
        }
        Opened::CheckoutGone(workspace) => return Err(workspace.without_files().into()),
        Opened::Gone => {}
    }
    let project = Project::open(&to.project_dir)?;
    let (git, cast_id) = match from {
        Source::Published(cast_id) => (project.git(), cast_id),
        Source::Workspace(place) => match open(place)? {
            Opened::Here(it) | Opened::CheckoutGone(it) => (it.git(), &place.cast_id),
            Opened::Gone => {
                let reason = format!("`{}` holds no workspace", place.root().display());
                return Err(ForkRefusal::Gone { cast_id: place.cast_id.clone(), reason });
            }
        },
    };
    let missing = missing(&git, &[&at.tree, &at.head, &at.refs])?;
    if let Some(id) = missing.first() {
        let reason = format!("the object {id} is not there any more");
        return Err(ForkRefusal::Gone { cast_id: cast_id.clone(), reason });
    }
    let bytes = git.call(["cat-file", "blob", &at.refs]).most(LIST_BYTES_MAX).bytes()?;
    let unknown = || Fault::Unusable(format!("the object {} lists no refs", at.refs));
    let listing = Listing::from_bytes(&bytes).ok_or_else(unknown)?;
    let (refs, head) = renamed(&git, listing, cast_id, to)?;

    let workspace = furnish(&project, to, base)?;
    let targets = refs.values().filter_map(crate::restore::id);
    let wanted: std::collections::BTreeSet<&str> =
        targets.chain([at.tree.as_str(), &at.head]).filter(|id| !is_zero(id)).collect();
    transfer(
        &git,
        &workspace.git(),
        wanted.iter().copied(),
        [base.commit.as_str()],
        Written::AsPack,
        &workspace.place.private(),
    )?;
    workspace.begin(&refs, &head, &base.commit)?;
    let look = workspace.complete(&at.tree, &at.head)?;
    Ok((workspace, look))
}

/// The refs and HEAD of a listing as the fork has them: without those whose objects are gone.
fn renamed(
    git: &Git,
    listing: Listing,
    cast_id: &str,
    to: &Place,
) -> Result<(BTreeMap<Vec<u8>, Target>, Target), Fault> {
    let (old, new) =
        (format!("refs/heads/materia/{cast_id}").into_bytes(), to.branch().into_bytes());
    let name = |name: Vec<u8>| if name == old { new.clone() } else { name };
    let target = |it: Target| match it {
        Target::Ref(to) => Target::Ref(name(to)),
        Target::Id(id) => Target::Id(id),
    };
    let ids: Vec<&str> = listing.ids().collect();
    let missing: std::collections::BTreeSet<String> = missing(git, &ids)?.into_iter().collect();
    let head_id = listing.head_id().map(str::to_owned);
    let there = |it: &Target| crate::restore::id(it).is_none_or(|id| !missing.contains(id));
    let refs = listing.refs.into_iter().filter(|(_, it)| there(it));
    let mut refs: BTreeMap<_, _> = refs.map(|(key, value)| (name(key), target(value))).collect();
    let head = target(listing.head);
    if let (Target::Ref(branch), Some(id)) = (&head, head_id) {
        refs.entry(branch.clone()).or_insert(Target::Id(id));
    }
    Ok((refs, head))
}

/// Which of these objects a repository does not have.
pub(crate) fn missing(git: &Git, ids: &[&str]) -> Result<Vec<String>, Fault> {
    let ids: Vec<&str> = ids.iter().copied().filter(|id| !is_zero(id)).collect();
    let call = git.call(["cat-file", "--batch-check=%(objectname)"]);
    let text = call.input(ids.join("\n") + "\n").most(LIST_BYTES_MAX).text()?;
    let missing = text.lines().filter_map(|line| line.strip_suffix(" missing"));
    Ok(missing.map(str::to_owned).collect())
}

fn is_zero(id: &str) -> bool {
    id.bytes().all(|it| it == b'0')
}
