//! Where a program may write: everywhere, where its policy says, or in Planning mode in the folder of
//! documents.

use std::fs;
use std::path::PathBuf;

use materia_beneath::Folder;
use materia_contract::{GlobalMode, Policy};
use materia_engine::TurnJob;

use crate::supervise::protocol::{RawPath, Writable};
use crate::tree_check::TreeCheck;
use crate::{guard, place, planning};

/// What a program gets to write to.
pub(super) enum Room {
    /// Everything.
    Open,
    /// What its author allows.
    Policy(Box<Allowed>),
    /// A few folders.
    Planning(Box<Confined>),
}

/// What the author of a socket allows its turns.
pub(super) struct Allowed {
    /// What may be written; absent means everything.
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
            let (cast, name) = (place::cast(job)?, job.turn.to_string());
            let path = place::private(&cast, &name)?.path().canonicalize()?;
            std::io::Result::Ok(Self { cast, name, path })
        };
        made().map_err(|error| format!("no folder for temporary files: {error}"))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        place::tidy(&self.cast, &self.name);
    }
}

impl Room {
    /// Makes sure of the folders, or says why the program cannot run.
    pub(super) async fn prepare(job: &TurnJob) -> Result<Self, String> {
        match job.global_mode {
            GlobalMode::Implementation => match &job.policy {
                Some(policy) if policy.write.is_some() || policy.network == Some(false) => {
                    Ok(Self::Policy(Box::new(Allowed::prepare(job, policy)?)))
                }
                Some(_) | None => Ok(Self::Open),
            },
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
            Self::Policy(allowed) => Some(&allowed.temporary.path),
            Self::Planning(confined) => Some(&confined.temporary.path),
        }
    }

    /// What the sandbox allows; `None` without one.
    pub(super) fn writable(&self, job: &TurnJob) -> Option<Writable> {
        match self {
            Self::Open => None,
            Self::Policy(allowed) => Some(allowed.writable()),
            Self::Planning(confined) => Some(Writable {
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
        match self {
            Self::Open | Self::Policy(_) => None,
            Self::Planning(confined) => Some(confined.before),
        }
    }
}

impl Confined {
    fn prepare(job: &TurnJob) -> Result<Self, String> {
        let docs =
            planning::make_doc_root(&job.cwd, &job.doc_root).map_err(|error| error.to_string())?;
        let before = TreeCheck::before(&job.cwd, &docs, &guard::ignored(job));
        if let Some((inside, outside)) = before.shared(std::slice::from_ref(&docs)) {
            return Err(format!(
                "`{}` and `{}` are one file with two names, so that writing the first, which \
                 Planning mode allows, would change the second; make one of them a copy",
                inside.display(),
                outside.display()
            ));
        }
        let temporary = Temporary::new(job)?;
        if let Some(limit) = before.limit() {
            job.control
                .live
                .say(&format!("the check after this Planning turn is not complete: {limit}\n"));
        }
        Ok(Self { docs, temporary, before })
    }
}

impl Allowed {
    fn prepare(job: &TurnJob, policy: &Policy) -> Result<Self, String> {
        let folders = policy.write.iter().flatten().map(|path| {
            let real = planning::inside(&job.cwd, path).map_err(|error| error.to_string())?;
            if !real.exists() {
                fs::create_dir_all(&real).map_err(|error| format!("`{path}`: {error}"))?;
            }
            Ok(real)
        });
        let folders: Vec<PathBuf> = folders.collect::<Result<_, String>>()?;
        let temporary = Temporary::new(job)?;
        Ok(Self {
            folders: policy.write.is_some().then_some(folders),
            temporary,
            offline: policy.network == Some(false),
        })
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
