//! What a turn changed in the project, as a diff.
//!
//! The project is looked at before the turn and after it, with git, and the two trees are compared. Nothing
//! of the user's repository is touched: index and new objects lie in a folder of their own for each look, which
//! goes when the turn ends. Only objects that are there already are read from the repository.
//!
//! # Invariants
//!
//! * No settings count but ours: not those of the repository, of its submodules, of the user or of the system. A turn
//!   that may write may also have written those, and a filter, a hook or a monitor that they name would run outside
//!   the room of the turn. The repository is found without asking git, which would read them.
//! * Submodules and other repositories inside the project are not looked into: git would start itself there, with
//!   their settings.
//! * The look is confined: where the kernel can, git may write to the folder of the look alone, may not use the
//!   network, may run no program and send no signal. The look after a turn has a folder that did not exist while the
//!   turn ran.
//! * No diff is no failure: where there is no repository, no git, or too much to look at in time, a turn
//!   simply leaves none.
//!
//! Files are taken as git would store them: line ends are converted as `.gitattributes` and `core.autocrlf` say,
//! which git does by itself. What a filter would make of a file is not known; such a file is compared as it lies
//! there.
//!
//! Turns that run side by side in one project see each other's changes. Deliberately absent: what was
//! changed under ignored paths.

mod git;
mod repository;
mod snapshot;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use materia_engine::TurnJob;
use materia_safe_fs::Temporary;

use snapshot::Look;

/// What is kept of a diff.
const DIFF_BYTES_MAX: usize = 256 * 1024;

/// A project as it was before a turn.
pub(crate) struct Before {
    own: Temporary,
    tree: String,
}

impl Before {
    /// Looks at the project of a turn that is about to start.
    pub(crate) async fn of(job: &TurnJob) -> Option<Self> {
        looking(job, |job, halt| {
            let look = Look::open(job, halt)?;
            let tree = look.inside(Look::tree)?;
            Some(Self { own: look.own, tree })
        })
        .await
    }

    /// What has changed since; `None` if nothing has.
    pub(crate) async fn diff(self, job: &TurnJob) -> Option<String> {
        looking(job, move |job, halt| {
            let mut look = Look::open(job, halt)?;
            // Of the folder that the turn could see only objects are read, which are no more than data.
            look.objects.push(self.own.path().join("objects"));
            let diff = look.inside(|look| {
                let tree = look.tree()?;
                if tree == self.tree { None } else { look.diff(&self.tree, &tree) }
            })?;
            Some(cut(diff))
        })
        .await
    }
}

/// Looks on a thread that may wait. Where nobody waits for it any more, the look is given up.
async fn looking<T: Send + 'static>(
    job: &TurnJob,
    work: impl FnOnce(&TurnJob, Arc<AtomicBool>) -> Option<T> + Send + 'static,
) -> Option<T> {
    let (job, halt) = (job.clone(), Arc::new(AtomicBool::new(false)));
    let _given_up = GivenUp(Arc::clone(&halt));
    tokio::task::spawn_blocking(move || work(&job, halt)).await.ok().flatten()
}

/// Tells a look that it is over.
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Holds a diff to its bound, at the end of a line, and says so.
fn cut(mut diff: String) -> String {
    if diff.len() > DIFF_BYTES_MAX {
        let end = diff.as_bytes()[..DIFF_BYTES_MAX].iter().rposition(|byte| *byte == b'\n');
        diff.truncate(end.map_or(0, |end| end + 1));
        diff.push_str("(the rest of this diff was left out: it is too long)\n");
    }
    diff
}
