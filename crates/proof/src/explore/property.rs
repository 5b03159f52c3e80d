//! Provable properties: a small fixed list, each checked along every history.

use std::fmt;
use std::str::FromStr;

use materia_contract::{Event, EventBody, NodeId, Plan};
use materia_kernel::{Phase, Run, loops};

/// Something that holds for every history, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Property {
    /// Every history ends completed.
    Completes,
    /// The node never runs.
    Never(NodeId),
    /// The second node never runs before the first has.
    Before(NodeId, NodeId),
    /// The node runs at most so often.
    AtMost(u32, NodeId),
    /// The node runs for every item of the loop around it.
    EveryItem(NodeId),
    /// No payload is dropped.
    NeverDrops,
}

/// The forms of a property, for the error message.
const FORMS: &str = "`completes`, `never SOCKET`, `always SOCKET before SOCKET`, `at-most N SOCKET`, `every-item SOCKET`, `never-drops`";

impl FromStr for Property {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["completes"] => Ok(Self::Completes),
            ["never-drops"] => Ok(Self::NeverDrops),
            ["never", node] => Ok(Self::Never(NodeId::new(*node))),
            ["always", first, "before", then] => {
                Ok(Self::Before(NodeId::new(*first), NodeId::new(*then)))
            }
            ["at-most", count, node] => match count.parse() {
                Ok(count) => Ok(Self::AtMost(count, NodeId::new(*node))),
                Err(_) => Err(format!("`{count}` in `{text}` is no number")),
            },
            ["every-item", node] => Ok(Self::EveryItem(NodeId::new(*node))),
            _ => Err(format!("`{text}` is no property; there are {FORMS}")),
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completes => out.write_str("completes"),
            Self::Never(node) => write!(out, "never {node}"),
            Self::Before(first, then) => write!(out, "always {first} before {then}"),
            Self::AtMost(count, node) => write!(out, "at-most {count} {node}"),
            Self::EveryItem(node) => write!(out, "every-item {node}"),
            Self::NeverDrops => out.write_str("never-drops"),
        }
    }
}

impl Property {
    /// Why it cannot be asked of a plan, where it cannot.
    pub fn fits(&self, plan: &Plan) -> Result<(), String> {
        let nodes = match self {
            Self::Completes | Self::NeverDrops => Vec::new(),
            Self::Never(node) | Self::AtMost(_, node) | Self::EveryItem(node) => vec![node],
            Self::Before(first, then) => vec![first, then],
        };
        if let Some(unknown) = nodes.iter().find(|node| !plan.nodes.contains_key(**node)) {
            return Err(format!(
                "`{self}` names `{unknown}`, which is no socket of `{}`",
                plan.loadout
            ));
        }
        match self {
            Self::EveryItem(node) if plan.nodes[node].loops.is_empty() => {
                Err(format!("`{self}`: `{node}` is in no loop"))
            }
            Self::Completes
            | Self::Never(_)
            | Self::Before(..)
            | Self::AtMost(..)
            | Self::EveryItem(_)
            | Self::NeverDrops => Ok(()),
        }
    }

    /// The state of the property after these events; `None` where they break it.
    pub(crate) fn after(&self, before: u32, events: &[Event], run: &Run) -> Option<u32> {
        let mut kept = before;
        let mut denied: Option<&NodeId> = None;
        for event in events {
            // A turn that was denied did not run: the runtime answers it.
            if let EventBody::ApprovalDenied(data) = &event.body {
                denied = event.node.as_ref().filter(|_| data.route);
            }
            let starts = matches!(&event.body, EventBody::TurnStarted(data) if data.attempt == 1);
            let starts = event.node.as_ref().filter(|_| starts);
            if starts.is_some() && starts == denied {
                denied = None;
                continue;
            }
            kept = self.noted(kept, starts, &event.body, run)?;
        }
        if let (Self::EveryItem(node), Phase::Completed) = (self, run.phase()) {
            let region = innermost(run, node);
            let left =
                loops(run).any(|it| Some(it.id) == region && (it.index as usize) < it.items.len());
            if left {
                return None;
            }
        }
        Some(kept)
    }

    fn noted(
        &self,
        kept: u32,
        starts: Option<&NodeId>,
        body: &EventBody,
        run: &Run,
    ) -> Option<u32> {
        match self {
            Self::Completes => Some(0),
            Self::Never(node) => (starts != Some(node)).then_some(0),
            Self::Before(first, then) => {
                let ran = kept == 1 || starts == Some(first);
                (starts != Some(then) || kept == 1).then_some(u32::from(ran))
            }
            Self::AtMost(most, node) => {
                let count = kept + u32::from(starts == Some(node));
                (count <= *most).then_some(count)
            }
            Self::EveryItem(node) => {
                let region = innermost(run, node);
                if let EventBody::LoopEntered(data) = body
                    && Some(data.region.as_str()) == region
                {
                    return Some(0);
                }
                if let EventBody::CursorAdvanced(data) = body
                    && data.region.as_deref() == region
                {
                    return (kept == 1).then_some(0);
                }
                Some(u32::from(kept == 1 || starts == Some(node)))
            }
            Self::NeverDrops => (!matches!(body, EventBody::PayloadDropped(_))).then_some(0),
        }
    }
}

/// The first of these properties that a run at rest with these events does not have.
pub fn broken<'p>(run: &Run, events: &[Event], properties: &'p [Property]) -> Option<&'p Property> {
    properties.iter().find(|property| {
        let ends = **property != Property::Completes || *run.phase() == Phase::Completed;
        !ends || property.after(0, events, run).is_none()
    })
}

fn innermost<'run>(run: &'run Run, node: &NodeId) -> Option<&'run str> {
    run.created()?.plan.nodes.get(node)?.loops.last().map(String::as_str)
}
