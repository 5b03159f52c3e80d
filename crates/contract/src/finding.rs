//! Findings about a document: the fault, its place, its severity, and a remedy.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

/// How much a finding matters. Only an error refuses.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing runs until it is mended.
    Error,
    /// It runs, but perhaps not as meant.
    Warning,
    /// Worth knowing.
    Info,
}

/// One finding in a document.
///
/// The compiler collects all of them, so that a person can fix a file in one go.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// A name that stays the same for as long as this kind of finding exists.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// The fault in one sentence.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The file, as a path for people; absent where no file is to blame.
    pub file: Option<String>,
    /// A JSON Pointer to the value.
    #[serde(default)]
    pub pointer: String,
    /// The line of its first character, from 1.
    pub line: Option<u32>,
    /// The column of its first character, from 1, in characters.
    pub column: Option<u32>,
}

/// Output of `--json` when nothing ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusalReport {
    /// Why.
    pub error: Refusal,
}

/// The kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The arguments or the request are not valid.
    Usage,
    /// The configuration has errors.
    Configuration,
    /// The named thing does not exist, or cannot be used for this.
    Resolution,
    /// The commands are not approved.
    Trust,
    /// The same, from a server: the answer has the questions.
    TrustRequired,
    /// Files cannot be read or written.
    Storage,
    /// The caller has no permission.
    Forbidden,
    /// The caller is not known.
    Unauthorized,
    /// Several projects have a cast of that id.
    Ambiguous,
    /// The server is ending.
    Ending,
    /// There is too much of something at one time.
    Limit,
    /// One of another version.
    #[serde(other)]
    Other,
}

/// Why nothing ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// `usage`, `configuration`, `resolution`, `trust`, `storage`, …
    #[schemars(with = "String")]
    pub code: RefusalCode,
    /// One sentence.
    pub message: String,
    /// Everything that was found.
    #[serde(default)]
    pub findings: Vec<Finding>,
}
