//! Verifies a cast against its events, and its files against its journal.

use std::path::{Component, Path};

use materia_contract::body::{Mismatch, ReplayBody, Verified};
use materia_contract::{BlobHash, ChainHash, Folders, RunId};
use materia_engine::{Journal, Left, ReadError, Replay, ReplayError, blocking, wait};
use materia_journal::{CatchUp, FileBlobs, Views};

use crate::archive::{self, Archive};
use crate::project::Found;
use crate::text::sanitize;
use crate::{Failure, Result};

/// How many files that are not as they should be are named.
const LOST_TOLD_MAX: usize = 10;

/// Messages among those of the cast that Materia did not write, behind the place where the first was found.
fn skipped(found: &Found) -> Result<Option<(u64, String)>> {
    let Some(sentence) = found.journal.skipped(&found.id)? else { return Ok(None) };
    let head = blocking(found.journal()).head(&found.id)?;
    Ok(Some((head.map_or(1, |head| head.seq), sentence)))
}

/// Rebuilds a cast from its events and verifies every one of them; `at` asks for the state as of an event.
pub fn replay(found: &Found, at: Option<u64>) -> Result<ReplayBody> {
    let id = &found.id;
    match materia_engine::replay(found.journal(), id, at) {
        Ok(replay) => match lost(found, &replay.left).or(skipped(found)?) {
            None => {
                let gone = gone(found, &replay.left);
                Ok(ReplayBody::Verified(Verified { gone, ..verified(id, replay) }))
            }
            Some((seq, fault)) => Ok(mismatch(id, Some(seq), &fault)),
        },
        Err(ReplayError::Fault { run, seq, fault }) => {
            Ok(mismatch(&run, Some(seq), &fault.to_string()))
        }
        // What cannot even be read has not been verified either.
        Err(ReplayError::Read(error @ ReadError::Damaged { .. })) => {
            let seq = first_damaged(found.journal(), id);
            Ok(mismatch(id, seq, &error.to_string()))
        }
        // A cast that is listed began with an event.
        Err(ReplayError::Unknown(_)) if !matches!(blocking(found.journal()).line(id), Ok(None)) => {
            Ok(mismatch(
                id,
                Some(1),
                "it is missing, and so are all others: the cast is listed and has no event",
            ))
        }
        Err(error @ (ReplayError::Unknown(_) | ReplayError::NoSuchEvent(_))) => {
            Err(Failure::resolution(error.to_string()))
        }
        Err(ReplayError::Read(error)) => Err(error.into()),
    }
}

/// The same of an archive: every line, every event, and every text and file that events name.
pub fn replay_archive(archive: &Archive, at: Option<u64>) -> Result<ReplayBody> {
    let id = archive.id();
    let replayed = if archive.is_redacted() {
        materia_engine::replay_redacted(archive.journal(), id, at)
    } else {
        materia_engine::replay(archive.journal(), id, at)
    };
    let (seq, fault) = match replayed {
        Ok(replay) if archive.is_redacted() && archive.altered().is_none() => {
            let verified = verified(id, replay);
            let (redacted, last_hash) = (true, String::new());
            return Ok(ReplayBody::Verified(Verified { redacted, last_hash, ..verified }));
        }
        Ok(replay) => match lost_in(archive, &replay.left) {
            Some((seq, fault)) => (Some(seq), fault),
            None if archive.altered().is_some() => (None, String::new()),
            None => {
                let transcripts = replay.left.iter().filter_map(|it| BlobHash::parse(&it.hash));
                let gone = transcripts.filter(|hash| archive.is_gone(*hash)).count() as u64;
                return Ok(ReplayBody::Verified(Verified { gone, ..verified(id, replay) }));
            }
        },
        Err(ReplayError::Fault { seq, fault, .. }) => (Some(seq), fault.to_string()),
        Err(ReplayError::Read(error)) => return Err(error.into()),
        Err(error @ (ReplayError::Unknown(_) | ReplayError::NoSuchEvent(_))) => {
            return Err(Failure::resolution(error.to_string()));
        }
    };
    // The line says more where it is about the same event, and all there is to say where every event follows.
    match archive.altered() {
        Some(altered) if seq.is_none_or(|seq| altered.seq.is_some_and(|it| it <= seq)) => {
            Ok(mismatch(id, altered.seq, &altered.to_string()))
        }
        Some(_) | None => Ok(mismatch(id, seq, &fault)),
    }
}

/// Compares an archive with a cast, event by event as far as the archive goes, redacted if it is. Returns how many events
/// the cast has, or the first difference.
pub fn against(archive: &Archive, found: &Found) -> Result<Result<u64, Mismatch>> {
    let written = if archive.is_redacted() {
        archive::write_redacted(found.journal(), &found.id)?
    } else {
        let blobs = FileBlobs::of(&found.root);
        archive::write(found.journal(), &found.id, |hash| blobs.is_gone(hash))?
    };
    let own = archive::read(&written.bytes, found.id.as_str())?;
    let (id, other) = (archive.id(), &found.id);
    let differs = |seq: u64, fault: String| Mismatch {
        cast_id: id.clone(),
        ok: false,
        seq: Some(seq),
        fault,
    };
    if id != other {
        let fault = format!("the archive holds cast `{id}`, which is not `{other}`");
        return Ok(Err(differs(1, fault)));
    }
    for record in blocking(archive.journal()).behind(id, 0) {
        let record = record?;
        if blocking(own.journal()).records(id, record.seq - 1, 1)?.first() != Some(&record) {
            let fault = format!("cast `{other}` has another event there");
            return Ok(Err(differs(record.seq, fault)));
        }
    }
    Ok(Ok(written.events))
}

/// The first text or file that an event names and the archive does not have as it was.
fn lost_in(archive: &Archive, left: &[Left]) -> Option<(u64, String)> {
    left.iter().filter(|left| left.is_blob).find_map(|left| {
        let fault = match BlobHash::parse(&left.hash) {
            None => format!("`{}` has no hash that can be read", left.path),
            Some(hash) if left.is_transcript && archive.is_gone(hash) => return None,
            Some(hash) => {
                let found = wait(archive.journal().blobs().get(hash));
                format!("of `{}` {}", left.path, found.err()?)
            }
        };
        Some((left.seq, fault))
    })
}

/// Files that the events name and that are missing or altered; the first event that names one, and all of them in
/// words.
fn lost(found: &Found, left: &[Left]) -> Option<(u64, String)> {
    let folder = found.root.join(found.id.as_str());
    let blobs = FileBlobs::of(&found.root);
    let fault = |left: &Left| {
        let Some(hash) = BlobHash::parse(&left.hash) else {
            return Some(format!("`{}` has no hash that can be read", left.path));
        };
        let check = || {
            if found.journal.is_remote() {
                wait(found.journal().blobs().get(hash)).map(drop)
            } else {
                blobs.check(hash)
            }
        };
        if left.is_blob
            && !(left.is_transcript && blobs.is_gone(hash))
            && let Err(fault) = check()
        {
            return Some(format!("of `{}` {fault}", left.path));
        }
        // What people look at must be the same, as far as it is still there.
        match plain_file(&folder, &left.path) {
            Looked::Read(found) if found != hash => Some(format!("`{}` was altered", left.path)),
            Looked::Read(_) | Looked::Absent => None,
            Looked::Elsewhere => {
                Some(format!("`{}` is no file in the folder of the cast", left.path))
            }
        }
    };
    let faults: Vec<(u64, String)> =
        left.iter().filter_map(|left| Some((left.seq, fault(left)?))).collect();
    let (seq, _) = faults.first()?;
    let mut told: Vec<&str> =
        faults.iter().take(LOST_TOLD_MAX).map(|(_, it)| it.as_str()).collect();
    let more = format!("and {} more", faults.len().saturating_sub(LOST_TOLD_MAX));
    told.extend((faults.len() > LOST_TOLD_MAX).then_some(more.as_str()));
    Some((*seq, told.join("; ")))
}

/// How many transcripts were removed because of their age (W9).
fn gone(found: &Found, left: &[Left]) -> u64 {
    let blobs = FileBlobs::of(&found.root);
    let transcripts = left.iter().filter(|left| left.is_transcript);
    let hashes = transcripts.filter_map(|left| BlobHash::parse(&left.hash));
    hashes.filter(|hash| blobs.is_gone(*hash)).count() as u64
}

/// Result of reading a file that an event names.
enum Looked {
    Read(BlobHash),
    Absent,
    /// It is outside the folder, or is no file.
    Elsewhere,
}

/// Reads a file that an event names, if it is a regular file in the folder: events are untrusted.
fn plain_file(folder: &Path, path: &str) -> Looked {
    let mut at = folder.to_owned();
    for part in Path::new(path).components() {
        let Component::Normal(part) = part else { return Looked::Elsewhere };
        at.push(part);
        match at.symlink_metadata() {
            Ok(found) if found.is_symlink() => return Looked::Elsewhere,
            Ok(_) => {}
            Err(_) => return Looked::Absent,
        }
    }
    match at.symlink_metadata() {
        Ok(found) if found.is_file() => {
            let read = std::fs::File::open(&at).and_then(BlobHash::of_reader);
            read.map_or(Looked::Absent, Looked::Read)
        }
        Ok(_) | Err(_) => Looked::Elsewhere,
    }
}

fn verified(id: &RunId, replay: Replay) -> Verified {
    let Replay { events, undecided, state, status, last_seq, last_hash, left: _ } = replay;
    let (cast_id, last_hash) = (id.clone(), last_hash.to_string());
    let ok = (undecided == 0).then_some(true);
    Verified {
        cast_id,
        ok,
        events,
        undecided,
        gone: 0,
        redacted: false,
        status,
        state,
        last_seq,
        last_hash,
    }
}

fn mismatch(id: &RunId, seq: Option<u64>, fault: &str) -> ReplayBody {
    let fault = sanitize::clean(fault).into_owned();
    ReplayBody::Mismatch(Mismatch { cast_id: id.clone(), ok: false, seq, fault })
}

/// The first event that is not what was written, where a whole page could not be read; `None`
/// if the damage is beside the events. Slow, but it runs once and only on what is broken.
fn first_damaged(journal: &dyn Journal, id: &RunId) -> Option<u64> {
    let (mut seq, mut head) = (0, ChainHash::origin(id));
    loop {
        match blocking(journal).records(id, seq, 1) {
            Ok(page) => {
                let record = page.first()?;
                if record.hash_after(head) != record.hash {
                    return Some(seq + 1);
                }
                (seq, head) = (record.seq, record.hash);
            }
            Err(ReadError::Damaged { place, .. }) => {
                return place.starts_with("event ").then_some(seq + 1);
            }
            Err(ReadError::Storage(_) | ReadError::NoSuchPlace) => return None,
        }
    }
}

/// Result of repairing the files beside the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mending {
    /// They were correct, or another process drives the cast and maintains them.
    Nothing,
    /// They were mended; how.
    Done(String),
    /// They could not be; why.
    Failed(String),
}

/// Compares the files beside the journal with it, and mends them. A cast under way keeps its own. `folders` says
/// where the cast is.
pub fn mend_views(found: &Found, folders: &Folders) -> Mending {
    // Nothing is written for a foreign journal.
    if found.is_foreign() {
        return Mending::Nothing;
    }
    let Ok(_lease) = blocking(found.journal()).claim(&found.id) else { return Mending::Nothing };
    match Views::start(&found.root, folders).verify(found.journal(), &found.id) {
        Ok(CatchUp::Current) => Mending::Nothing,
        Ok(CatchUp::Appended { events }) => Mending::Done(format!(
            "The files beside the journal lacked {events} events; they are there now."
        )),
        Ok(CatchUp::Rebuilt { why, .. }) => {
            Mending::Done(format!("The files beside the journal were written again: {why}."))
        }
        Err(error) => Mending::Failed(format!("the files beside the journal: {error}")),
    }
}
