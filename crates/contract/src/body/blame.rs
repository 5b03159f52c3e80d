//! Where the text of a prompt comes from.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{NodeId, RunId};

/// The output of `blame --json`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlameBody {
    /// The cast.
    pub cast_id: RunId,
    /// The variable that was asked for, if one was.
    pub variable: Option<BlamedVariable>,
    /// The turn that was asked for. For a variable: the turn that set it and the turns behind it, newest first.
    pub turns: Vec<BlamedTurn>,
}

/// A variable and the event that set it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedVariable {
    /// Its path.
    pub path: String,
    /// Its value at the end of the cast.
    pub value: Value,
    /// The event that set it last, or a part of it.
    pub source: BlameSource,
}

/// A turn and the sources of its prompt or input.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedTurn {
    /// The event with which it began.
    pub turn: u64,
    /// Its socket.
    pub socket: NodeId,
    /// Its visit.
    pub visit: u32,
    /// Its attempt.
    pub attempt: u32,
    /// The prompt of an agent.
    pub prompt: Option<String>,
    /// The parts of the prompt, end to end, without gap or overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<BlamedSpan>,
    /// The fields of a utility's input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<BlamedField>,
    /// The distinct sources of its prompt or input.
    pub sources: Vec<BlameSource>,
}

/// A part of a prompt that has one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedSpan {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// The layer of the prompt that it belongs to.
    pub layer: String,
    /// Its source.
    pub source: BlameSource,
}

/// A field of a utility's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedField {
    /// Its place in the input, as a JSON pointer.
    pub pointer: String,
    /// Its source.
    pub source: BlameSource,
}

/// Where a text comes from.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlameSource {
    /// Who wrote it.
    pub kind: BlameKind,
    /// The event that holds the text, or that Materia's words rest on.
    pub event: Option<u64>,
    /// The `turn.started` of the turn that put it out.
    pub turn: Option<u64>,
    /// The socket of that turn, or the socket whose configuration holds the text.
    pub socket: Option<NodeId>,
    /// The visit of that turn.
    pub visit: Option<u32>,
    /// The materia that holds the text.
    pub materia: Option<String>,
    /// The file or the place in the configuration that holds the text.
    pub file: Option<String>,
}

/// Who wrote a text.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BlameKind {
    /// The configuration: a materia.
    Materia,
    /// A person: the request, a message, an instruction.
    Person,
    /// An earlier turn: its output.
    Turn,
    /// Another cast that this one continues from.
    Cast,
    /// Materia itself: headings, rules and values of the run.
    Runtime,
}
