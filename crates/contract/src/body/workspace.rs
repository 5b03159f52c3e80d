//! The workspace of a cast, and the result of `clean`.

use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::schema::{JsonSchema, omit_none};

/// Where the files of a cast are and what it changed.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceBody {
    /// The cast.
    pub cast_id: RunId,
    /// `own`, or `project` for a cast in the project folder, of which nothing below is known.
    pub kind: String,
    /// The folder with its files; absent where it was removed.
    pub checkout: Option<String>,
    /// The commit that it began at.
    pub base: Option<String>,
    /// Its branch in the user's repository, where it was published.
    pub branch: Option<String>,
    /// The commit of that branch.
    pub published: Option<String>,
    /// Whether a local branch outside `materia/` contains it.
    #[serde(default)]
    pub merged: bool,
    /// Commits after the base, newest first.
    #[serde(default)]
    pub commits: Vec<WorkspaceCommit>,
    /// Files that differ from the base.
    #[serde(default)]
    pub files: Vec<WorkspaceFile>,
}

/// A commit of a cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceCommit {
    /// Its id.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
}

/// A file that a cast changed.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceFile {
    /// Its path from the top of the repository.
    pub path: String,
    /// Lines that came; absent where it is not text.
    pub added: Option<u64>,
    /// Lines that went.
    pub removed: Option<u64>,
}

/// Files that differ, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceDiff {
    /// The files.
    pub files: Vec<WorkspaceFile>,
    /// A unified diff.
    pub text: String,
    /// Whether the text was cut.
    pub cut: bool,
}

/// Result of `clean`, or of a dry run of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cleaned {
    /// Whether it was a dry run, which removes nothing.
    pub dry_run: bool,
    /// The removed items.
    pub items: Vec<CleanedItem>,
    /// Bytes on disk of all of it.
    pub bytes: u64,
}

/// One thing that was removed.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CleanedItem {
    /// `workspace`, `branch`, `refs`, `transcript`, `temporary`.
    pub kind: String,
    /// The cast that it belongs to.
    pub cast_id: Option<RunId>,
    /// Its path or name.
    pub name: String,
    /// Bytes on disk, where it takes any of its own.
    pub bytes: u64,
}
