//! Health, sign-in and error bodies of the server.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::waits::TrustItem;
use crate::Finding;
use crate::RefusalCode;

/// The server is there.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alive {
    /// Always `ok`.
    pub status: String,
    /// The version of the program.
    pub version: String,
    /// Shows that the server knows its token, where a `nonce` was sent: BLAKE3 of `NONCE:PORT` under the key that a program
    /// derives from the token and a page has as `verifier`.
    pub proof: Option<String>,
}

/// A code for a page, and the address that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Code {
    /// The code.
    pub code: String,
    /// The address to open.
    pub url: String,
}

/// Request to sign in.
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
    /// Key for checking the server's proof: after a lost connection the page checks it before it sends its own key.
    pub verifier: String,
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
    #[schemars(with = "String")]
    pub code: RefusalCode,
    /// The error, and the next step for the user.
    pub detail: String,
    /// Each fault of a configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Questions that must be approved first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<TrustItem>,
    /// On a conflict with another save: the texts `yours`, `base` and `theirs`.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}

/// The file in the state folder by which other programs find a running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFile {
    /// Its address.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// Token of programs, sent as `Authorization: Bearer`.
    pub token: String,
    /// The version of the program.
    pub version: String,
}
