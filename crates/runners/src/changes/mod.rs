//! Changes of a turn in the project, as a diff.
//!
//! Git takes a snapshot of the project before the turn and after it, and compares the two trees. The user's repository
//! is not touched: the index and new objects of each snapshot are in a separate folder, which is removed when the turn
//! ends. Only existing objects are read from the repository.
//!
//! # Invariants
//!
//! * Only our own git settings apply: not those of the repository, its submodules, the user or the system. A turn with
//!   write access may have changed those, and a filter, hook or monitor in them would run outside of the turn's
//!   sandbox. The repository is found without git, which would read them.
//! * Submodules and other repositories inside the project are skipped: git would start itself there, with their
//!   settings.
//! * The snapshot is confined if the kernel supports it: git may write only to the snapshot's folder, use no network,
//!   run no program and send no signal. The snapshot after a turn has a folder that did not exist while the turn ran.
//! * No diff is no failure: without a repository, without git, or if it takes too long, a turn has no diff.
//!
//! Files are compared as git would store them, with the line ends of `.gitattributes` and `core.autocrlf`. Filters are
//! not run; a file with a filter is compared as it is on disk.
//!
//! Parallel turns in one project see each other's changes. Deliberately absent: changes under ignored paths.

mod git;
mod repository;
mod snapshot;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use materia_engine::TurnJob;
use materia_safe_fs::Temporary;

use snapshot::Look;

/// Maximum size of a diff.
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

    /// Diff since this snapshot; `None` if nothing changed.
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

/// Runs `work` on a blocking thread, and asks it to stop if the caller no longer waits.
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
