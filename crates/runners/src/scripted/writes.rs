//! Files that a scripted answer changes, and its artifacts.
//!
//! All paths are checked before the first byte is written, so that a refused answer changes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use materia_contract::GlobalMode;
use materia_contract::script::Answer;
use materia_engine::TurnOrder;
use materia_safe_fs::Folder;

use super::diff;
use crate::cast_folder;
use crate::planning::{self, DocRootError};
use crate::redact::Secrets;

/// Why an answer's files were not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    /// The path is absolute, or climbs.
    #[error("the script writes `{0}`, which is not a path inside the project; nothing was written")]
    NotInside(String),
    /// A symbolic link leads it out.
    #[error(
        "the script writes `{0}`, which leads out of the project through a symbolic link; \
         nothing was written"
    )]
    LeadsOut(String),
    /// Planning mode forbids it.
    #[error(
        "the script writes `{path}`; in Planning mode only `{doc_root}` may be written to; \
         nothing was written"
    )]
    Planning {
        /// Path that it would write.
        path: String,
        /// Folder that it may write to.
        doc_root: String,
    },
    /// The policy of its socket forbids it.
    #[error(
        "the script writes `{path}`; the policy of its socket lets it write {allowed}; \
         nothing was written"
    )]
    Policy {
        /// Path that it would write.
        path: String,
        /// Allowed paths, in words.
        allowed: String,
    },
    /// The kind of an artifact is no plain name.
    #[error("the script leaves an artifact `{0}`, which is no plain name; nothing was written")]
    BadKind(String),
    /// The doc root is unusable.
    #[error(transparent)]
    DocRoot(#[from] DocRootError),
    /// The file system refused.
    #[error("the script's file `{path}` cannot be written: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// Writes the files and artifacts of an answer; gives the diff of what that changed, where it is wanted.
pub(super) fn perform(job: &TurnOrder, answer: &Answer) -> Result<Option<String>, WriteError> {
    if answer.writes.is_empty() && answer.artifacts.is_empty() {
        return Ok(None);
    }
    let mut files = Vec::new();
    let guard = Guard::new(job, !answer.writes.is_empty())?;
    let mut changed = String::new();
    for (path, content) in &answer.writes {
        let real = guard.admit(path)?;
        if job.leaves.diff {
            let before = fs::read(&real).ok();
            let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            changed.extend(diff::of(path, before.as_deref(), content));
        }
        files.push((path, real, content));
    }
    for kind in answer.artifacts.keys() {
        if !is_plain_name(kind) {
            return Err(WriteError::BadKind(kind.clone()));
        }
    }
    for (name, path, content) in files {
        guard
            .write(&path, content)
            .map_err(|source| WriteError::Io { path: name.clone(), source })?;
    }
    for (kind, content) in &answer.artifacts {
        let content = Secrets::of_process().remove(content);
        cast_folder::cast(job)
            .and_then(|cast| cast.write(cast_folder::artifact(job, kind), content.as_bytes()))
            .map_err(|source| WriteError::Io { path: kind.clone(), source })?;
    }
    Ok(Some(changed).filter(|changed| !changed.is_empty()))
}

/// Knows where an answer may write.
struct Guard<'a> {
    job: &'a TurnOrder,
    project: PathBuf,
    /// In Planning mode: the only folder.
    docs: Option<PathBuf>,
    /// In Implementation mode: the paths that the policy of the socket names, if it names any.
    allowed: Option<Vec<PathBuf>>,
}

impl<'a> Guard<'a> {
    fn new(job: &'a TurnOrder, writes: bool) -> Result<Self, WriteError> {
        let failed = |source| WriteError::Io { path: job.cwd.display().to_string(), source };
        let docs = match job.global_mode {
            GlobalMode::Planning if writes => Some(planning::doc_root(&job.cwd, &job.doc_root)?),
            GlobalMode::Planning | GlobalMode::Implementation => None,
        };
        let project = job.cwd.canonicalize().map_err(failed)?;
        let allowed = match (job.global_mode, policy(job)) {
            (GlobalMode::Implementation, Some(paths)) => {
                let real = paths.iter().map(|path| planning::resolve(&project.join(path)));
                Some(real.collect::<Result<_, _>>().map_err(failed)?)
            }
            (GlobalMode::Implementation, None) | (GlobalMode::Planning, _) => None,
        };
        Ok(Self { job, project, docs, allowed })
    }

    /// Writes a new file under a real path that was admitted. A file that has the name gives way and is not written
    /// to, for it may have further names; a link that has come in between is not followed.
    fn write(&self, real: &Path, content: &str) -> io::Result<()> {
        let within = real.strip_prefix(&self.project).map_err(io::Error::other)?;
        Folder::at(&self.project)?.for_umask().replace(within, content.as_bytes())
    }

    /// The real path to write, if it may be written.
    fn admit(&self, path: &str) -> Result<PathBuf, WriteError> {
        let relative = Path::new(path);
        if !planning::is_plain(relative) || relative.file_name().is_none() || path.ends_with('/') {
            return Err(WriteError::NotInside(path.to_owned()));
        }
        let real = match planning::resolve(&self.project.join(relative)) {
            Ok(real) if real.starts_with(&self.project) => real,
            Ok(_) => return Err(WriteError::LeadsOut(path.to_owned())),
            // A link to nowhere; who writes through it creates a file somewhere else.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(WriteError::LeadsOut(path.to_owned()));
            }
            Err(source) => return Err(WriteError::Io { path: path.to_owned(), source }),
        };
        match &self.docs {
            Some(docs) if !real.starts_with(docs) => {
                let doc_root = self.job.doc_root.clone();
                return Err(WriteError::Planning { path: path.to_owned(), doc_root });
            }
            Some(_) | None => {}
        }
        match &self.allowed {
            Some(allowed) if !allowed.iter().any(|root| real.starts_with(root)) => {
                let allowed = match policy(self.job) {
                    None | Some([]) => "nothing".to_owned(),
                    Some(paths) => format!("only to `{}`", paths.join("`, `")),
                };
                Err(WriteError::Policy { path: path.to_owned(), allowed })
            }
            Some(_) | None => Ok(real),
        }
    }
}

/// The paths that the policy of the turn's socket lets it write, where it says so.
fn policy(job: &TurnOrder) -> Option<&[String]> {
    job.policy.as_ref()?.write.as_deref()
}

/// Whether `kind` can be part of a file name and nothing else.
fn is_plain_name(kind: &str) -> bool {
    let bytes = kind.as_bytes();
    bytes.len() <= 64
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}
