//! Inputs of a run. A decision rests on the state and one of these, and on nothing else.

use std::sync::Arc;

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::{
    Answerers, Do, ErrorCode, FileState, FilesFound, Pace, RunCreated, StorageMeasured, TurnOutput,
    WorkspacePublished, path_tokens,
};

/// An input of a run.
///
/// The kernel takes `Created` and `Reported` whole; a stored decision refers to the event that has them (see
/// [`RecordedInput`](crate::RecordedInput)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    bound(deserialize = "Created: Deserialize<'de>, Reported: Deserialize<'de>")
)]
pub enum InputOf<Created, Reported> {
    /// A run of a plan is created.
    Create(Created),
    /// An instant, with all that happens at it. Nothing starts before all of it is settled (D7).
    Moment(MomentOf<Reported>),
    /// Others answer the agent nodes from here on (D46).
    SetAgents(Answerers),
    /// A measurement of the run's storage; it decides whether turns may start.
    Measured(StorageMeasured),
    /// The turns in flight of a stopped run have been ended.
    Stopped {
        /// Turns that ended by themselves before they were ended.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reports: Vec<Reported>,
        /// A sentence for later readers.
        message: String,
    },
    /// A turn was not started, because it would have run something that is not approved. All other turns have been
    /// ended.
    Withheld {
        /// Turns that ended by themselves before they were ended.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reports: Vec<Reported>,
        /// The place of its `turn.started`.
        turn: u64,
        /// A sentence that says what changed.
        message: String,
        /// Where the files of the workspace are what changed: those that were found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<Box<FileState>>,
    },
    /// The branch of the workspace is in the user's repository.
    Published(Box<WorkspacePublished>),
    /// The branch of the workspace could not be published; why, in a sentence.
    Unpublished {
        /// The sentence.
        message: String,
    },
    /// The simulation has reached the end it was given.
    RunForElapsed,
    /// Only a person can make anything happen now.
    Idle,
}

/// An input as a run takes it.
pub type Input = InputOf<Arc<RunCreated>, Report>;

/// Everything that happens at one instant.
///
/// Order (D7): ended turns, in the order of their starts; arrivals; due timers; changes of modes; then the scheduler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "Reported: Deserialize<'de>"))]
pub struct MomentOf<Reported> {
    /// Turns that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Reported>,
    /// Acts of people and of the timeline, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Acting>,
}

/// An instant as a run takes it.
pub type Moment = MomentOf<Report>;

impl<Reported> Default for MomentOf<Reported> {
    fn default() -> Self {
        Self { reports: Vec::new(), acts: Vec::new() }
    }
}

/// Something done to a run.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acting {
    /// The act.
    pub act: Do,
    /// Its place in the script's timeline, where it comes from there.
    pub timeline: Option<u32>,
    /// The place of the run, if the actor has just taken it up. Turns in flight are then lost.
    pub place: Option<RunPlace>,
}

impl Acting {
    /// An act of a person on a driven run.
    pub fn person(act: Do) -> Self {
        Self { act, timeline: None, place: None }
    }
}

/// Where a run is; it may have been moved since it began.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPlace {
    /// The project folder.
    pub cwd: String,
    /// The folder of the cast.
    pub run_dir: String,
    /// The files of its workspace, as they were found there.
    pub files: Option<FilesFound>,
}

impl RunPlace {
    /// The folders by their names, as every journal says them.
    pub fn named() -> Self {
        let (cwd, run_dir) = (path_tokens::WORKSPACE.to_owned(), path_tokens::RUN_DIR.to_owned());
        Self { cwd, run_dir, files: None }
    }
}

/// How one turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The place of its `turn.started`.
    pub turn: u64,
    /// How it ended.
    pub outcome: TurnOutcome,
}

/// How a turn ended, as its runner saw it.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnOutcome {
    /// By itself, with an output that is still to be judged.
    Ended(TurnOutput),
    /// Badly.
    Faulted {
        /// The error code.
        code: ErrorCode,
        /// The error in a sentence.
        message: String,
        /// The output until then.
        report: TurnOutput,
    },
}

impl Input {
    /// One turn ended.
    pub fn report(turn: u64, outcome: TurnOutcome) -> Self {
        Self::reports(vec![Report { turn, outcome }])
    }

    /// Turns ended.
    pub fn reports(reports: Vec<Report>) -> Self {
        Self::Moment(Moment { reports, acts: Vec::new() })
    }

    /// An act of a person on a driven run.
    pub fn act(act: Do) -> Self {
        Self::acting(Acting::person(act))
    }

    /// An act by the process that has just taken the run up.
    pub fn taken_up(act: Do, place: RunPlace) -> Self {
        Self::acting(Acting { place: Some(place), ..Acting::person(act) })
    }

    fn acting(acting: Acting) -> Self {
        Self::Moment(Moment { reports: Vec::new(), acts: vec![acting] })
    }

    /// Resumes the run, at this pace where one is named.
    pub fn resume(pace: Option<Pace>) -> Self {
        Self::taken_up(Do::Resume { pace }, RunPlace::named())
    }

    /// A person tries the failed turn again.
    pub fn recast() -> Self {
        Self::taken_up(Do::Recast, RunPlace::named())
    }

    /// An instant that a timer waited for.
    pub fn tick() -> Self {
        Self::Moment(Moment::default())
    }
}

impl<Created, Reported> InputOf<Created, Reported> {
    /// Converts the creation and the reports of the input.
    pub fn try_map<C, R, E>(
        self,
        create: impl FnOnce(Created) -> Result<C, E>,
        report: impl FnMut(Reported) -> Result<R, E>,
    ) -> Result<InputOf<C, R>, E> {
        Ok(match self {
            Self::Create(created) => InputOf::Create(create(created)?),
            Self::Moment(MomentOf { reports, acts }) => {
                let reports = reports.into_iter().map(report).collect::<Result<_, E>>()?;
                InputOf::Moment(MomentOf { reports, acts })
            }
            Self::SetAgents(agents) => InputOf::SetAgents(agents),
            Self::Measured(storage) => InputOf::Measured(storage),
            Self::Stopped { reports, message } => {
                let reports = reports.into_iter().map(report).collect::<Result<_, E>>()?;
                InputOf::Stopped { reports, message }
            }
            Self::Withheld { reports, turn, message, files } => {
                let reports = reports.into_iter().map(report).collect::<Result<_, E>>()?;
                InputOf::Withheld { reports, turn, message, files }
            }
            Self::Published(published) => InputOf::Published(published),
            Self::Unpublished { message } => InputOf::Unpublished { message },
            Self::RunForElapsed => InputOf::RunForElapsed,
            Self::Idle => InputOf::Idle,
        })
    }
}
