//! One step of a person on a cast: what the person left out is filled in from what the cast asks, and where
//! nobody drives the cast, the step carries it on or is only noted (D56, D59).

use std::path::Path;
use std::sync::Arc;

use materia_contract::{Command, Do, Folders, NodeId, Pace};
use materia_engine::{
    DriveError, EngineError, Lease, Observer, SystemClock, World, blocking, only_do,
};
use materia_journal::{SqliteJournal, Views};
use materia_kernel::{Input, Phase, Question, Run, paused, question, questions};
use materia_runners::{Runners, UtilityRunner};

use crate::Failure;

/// The least of a question's hash that names it.
const HASH_CHARS_MIN: usize = 8;

/// Whether doing this carries on a cast that nobody drives (D59). Everything else is noted, and the cast
/// stays where it is.
#[must_use]
pub fn carries_on(what: &Do) -> bool {
    match what {
        Do::Approve { .. }
        | Do::Trigger { .. }
        | Do::Continue { .. }
        | Do::Budget { .. }
        | Do::NodeBudget { .. }
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Deny { route: true, .. }
        | Do::Mode { value: Pace::Auto } => true,
        Do::Deny { route: false, .. }
        | Do::Mode { value: Pace::Interactive }
        | Do::Pause
        | Do::GlobalMode { .. }
        | Do::Say { .. }
        | Do::Offer { .. }
        | Do::Crash
        | Do::Stop { .. }
        | Do::Abort { .. } => false,
    }
}

/// What a step means for a cast that another process drives: whoever resumes it lets it go on there.
#[must_use]
pub fn where_driven(what: Do) -> Do {
    if let Do::Resume { pace } = what {
        return Do::Mode { value: pace.unwrap_or(Pace::Auto) };
    }
    what
}

/// The question that a step answers, by its hash.
#[must_use]
pub fn answers(what: &Do) -> Option<(&NodeId, &str)> {
    if let Do::Approve { node, hash: Some(hash) }
    | Do::Deny { node, hash: Some(hash), .. }
    | Do::Trigger { node, hash: Some(hash), approve: true, .. } = what
    {
        return Some((node, hash));
    }
    None
}

/// A person's yes to what a socket asks, or to the only one that asks.
pub fn approve(run: &Run, node: Option<&str>, shown: Option<&str>) -> Result<Do, Failure> {
    let (node, hash) = meant(run, node, shown)?;
    Ok(Do::Approve { node, hash })
}

/// A person's no.
pub fn deny(
    run: &Run,
    node: Option<&str>,
    shown: Option<&str>,
    reason: Option<String>,
    route: bool,
) -> Result<Do, Failure> {
    let (node, hash) = meant(run, node, shown)?;
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    Ok(Do::Deny { node, hash, reason, route })
}

/// A turn by hand, with a yes to what the socket asks where that is wanted.
pub fn trigger(
    run: &Run,
    node: &str,
    message: Option<String>,
    approve: bool,
    shown: Option<&str>,
) -> Do {
    let node = NodeId::new(node);
    let hash = if approve { named(run, &node, shown) } else { None };
    Do::Trigger { node, message, approve, hash }
}

/// The end of a conversation with a multi-turn socket, or with the only one that waits.
pub fn finish(run: &Run, node: Option<&str>) -> Result<Do, Failure> {
    let waiting: Vec<&NodeId> = paused(run).collect();
    if node.is_none() && waiting.len() > 1 {
        return Err(several(&waiting));
    }
    Ok(Do::Continue { node: node.map(NodeId::new) })
}

/// The socket that is meant, and its newest question.
fn meant(
    run: &Run,
    node: Option<&str>,
    shown: Option<&str>,
) -> Result<(NodeId, Option<String>), Failure> {
    let node = match node {
        Some(node) => NodeId::new(node),
        None => only(run)?,
    };
    let hash = named(run, &node, shown);
    Ok((node, hash))
}

/// The only socket that asks something. What was refused already comes second.
fn only(run: &Run) -> Result<NodeId, Failure> {
    let all: Vec<Question<'_>> = questions(run).collect();
    let open: Vec<&NodeId> = all.iter().filter(|it| !it.denied).map(|it| it.node).collect();
    let any: Vec<&NodeId> = all.iter().map(|it| it.node).collect();
    match (open.as_slice(), any.as_slice()) {
        ([one], _) | ([], [one]) => Ok((*one).clone()),
        ([], []) => {
            Err(Failure::resolution(format!("cast `{}`: no turn waits for approval", run.id())))
        }
        ([], several_of) | (several_of, _) => Err(several(several_of)),
    }
}

fn several(nodes: &[&NodeId]) -> Failure {
    let names: Vec<String> = nodes.iter().map(|node| format!("`{node}`")).collect();
    Failure::usage(format!(
        "several sockets wait: {}; name the one that is meant",
        names.join(", ")
    ))
}

/// The hash that an answer carries: what was shown, where its beginning names the newest question all of
/// it; without any, that of the newest question at this moment.
fn named(run: &Run, node: &NodeId, shown: Option<&str>) -> Option<String> {
    let newest = question(run, node).map(|it| it.hash);
    match (shown, newest) {
        (None, newest) => newest.map(str::to_owned),
        (Some(shown), Some(newest))
            if shown.len() >= HASH_CHARS_MIN && newest.starts_with(shown) =>
        {
            Some(newest.to_owned())
        }
        (Some(shown), _) => Some(shown.to_owned()),
    }
}

/// What noting a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// It is done; nothing had to start for it.
    Done,
    /// It is written down; whoever carries the cast on does it first.
    Left,
}

/// Does what a person asks to a cast that nobody drives, and starts nothing. Where something would have
/// to start, it is left for whoever carries the cast on.
pub fn note(
    (root, journal, supervisor): (&Path, &Arc<SqliteJournal>, &Path),
    folders: &Folders,
    lease: &Lease,
    run: &Run,
    what: Do,
) -> Result<Noted, Failure> {
    let command = Command::person(what);
    if starts_something(run, &command.what) {
        blocking(&**journal).post(run.id(), &command)?;
        return Ok(Noted::Left);
    }
    let views = Arc::new(Views::start(root, folders));
    // Views that cannot be mended now are mended by the next replay.
    let _ = views.catch_up(&**journal, run.id());
    let observer: Arc<dyn Observer> = views.clone();
    let runner = Runners {
        utility: Arc::new(UtilityRunner::new(supervisor.to_owned())),
        scripted: None,
        mock: None,
        agent: None,
    };
    let world = World {
        journal: journal.clone(),
        observer,
        runner: Arc::new(runner),
        clock: Arc::new(SystemClock),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Broken(format!("cannot start: {error}")))?;
    let done = runtime.block_on(only_do(&world, lease, run.id(), command));
    // What is not complete beside the journal is mended by the next replay.
    let _ = views.flush();
    match done {
        Ok(_) => Ok(Noted::Done),
        Err(EngineError::Drive(DriveError::Rejected(why))) => {
            Err(Failure::resolution(format!("cast `{}`: {why}", run.id())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a run would not rest after this.
fn starts_something(run: &Run, what: &Do) -> bool {
    if *run.phase() == Phase::Running {
        // Its process went away: what was in flight is looked at first.
        return true;
    }
    let mut after = run.clone();
    let now = after.ts();
    let done = materia_kernel::step(&mut after, now, Input::act(what.clone()));
    done.is_ok() && *after.phase() == Phase::Running
}
