//! Where a program may write: everywhere, or in Planning mode in a few folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use materia_contract::GlobalMode;
use materia_engine::TurnJob;

use crate::planning;
use crate::supervise::protocol::{RawPath, Writable};
use crate::tree_check::TreeCheck;

/// The files in which the journal is kept; with a project that is its own artifact root they lie
/// among its files and change all the time.
const JOURNAL: [&str; 3] = ["journal.db", "journal.db-wal", "journal.db-shm"];

/// What a program gets to write to.
pub(super) enum Room {
    /// Everything.
    Open,
    /// A few folders.
    Planning(Box<Confined>),
}

/// The few folders of a Planning turn, and the project as it was before.
pub(super) struct Confined {
    docs: PathBuf,
    temporary: PathBuf,
    before: TreeCheck,
}

impl Room {
    /// Makes sure of the folders, or says why the program cannot run.
    pub(super) async fn prepare(job: &TurnJob) -> Result<Self, String> {
        match job.global_mode {
            GlobalMode::Implementation => Ok(Self::Open),
            GlobalMode::Planning => {
                let job = job.clone();
                let work = move || Ok(Self::Planning(Box::new(Confined::prepare(&job)?)));
                tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
            }
        }
    }

    /// The program's own folder for temporary files.
    pub(super) fn temporary(&self) -> Option<&PathBuf> {
        match self {
            Self::Open => None,
            Self::Planning(confined) => Some(&confined.temporary),
        }
    }

    /// What the sandbox allows; `None` without one.
    pub(super) fn writable(&self, job: &TurnJob) -> Option<Writable> {
        match self {
            Self::Open => None,
            Self::Planning(confined) => Some(Writable {
                folders: vec![RawPath::from(&confined.docs), RawPath::from(&confined.temporary)],
                plain: vec![RawPath::from(&job.run_dir)],
            }),
        }
    }

    /// Tidies up, and says what has changed that must not.
    pub(super) async fn leave(self, job: &TurnJob) -> Option<String> {
        match self {
            Self::Open => None,
            Self::Planning(confined) => {
                let doc_root = job.doc_root.clone();
                let work = move || confined.leave(&doc_root);
                tokio::task::spawn_blocking(work).await.unwrap_or_default()
            }
        }
    }
}

impl Confined {
    fn prepare(job: &TurnJob) -> Result<Self, String> {
        let docs =
            planning::make_doc_root(&job.cwd, &job.doc_root).map_err(|error| error.to_string())?;
        let before = TreeCheck::before(&job.cwd, &docs, &ignored(job));
        if let Some((inside, outside)) = before.shared(&[docs.clone(), job.run_dir.clone()]) {
            return Err(format!(
                "`{}` and `{}` are one file with two names, so that writing the first, which \
                 Planning mode allows, would change the second; make one of them a copy",
                inside.display(),
                outside.display()
            ));
        }
        let temporary =
            temporary(job).map_err(|error| format!("no folder for temporary files: {error}"))?;
        if let Some(limit) = before.limit() {
            job.live.say(&format!("the check after this Planning turn is not complete: {limit}\n"));
        }
        Ok(Self { docs, temporary, before })
    }

    fn leave(self, doc_root: &str) -> Option<String> {
        // What cannot be removed is no reason to fail a turn.
        let _ = fs::remove_dir_all(&self.temporary);
        // The folder around it goes with the last turn in it.
        let _ = self.temporary.parent().map(fs::remove_dir);
        self.before.complaint(doc_root)
    }
}

/// What is not looked at because materia itself writes there: the artifact root.
fn ignored(job: &TurnJob) -> Vec<PathBuf> {
    let Some(root) = job.run_dir.parent() else { return Vec::new() };
    let inside = |path: &Path| match (path.canonicalize(), job.cwd.canonicalize()) {
        (Ok(path), Ok(project)) => !project.starts_with(path),
        (Err(_), _) | (_, Err(_)) => true,
    };
    if inside(root) {
        return vec![root.to_owned()];
    }
    // The project is its own artifact root, or lies in it.
    let journal = JOURNAL.iter().map(|name| root.join(name));
    journal.chain([job.run_dir.clone()]).collect()
}

/// A fresh folder within the run folder. The program runs elsewhere, so its path must not depend
/// on where we are.
fn temporary(job: &TurnJob) -> io::Result<PathBuf> {
    fs::create_dir_all(&job.run_dir)?;
    let wanted = job.run_dir.canonicalize()?.join("tmp").join(job.turn.to_string());
    if planning::resolve(&wanted)? != wanted {
        return Err(io::Error::other(format!("`{}` leads elsewhere", wanted.display())));
    }
    fs::create_dir_all(&wanted)?;
    Ok(wanted)
}
