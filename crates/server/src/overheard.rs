//! What turns say in casts that another process drives, read off their transcripts as those grow.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_beneath::Folder;
use materia_contract::{Event, NodeId, OfTurn, Record, RunId};
use materia_runners::agents::Retelling;

use crate::rooms::{Cast, Live};

/// How much of what was said before somebody listens is told.
const BEFORE_BYTES: u64 = 64 << 10;
/// How much of a transcript is read at once.
const PIECE_BYTES: u64 = 256 << 10;

/// The turns under way of a cast, and how far their transcripts were read.
pub(crate) struct Overheard {
    run: RunId,
    folder: PathBuf,
    project: PathBuf,
    turns: BTreeMap<u64, Turn>,
}

struct Turn {
    node: NodeId,
    file: String,
    /// Where reading goes on; nobody has looked yet where it is absent.
    at: Option<u64>,
    retelling: Retelling,
}

impl Overheard {
    /// Those of a cast, of which nothing is known yet.
    pub(crate) fn of(cast: &Cast) -> Self {
        Self {
            run: cast.id.clone(),
            folder: PathBuf::from(cast.folders().run_dir),
            project: cast.served.project.dir.clone(),
            turns: BTreeMap::new(),
        }
    }

    /// A turn may begin or end with this record.
    pub(crate) fn note(&mut self, record: &Record) {
        if record.kind.starts_with("turn.")
            && let Ok(event) = record.event()
        {
            self.note_event(&event);
        }
    }

    fn note_event(&mut self, event: &Event) {
        match (event.body.of_turn(), &event.node) {
            (Some(OfTurn::Started(started)), Some(node)) => {
                // A program's words are not kept while it runs.
                let Some(provider) = started.provider.as_deref() else { return };
                let (visit, attempt) = (started.visit, started.attempt);
                let file = format!("sockets/{node}/{visit}-{attempt}.transcript.jsonl");
                let retelling = Retelling::of(provider, &self.project);
                let turn = Turn { node: node.clone(), file, at: None, retelling };
                self.turns.insert(event.seq, turn);
            }
            (Some(OfTurn::Completed(data)), _) => drop(self.turns.remove(&data.turn)),
            (Some(OfTurn::Failed(data)), _) => drop(self.turns.remove(&data.turn)),
            (Some(OfTurn::Interrupted(data)), _) => drop(self.turns.remove(&data.turn)),
            (Some(OfTurn::Started(_)) | None, _) => {}
        }
    }

    /// Whether there is anything to listen to.
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// What was said since the last look. It waits for the disk.
    pub(crate) fn look(&mut self) -> Vec<Live> {
        let Ok(folder) = Folder::at_itself(&self.folder) else { return Vec::new() };
        let run = &self.run;
        let said = self.turns.values_mut().filter_map(|turn| {
            let text = turn.look(&folder).filter(|text| !text.is_empty())?;
            Some(Live { run: run.clone(), node: turn.node.clone(), text: Arc::from(text) })
        });
        said.collect()
    }
}

impl Turn {
    fn look(&mut self, folder: &Folder) -> Option<String> {
        let mut file = folder.open(Path::new(&self.file)).ok()?;
        let length = file.metadata().ok()?.len();
        let at = self.at.unwrap_or(length.saturating_sub(BEFORE_BYTES)).min(length);
        file.seek(SeekFrom::Start(at)).ok()?;
        let mut bytes = Vec::new();
        file.take(PIECE_BYTES).read_to_end(&mut bytes).ok()?;
        self.at = Some(at + bytes.len() as u64);
        Some(self.retelling.push(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn delta(text: &str) -> String {
        let delta = serde_json::json!({ "type": "text_delta", "text": text });
        let event = serde_json::json!({ "type": "content_block_delta", "delta": delta });
        format!("{}\n", serde_json::json!({ "type": "stream_event", "event": event }))
    }

    fn started(provider: Option<&str>) -> Event {
        let data = serde_json::json!({
            "visit": 1, "attempt": 1, "item": null, "cause": { "kind": "input" }, "consumed": [],
            "prompt": "Do it.", "provider": provider,
        });
        let body = materia_contract::EventBody::parse("turn.started", &data.to_string());
        Event { seq: 4, ts: 4, wall: 4, node: Some(NodeId::new("A")), body: body.unwrap() }
    }

    #[test]
    fn what_a_transcript_gains_is_told_once_until_its_turn_ends() {
        let folder = tempfile::tempdir().unwrap();
        let mut overheard = Overheard {
            run: RunId::new("c1"),
            folder: folder.path().to_owned(),
            project: folder.path().to_owned(),
            turns: BTreeMap::new(),
        };
        overheard.note_event(&started(None));
        assert!(overheard.is_empty(), "a program keeps no transcript");
        overheard.note_event(&started(Some("claude")));
        assert!(overheard.look().is_empty(), "its file is not there yet");
        fs::create_dir_all(folder.path().join("sockets/A")).unwrap();
        let path = folder.path().join("sockets/A/1-1.transcript.jsonl");
        let mut file = fs::File::create(path).unwrap();
        let said = |overheard: &mut Overheard| -> String {
            overheard.look().iter().map(|live| live.text.to_string()).collect()
        };
        write!(file, "{}{}", delta("I will "), delta("look.")).unwrap();
        assert_eq!(said(&mut overheard), "I will look.");
        assert_eq!(said(&mut overheard), "");
        // Half a line waits for the other half.
        let line = delta(" Done.");
        let (half, rest) = line.split_at(20);
        write!(file, "{half}").unwrap();
        assert_eq!(said(&mut overheard), "");
        write!(file, "{rest}").unwrap();
        assert_eq!(said(&mut overheard), " Done.");
        let data = serde_json::json!({ "turn": 4, "visit": 1, "attempt": 1, "reason": "crash" });
        let body = materia_contract::EventBody::parse("turn.interrupted", &data.to_string());
        overheard.note_event(&Event { seq: 5, ts: 5, wall: 5, node: None, body: body.unwrap() });
        assert!(overheard.is_empty());
    }
}
