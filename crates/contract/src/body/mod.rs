//! Answers to questions about a cast, a plan or this machine. The commands print them with `--json`, and the server
//! sends them.
//!
//! Each is a type with a schema of its own under `schemas/`.

mod blame;
mod bounds;
mod budget;
mod compare;
mod crashtest;
mod diff;
mod explore;
mod files;
mod fuzz;
mod grid;
mod health;
mod replay_report;
mod test;
mod told;
mod whatif;
mod why;
mod workers;
mod workspace;

pub use blame::{
    BlameBody, BlameKind, BlameSource, BlamedField, BlamedSpan, BlamedTurn, BlamedVariable,
};
pub use bounds::{
    BoundOf, BoundsBody, CastBound, CostBound, NoBound, PastTurns, Quantiles, SocketBound,
};
pub use budget::BudgetBody;
pub use compare::{
    Compared, ComparedAspect, ComparedRoute, ComparedTotals, ComparedTurn, ComparedValue,
    ComparedVerdict, Comparison, TurnSide, Two, TwoTexts,
};
pub use crashtest::{
    CrashDifference, CrashFinding, CrashPoint, CrashPointKind, CrashtestBody, Differs, RanAgain,
};
pub use diff::{Change, ChangedKind, Difference};
pub use explore::{
    ExploreBody, ExploreFinding, ExploreKind, ExploredHistory, Proof, PropertyAnswer,
};
pub use files::ConfigFile;
pub use fuzz::{FuzzBody, FuzzFinding, FuzzJudge};
pub use grid::{Advance, Grid, GridEdge, GridExit, GridFailure, GridLoop, GridSocket, SocketType};
pub use health::{
    AgentHealth, Durable, GitProgram, Health, JournalHealth, NodeRuntime, PlanningSupport, Sandbox,
};
pub use replay_report::{Mismatch, ReplayBody, Verified};
pub use test::{CaseBody, TestBody, TestedAll, TestedCase, Untaken};
pub use told::Told;
pub use whatif::{
    MovedCursor, Parting, PartingKind, RouteEnd, TakenEdge, TurnName, Unanswered, Way, WhatIfBody,
};
pub use why::{Because, Condition, Suggested, SuggestedStep, Suggestion, Why};
pub use workers::{CopiedBody, LeftAlone, WorkerBody};
pub use workspace::{
    Cleaned, CleanedItem, WorkspaceBody, WorkspaceCommit, WorkspaceDiff, WorkspaceFile,
};
