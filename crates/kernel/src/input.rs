use materia_contract::{
    Act, Budget, CastStatus, ErrorCode, NodeBudgets, NodeId, Pace, RunCreated, TurnOutput,
};

/// What the world brings to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Somebody asks for a run of a plan.
    Create(Box<RunCreated>),
    /// An instant, with all that happens at it. Nothing starts before all of it is settled (D7).
    Moment(Moment),
    /// Somebody carries on a run that had stopped, in whatever way.
    Resume {
        /// The project folder now.
        cwd: String,
        /// The folder of the cast now.
        run_dir: String,
        /// The pace from now on. Where it is left out, a run that a person had paused goes on by
        /// itself, and any other keeps its pace.
        pace: Option<Pace>,
    },
    /// A person gives an exhausted run further allowance.
    Revive,
    /// A person tries the failed turn again.
    Recast {
        /// The project folder now.
        cwd: String,
        /// The folder of the cast now.
        run_dir: String,
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
    /// A person says something to a node.
    Say {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
        /// What is said.
        text: String,
    },
    /// A person finishes a multi-turn node.
    Continue {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
    },
    /// A person stops the run for now.
    Stop {
        /// A sentence for whoever looks at it later.
        message: String,
    },
    /// The simulation has reached the end it was given.
    RunForElapsed,
    /// Only a person can make anything happen now (see [`is_idle`](crate::is_idle)).
    Idle,
    /// A person ends the run for good.
    Abort {
        /// Who, or why.
        reason: String,
    },
}

/// What happens at one instant.
///
/// The order is that of D7: turns that ended, in the order they had started; arrivals; timers that
/// are due; changes of modes; then the scheduler looks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moment {
    /// Turns that ended.
    pub reports: Vec<Report>,
    /// What people and the timeline do, in order.
    pub acts: Vec<Acting>,
}

/// Something done to a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Acting {
    /// What.
    pub act: Act,
    /// Its place in the script's timeline, where it comes from there.
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

    /// An instant that a timer waited for.
    #[must_use]
    pub fn tick() -> Self {
        Self::Moment(Moment::default())
    }
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

/// Why an input changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// A second creation.
    #[error("the run exists already")]
    AlreadyCreated,
    /// Anything before the creation.
    #[error("the run does not exist yet")]
    NotCreated,
    /// A report for a turn that nobody waits for: it was interrupted, or reported before.
    #[error("turn {turn} is not in flight")]
    StaleTurn {
        /// The turn.
        turn: u64,
    },
    /// The run is over.
    #[error("the cast has ended: it is {}", .0.word())]
    Ended(CastStatus),
    /// The run rests already.
    #[error("the cast is not running")]
    NotRunning,
    /// Something can still happen by itself.
    #[error("the cast still has something to do by itself")]
    NotIdle,
    /// There is nothing to revive.
    #[error(
        "nothing of this cast is exhausted; only a cast that failed as edge_exhausted or no_advance can be revived"
    )]
    NothingExhausted,
    /// There is nothing to try again.
    #[error("no turn of this cast has failed; only a failed cast can be recast")]
    NothingFailed,
    /// No multi-turn node waits.
    #[error("no multi-turn socket of this cast waits for a person")]
    NothingPaused,
    /// The plan has no such node.
    #[error("the cast has no socket `{0}`")]
    UnknownNode(NodeId),
    /// The plan has no such edge.
    #[error("the cast has no edge `{0}`")]
    UnknownEdge(String),
    /// Nothing waits for consent there.
    #[error("no turn of `{0}` waits for approval")]
    NothingToApprove(NodeId),
    /// It is not clear which node is meant.
    #[error("no socket of this cast waits for an instruction; name the one that is meant")]
    NobodyAddressed,
}
