//! The files of a run that has a workspace of its own.

use serde::{Deserialize, Serialize};

use crate::schema::{JsonSchema, omit_none};

/// The files of a workspace at one moment, as ids of git objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileState {
    /// The tree of all files that are in HEAD or that git does not ignore.
    pub tree: String,
    /// The commit of HEAD.
    pub head: String,
    /// A blob that lists the branch of HEAD and all refs.
    pub refs: String,
}

/// The workspace that a run begins with (W1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnWorkspace {
    /// Always `own`: a run in the project folder has no workspace.
    pub kind: String,
    /// The commit of the project that it began at.
    pub base: String,
    /// The files that it begins with.
    #[serde(flatten)]
    pub files: FileState,
    /// The version of git that made it.
    pub git: String,
    /// The author of commits that the runtime makes.
    pub identity: Identity,
}

/// A name and an address, as git writes them into commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// The files of the workspace when the run was taken up, from which it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesFound {
    /// The files.
    #[serde(flatten)]
    pub files: FileState,
    /// Where the run goes on from.
    #[serde(default, skip_serializing_if = "GoOnFrom::is_usual")]
    pub go_on: GoOnFrom,
    /// Whether they were changed from outside since the run came to rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
}

/// The files from which a run goes on (W10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GoOnFrom {
    /// The files that an interrupted turn began with; changes from outside between turns stay.
    #[default]
    Usual,
    /// The files that the last event names: changes from outside are undone.
    PutBack,
    /// The files as found, whatever the events name: the workspace was made again from its base.
    Found,
}

impl GoOnFrom {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}

/// Data of `workspace.publishing`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspacePublishing {}

/// Data of `workspace.published`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspacePublished {
    /// The branch in the user's repository.
    pub branch: String,
    /// Its commit.
    pub commit: String,
    /// Why the workspace stays although the run is complete.
    pub kept: Option<String>,
}
