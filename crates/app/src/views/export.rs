//! Exports one cast as one file that opens without a server: the read-only page, with all its data inside.
//!
//! Folders are named without their paths: the file does not reveal the layout of this machine.

use std::collections::BTreeMap;
use std::path::Path;

use materia_contract::api::{CastView, Cost, TurnView};
use materia_contract::body::{Mismatch, ReplayBody, Why};
use materia_contract::{Folders, NodeId, RunId};
use materia_engine::{Journal, blocking, why};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::project::Project;
use crate::views::event_view::Shown;
use crate::views::subject::Subject;
use crate::{Failure, Result};
use crate::{views as view, views::verify};

/// The form of what is inside the file.
const VERSION: u32 = 1;
/// The line of the page that what it shows takes the place of.
const PLACE: &str = "<!--materia-export-->";
/// The most of a file's text that is taken along, and of all of them.
const FILE_BYTES_MAX: u64 = 256 << 10;
const FILES_BYTES_MAX: u64 = 8 << 20;
/// The most that events of a cast may say that goes into one file: a page holds all of it at once.
const EVENTS_BYTES_MAX: usize = 64 << 20;

/// All that the page shows of a cast.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    version: u32,
    cast: CastView,
    events: Vec<Box<RawValue>>,
    turns: BTreeMap<u64, TurnView>,
    cost: Cost,
    whys: BTreeMap<NodeId, Why>,
    files: Vec<ExportedFile>,
    /// The hash of the last event, which all before it hang on.
    state_hash: String,
    /// Where it comes from, if it was not cast here.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<FromArchive>,
}

/// An archive that a page shows.
#[derive(Debug, Serialize)]
struct FromArchive {
    file: String,
    redacted: bool,
    /// The first thing in it that does not verify.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// Reads a cast or an archive for a file. The page says that an archive is foreign, and whether it verifies.
pub fn of_subject(subject: &Subject, project: &Project) -> Result<Export> {
    let made = of(subject.journal(), subject.id(), &subject.folders(project))?;
    let Some(archive) = subject.archive() else { return Ok(made) };
    let fault = match verify::replay_archive(archive, None)? {
        ReplayBody::Verified(_) => None,
        ReplayBody::Mismatch(Mismatch { seq: Some(seq), fault, .. }) => {
            Some(format!("event {seq}: {fault}"))
        }
        ReplayBody::Mismatch(Mismatch { fault, .. }) => Some(fault),
    };
    let (file, redacted) = (archive.name().to_owned(), archive.is_redacted());
    Ok(Export { archive: Some(FromArchive { file, redacted, fault }), ..made })
}

#[derive(Debug, Serialize)]
struct ExportedFile {
    path: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Reads a cast for a file. `folders` says where its own files are.
fn of(journal: &dyn Journal, id: &RunId, folders: &Folders) -> Result<Export> {
    // Folders that are not known keep their names.
    let named = Folders::default();
    // First, for it says whether there is too much.
    let events = events(journal, id, &named)?;
    let cast = view::cast(journal, id, "", &named, None)?;
    let mut whys = BTreeMap::new();
    for socket in cast.plan.nodes.keys() {
        // What cannot be explained is left out; the rest is worth having.
        if let Ok(told) = why(journal, id, socket.as_str(), None) {
            whys.insert(socket.clone(), told);
        }
    }
    Ok(Export {
        version: VERSION,
        events,
        turns: view::turns(journal, id, &named)?,
        cost: view::cost(&cast.report, cast.budget),
        whys,
        files: files(folders),
        state_hash: cast.report.last_hash.clone(),
        archive: None,
        cast,
    })
}

fn events(journal: &dyn Journal, id: &RunId, named: &Folders) -> Result<Vec<Box<RawValue>>> {
    let mut shown = Shown::new(id.clone(), named.clone());
    let mut events = Vec::new();
    let mut bytes = 0_usize;
    for record in blocking(journal).behind(id, 0) {
        let text = shown.json(&record?);
        bytes = bytes.saturating_add(text.len());
        if bytes > EVENTS_BYTES_MAX {
            return Err(Failure::resolution(format!(
                "cast `{id}` is too large to export: its events have more than {} MB; print its events instead",
                EVENTS_BYTES_MAX >> 20
            )));
        }
        events.push(
            RawValue::from_string(text)
                .map_err(|error| Failure::storage(format!("an event is no JSON: {error}")))?,
        );
    }
    Ok(events)
}

/// The files that turns left. Only differences come with their text: the others hold what events have, with the
/// paths of this machine in it.
fn files(folders: &Folders) -> Vec<ExportedFile> {
    let mut room = FILES_BYTES_MAX;
    let one = |file: materia_contract::api::FileItem| {
        let ending = Path::new(&file.path).extension();
        let wanted = ending.is_some_and(|it| it == "diff" || it == "patch");
        let fits = file.bytes <= FILE_BYTES_MAX.min(room);
        let text = (wanted && fits)
            .then(|| view::file(folders, &file.path).ok())
            .flatten()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        room = room.saturating_sub(text.as_ref().map_or(0, |text| text.len() as u64));
        ExportedFile { path: file.path, bytes: file.bytes, text }
    };
    view::files(folders).into_iter().map(one).collect()
}

/// Puts what a page shows into the page. Nothing inside can end the element it stands in.
pub fn page(viewer: &str, export: &Export) -> Result<String> {
    let Some((before, behind)) = viewer.split_once(PLACE) else {
        return Err(Failure::storage("the page of this program has no place for a cast"));
    };
    let mut page = Inside(Vec::new());
    page.0.extend_from_slice(before.as_bytes());
    page.0.extend_from_slice(b"<script type=\"application/json\" id=\"materia-export\">");
    serde_json::to_writer(&mut page, export)
        .map_err(|error| Failure::storage(format!("the cast cannot be written: {error}")))?;
    page.0.extend_from_slice(b"</script>");
    page.0.extend_from_slice(behind.as_bytes());
    String::from_utf8(page.0).map_err(|error| Failure::storage(error.to_string()))
}

/// JSON that goes into an element of a page: as it comes, without a second copy of all of it.
struct Inside(Vec<u8>);

impl std::io::Write for Inside {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'<' | 0xe2)) {
            self.0.extend_from_slice(&rest[..at]);
            // Signs that end lines in some readers have three bytes, and are never written in parts.
            let (sign, length): (&[u8], usize) = match &rest[at..] {
                [b'<', ..] => (b"\\u003c", 1),
                [0xe2, 0x80, 0xa8, ..] => (b"\\u2028", 3),
                [0xe2, 0x80, 0xa9, ..] => (b"\\u2029", 3),
                _ => (&[0xe2], 1),
            };
            self.0.extend_from_slice(sign);
            rest = &rest[at + length..];
        }
        self.0.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
