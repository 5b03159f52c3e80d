use materia_contract::{CastStatus, ErrorCode, RunCreated, TurnOutput};

/// What the world brings to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Somebody asks for a run of a plan.
    Create(Box<RunCreated>),
    /// A runner says how a turn ended.
    Report {
        /// The place of its `turn.started`.
        turn: u64,
        /// How it ended.
        outcome: TurnOutcome,
    },
    /// Somebody carries on a run that had stopped, in whatever way.
    Resume {
        /// The project folder now.
        cwd: String,
        /// The folder of the cast now.
        run_dir: String,
    },
    /// A person stops the run for now.
    Stop {
        /// A sentence for whoever looks at it later.
        message: String,
    },
    /// The simulation has reached the end it was given.
    RunForElapsed,
    /// A person ends the run for good.
    Abort {
        /// Who, or why.
        reason: String,
    },
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
}
