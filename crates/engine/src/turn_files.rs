//! Files that turns leave: stored by hash before the end of the turn is appended, and checked when a run is replayed.

use std::path::Path;

use materia_contract::{BlobHash, Event};

use crate::views::TurnEnd;
use crate::{Journal, TurnReport};

/// A file that an event names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The event.
    pub seq: u64,
    /// The file, relative to the folder of the cast.
    pub path: String,
    /// The hash of what it held.
    pub hash: String,
    /// Whether the journal's blobs must have it; otherwise the file is a copy of what the event has.
    pub is_blob: bool,
    /// Whether it is the transcript of an agent, which `clean` may remove after a while.
    pub is_transcript: bool,
}

/// Keeps the files that a turn left. One that cannot be kept is not named: its event would promise too much.
pub(crate) async fn keep(journal: &dyn Journal, run_dir: &Path, report: &mut TurnReport) {
    let output = match &mut report.outcome {
        Ok(output) => output,
        Err(fault) => &mut *fault.report,
    };
    if let Some(transcript) = &output.transcript
        && let Err(why) = kept(journal, &run_dir.join(&transcript.path), &transcript.hash).await
    {
        output.notes.push(format!("its transcript could not be kept: {why}"));
        output.transcript = None;
    }
    for file in std::mem::take(&mut output.files) {
        match kept(journal, &run_dir.join(&file.name), &file.hash).await {
            Ok(()) => output.files.push(file),
            Err(why) => output.notes.push(format!("its {} could not be kept: {why}", file.kind)),
        }
    }
}

async fn kept(journal: &dyn Journal, file: &Path, hash: &str) -> Result<(), String> {
    let hash = BlobHash::parse(hash).ok_or("its hash is none")?;
    journal.blobs().keep(file, hash).await.map_err(|error| error.to_string())
}

/// The files that an event names.
#[must_use]
pub fn named_by(event: &Event) -> Vec<Left> {
    let Some(report) = TurnEnd::of(&event.body).and_then(|end| end.report) else {
        return Vec::new();
    };
    let left = |path: &str, hash: &str, is_blob| {
        let (path, hash) = (path.to_owned(), hash.to_owned());
        Left { seq: event.seq, path, hash, is_blob, is_transcript: false }
    };
    let transcript = report
        .transcript
        .iter()
        .map(|it| Left { is_transcript: true, ..left(&it.path, &it.hash, true) });
    let files = report.files.iter().map(|it| left(&it.name, &it.hash, true));
    let artifacts = report.artifacts.iter().map(|it| left(&it.name, &it.hash, false));
    transcript.chain(files).chain(artifacts).collect()
}
