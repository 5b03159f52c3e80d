//! Bodies of requests and answers of the server that no command prints.

mod access;
mod act;
mod cast;
mod casts;
mod config;
mod edit;
mod projects;
mod turn;
mod waits;

pub use access::{Alive, Code, Problem, ServerFile, SessionBody, SessionKey};
pub use act::{
    ActBody, Acted, DriveBody, DropBody, ForkBody, ForkWord, Next, NodeBound, ResumeBody,
    ResumeWord, WorkspaceActed,
};
pub use cast::{CastView, EdgeNow, EventsPage, LiveWords, LoopNow, SocketNow, SocketState};
pub use casts::{CastSummary, Casts, DemoView, Progress, StartBody};
pub use config::{
    Catalog, CatalogItem, CheckBody, ConfigBody, DrivenCast, Findings, LoadoutView, SaveBody, Saved,
};
pub use edit::{
    Choice, Choices, ChosenEnd, DiffBody, Draft, DraftBody, DraftItem, DraftKept, Drafts,
    ExploreRequest, ExploreView, ExploreWalk, LinkBody, LinkView, Tried, TryBody, Walk, WalkAsk,
    WalkBody, WalkRoute, WalkStep,
};
pub use projects::{AddProject, ProjectItem, Projects, SpaceItem, Workers};
pub use turn::{Cost, FileItem, Files, GivenView, Spent, TurnView};
pub use waits::{
    ApprovalAsked, Approved, Denied, Inbox, InboxItem, TrustBody, TrustItem, TrustList,
};
