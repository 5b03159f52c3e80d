//! Checks before and after a turn for changes that it may not make.

use std::path::{Path, PathBuf};

use materia_contract::GlobalMode;
use materia_engine::TurnJob;

use crate::planning;
use crate::tree_check::TreeCheck;

/// The files of the journal; if a project is its own artifact root, they are among its files and change all the time.
const JOURNAL: [&str; 3] = ["journal.db", "journal.db-wal", "journal.db-shm"];

/// Performs a turn, and says what has changed meanwhile that it may not change: in Planning mode
/// everything but documents, and the same from the moment on at which the mode became that.
pub(crate) async fn watched<T>(
    job: &TurnJob,
    turn: impl Future<Output = T>,
) -> (T, Option<String>) {
    let complaint = |before: Option<TreeCheck>| before?.complaint(&job.doc_root);
    if job.global_mode == GlobalMode::Planning {
        let before = look(job).await;
        let result = turn.await;
        return (result, complaint(before));
    }
    let (result, late) = until_tightened(job, turn).await;
    (result, complaint(late))
}

/// Performs a turn; looks at the project when it becomes a matter of documents alone on the way.
/// What changes after that is found, though it cannot be kept from happening.
pub(crate) async fn until_tightened<T>(
    job: &TurnJob,
    turn: impl Future<Output = T>,
) -> (T, Option<TreeCheck>) {
    let mut turn = std::pin::pin!(turn);
    let mut told = job.control.tightened.clone();
    tokio::select! {
        result = &mut turn => return (result, None),
        () = told.told() => {}
    }
    let late = look(job).await;
    (turn.await, late)
}

/// The project as it is now.
async fn look(job: &TurnJob) -> Option<TreeCheck> {
    let job = job.clone();
    let look = move || {
        let docs = planning::make_doc_root(&job.cwd, &job.doc_root).ok()?;
        Some(TreeCheck::before(&job.cwd, &docs, &ignored(&job)))
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// Paths that the check skips because materia itself writes there: the artifact root.
pub(crate) fn ignored(job: &TurnJob) -> Vec<PathBuf> {
    let Some(root) = job.run_dir.parent() else { return Vec::new() };
    let inside = |path: &Path| match (path.canonicalize(), job.cwd.canonicalize()) {
        (Ok(path), Ok(project)) => !project.starts_with(path),
        (Err(_), _) | (_, Err(_)) => true,
    };
    if inside(root) {
        return vec![root.to_owned()];
    }
    // The project is its own artifact root, or is inside it.
    let journal = JOURNAL.iter().map(|name| root.join(name));
    journal.chain([root.join("blobs"), job.run_dir.clone()]).collect()
}
