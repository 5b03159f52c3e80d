//! What the world brings to a run: the one thing that a decision rests on besides the state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Act, Answerers, Budget, ErrorCode, NodeBudgets, NodeId, Pace, RunCreated, TurnOutput};

/// What the world brings to a run.
///
/// `Created` is what a creation holds and `Reported` a report: whole where the kernel takes an
/// input, and a place in the events where a decision is kept (see
/// [`RecordedInput`](crate::RecordedInput)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum InputOf<Created, Reported> {
    /// Somebody asks for a run of a plan.
    Create(Created),
    /// An instant, with all that happens at it. Nothing starts before all of it is settled (D7).
    Moment(MomentOf<Reported>),
    /// Somebody carries on a run that had stopped, in whatever way.
    Resume {
        /// The project folder then, in a journal before version 4.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// The folder of the cast then, likewise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_dir: Option<String>,
        /// The pace from now on. Where it is left out, a run that a person had paused goes on by
        /// itself, and any other keeps its pace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pace: Option<Pace>,
    },
    /// A person gives an exhausted run further allowance.
    Revive,
    /// A person tries the failed turn again.
    Recast {
        /// The project folder then, in a journal before version 4.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// The folder of the cast then, likewise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_dir: Option<String>,
    },
    /// A person changes what the run may spend.
    SetBudget(Budget),
    /// A person changes what one node may spend.
    SetNodeBudgets {
        /// The node.
        node: NodeId,
        /// What it may spend from now on.
        budgets: NodeBudgets,
    },
    /// Others answer the agent nodes from here on (D46).
    SetAgents(Answerers),
    /// A person says something to a node.
    Say {
        /// The node; where it is left out, the one that waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<NodeId>,
        /// What is said.
        text: String,
    },
    /// A person finishes a multi-turn node.
    Continue {
        /// The node; where it is left out, the one that waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<NodeId>,
    },
    /// A person stops the run for now.
    Stop {
        /// A sentence for whoever looks at it later.
        message: String,
    },
    /// The simulation has reached the end it was given.
    RunForElapsed,
    /// Only a person can make anything happen now.
    Idle,
    /// A person ends the run for good.
    Abort {
        /// Who, or why.
        reason: String,
    },
}

/// An input as a run takes it.
pub type Input = InputOf<Box<RunCreated>, Report>;

/// What happens at one instant.
///
/// The order is that of D7: turns that ended, in the order they had started; arrivals; timers that
/// are due; changes of modes; then the scheduler looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "Reported: Deserialize<'de>"))]
pub struct MomentOf<Reported> {
    /// Turns that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Reported>,
    /// What people and the timeline do, in order.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acting {
    /// What.
    pub act: Act,
    /// Its place in the script's timeline, where it comes from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<u32>,
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
        /// What went wrong, by name.
        code: ErrorCode,
        /// What went wrong, in a sentence.
        message: String,
        /// What there was all the same.
        report: TurnOutput,
    },
}

impl Input {
    /// One turn ended.
    #[must_use]
    pub fn report(turn: u64, outcome: TurnOutcome) -> Self {
        Self::reports(vec![Report { turn, outcome }])
    }

    /// Turns ended.
    #[must_use]
    pub fn reports(reports: Vec<Report>) -> Self {
        Self::Moment(Moment { reports, acts: Vec::new() })
    }

    /// A person does something.
    #[must_use]
    pub fn act(act: Act) -> Self {
        let acts = vec![Acting { act, timeline: None }];
        Self::Moment(Moment { reports: Vec::new(), acts })
    }

    /// Somebody carries the run on, at this pace where one is named.
    #[must_use]
    pub fn resume(pace: Option<Pace>) -> Self {
        Self::Resume { cwd: None, run_dir: None, pace }
    }

    /// A person tries the failed turn again.
    #[must_use]
    pub fn recast() -> Self {
        Self::Recast { cwd: None, run_dir: None }
    }

    /// An instant that a timer waited for.
    #[must_use]
    pub fn tick() -> Self {
        Self::Moment(Moment::default())
    }
}

impl<Created, Reported> InputOf<Created, Reported> {
    /// The same input with its creation and its reports in another form.
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
            Self::Resume { cwd, run_dir, pace } => InputOf::Resume { cwd, run_dir, pace },
            Self::Revive => InputOf::Revive,
            Self::Recast { cwd, run_dir } => InputOf::Recast { cwd, run_dir },
            Self::SetBudget(budget) => InputOf::SetBudget(budget),
            Self::SetNodeBudgets { node, budgets } => InputOf::SetNodeBudgets { node, budgets },
            Self::SetAgents(agents) => InputOf::SetAgents(agents),
            Self::Say { node, text } => InputOf::Say { node, text },
            Self::Continue { node } => InputOf::Continue { node },
            Self::Stop { message } => InputOf::Stop { message },
            Self::RunForElapsed => InputOf::RunForElapsed,
            Self::Idle => InputOf::Idle,
            Self::Abort { reason } => InputOf::Abort { reason },
        })
    }
}
