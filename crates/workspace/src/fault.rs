//! Errors of this crate.

use std::io;
use std::path::{Path, PathBuf};

/// An operation on a workspace failed. Its text says what failed, where, and why.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// git ended with an error.
    #[error("`git {command}` failed in `{}`: {said}", .folder.display())]
    Git {
        /// The subcommand.
        command: String,
        /// Its git folder.
        folder: PathBuf,
        /// Its standard error, cut at 4 KiB.
        said: String,
    },
    /// git took too long and was ended.
    #[error("`git {command}` took longer than {seconds} s in `{}` and was ended", .folder.display())]
    TooSlow {
        /// The subcommand.
        command: String,
        /// Its git folder.
        folder: PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// git wrote more than is read.
    #[error("`git {command}` wrote more than {bytes} bytes in `{}`", .folder.display())]
    TooMuch {
        /// The subcommand.
        command: String,
        /// Its git folder.
        folder: PathBuf,
        /// The limit.
        bytes: usize,
    },
    /// No git is in PATH.
    #[error("git was not found in PATH; install git 2.41 or newer")]
    NoGit,
    /// A file or folder could not be read, written or removed.
    #[error("cannot {what} `{}`: {error}", .path.display())]
    Files {
        /// A verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Something is not as it must be.
    #[error("{0}")]
    Unusable(String),
}

/// Gives an error of the system its place.
pub(crate) trait At<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, Fault>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, Fault> {
        self.map_err(|error| Fault::Files { what, path: path.to_owned(), error })
    }
}
