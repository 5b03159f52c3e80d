//! The folder of one cast, and the files that its events produce.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_contract::{
    CastStatus, ChainHash, ErrorCode, NodeId, RunId, TurnOutput, TurnUsage, is_node_id,
};
use materia_safe_fs::Folder;
use serde::Serialize;

use super::file::{self, Place, ViewProblem};
use super::manifest::{self, EVENTS_FILE, MANIFEST_FILE};
use super::update::{About, Ended, Given, Step, TurnName};

const SOCKETS_FOLDER: &str = "sockets";

/// State of the views of one cast.
#[derive(Debug)]
pub(super) struct Cast {
    run: RunId,
    /// Whether the id of the run may name a folder.
    is_named: bool,
    place: Place,
    about: Option<About>,
    status: CastStatus,
    /// The last event whose line is written or about to be.
    pub(super) last: Option<(u64, ChainHash)>,
    /// The place that the manifest on file names.
    noted: u64,
    /// Nodes whose folder was made or found.
    sockets: BTreeSet<NodeId>,
    /// Folders of nodes that are open while several decisions are written in one go.
    open: Vec<(NodeId, Arc<Folder>)>,
}

/// Folders of nodes that are open at once.
const OPEN_FOLDERS_MAX: usize = 8;

impl Cast {
    pub(super) fn new(run: RunId, folder: PathBuf) -> Self {
        let status = CastStatus::Running;
        let place = Place::new(folder);
        let (sockets, open) = (BTreeSet::new(), Vec::new());
        let is_named = RunId::parse(run.as_str()).is_ok();
        Self { run, is_named, place, about: None, status, last: None, noted: 0, sockets, open }
    }

    /// A cast that was there before.
    pub(super) fn known(run: RunId, folder: PathBuf, about: About, status: CastStatus) -> Self {
        let mut cast = Self::new(run, folder);
        let sockets = cast.place.folder().and_then(|folder| folder.folder(SOCKETS_FOLDER));
        if let Ok(sockets) = sockets {
            let names = sockets.names().unwrap_or_default();
            // Folders behind links were not made here.
            let names = names.iter().filter(|name| sockets.folder(name).is_ok());
            let id = |name: &str| is_node_id(name).then(|| NodeId::new(name));
            cast.sockets = names.filter_map(|name| id(name.to_str()?)).collect();
        }
        Self { about: Some(about), status, ..cast }
    }

    pub(super) fn events_file(&self) -> PathBuf {
        self.path().join(EVENTS_FILE)
    }

    pub(super) fn path(&self) -> &Path {
        self.place.path()
    }

    /// The folder itself. Neither it nor the artifact root may be a link.
    pub(super) fn make_folder(&self) -> Result<Folder, ViewProblem> {
        file::refuse_unless(self.is_named, || self.path().to_owned())?;
        self.place.make("")
    }

    /// Opens the lines of its events to go on at their end.
    pub(super) fn open_lines(&self) -> Result<File, ViewProblem> {
        file::refuse_unless(self.is_named, || self.path().to_owned())?;
        self.place.append(EVENTS_FILE)
    }

    /// Makes the next files beneath this handle of the artifact root.
    pub(super) fn hold(&mut self, root: Option<Arc<Folder>>) {
        self.place.hold(root);
    }

    /// Closes the open folders: the next file is created where its path leads then.
    pub(super) fn let_go(&mut self) {
        self.place.hold(None);
        self.open.clear();
    }

    /// Writes the files of one step.
    pub(super) fn apply(&mut self, step: Step) -> Result<(), ViewProblem> {
        match step {
            Step::Created(about) => self.about = Some(*about),
            Step::Status(status) => {
                // The noted place alone no longer shows that this status is written.
                self.noted = 0;
                self.status = status;
            }
            Step::Started { turn, given } => self.surely(|cast| cast.start(&turn, &given))?,
            Step::Ended(ended) => self.surely(|cast| cast.end(&ended))?,
        }
        Ok(())
    }

    /// Writes files, and retries once if another process may have removed an open folder.
    fn surely(
        &mut self,
        write: impl Fn(&mut Self) -> Result<(), ViewProblem>,
    ) -> Result<(), ViewProblem> {
        let held = !self.open.is_empty();
        match write(self) {
            Err(_) if held => {
                self.let_go();
                write(self)
            }
            written => written,
        }
    }

    fn start(&mut self, turn: &TurnName, given: &Given) -> Result<(), ViewProblem> {
        let files = self.files(turn)?;
        match given {
            Given::Prompt(text) => files.write("prompt.txt", text.as_bytes()),
            Given::Input(text) => files.write("input.json", text),
        }
    }

    fn end(&mut self, ended: &Ended) -> Result<(), ViewProblem> {
        let files = self.files(&ended.turn)?;
        let command = self.command(&ended.turn.node);
        // Without the plan an exit code or a signal gives a program away.
        let program = |it: &TurnOutput| it.exit_code.is_some() || it.signal.is_some();
        let utility = command.is_some()
            || (self.about.is_none() && ended.report.as_ref().is_some_and(program));
        if let Some(report) = &ended.report {
            if utility {
                files.stream("stdout", &report.output, report.lossy)?;
                files.stream("stderr", &report.stderr, report.lossy)?;
            } else {
                files.write("output.txt", report.output.as_bytes())?;
                let object = report.output.trim();
                if is_object(object) {
                    let same = object.len() == report.output.len();
                    let (text, json) = (files.name("output.txt"), files.name("output.json"));
                    file::copy_of(&files.folder, &text, same, &json, object.as_bytes())?;
                }
            }
        }
        files.write("meta.json", &Meta::render(ended, utility, command))
    }

    fn command(&self, node: &NodeId) -> Option<&[String]> {
        self.about.as_ref()?.commands.get(node).map(Vec::as_slice)
    }

    fn files(&mut self, turn: &TurnName) -> Result<TurnFiles, ViewProblem> {
        let within = || format!("{SOCKETS_FOLDER}/{}", turn.node);
        let are_ids = is_node_id(turn.node.as_str()) && self.is_named;
        file::refuse_unless(are_ids, || self.path().join(within()))?;
        let known = self.open.iter().find(|(node, _)| *node == turn.node);
        let folder = if let Some((_, folder)) = known {
            Arc::clone(folder)
        } else {
            let folder = Arc::new(self.place.make_next(&within())?);
            self.open.truncate(OPEN_FOLDERS_MAX - 1);
            self.open.insert(0, (turn.node.clone(), Arc::clone(&folder)));
            folder
        };
        if !self.sockets.contains(&turn.node) {
            self.sockets.insert(turn.node.clone());
        }
        Ok(TurnFiles { folder, visit: turn.visit, attempt: turn.attempt })
    }

    /// The lines on file end here; `noted` if the manifest says so as well.
    pub(super) fn stands_at(&mut self, last: (u64, ChainHash), noted: bool) {
        self.last = Some(last);
        if noted {
            self.noted = last.0;
        }
    }

    /// Whether the status changed since the manifest was written.
    pub(super) fn manifest_is_due(&self) -> bool {
        self.noted == 0
    }

    /// Whether a run in this state may be forgotten until it is caught up again.
    pub(super) fn rests(&self) -> bool {
        self.status != CastStatus::Running
    }

    /// Writes the manifest, unless the one on file says the same.
    pub(super) fn note(&mut self) -> Result<(), ViewProblem> {
        let (Some(about), Some(last)) = (&self.about, self.last) else {
            return Ok(());
        };
        if self.noted == last.0 {
            return Ok(());
        }
        let sockets = self.sockets.iter().map(NodeId::as_str);
        let text = manifest::render(self.run.as_str(), about, self.status, last, sockets);
        file::replace(&self.make_folder()?, MANIFEST_FILE, &text)?;
        self.noted = last.0;
        Ok(())
    }
}

/// The common beginning of a turn's files.
struct TurnFiles {
    folder: Arc<Folder>,
    visit: u32,
    attempt: u32,
}

impl TurnFiles {
    fn name(&self, extension: &str) -> String {
        format!("{}-{}.{extension}", self.visit, self.attempt)
    }

    fn write(&self, extension: &str, bytes: &[u8]) -> Result<(), ViewProblem> {
        file::write(&self.folder, &self.name(extension), bytes)
    }

    /// Where bytes were lost in the text, the runner has written them as they came.
    fn stream(&self, extension: &str, text: &str, lossy: bool) -> Result<(), ViewProblem> {
        if lossy && self.folder.has_file(self.name(extension)) {
            return Ok(());
        }
        self.write(extension, text.as_bytes())
    }
}

fn is_object(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// `meta.json`: everything about a turn's end but its text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    socket: &'a str,
    visit: u32,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a [String]>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    started_seq: u64,
    ended_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<StreamMeta<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<StreamMeta<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<TurnUsage>,
}

/// How much of a stream there is.
#[derive(Serialize)]
struct StreamMeta<'a> {
    bytes: usize,
    dropped: u64,
    truncated: bool,
    /// The file that has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    full: Option<&'a str>,
}

impl<'a> StreamMeta<'a> {
    fn new(report: &'a TurnOutput, kind: &str, text: &str, dropped: u64) -> Self {
        let full = report.files.iter().find(|file| file.kind.strip_suffix(".full") == Some(kind));
        let full = full.map(|file| file.name.as_str());
        Self { bytes: text.len(), dropped, truncated: dropped > 0, full }
    }
}

impl<'a> Meta<'a> {
    fn render(ended: &'a Ended, utility: bool, command: Option<&'a [String]>) -> Vec<u8> {
        let report = ended.report.as_ref();
        let streams = report.filter(|_| utility);
        let meta = Self {
            socket: ended.turn.node.as_str(),
            visit: ended.turn.visit,
            attempt: ended.turn.attempt,
            command,
            outcome: ended.outcome.word(),
            code: ended.code.map(ErrorCode::word),
            message: ended.message.as_deref(),
            exit_code: report.and_then(|it| it.exit_code),
            signal: report.and_then(|it| it.signal),
            duration_ms: report.and_then(|it| it.duration_ms),
            started_seq: ended.started,
            ended_seq: ended.seq,
            stdout: streams.map(|it| StreamMeta::new(it, "stdout", &it.output, it.stdout_dropped)),
            stderr: streams.map(|it| StreamMeta::new(it, "stderr", &it.stderr, it.stderr_dropped)),
            usage: report.and_then(|it| it.usage),
        };
        let mut text = serde_json::to_vec(&meta).expect("a turn's end always renders");
        text.push(b'\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(visit: u32) -> Step {
        let turn = TurnName { node: NodeId::new("a"), visit, attempt: 1 };
        Step::Started { turn, given: Given::Prompt("do it".to_owned()) }
    }

    #[test]
    fn a_folder_that_is_taken_away_while_it_is_open_is_made_again() {
        let root = tempfile::tempdir().unwrap();
        let mut cast = Cast::new(RunId::new("c1"), root.path().join("c1"));
        cast.apply(started(1)).unwrap();
        let folder = root.path().join("c1/sockets/a");
        std::fs::remove_dir_all(&folder).unwrap();
        cast.apply(started(2)).unwrap();
        assert!(folder.join("2-1.prompt.txt").is_file());
    }
}
