//! Where an edge, an exit or a failure leads.

use materia_contract::{END, FAIL, NodeId};

use super::Place;
use super::built::Scope;
use crate::fault::{Fault, Faults};

/// Where an edge leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Socket(NodeId),
    End,
    /// The cast fails there (D65).
    Fail,
    /// Nowhere; that has been reported.
    Unknown,
}

impl Target {
    /// The socket that it is, if it is one.
    pub(super) fn socket(&self) -> Option<&str> {
        match self {
            Self::Socket(id) => Some(id.as_str()),
            Self::End | Self::Fail | Self::Unknown => None,
        }
    }

    /// The word that stands for it in an edge's id.
    pub(super) fn word(&self) -> &str {
        match self {
            Self::Socket(id) => id.as_str(),
            Self::Fail => FAIL,
            Self::End | Self::Unknown => END,
        }
    }

    /// Where it leads as a plan says it: a node, and whether the cast fails; `None` if it leads nowhere.
    pub(super) fn planned(&self) -> Option<(Option<NodeId>, bool)> {
        match self {
            Self::Socket(id) => Some((Some(id.clone()), false)),
            Self::End => Some((None, false)),
            Self::Fail => Some((None, true)),
            Self::Unknown => None,
        }
    }
}

/// Reads where something leads; `code` names the fault where that does not exist.
pub(super) fn target(
    scope: &Scope<'_>,
    code: &'static str,
    to: &str,
    place: &Place,
    faults: &mut Faults,
) -> Target {
    match to {
        END => return Target::End,
        FAIL => return Target::Fail,
        _ => {}
    }
    if scope.loadout.sockets.contains_key(to) {
        return Target::Socket(NodeId::new(to));
    }
    if !place.is_mended(scope.loaded) {
        let message = format!("there is no socket `{to}` in loadout `{}`", scope.name);
        let fault = Fault::error(code, message);
        faults.push_with(place.mark(fault), |fault| {
            fault.help(scope.socket_help(to, place.socket().as_deref()))
        });
    }
    Target::Unknown
}
