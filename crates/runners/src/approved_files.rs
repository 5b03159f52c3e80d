//! Approved files: hashed for the question to the person, and again right before a program starts.
//!
//! A turn's files are checked twice. First here, before its supervisor starts: which files the program runs now, and
//! whether each is approved. Then in the supervisor, as its last act before it starts the program. After that nothing
//! protects the file until the interpreter reads it: a program is not run from a copy, because scripts find themselves
//! and their neighbours by path.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use materia_contract::{ErrorCode, TurnOutput};
use materia_engine::{Pinned, TurnFault, TurnJob, TurnReport};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::raw_path::RawPath;

/// The hash of a file by its name in the project and its content, and its first bytes. What cannot be read, and what
/// is no plain file, counts as empty.
pub fn content(path: &Path, name: &str, first: u64) -> (String, Vec<u8>) {
    let mut hasher = file_hasher(name);
    let beginning = open_regular(path)
        .and_then(|file| hash_content(file, first, &mut hasher))
        .unwrap_or_default();
    (hasher.finalize().to_hex().to_string(), beginning)
}

/// The hash of a file with this name in the project, as far as its name.
pub fn file_hasher(name: &str) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 trust in a file");
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes());
    hasher
}

/// Opens a regular file. A pipe in its place must not keep us waiting.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Takes all of a file into a hash, and gives its first bytes.
pub fn hash_content(
    mut file: impl Read,
    first: u64,
    hasher: &mut blake3::Hasher,
) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    file.by_ref().take(first).read_to_end(&mut beginning)?;
    hasher.update(&beginning);
    hasher.update_reader(file)?;
    Ok(beginning)
}

/// A file as it was approved, as it goes to a supervisor.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pin {
    path: RawPath,
    leads: RawPath,
    name: String,
    hash: Option<String>,
}

impl From<Pinned> for Pin {
    fn from(pinned: Pinned) -> Self {
        let Pinned { path, leads, name, hash } = pinned;
        Self { path: RawPath::from(&path), leads: RawPath::from(&leads), name, hash }
    }
}

/// The first of these files that is not as it was approved, in a sentence.
pub(crate) fn changed(pins: &[Pin]) -> Option<String> {
    let changed = pins.iter().find(|pin| {
        let leads = pin.path.path().canonicalize().is_ok_and(|leads| leads == pin.leads.path());
        let same = |hash: &String| content(&pin.leads.path(), &pin.name, 0).0 == *hash;
        !leads || !pin.hash.as_ref().is_none_or(same)
    })?;
    Some(format!("`{}` changed right before it was started", changed.path.path().display()))
}

/// The files that the program of a turn runs, if each is as it was approved; otherwise which is not.
pub(crate) async fn of(job: &TurnJob) -> Result<Vec<Pin>, String> {
    let (approval, order) = (job.control.approval.clone(), job.order.clone());
    let looked = tokio::task::spawn_blocking(move || approval.look(&order)).await;
    let pinned = looked.unwrap_or_else(|error| Err(error.to_string()))?;
    Ok(pinned.into_iter().map(Pin::from).collect())
}

/// The report of a turn that was not started, because something is not as it was approved.
pub(crate) fn withheld(code: ErrorCode, message: String) -> TurnReport {
    let report = Box::new(TurnOutput::default());
    let fault = TurnFault { code, message, report, withheld: true };
    TurnReport { outcome: Err(fault), after: Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(path: &Path) -> Pin {
        let leads = path.canonicalize().unwrap();
        let hash = Some(content(&leads, "x", 0).0);
        Pinned { path: path.to_owned(), leads, name: "x".to_owned(), hash }.into()
    }

    #[test]
    fn another_content_another_target_and_nothing_are_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (one, two, link) = (folder.join("one"), folder.join("two"), folder.join("link"));
        std::fs::write(&one, "same").unwrap();
        std::fs::write(&two, "same").unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let pins = [pin(&one), pin(&link)];
        assert_eq!(changed(&pins), None);
        std::fs::write(&one, "else").unwrap();
        assert!(changed(&pins).unwrap().contains("one"));
        std::fs::write(&one, "same").unwrap();
        assert_eq!(changed(&pins), None, "as it was");
        std::fs::remove_file(&link).unwrap();
        assert!(changed(&pins).unwrap().contains("link"));
        std::os::unix::fs::symlink(&two, &link).unwrap();
        assert!(changed(&pins).unwrap().contains("link"), "the same words, but elsewhere");
        std::fs::remove_file(&one).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &one,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(changed(&pins).unwrap().contains("one"), "and nobody waits for the pipe");
    }
}
