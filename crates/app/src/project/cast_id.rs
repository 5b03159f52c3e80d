//! Ids of casts: typed by people, or generated.

use std::hash::{BuildHasher, RandomState};

use materia_contract::time::wall_time;
use materia_contract::{CastLine, RunId};
use materia_engine::{Clock, Journal, ReadError, SystemClock, blocking};
use materia_journal::BLOBS_FOLDER;

use crate::Result;
use crate::failure::{Failure, Hint};

/// The shortest beginning of an id that is looked for.
pub(crate) const PREFIX_CHARS_MIN: usize = 4;
/// How many of several candidates are named.
const CANDIDATES_MAX: usize = 5;
/// Name of the newest cast.
pub(crate) const LAST: &str = "last";

/// A new id: sortable by time, and different in two processes at one instant.
pub fn fresh() -> RunId {
    let now = SystemClock.now();
    // A hasher of the standard library is seeded by the system for every process.
    let dice = RandomState::new().hash_one((now, std::process::id()));
    let time: String = wall_time(now).chars().take(19).filter(|c| !"-:".contains(*c)).collect();
    RunId::new(format!("{time}-{:06x}", dice & 0x00ff_ffff))
}

/// Reads the name that a person chose for a new cast (D60).
pub fn chosen(text: &str) -> Result<RunId> {
    let id = RunId::chosen(text).map_err(|error| Failure::usage(error.to_string()))?;
    if id.as_str() == BLOBS_FOLDER {
        let message = format!(
            "`{id}` cannot name a cast: Materia uses a folder of that name; choose another id"
        );
        return Err(Failure::usage(message));
    }
    Ok(id)
}

/// Finds the cast a person means, by its id, by the beginning of one, or as `last`; and which of the
/// journals has it.
///
/// `place` says where was looked, for the message.
pub fn resolve(journals: &[&dyn Journal], wanted: &RunId, place: &str) -> Result<(usize, RunId)> {
    for (which, journal) in journals.iter().enumerate() {
        if is_there(*journal, wanted)? {
            return Ok((which, wanted.clone()));
        }
    }
    let mut all: Vec<(usize, CastLine)> = Vec::new();
    for (which, journal) in journals.iter().enumerate() {
        all.extend(blocking(*journal).runs()?.into_iter().map(|line| (which, line)));
    }
    if wanted.as_str() == LAST {
        // Of each journal the newest comes first.
        let mut newest: Option<&(usize, CastLine)> = None;
        for (which, _) in journals.iter().enumerate() {
            let first = all.iter().find(|(of, _)| *of == which);
            let later = |(_, line): &&(usize, CastLine)| {
                newest.is_none_or(|(_, known)| line.started_at > known.started_at)
            };
            newest = first.filter(later).or(newest);
        }
        let newest = newest.map(|(which, line)| (*which, line.cast_id.clone()));
        return newest.ok_or_else(|| Failure::resolution(format!("there is no cast in {place}")));
    }
    let ids = all.iter().map(|(which, line)| (*which, &line.cast_id));
    let begins = |(_, id): &(usize, &RunId)| id.as_str().starts_with(wanted.as_str());
    let found: Vec<(usize, &RunId)> = ids.filter(begins).collect();
    if let (Some(_), true) = (found.first(), wanted.as_str().len() < PREFIX_CHARS_MIN) {
        return Err(Failure::resolution(format!(
            "there is no cast `{wanted}` in {place}; a shortened id needs at least {PREFIX_CHARS_MIN} characters"
        ))
        .hint(Hint::ListCasts));
    }
    match found.as_slice() {
        [(which, one)] => Ok((*which, (*one).clone())),
        [] => {
            let ids = all.iter().map(|(_, line)| line.cast_id.as_str());
            Err(match materia_compiler::nearest(wanted.as_str(), ids) {
                Some(near) => unknown(wanted, &format!("{place} (did you mean `{near}`?)")),
                None => unknown(wanted, place),
            })
        }
        several => {
            let named: Vec<_> =
                several.iter().take(CANDIDATES_MAX).map(|(_, id)| format!("`{id}`")).collect();
            let more = several.len().saturating_sub(CANDIDATES_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(Failure::resolution(format!(
                "`{wanted}` is ambiguous: it matches {}{more}; type more characters of the id",
                named.join(", ")
            )))
        }
    }
}

/// Whether a journal has a cast, damaged or not.
fn is_there(journal: &dyn Journal, wanted: &RunId) -> Result<bool, ReadError> {
    match blocking(journal).head(wanted) {
        Ok(head) => Ok(head.is_some()),
        Err(ReadError::Damaged { .. }) => Ok(true),
        Err(error @ (ReadError::Storage(_) | ReadError::NoSuchPlace)) => Err(error),
    }
}

/// Error for a cast that does not exist.
pub fn unknown(wanted: &RunId, place: &str) -> Failure {
    Failure::resolution(format!("there is no cast `{wanted}` in {place}")).hint(Hint::ListCasts)
}
