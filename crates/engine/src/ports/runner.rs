use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::term::Term;
use materia_contract::time::Micros;
use materia_contract::{
    ErrorCode, FileState, GlobalMode, Limits, Node, NodeId, OUTPUT_MB_DEFAULT, OwnWorkspace, Parse,
    Policy, RunId, ScriptEntry, SessionRef, ToolsDoc, TurnOutput, VerdictFrom, WorkspacePublished,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use super::{Approval, BoxFuture};

/// Performs turns of some kind.
///
/// # Contract
///
/// * The future resolves exactly once, whatever the turn does; it never panics on a turn's account.
/// * When `stop` is asked, or the future is dropped, everything the turn has started is ended.
///   After `stop` the future resolves once that is done; its report is then not used.
/// * Under simulated time a runner does not wait: it says in [`TurnReport::after`] how long the
///   turn would have taken.
pub trait Runner: Send + Sync {
    /// Performs one turn.
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport>;

    /// A run is taken up. Ends what its turns have left that `rejoin` would not find, here in the folder `run_dir`. An
    /// error says what lives and cannot be ended: the run is then not carried on.
    fn clear(&self, run: &RunId, run_dir: &Path) -> BoxFuture<'static, Result<(), String>> {
        let _ = (run, run_dir);
        Box::pin(std::future::ready(Ok(())))
    }

    /// A run is taken up whose process went away in the middle of this turn. If the turn is still alive
    /// somewhere: what it will report, as from `run`. It is then not interrupted, as long as that holds for
    /// all turns that were in flight; otherwise what is given here is dropped, which ends the turn.
    fn rejoin(&self, job: TurnJob) -> BoxFuture<'static, Option<BoxFuture<'static, TurnReport>>> {
        drop(job);
        Box::pin(std::future::ready(None))
    }

    /// The present files of a run with a workspace; deleted files are restored from `last`. Also returns whether
    /// they differ from the look before. The error says why they cannot be read, and how a person can fix that.
    fn look(
        &self,
        run: &RunId,
        last: &FileState,
    ) -> BoxFuture<'static, Result<(FileState, bool), String>> {
        let _ = (run, last);
        Box::pin(std::future::ready(Err("this runner knows no workspaces".to_owned())))
    }

    /// Publishes the branch of a run to the user's repository. It is idempotent. The error is a message for the
    /// user.
    fn publish(
        &self,
        order: PublishOrder,
    ) -> BoxFuture<'static, Result<WorkspacePublished, String>> {
        drop(order);
        Box::pin(std::future::ready(Err("this runner knows no workspaces".to_owned())))
    }

    /// A run in a workspace of its own is complete, and that is durable: the workspace may go.
    fn completed(&self, run: &RunId) -> BoxFuture<'static, ()> {
        let _ = run;
        Box::pin(std::future::ready(()))
    }

    /// Under simulated time: the instant at which a turn ends has come, and `order` says how it stands
    /// now. What a turn leaves in the project it leaves here, not when it starts.
    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        let _ = order;
        report
    }
}

/// One turn to perform: the order, and the channels to the engine.
#[derive(Debug, Clone)]
pub struct TurnJob {
    /// The order.
    pub order: TurnOrder,
    /// The channels to stop it, to reduce its write access, and for its live output.
    pub control: Control,
}

impl std::ops::Deref for TurnJob {
    type Target = TurnOrder;

    fn deref(&self) -> &TurnOrder {
        &self.order
    }
}

impl std::ops::DerefMut for TurnJob {
    fn deref_mut(&mut self) -> &mut TurnOrder {
        &mut self.order
    }
}

impl TurnJob {
    /// A turn that reports nothing but its result.
    #[must_use]
    pub fn new(order: TurnOrder, stop: Stop) -> Self {
        let (tightened, live) = (Tightened::never(), Live::default());
        let approval = Approval::default();
        Self { order, control: Control { stop, tightened, live, approval } }
    }

    /// The same turn, with `stop` to end it.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> Self {
        let term = self.control.stop.term();
        self.control.stop = stop.within(term);
        self
    }
}

/// The channels between a turn and the engine. They end with the process.
#[derive(Debug, Clone)]
pub struct Control {
    /// Tells it to end.
    pub stop: Stop,
    /// Tells it when it may write less than when it started.
    pub tightened: Tightened,
    /// Where to say what it is doing while it does it.
    pub live: Live,
    /// The check right before it starts a program.
    pub approval: Approval,
}

/// Order for a turn. Plain data, which can be sent to another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnOrder {
    /// The run.
    pub run: RunId,
    /// The place of its `turn.started`, which is its identity.
    pub turn: u64,
    /// The node.
    pub node: NodeId,
    /// The how-manieth turn of this node it is.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The work.
    pub work: Work,
    /// The project folder, in which everything runs.
    pub cwd: PathBuf,
    /// The folder of the cast.
    pub run_dir: PathBuf,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Where it may write, as it starts.
    pub global_mode: GlobalMode,
    /// The permissions that the author gave it.
    pub policy: Option<Policy>,
    /// The folder it may write to in Planning mode, relative to `cwd`.
    pub doc_root: String,
    /// Whether time is simulated.
    pub virtual_time: bool,
    /// The artifacts that it must leave besides its output.
    pub leaves: Leaves,
    /// The files that it begins with, where the run has a workspace of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesOrder>,
}

/// The files that a turn begins with in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilesOrder {
    /// The files that `turn.started` names.
    pub start: FileState,
    /// Whether the workspace is put back to them first (W5).
    pub put_back: bool,
    /// Whether no other turn is in flight, so that different files mean a change from outside (W10).
    pub alone: bool,
}

/// A branch to bring into the user's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishOrder {
    /// The run.
    pub run: RunId,
    /// Its workspace, as it began.
    pub workspace: OwnWorkspace,
    /// The files that its last event names.
    pub files: FileState,
    /// Whether the workspace is put back to them first.
    pub put_back: bool,
    /// All files that its events name, each once.
    pub named: Vec<FileState>,
    /// The time of the event that names the files, in microseconds since 1970: the same however often it is asked.
    pub at: Micros,
    /// The request of the run.
    pub request: String,
}

impl TurnOrder {
    /// The path of an artifact of this turn: `sockets/<node>/<visit>-<attempt>.<extension>`.
    #[must_use]
    pub fn artifact(&self, extension: &str) -> PathBuf {
        self.run_dir
            .join("sockets")
            .join(self.node.as_str())
            .join(format!("{}-{}.{extension}", self.visit, self.attempt))
    }
}

/// Artifacts that a turn must leave besides its output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaves {
    /// A diff of its changes in the project.
    pub diff: bool,
    /// The standard error of its program.
    pub logs: bool,
}

impl Leaves {
    /// Whether anything is wanted.
    #[must_use]
    pub fn any(self) -> bool {
        self.diff || self.logs
    }
}

/// Work of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// Run a local program.
    Utility {
        /// The program and its arguments.
        command: Vec<String>,
        /// Its standard input, as one JSON object.
        input: Arc<Value>,
        /// How it runs.
        manner: Manner,
        /// The scripted result to give instead, if a script has one. Then no program may be started.
        script: Option<ScriptEntry>,
    },
    /// Ask an agent.
    Agent {
        /// The exact text it gets.
        prompt: Arc<str>,
        /// The tools it may use, if the author said so.
        tools: Option<ToolsDoc>,
        /// The model, if the author chose one.
        model: Option<String>,
        /// The provider, if the author chose one.
        provider: Option<String>,
        /// The form of the answer, where it is to be JSON.
        schema: Option<Arc<Value>>,
        /// The provider session to start or to resume.
        session: Option<SessionRef>,
        /// The scripted answer to take, if a script answers.
        script: Option<ScriptEntry>,
    },
}

/// How a local program runs, where its author says so (D48).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manner {
    /// Variables of its environment, beside those that it inherits.
    pub env: Vec<(String, String)>,
    /// The folder that it runs in, relative to the project; absent means the project itself.
    pub folder: Option<String>,
    /// Where its verdict comes from, where it is not in its output.
    pub verdict: Option<VerdictFrom>,
    /// The captured streams.
    pub keeps: Keeps,
}

impl Manner {
    /// How the program of a node runs.
    #[must_use]
    pub fn of(node: &Node, limits: &Limits) -> Self {
        let env = node.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let json = node.parse == Parse::Json && node.verdict.is_none();
        let keeps = Keeps { megabytes: limits.max_output_mb, json };
        Self { env: env.collect(), folder: node.cwd.clone(), verdict: node.verdict, keeps }
    }
}

/// The captured streams of a program (D69).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Keeps {
    /// How many megabytes of each.
    pub megabytes: u64,
    /// Whether JSON is read from its standard output, so that all of it is reported.
    pub json: bool,
}

impl Default for Keeps {
    fn default() -> Self {
        Self { megabytes: OUTPUT_MB_DEFAULT, json: false }
    }
}

/// Live output of a turn. It is shown and then forgotten; the result of a turn is in its report.
#[derive(Clone, Default)]
pub struct Live(Option<Arc<Show>>);

type Show = dyn Fn(&str) + Send + Sync;

impl Live {
    /// A channel that hands each piece of text to `show`.
    #[must_use]
    pub fn new(show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(show)))
    }

    /// Says something.
    pub fn say(&self, text: &str) {
        if let Some(show) = &self.0 {
            show(text);
        }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Live")
    }
}

/// Tells a turn that it may write less than when it started.
#[derive(Debug, Clone)]
pub struct Tightened(watch::Receiver<bool>);

impl Tightened {
    /// One that is never set.
    #[must_use]
    pub fn never() -> Self {
        Self(watch::channel(false).1)
    }

    /// The two ends.
    #[must_use]
    pub fn channel() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Whether it is set.
    #[must_use]
    pub fn is(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when it is set; never, if it is not.
    pub async fn told(&mut self) {
        if self.0.wait_for(|told| *told).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnReport {
    /// The output, or the error.
    pub outcome: Result<TurnOutput, TurnFault>,
    /// Under simulated time: how long the turn would have taken.
    pub after: Duration,
}

/// A turn without a usable result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnFault {
    /// The error code.
    pub code: ErrorCode,
    /// The error in a sentence.
    pub message: String,
    /// The results so far: output, exit code, usage. Boxed because it is rare.
    pub report: Box<TurnOutput>,
    /// Whether the turn was not started, because its program is not the approved one, or because the files of the
    /// workspace were changed: `report` then has the files that were found. The run waits.
    #[serde(default)]
    pub withheld: bool,
}

/// Tells a turn that it should end.
#[derive(Debug, Clone)]
pub struct Stop {
    asked: watch::Receiver<bool>,
    term: Term,
}

impl Stop {
    /// Resolves when the turn should end.
    pub async fn asked(&mut self) {
        // An error means that the source is gone: the driver was dropped, so end as well.
        let _ = self.asked.wait_for(|asked| *asked).await;
    }

    /// The same for a turn whose programs must end with a lease.
    #[must_use]
    pub fn within(self, term: Term) -> Self {
        Self { term, ..self }
    }

    /// The end of the lease under which the turn runs.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term.clone()
    }
}

/// The other end of [`Stop`].
#[derive(Debug)]
pub struct StopSource(watch::Sender<bool>);

impl StopSource {
    /// A source that has not asked yet, and what listens to it.
    #[must_use]
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop { asked: receiver, term: Term::default() })
    }

    /// Asks the turn to end.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }
}
