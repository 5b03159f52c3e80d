//! Live output of turns in a cast that another process drives, read from the files that those turns write.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use materia_contract::{Event, EventBody, NodeId, Record, RunId, TurnOutput};
use materia_engine::views::TurnEnd;
use materia_engine::{Journal, LoadError, blocking, load_at};
use materia_kernel::turns_in_flight;
use materia_runners::agents::TranscriptTail;
use materia_safe_fs::Folder;
use serde::Serialize;

/// The most output from before the reader came that is given, and the most given at once.
const LIVE_BYTES: u64 = 64 << 10;
/// How much of a file is read at once.
const PIECE_BYTES: u64 = 256 << 10;

/// A piece of a turn's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// Where it runs.
    pub socket: NodeId,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// `stdout` or `stderr` of a command, `words` of an agent.
    pub stream: &'static str,
    /// The text.
    pub text: String,
}

/// The turns under way of a cast, and how far their files were read.
pub struct RemoteOutput {
    folder: PathBuf,
    project: PathBuf,
    /// Whether all output is given, from its beginning.
    all: bool,
    turns: BTreeMap<u64, Turn>,
}

struct Turn {
    node: NodeId,
    visit: u32,
    attempt: u32,
    sources: Vec<Source>,
}

/// A file that a turn writes its output to.
struct Source {
    stream: &'static str,
    path: String,
    file: Option<File>,
    at: u64,
    reader: Reader,
}

enum Reader {
    Agent(TranscriptTail),
    /// The bytes of a character that has only begun.
    Program(Vec<u8>),
}

/// The beginnings of the turns that are under way behind an event.
pub fn under_way(journal: &dyn Journal, id: &RunId, after: u64) -> Result<Vec<Record>, LoadError> {
    if after == 0 {
        return Ok(Vec::new());
    }
    let run = load_at(journal, id, after)?;
    let count = run.created().map_or(0, |created| created.plan.nodes.len());
    let mut found = Vec::new();
    for turn in (0..count).flat_map(|node| turns_in_flight(&run, node)) {
        found.extend(blocking(journal).records(id, turn - 1, 1)?);
    }
    Ok(found)
}

impl RemoteOutput {
    /// Follows the cast in `folder`. Of more output than fits only the end is given.
    pub fn live(folder: PathBuf, project: PathBuf) -> Self {
        Self { folder, project, all: false, turns: BTreeMap::new() }
    }

    /// Follows the cast in `folder` and gives all output.
    pub fn all(folder: PathBuf, project: PathBuf) -> Self {
        Self { all: true, ..Self::live(folder, project) }
    }

    /// Notes turns that start or end with this record. Returns the last output of a turn that ended, if all is wanted.
    pub fn note(&mut self, record: &Record) -> Vec<Said> {
        if record.kind.starts_with("turn.")
            && let Ok(event) = record.event()
        {
            return self.note_event(&event);
        }
        Vec::new()
    }

    fn note_event(&mut self, event: &Event) -> Vec<Said> {
        if let (EventBody::TurnStarted(data), Some(node)) = (&event.body, &event.node) {
            let (visit, attempt) = (data.visit, data.attempt);
            let source = |stream, extension: &str, reader| Source {
                stream,
                path: format!("sockets/{node}/{visit}-{attempt}.{extension}"),
                file: None,
                at: 0,
                reader,
            };
            let sources = match data.provider.as_deref() {
                Some(provider) => {
                    let retelling = TranscriptTail::of(provider, &self.project);
                    vec![source("words", "transcript.jsonl", Reader::Agent(retelling))]
                }
                None if data.input.is_some() => ["stdout", "stderr"]
                    .map(|stream| {
                        source(stream, &format!("{stream}.full"), Reader::Program(Vec::new()))
                    })
                    .into(),
                // A scripted answer comes at once, with the event.
                None => Vec::new(),
            };
            let turn = Turn { node: node.clone(), visit, attempt, sources };
            self.turns.insert(event.seq, turn);
            return Vec::new();
        }
        let Some(end) = TurnEnd::of(&event.body) else { return Vec::new() };
        match self.turns.remove(&end.turn) {
            Some(turn) if self.all => turn.ended(&self.folder, end.report),
            Some(_) | None => Vec::new(),
        }
    }

    /// Whether no turn writes output.
    pub fn is_empty(&self) -> bool {
        self.turns.values().all(|turn| turn.sources.is_empty())
    }

    /// The output since the last call. Blocks on the disk.
    pub fn look(&mut self) -> Vec<Said> {
        let Ok(folder) = Folder::at_itself(&self.folder) else { return Vec::new() };
        let mut said = Vec::new();
        for turn in self.turns.values_mut() {
            let whose = (turn.node.clone(), turn.visit, turn.attempt);
            for source in &mut turn.sources {
                let text = source.look(&folder, self.all);
                said.extend(text.map(|text| source.said(whose.clone(), text)));
            }
        }
        said
    }
}

impl Turn {
    /// The rest of its output: from its files, and from the report what is in no file.
    fn ended(self, folder: &Path, report: Option<&TurnOutput>) -> Vec<Said> {
        let folder = Folder::at_itself(folder).ok();
        let whose = (self.node, self.visit, self.attempt);
        let mut said = Vec::new();
        if self.sources.is_empty()
            && let Some(report) = report
        {
            let source = Source::new("words");
            said.push(source.said(whose.clone(), report.output.clone()));
        }
        for mut source in self.sources {
            let of_program = matches!(source.reader, Reader::Program(_));
            if !of_program || source.file.is_some() {
                while let Some(text) = folder.as_ref().and_then(|at| source.look(at, true)) {
                    said.push(source.said(whose.clone(), text));
                }
            }
            let rest = report.filter(|_| of_program).map(|report| source.rest(report));
            said.extend(rest.map(|text| source.said(whose.clone(), text)));
        }
        said.retain(|piece| !piece.text.is_empty());
        said
    }
}

impl Source {
    fn new(stream: &'static str) -> Self {
        let reader = Reader::Program(Vec::new());
        Self { stream, path: String::new(), file: None, at: 0, reader }
    }

    fn said(&self, (socket, visit, attempt): (NodeId, u32, u32), text: String) -> Said {
        Said { socket, visit, attempt, stream: self.stream, text }
    }

    /// New content of the file. The file stays open: its writer removes it once the event has all of it.
    fn look(&mut self, folder: &Folder, all: bool) -> Option<String> {
        let first = self.file.is_none();
        if first {
            self.file = Some(folder.open(Path::new(&self.path)).ok()?);
        }
        let file = self.file.as_mut()?;
        let length = file.metadata().ok()?.len();
        // An agent's file is read line by line, and nothing in it may be passed over later.
        if !all && (first || matches!(self.reader, Reader::Program(_))) {
            self.at = self.at.max(length.saturating_sub(LIVE_BYTES));
        }
        file.seek(SeekFrom::Start(self.at)).ok()?;
        let mut bytes = Vec::new();
        file.take(PIECE_BYTES).read_to_end(&mut bytes).ok()?;
        self.at += bytes.len() as u64;
        if bytes.is_empty() {
            return None;
        }
        Some(match &mut self.reader {
            Reader::Agent(retelling) => retelling.push(&bytes),
            Reader::Program(open) => {
                open.extend_from_slice(&bytes);
                let end = match str::from_utf8(open) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    Ok(_) | Err(_) => open.len(),
                };
                let rest = open.split_off(end);
                String::from_utf8_lossy(&std::mem::replace(open, rest)).into_owned()
            }
        })
    }

    /// The part of a stream that only the report has: all of it if no file was seen, otherwise the part behind the end of a
    /// file that reached its limit.
    fn rest(&self, report: &TurnOutput) -> String {
        let (text, dropped) = match self.stream {
            "stdout" => (&report.output, report.stdout_dropped),
            _ => (&report.stderr, report.stderr_dropped),
        };
        if self.file.is_none() {
            return text.clone();
        }
        let full = report.files.iter().find(|file| file.name == self.path);
        if full.is_none_or(|full| full.dropped == 0) {
            return String::new();
        }
        text.find(&materia_runners::gap(dropped))
            .map_or_else(String::new, |at| format!("\n{}", &text[at..]))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    fn delta(text: &str) -> String {
        let delta = json!({ "type": "text_delta", "text": text });
        let event = json!({ "type": "content_block_delta", "delta": delta });
        format!("{}\n", json!({ "type": "stream_event", "event": event }))
    }

    fn event(seq: u64, kind: &str, data: &serde_json::Value) -> Event {
        let body = materia_contract::EventBody::parse(kind, &data.to_string()).unwrap();
        let node = Some(NodeId::new("A"));
        Event { seq, ts: 4, wall: 4, node, body }
    }

    fn started(provider: Option<&str>) -> Event {
        let mut data = json!({
            "visit": 1, "attempt": 1, "item": null, "cause": { "kind": "input" }, "consumed": [],
        });
        match provider {
            Some(_) => (data["prompt"], data["provider"]) = ("Do it.".into(), provider.into()),
            None => data["input"] = json!({ "a": 1 }),
        }
        event(4, "turn.started", &data)
    }

    fn interrupted() -> Event {
        let data = json!({ "turn": 4, "visit": 1, "attempt": 1, "reason": "crash" });
        event(5, "turn.interrupted", &data)
    }

    fn text(said: Vec<Said>) -> String {
        said.into_iter().map(|said| said.text).collect()
    }

    /// Turns of a cast in a folder, and a file of the one under way.
    fn stage(all: bool, extension: &str) -> (tempfile::TempDir, RemoteOutput, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().to_owned();
        let mut remote_output = RemoteOutput::live(at.clone(), at.clone());
        remote_output.all = all;
        fs::create_dir_all(at.join("sockets/A")).unwrap();
        let path = at.join(format!("sockets/A/1-1.{extension}"));
        (folder, remote_output, path)
    }

    #[test]
    fn what_a_transcript_gains_is_told_once_until_its_turn_ends() {
        let (_folder, mut remote_output, path) = stage(false, "transcript.jsonl");
        remote_output.note_event(&started(Some("claude")));
        assert!(remote_output.look().is_empty(), "its file is not there yet");
        let mut file = fs::File::create(path).unwrap();
        write!(file, "{}{}", delta("I will "), delta("look.")).unwrap();
        assert_eq!(text(remote_output.look()), "I will look.");
        assert_eq!(text(remote_output.look()), "");
        // Half a line waits for the other half.
        let line = delta(" Done.");
        let (half, rest) = line.split_at(20);
        write!(file, "{half}").unwrap();
        assert_eq!(text(remote_output.look()), "");
        write!(file, "{rest}").unwrap();
        assert_eq!(text(remote_output.look()), " Done.");
        remote_output.note_event(&interrupted());
        assert!(remote_output.is_empty());
    }

    #[test]
    fn a_command_is_heard_by_whole_characters_and_a_flood_by_its_end() {
        let (_folder, mut remote_output, path) = stage(false, "stderr.full");
        remote_output.note_event(&started(None));
        let mut file = fs::File::create(path).unwrap();
        file.write_all(&"aä".as_bytes()[..2]).unwrap();
        let said = remote_output.look();
        assert_eq!((said[0].stream, said[0].text.as_str()), ("stderr", "a"));
        file.write_all(&"aä".as_bytes()[2..]).unwrap();
        assert_eq!(text(remote_output.look()), "ä");
        file.write_all(&vec![b'x'; 300_000]).unwrap();
        file.write_all(b"end").unwrap();
        let said = text(remote_output.look());
        assert_eq!(said.len() as u64, LIVE_BYTES);
        assert!(said.ends_with("xend"));
    }

    #[test]
    fn who_wants_everything_gets_the_rest_when_a_turn_ends() {
        let (_folder, mut remote_output, path) = stage(true, "stdout.full");
        remote_output.note_event(&started(None));
        let mut file = fs::File::create(&path).unwrap();
        file.write_all(&vec![b'x'; 300_000]).unwrap();
        assert_eq!(text(remote_output.look()).len() as u64, PIECE_BYTES);
        file.write_all(b"end").unwrap();
        fs::remove_file(&path).unwrap();
        let report = json!({
            "turn": 4, "visit": 1, "attempt": 1, "output": "not this, the file has it", "stderr": "aside",
        });
        let said = remote_output.note_event(&event(5, "turn.completed", &report));
        let whole = text(said);
        assert_eq!(whole.len(), 300_003 - usize::try_from(PIECE_BYTES).unwrap() + 5);
        assert!(whole.ends_with("xendaside"), "the stream without a file is told from the report");
    }
}
