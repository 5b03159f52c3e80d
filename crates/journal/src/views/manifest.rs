//! `manifest.json`: identity and progress of a cast.

use materia_contract::time::wall_time;
use materia_contract::{CastStatus, ChainHash};
use materia_safe_fs::Folder;
use serde::{Deserialize, Serialize};

use super::update::About;

/// The lines of the events.
pub(super) const EVENTS_FILE: &str = "events.jsonl";

pub(super) const MANIFEST_FILE: &str = "manifest.json";

/// The largest file that is taken for one of ours.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// The whole file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    cast_id: &'a str,
    status: CastStatus,
    loadout: &'a str,
    request: &'a str,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_cast_id: Option<&'a str>,
    last_seq: u64,
    last_hash: String,
    /// Folders end with a slash. Each turn's files are in the folder of its socket.
    contents: Vec<String>,
}

/// Renders the file.
pub(super) fn render<'a>(
    run: &str,
    about: &About,
    status: CastStatus,
    (seq, hash): (u64, ChainHash),
    sockets: impl Iterator<Item = &'a str>,
) -> Vec<u8> {
    let mut contents = vec![EVENTS_FILE.to_owned()];
    contents.extend(sockets.map(|node| format!("sockets/{node}/")));
    let manifest = Manifest {
        cast_id: run,
        status,
        loadout: &about.loadout,
        request: &about.request,
        started_at: wall_time(about.started),
        from_cast_id: about.from_cast.as_deref(),
        last_seq: seq,
        last_hash: hash.to_string(),
        contents,
    };
    let mut text = serde_json::to_vec_pretty(&manifest).expect("a manifest always renders");
    text.push(b'\n');
    text
}

/// The status in the manifest of `folder`, if the manifest is as of this event.
pub(super) fn status_at(folder: &Folder, (seq, hash): (u64, ChainHash)) -> Option<CastStatus> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Noted {
        status: CastStatus,
        last_seq: u64,
        last_hash: String,
    }
    let text = folder.read(MANIFEST_FILE, MANIFEST_BYTES_MAX).ok()?;
    let noted: Noted = serde_json::from_slice(&text).ok()?;
    (noted.last_seq == seq && noted.last_hash == hash.to_string()).then_some(noted.status)
}
