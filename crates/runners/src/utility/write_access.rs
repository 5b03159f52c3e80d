//! Write access of a program: everywhere, as its policy says, or in Planning mode in the folder of documents.

use std::path::PathBuf;

use materia_contract::{GlobalMode, Policy};
use materia_engine::TurnJob;
use materia_safe_fs::Folder;

use crate::raw_path::RawPath;
use crate::supervise::protocol::Writable;
use crate::tree_check::TreeCheck;
use crate::{cast_folder, guard, planning};

/// Write access of a program, with a note about it.
pub(super) struct WriteAccess {
    bounds: Bounds,
    note: Option<String>,
}

enum Bounds {
    /// Everything.
    Open,
    /// As the policy of its socket allows.
    Policy(Box<Allowed>),
    /// A few folders.
    Planning(Box<Confined>),
}

/// Policy of a socket for its turns.
pub(super) struct Allowed {
    /// Folders that may be written; absent means everything.
    folders: Option<Vec<PathBuf>>,
    temporary: Temporary,
    offline: bool,
}

/// The few folders of a Planning turn, and the project as it was before.
pub(super) struct Confined {
    docs: PathBuf,
    temporary: Temporary,
    before: TreeCheck,
}

/// A folder of a program's own within the folder of the cast, where it may write nothing else.
pub(super) struct Temporary {
    cast: Folder,
    name: String,
    path: PathBuf,
}

impl Temporary {
    /// A fresh one. The program runs elsewhere, so its path must not depend on where we are.
    fn new(job: &TurnJob) -> Result<Self, String> {
        let made = || {
            let (cast, name) = (cast_folder::cast(job)?, job.turn.to_string());
            let path = cast_folder::private(&cast, &name)?.path().canonicalize()?;
            std::io::Result::Ok(Self { cast, name, path })
        };
        made().map_err(|error| format!("no folder for temporary files: {error}"))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        cast_folder::tidy(&self.cast, &self.name);
    }
}

impl WriteAccess {
    /// Makes sure of the folders, or says why the program cannot run.
    pub(super) async fn prepare(job: &TurnJob) -> Result<Self, String> {
        let bound = |policy: &Policy| policy.write.is_some() || policy.network == Some(false);
        if job.global_mode == GlobalMode::Implementation && !job.policy.as_ref().is_some_and(bound)
        {
            return Ok(Self { bounds: Bounds::Open, note: None });
        }
        let job = job.clone();
        let work = move || match (job.global_mode, &job.policy) {
            (GlobalMode::Implementation, Some(policy)) => Allowed::prepare(&job, policy),
            (GlobalMode::Implementation, None) | (GlobalMode::Planning, _) => {
                Confined::prepare(&job)
            }
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
    }

    /// Note about the write access.
    pub(super) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// The program's own folder for temporary files.
    pub(super) fn temporary(&self) -> Option<&PathBuf> {
        match &self.bounds {
            Bounds::Open => None,
            Bounds::Policy(allowed) => Some(&allowed.temporary.path),
            Bounds::Planning(confined) => Some(&confined.temporary.path),
        }
    }

    /// Write access in the sandbox; `None` without a sandbox.
    pub(super) fn writable(&self, job: &TurnJob) -> Option<Writable> {
        match &self.bounds {
            Bounds::Open => None,
            Bounds::Policy(allowed) => Some(allowed.writable()),
            Bounds::Planning(confined) => Some(Writable {
                folders: vec![
                    RawPath::from(&confined.docs),
                    RawPath::from(&confined.temporary.path),
                ],
                offline: job.policy.as_ref().is_some_and(|policy| policy.network == Some(false)),
                only_runs: None,
            }),
        }
    }

    /// Tidies up. What is left to do is the look at what has changed that must not, where one is due: the very last
    /// thing of a turn.
    pub(super) fn leave(self) -> Option<TreeCheck> {
        match self.bounds {
            Bounds::Open | Bounds::Policy(_) => None,
            Bounds::Planning(confined) => Some(confined.before),
        }
    }
}

impl Confined {
    fn prepare(job: &TurnJob) -> Result<WriteAccess, String> {
        let docs =
            planning::make_doc_root(&job.cwd, &job.doc_root).map_err(|error| error.to_string())?;
        let note = planning::make_own(job, std::slice::from_ref(&docs))?;
        let before = TreeCheck::before(&job.cwd, &docs, &guard::ignored(job));
        let temporary = Temporary::new(job)?;
        if let Some(limit) = before.limit() {
            job.control
                .live
                .say(&format!("the check after this Planning turn is not complete: {limit}\n"));
        }
        let bounds = Bounds::Planning(Box::new(Self { docs, temporary, before }));
        Ok(WriteAccess { bounds, note })
    }
}

impl Allowed {
    fn prepare(job: &TurnJob, policy: &Policy) -> Result<WriteAccess, String> {
        let folders =
            policy.write.iter().flatten().map(|path| {
                planning::make_inside(&job.cwd, path).map_err(|error| error.to_string())
            });
        let folders: Vec<PathBuf> = folders.collect::<Result<_, String>>()?;
        let note = planning::make_own(job, &folders)?;
        let temporary = Temporary::new(job)?;
        let folders = policy.write.is_some().then_some(folders);
        let offline = policy.network == Some(false);
        let bounds = Bounds::Policy(Box::new(Self { folders, temporary, offline }));
        Ok(WriteAccess { bounds, note })
    }

    fn writable(&self) -> Writable {
        let everything = [PathBuf::from("/")];
        let folders = self.folders.as_deref().unwrap_or(&everything);
        Writable {
            folders: folders.iter().chain([&self.temporary.path]).map(RawPath::from).collect(),
            offline: self.offline,
            only_runs: None,
        }
    }
}
