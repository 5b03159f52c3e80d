//! One command of a person on a cast: fills in fields that the person left out from the open question, and decides
//! whether the command continues a cast that no process runs (D56, D59).

use materia_contract::{Do, NodeId, Pace};
use materia_kernel::{Question, Run, paused, question, questions};

use crate::{Failure, Result};

/// The least of a question's hash that names it.
const HASH_CHARS_MIN: usize = 8;

/// Whether this command resumes a cast that no process drives (D59). Every other command is applied or stored, and the
/// cast is not resumed.
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
        | Do::Skip { .. }
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

/// The command for a cast that another process runs: `resume` becomes a change of its pace.
pub fn where_driven(what: Do) -> Do {
    if let Do::Resume { pace } = what {
        return Do::Mode { value: pace.unwrap_or(Pace::Auto) };
    }
    what
}

/// The question that a step answers, by its hash.
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
pub fn approve(run: &Run, node: Option<&str>, shown: Option<&str>) -> Result<Do> {
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
) -> Result<Do> {
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
pub fn finish(run: &Run, node: Option<&str>) -> Result<Do> {
    let waiting: Vec<&NodeId> = paused(run).collect();
    if node.is_none() && waiting.len() > 1 {
        return Err(several(&waiting));
    }
    Ok(Do::Continue { node: node.map(NodeId::new) })
}

/// The socket that is meant, and its newest question.
fn meant(run: &Run, node: Option<&str>, shown: Option<&str>) -> Result<(NodeId, Option<String>)> {
    let node = match node {
        Some(node) => NodeId::new(node),
        None => only(run)?,
    };
    let hash = named(run, &node, shown);
    Ok((node, hash))
}

/// The only socket that asks something. What was refused already comes second.
fn only(run: &Run) -> Result<NodeId> {
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

/// The hash that an answer carries: the one that was shown, completed if it is a prefix of the newest question's hash;
/// if none was shown, the hash of the newest question.
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
