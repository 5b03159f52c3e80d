//! What the server is sent and answers, where no command prints it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::body::{ConfigFile, Grid};
use crate::{
    Amount, Budget, CastLine, CastReport, Do, EdgeId, Finding, GlobalMode, NodeId, Pace, Plan,
    PromptLayer, RunFailed, RunId, RunWaiting, SessionRef, TurnUsage, UsageTotals, Uuid,
};

/// The server is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alive {
    /// Always `ok`.
    pub status: String,
    /// The version of the program.
    pub version: String,
}

/// A code for a page, and the address that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Code {
    /// The code.
    pub code: String,
    /// The address to open.
    pub url: String,
}

/// What a page sends to sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionBody {
    /// The code.
    pub code: String,
}

/// The key that a page sends with each request, beside its cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionKey {
    /// The key, for the header `X-Materia-Key`.
    pub key: String,
}

/// A folder that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectItem {
    /// What names it in a query.
    pub id: String,
    /// The folder.
    pub dir: String,
    /// The last part of it.
    pub name: String,
}

/// The folders that are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Projects {
    /// In the order in which they were named.
    pub items: Vec<ProjectItem>,
}

/// A folder to be served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddProject {
    /// The folder, as an absolute path.
    pub dir: String,
}

/// A cast in short: a line of `casts --json`, and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastSummary {
    /// The line.
    #[serde(flatten)]
    pub line: CastLine,
    /// The project it belongs to.
    pub project: String,
    /// Whether somebody drives it now.
    pub driven: bool,
    /// The place of its last event.
    pub last_seq: u64,
    /// When that was.
    pub updated_at: String,
    /// What it has spent.
    pub usage: UsageTotals,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<RunWaiting>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunFailed>,
    /// How far its outermost loop is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Progress>,
}

/// How far a loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Items behind the cursor.
    pub done: u32,
    /// All of them.
    pub total: u32,
}

/// A page of casts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Casts {
    /// The casts, newest first.
    pub items: Vec<CastSummary>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
    /// Casts whose lines make no sense: which, and what is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// What a cast is begun with. Scripts and recordings are files on the server's machine; they are taken only by a server
/// that was started with `--test-hooks`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own, as it is sent")]
pub struct StartBody {
    /// The project: its id or its folder; the only one where there is one.
    pub project: Option<String>,
    /// The loadout; the active one where neither this nor a link is named.
    pub loadout: Option<String>,
    /// Materia and loadouts that are linked, in their order.
    pub link: Option<Vec<String>>,
    /// The cast that a link continues from.
    pub from: Option<String>,
    /// What is asked for.
    pub request: String,
    /// That nothing is asked for is meant.
    pub no_request: bool,
    /// The id of the cast; otherwise one is made up.
    pub cast_id: Option<String>,
    /// The agent of every socket that names none.
    pub provider: Option<String>,
    /// Turns may write only under the folder of documents.
    pub planning: bool,
    /// No turn starts by itself.
    pub interactive: bool,
    /// What it may spend.
    pub budget: Option<Budget>,
    /// The same, one by one.
    pub max_cost: Option<Amount>,
    /// Likewise.
    pub max_turns: Option<u64>,
    /// Likewise.
    pub max_tokens: Option<u64>,
    /// Only with `--test-hooks`: the script that answers.
    pub script: Option<String>,
    /// Only with `--test-hooks`: time is simulated.
    pub virtual_time: bool,
    /// Only with `--test-hooks`: where what agents say is kept.
    pub record: Option<String>,
    /// Only with `--test-hooks`: the recording that answers.
    pub replay: Option<String>,
}

/// A cast as of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastView {
    /// As `show --json` has it.
    #[serde(flatten)]
    pub report: CastReport,
    /// The project it belongs to.
    pub project: String,
    /// Whether somebody drives it now.
    pub driven: bool,
    /// The event that all of this is as of.
    pub at: u64,
    /// Whether turns start by themselves.
    pub pace: Pace,
    /// What turns may write.
    pub global_mode: GlobalMode,
    /// What it may spend.
    pub budget: Budget,
    /// What it runs.
    pub plan: Plan,
    /// The hash of that.
    pub plan_hash: String,
    /// The same as a graph.
    pub graph: Grid,
    /// Where each socket stands.
    pub sockets: Vec<SocketNow>,
    /// The bounded edges, and how often each was taken for the present item.
    pub edges: Vec<EdgeNow>,
    /// The loops that were entered.
    pub loops: Vec<LoopNow>,
    /// What a person can do to bring it on: commands, and words that are left to the person.
    pub next: Vec<Value>,
}

/// Where a socket stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SocketState {
    /// Nothing has come so far.
    Idle,
    /// Something waits for it.
    Queued,
    /// A turn is under way.
    Running,
    /// It waits for a person.
    NeedsYou,
    /// Its last turn came to a result.
    Done,
    /// Its last turn ended the cast.
    Failed,
    /// It goes round without getting on.
    Stalled,
    /// A person ended the cast while it ran.
    Aborted,
}

/// Where a socket stands, and what it has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketNow {
    /// The socket.
    pub socket: NodeId,
    /// What runs there.
    pub materia: String,
    /// Where it stands.
    pub state: SocketState,
    /// Turns that were started.
    pub visits: u32,
    /// Turns that came to a result.
    pub completed: u32,
    /// The places of the turns under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<u64>,
    /// Inputs that wait.
    pub waits: u32,
}

/// A bounded edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeNow {
    /// The edge.
    pub id: EdgeId,
    /// How often it was taken for the present item.
    pub taken: u32,
    /// How often it may still be.
    pub left: u32,
}

/// A loop that was entered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopNow {
    /// The loop.
    pub id: String,
    /// The how-manieth time.
    pub entry: u32,
    /// The item that is current, from 0; as many as there are when it is through.
    pub index: u32,
    /// How many items there are.
    pub total: u32,
    /// The items.
    pub items: Vec<Value>,
}

/// A page of events.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventsPage {
    /// The events, each as `events --json` prints it.
    pub items: Vec<Value>,
    /// The place at which the next page begins, if there is one.
    pub next: Option<u64>,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnView {
    /// Where it began.
    pub seq: u64,
    /// Where it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_seq: Option<u64>,
    /// Where it ran.
    pub socket: NodeId,
    /// What ran there.
    pub materia: String,
    /// The how-manieth turn of this socket it is.
    pub visit: u32,
    /// The how-manieth try at it.
    pub attempt: u32,
    /// The key of the work item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_label: Option<String>,
    /// How it ended: completed, rejected, failed, interrupted, or running.
    pub outcome: crate::Outcome,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// An agent's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Where each part of it comes from.
    pub layers: Vec<PromptLayer>,
    /// A utility's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What it put out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The same as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Value>,
    /// Standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Its verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<bool>,
    /// Why it failed, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TurnUsage>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which model was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionRef>,
    /// The payloads it took.
    pub consumed: Vec<Uuid>,
    /// The files it left.
    pub artifacts: Vec<FileItem>,
}

/// What was spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// In all.
    pub usage: UsageTotals,
    /// What may be.
    pub budget: Budget,
    /// By socket.
    pub by_socket: Vec<Spent>,
    /// By work item; turns of no item are not among them.
    pub by_item: Vec<Spent>,
}

/// What one socket, or one item, has spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// The socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<NodeId>,
    /// What runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materia: Option<String>,
    /// The key of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Attempts that were started.
    pub turns: u64,
    /// Tokens, as far as they were reported.
    pub tokens: u64,
    /// Cost, as far as it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Amount>,
    /// Time spent in turns that have ended.
    pub duration_ms: u64,
}

/// A file that a turn left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileItem {
    /// Its path in the cast's folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// The files of a cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Files {
    /// By path.
    pub items: Vec<FileItem>,
}

/// Something that is done to a cast: a command, or a fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ActBody {
    /// A new cast that shares the history up to an event.
    Fork(ForkBody),
    /// A command.
    Do(Do),
}

/// A new cast that shares the history of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkBody {
    /// Always `fork`.
    #[serde(rename = "do")]
    pub what: ForkWord,
    /// The last event that is shared.
    pub at: u64,
    /// The id of the new cast; otherwise one is made up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cast_id: Option<String>,
    /// No turn of the new cast starts by itself.
    #[serde(default)]
    pub interactive: bool,
}

/// The word `fork`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForkWord {
    /// It.
    Fork,
}

/// What came of an act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acted {
    /// The first and the last of the events that followed; empty where nothing changed.
    pub events: Vec<u64>,
    /// The cast that a fork began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cast_id: Option<RunId>,
    /// It is written down, and whoever drives the cast next takes it first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

/// A cast that is handed over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DriveBody {
    /// The project: its folder.
    pub project: Option<String>,
    /// What is done to it: `resume`, `recast` or `revive`; it is resumed where nothing is named.
    #[serde(rename = "do")]
    pub what: Option<Do>,
    /// Variables that an agent of it needs and that are set where it was prepared.
    pub needs: Vec<String>,
    /// The agent of every socket that names none.
    pub provider: Option<String>,
}

/// What waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inbox {
    /// The newest first.
    pub items: Vec<InboxItem>,
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// The project.
    pub project: String,
    /// The cast.
    pub cast_id: RunId,
    /// The loadout it runs.
    pub loadout: String,
    /// What was asked for.
    pub request: String,
    /// Why it waits: as `show --json` has it, or `trust`.
    pub reason: String,
    /// The same in a sentence.
    pub message: String,
    /// Where it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Since when.
    pub since: String,
    /// What would run, where a person is asked whether it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalAsked>,
    /// What a multi-turn socket said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// What would have to be approved, where trust is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustItem>,
    /// What brings it on.
    pub next: Vec<Value>,
}

/// What would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAsked {
    /// What names the question.
    pub hash: String,
    /// What would run.
    pub runs: String,
    /// What it would take.
    pub inputs: Vec<String>,
    /// Where it may write.
    pub writes: String,
    /// Whether a refusal can lead on.
    pub routes: bool,
}

/// What has to be approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustList {
    /// Each once.
    pub items: Vec<TrustItem>,
}

/// Something that has to be approved before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustItem {
    /// The project.
    pub project: String,
    /// What names it: another content has another hash.
    pub hash: String,
    /// The cast that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cast_id: Option<RunId>,
    /// All of it, in words.
    pub text: String,
    /// The same, line by line: what runs, who is asked, where turns may write, what is settled, what has changed.
    pub runs: Vec<String>,
    /// The same as data: programs, agents, where turns may write, settings, changes.
    pub question: Value,
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustBody {
    /// The project.
    #[serde(default)]
    pub project: Option<String>,
    /// The hash of what was shown.
    pub hash: String,
}

/// What was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approved {
    /// By its hash.
    pub hash: String,
    /// Casts that had waited for it and go on.
    pub casts: Vec<RunId>,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigBody {
    /// The files, the weakest first.
    pub items: Vec<ConfigFile>,
    /// What was found about them.
    pub findings: Vec<Finding>,
}

/// A file as it is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveBody {
    /// All of it.
    pub text: String,
}

/// A file that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Saved {
    /// The hash that it has now.
    pub hash: String,
}

/// Documents to be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckBody {
    /// The project whose other files they belong to.
    pub project: Option<String>,
    /// The documents by the name of their file.
    pub files: BTreeMap<String, String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// Whether nothing among it is an error.
    pub ok: bool,
    /// All of it.
    pub findings: Vec<Finding>,
}

/// Loadouts or materia.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Catalog {
    /// By name.
    pub items: Vec<CatalogItem>,
}

/// A loadout or a materia.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogItem {
    /// Its name.
    pub name: String,
    /// The layer it comes from.
    pub layer: String,
    /// The file.
    pub file: String,
    /// Whether it is the loadout that is cast when none is named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
}

/// A loadout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadoutView {
    /// Its name.
    pub name: String,
    /// Its graph, where it has no error.
    pub graph: Option<Grid>,
    /// What would run, likewise.
    pub plan: Option<Plan>,
    /// What was found about it.
    pub findings: Vec<Finding>,
}

/// Why something was not done: `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Always `about:blank`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The status.
    pub status: u16,
    /// The same code as on the command line.
    pub code: String,
    /// What happened, and what to do.
    pub detail: String,
    /// Each fault of a configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What has to be approved first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<TrustItem>,
    /// What somebody else saved meanwhile: `yours`, `base` and `theirs`.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}

/// What a running server says about itself in the state folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFile {
    /// Its address.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// What a program sends as `Authorization: Bearer`.
    pub token: String,
    /// The version of the program.
    pub version: String,
}
