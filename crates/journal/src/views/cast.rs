//! The folder of one cast, and the files its events leave there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use materia_contract::{
    CastStatus, ChainHash, ErrorCode, NodeId, RunId, TurnOutput, TurnUsage, is_node_id,
};
use serde::Serialize;

use super::file::{self, ViewProblem};
use super::manifest::{self, MANIFEST_FILE};
use super::news::{About, End, Ended, Given, Step, TurnName};
use crate::private;

pub(super) const EVENTS_FILE: &str = "events.jsonl";
const SOCKETS_FOLDER: &str = "sockets";

/// What is known of one cast.
#[derive(Debug)]
pub(super) struct Cast {
    run: RunId,
    folder: PathBuf,
    about: Option<About>,
    status: CastStatus,
    /// The last event whose line is written or about to be.
    pub(super) last: Option<(u64, ChainHash)>,
    /// The place that the manifest on file names.
    noted: u64,
    /// Nodes whose folder was made or found.
    sockets: BTreeSet<NodeId>,
}

impl Cast {
    pub(super) fn new(run: RunId, folder: PathBuf) -> Self {
        let status = CastStatus::Running;
        Self { run, folder, about: None, status, last: None, noted: 0, sockets: BTreeSet::new() }
    }

    /// A cast that was there before.
    pub(super) fn known(run: RunId, folder: PathBuf, about: About, status: CastStatus) -> Self {
        let mut cast = Self::new(run, folder);
        let sockets = cast.folder.join(SOCKETS_FOLDER);
        // What lies behind a link was not made here.
        let real = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let looked = (real(&cast.folder) && real(&sockets)).then(|| std::fs::read_dir(&sockets));
        let nodes = looked.into_iter().flatten().flatten();
        let names = nodes.flatten().filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
        let id = |name: &str| is_node_id(name).then(|| NodeId::new(name));
        cast.sockets = names.filter_map(|it| id(it.file_name().to_str()?)).collect();
        Self { about: Some(about), status, ..cast }
    }

    pub(super) fn events_file(&self) -> PathBuf {
        self.folder.join(EVENTS_FILE)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder itself. Neither it nor the artifact root may be a link.
    pub(super) fn make_folder(&self) -> Result<(), ViewProblem> {
        file::refuse_unless(RunId::parse(self.run.as_str()).is_ok(), &self.folder)?;
        if let Some(root) = self.folder.parent() {
            private::folders(root).map_err(ViewProblem::at(root))?;
        }
        file::folder(&self.folder)
    }

    /// Writes the files of one step.
    pub(super) fn apply(&mut self, step: Step) -> Result<(), ViewProblem> {
        match step {
            Step::Created(about) => self.about = Some(*about),
            Step::Status(status) => {
                // The place it was noted at is no longer enough to tell that it is noted.
                self.noted = 0;
                self.status = status;
            }
            Step::Started { turn, given } => {
                let files = self.files(&turn)?;
                match given {
                    Given::Prompt(text) => file::write(&files.with("prompt.txt"), text.as_bytes())?,
                    Given::Input(text) => file::write(&files.with("input.json"), &text)?,
                }
            }
            Step::Ended(ended) => self.end(&ended)?,
        }
        Ok(())
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
                stream(&files.with("stdout"), &report.output, report.lossy)?;
                stream(&files.with("stderr"), &report.stderr, report.lossy)?;
            } else {
                let text = files.with("output.txt");
                file::write(&text, report.output.as_bytes())?;
                let object = report.output.trim();
                if is_object(object) {
                    let same = object.len() == report.output.len();
                    file::copy_of(&text, same, &files.with("output.json"), object.as_bytes())?;
                }
            }
        }
        file::write(&files.with("meta.json"), &Meta::render(ended, utility, command))
    }

    fn command(&self, node: &NodeId) -> Option<&[String]> {
        self.about.as_ref()?.commands.get(node).map(Vec::as_slice)
    }

    fn files(&mut self, turn: &TurnName) -> Result<TurnFiles, ViewProblem> {
        let sockets = self.folder.join(SOCKETS_FOLDER);
        let folder = sockets.join(turn.node.as_str());
        if !self.sockets.contains(&turn.node) {
            file::refuse_unless(is_node_id(turn.node.as_str()), &folder)?;
            self.make_folder()?;
            file::folder(&sockets)?;
            file::folder(&folder)?;
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
        file::replace(&self.folder.join(MANIFEST_FILE), &text)?;
        self.noted = last.0;
        Ok(())
    }
}

/// The common beginning of a turn's files.
struct TurnFiles {
    folder: PathBuf,
    visit: u32,
    attempt: u32,
}

impl TurnFiles {
    fn with(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}-{}.{extension}", self.visit, self.attempt))
    }
}

/// Where bytes were lost in the text, the runner has written them as they came.
fn stream(path: &Path, text: &str, lossy: bool) -> Result<(), ViewProblem> {
    if lossy && path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    file::write(path, text.as_bytes())
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
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    started_seq: u64,
    ended_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<StreamMeta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<StreamMeta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<TurnUsage>,
}

/// How much of a stream there is.
#[derive(Serialize)]
struct StreamMeta {
    bytes: usize,
    dropped: u64,
    truncated: bool,
}

impl StreamMeta {
    fn new(text: &str, dropped: u64) -> Self {
        Self { bytes: text.len(), dropped, truncated: dropped > 0 }
    }
}

impl<'a> Meta<'a> {
    fn render(ended: &'a Ended, utility: bool, command: Option<&'a [String]>) -> Vec<u8> {
        let (outcome, code, message) = match &ended.end {
            End::Completed => ("completed", None, None),
            End::Failed(ErrorCode::ContractError, message) => {
                ("rejected", Some(ErrorCode::ContractError.word()), Some(message.clone()))
            }
            End::Failed(code, message) => ("failed", Some(code.word()), Some(message.clone())),
            End::Interrupted(reason) => {
                let word = serde_json::to_value(reason).expect("a word always renders");
                ("interrupted", None, word.as_str().map(str::to_owned))
            }
        };
        let report = ended.report.as_ref();
        let streams = report.filter(|_| utility);
        let meta = Self {
            socket: ended.turn.node.as_str(),
            visit: ended.turn.visit,
            attempt: ended.turn.attempt,
            command,
            outcome,
            code,
            message,
            exit_code: report.and_then(|it| it.exit_code),
            signal: report.and_then(|it| it.signal),
            duration_ms: report.and_then(|it| it.duration_ms),
            started_seq: ended.started,
            ended_seq: ended.seq,
            stdout: streams.map(|it| StreamMeta::new(&it.output, it.stdout_dropped)),
            stderr: streams.map(|it| StreamMeta::new(&it.stderr, it.stderr_dropped)),
            usage: report.and_then(|it| it.usage),
        };
        let mut text = serde_json::to_vec(&meta).expect("a turn's end always renders");
        text.push(b'\n');
        text
    }
}
