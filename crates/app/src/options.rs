//! Options of a run, from the command line or a request.

use std::path::{Path, PathBuf};

use materia_contract::{Budget, GlobalMode, GoOnFrom, Pace, WorkspaceKind};

/// Options of a run. A relative path is relative to the project's folder.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own, as it is typed")]
pub struct RunOptions {
    /// Answers every agent socket instead of a model.
    pub script: Option<PathBuf>,
    /// Time is simulated; only with a script.
    pub virtual_time: bool,
    /// The agent of every socket that names none.
    pub provider: Option<String>,
    /// Where what agents say is kept.
    pub record: Option<PathBuf>,
    /// The recording that answers every agent socket.
    pub replay: Option<PathBuf>,
    /// The name of the cast; otherwise one is made up.
    pub cast_id: Option<String>,
    /// Turns may write only under the folder of documents.
    pub planning: bool,
    /// No turn starts by itself.
    pub interactive: bool,
    /// It begins though nothing is asked for.
    pub no_request: bool,
    /// Where turns work; otherwise as the loadout or the configuration says.
    pub workspace: Option<WorkspaceKind>,
    /// A workspace of its own begins with the uncommitted changes of the project folder.
    pub include_changes: bool,
    /// The files from which a cast in a workspace goes on.
    pub go_on: GoOnFrom,
    /// Bounds that weigh more than those of the configuration.
    pub budget: Budget,
}

impl RunOptions {
    /// Write mode of the turns.
    pub fn mode(&self) -> GlobalMode {
        if self.planning { GlobalMode::Planning } else { GlobalMode::Implementation }
    }

    /// Whether turns start by themselves.
    pub fn pace(&self) -> Pace {
        if self.interactive { Pace::Interactive } else { Pace::Auto }
    }
}

/// Options that do not go together, or that lack another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// Agents would be asked, and for nothing.
    #[error("loadout `{0}` has agents, and they need a request")]
    NoRequest(String),
    /// Only scripted answers know how long they take.
    #[error("simulated time needs a script: only scripted answers know how long they take")]
    VirtualTimeWithoutScript,
    /// A timeline is of simulated time.
    #[error("a script's `timeline` is for simulated time, and this cast runs in real time")]
    TimelineInRealTime,
    /// The scripted provider answers from a script.
    #[error("the provider `scripted` needs a script")]
    ScriptedWithoutScript,
    /// An agent and a script would both answer.
    #[error(
        "the provider `{0}` asks an agent, and the script answers every agent socket; choose one"
    )]
    ProviderAndScript(String),
    /// A cast keeps its name.
    #[error("the id of a cast cannot be changed")]
    OtherName,
    /// A cast keeps its kind of time.
    #[error("the cast runs in real time; a cast keeps what it began with")]
    RealTime,
    /// A cast keeps what its turns may write, but for a person's act.
    #[error("the cast does not run in Planning mode; a cast keeps what it began with")]
    NotPlanning,
    /// The pace is set when a cast begins or is resumed.
    #[error("the pace is set when a cast begins or is resumed")]
    PaceOfAct,
    /// A cast either records or replays.
    #[error("recording and replaying a recording exclude each other; choose one")]
    RecordAndReplay,
    /// A script says nothing that could be recorded.
    #[error("only agents can be recorded, and a script answers instead of them; choose one")]
    RecordAndScript,
    /// Only a copy can begin with or without changes.
    #[error(
        "changes can only be included in a workspace of its own, and this cast works in the project folder"
    )]
    ChangesWithoutWorkspace,
    /// A recording and a script would both answer.
    #[error("the recording and the script both answer every agent socket; choose one")]
    ReplayAndScript,
}

/// A path as it was given, and as an absolute path.
#[derive(Debug, Clone)]
pub(crate) struct Named<'a> {
    given: &'a Path,
    /// The absolute path.
    pub(crate) full: PathBuf,
}

impl<'a> Named<'a> {
    /// A path that was named in this folder, which is absolute.
    pub(crate) fn in_folder(folder: &Path, given: &'a Path) -> Self {
        let full = folder.join(given);
        // Removes superfluous components; for an absolute path this makes no system call.
        let full = std::path::absolute(&full).unwrap_or(full);
        Self { given, full }
    }

    /// An error about the path, in words that name it as it was named.
    pub(crate) fn told(&self, error: &impl ToString) -> String {
        let (full, given) = (self.full.to_string_lossy(), self.given.to_string_lossy());
        error.to_string().replacen(&*full, &given, 1)
    }
}
