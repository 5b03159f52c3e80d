//! Where a program may write: everywhere, where its policy says, or in Planning mode in the folder of
//! documents.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use materia_contract::{GlobalMode, Policy};
use materia_engine::TurnJob;

use crate::supervise::protocol::{RawPath, Writable};
use crate::tree_check::TreeCheck;
use crate::{guard, planning};

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
    temporary: PathBuf,
    offline: bool,
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
            Self::Policy(allowed) => Some(&allowed.temporary),
            Self::Planning(confined) => Some(&confined.temporary),
        }
    }

    /// What the sandbox allows; `None` without one.
    pub(super) fn writable(&self, job: &TurnJob) -> Option<Writable> {
        match self {
            Self::Open => None,
            Self::Policy(allowed) => Some(allowed.writable(job)),
            Self::Planning(confined) => Some(Writable {
                folders: vec![RawPath::from(&confined.docs), RawPath::from(&confined.temporary)],
                plain: vec![RawPath::from(&job.run_dir)],
                offline: job.policy.as_ref().is_some_and(|policy| policy.network == Some(false)),
            }),
        }
    }

    /// Tidies up, and says what has changed that must not.
    pub(super) async fn leave(self, job: &TurnJob) -> Option<String> {
        match self {
            Self::Open => None,
            Self::Policy(allowed) => {
                tidy(&allowed.temporary);
                None
            }
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
        let before = TreeCheck::before(&job.cwd, &docs, &guard::ignored(job));
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
            job.control
                .live
                .say(&format!("the check after this Planning turn is not complete: {limit}\n"));
        }
        Ok(Self { docs, temporary, before })
    }

    fn leave(self, doc_root: &str) -> Option<String> {
        tidy(&self.temporary);
        self.before.complaint(doc_root)
    }
}

fn tidy(temporary: &Path) {
    // What cannot be removed is no reason to fail a turn.
    let _ = fs::remove_dir_all(temporary);
    // The folder around it goes with the last turn in it.
    let _ = temporary.parent().map(fs::remove_dir);
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
        let temporary =
            temporary(job).map_err(|error| format!("no folder for temporary files: {error}"))?;
        Ok(Self {
            folders: policy.write.is_some().then_some(folders),
            temporary,
            offline: policy.network == Some(false),
        })
    }

    fn writable(&self, job: &TurnJob) -> Writable {
        let everything = [PathBuf::from("/")];
        let folders = self.folders.as_deref().unwrap_or(&everything);
        Writable {
            folders: folders.iter().chain([&self.temporary]).map(RawPath::from).collect(),
            plain: vec![RawPath::from(&job.run_dir)],
            offline: self.offline,
        }
    }
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
