//! Reasons for rejecting an input.

use materia_contract::{CastStatus, NodeId};

use crate::ask::approval::NoWayOn;
use crate::ask::skipping::NoSkip;

/// Why an input changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// A second creation.
    #[error("the run exists already")]
    AlreadyCreated,
    /// Anything before the creation.
    #[error("the run does not exist yet")]
    NotCreated,
    /// A report for a turn that is not in flight: it was interrupted, or reported before.
    #[error("turn {turn} is not in flight")]
    StaleTurn {
        /// The turn.
        turn: u64,
    },
    /// The run is over.
    #[error("the cast has ended: it is {}", .0.word())]
    Ended(CastStatus),
    /// The plan names something that it does not have. The compiler makes no such plan.
    #[error("{0}")]
    BrokenPlan(String),
    /// The input cannot be parsed.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// The run rests already.
    #[error("the cast is not running")]
    NotRunning,
    /// Something can still happen by itself.
    #[error("the cast still has something to do by itself")]
    NotIdle,
    /// Its branch is not being published.
    #[error("the branch of the cast is not being published")]
    NotPublishing,
    /// The caller has not given the next tick of a schedule.
    #[error("nobody has said when the schedule of `{0}` comes round next")]
    NoNextTick(NodeId),
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
    /// No item can be skipped.
    #[error(transparent)]
    NoSkip(#[from] NoSkip),
    /// The plan has no such node.
    #[error("the cast has no socket `{0}`")]
    UnknownNode(NodeId),
    /// The plan has no such edge.
    #[error("the cast has no edge `{0}`")]
    UnknownEdge(String),
    /// Nothing waits for consent there.
    #[error("no turn of `{0}` waits for approval")]
    NothingToApprove(NodeId),
    /// The answer is to another question than the newest.
    #[error(
        "`{node}` asks something else by now: this answers question {shown}, and the newest is {asked}"
    )]
    OtherQuestion {
        /// The node.
        node: NodeId,
        /// The question that was answered.
        shown: String,
        /// The newest question.
        asked: String,
    },
    /// A turn was asked for by hand that a person has to allow first.
    #[error(
        "a turn of `{node}` {}: it has to be approved before it is started by hand",
        if *.denied { "was refused" } else { "waits for approval" }
    )]
    AsksFirst {
        /// The node.
        node: NodeId,
        /// Whether it was refused.
        denied: bool,
    },
    /// The refusal of a turn cannot lead on.
    #[error("a refusal of `{node}` cannot lead on: {why}; it can be refused without that")]
    NoWayOn {
        /// The node.
        node: NodeId,
        /// Why not.
        why: NoWayOn,
    },
    /// It cannot happen at one instant with other things.
    #[error("`{0}` is done alone: it cannot stand beside other acts")]
    NotBeside(&'static str),
    /// The sender knows an older run, or another one.
    #[error("the cast is at event {actual}, and this was meant for it at event {expected}")]
    GoneOn {
        /// The last event that the sender knows of.
        expected: u64,
        /// The last event that there is.
        actual: u64,
    },
    /// It is not clear which node is meant.
    #[error("no socket of this cast waits for an instruction; name the one that is meant")]
    NobodyAddressed,
}
