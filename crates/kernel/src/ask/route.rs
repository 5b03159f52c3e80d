//! Matching edges of a node.

use materia_contract::{Condition, Edge, Guard, Node, Routing, Test};

use crate::ask::scope::Scope;

/// The places of the edges that a result takes: the first match, or all of them where the node asks for that.
///
/// | verdict       | `always` | `satisfied` | `not_satisfied` |
/// |---------------|----------|-------------|-----------------|
/// | `Some(true)`  | takes    | takes       | skips           |
/// | `Some(false)` | takes    | skips       | takes           |
/// | `None`        | takes    | skips       | skips           |
///
/// An edge with a `where` asks for that comparison as well.
pub(crate) fn matched(
    node: &Node,
    verdict: Option<bool>,
    scope: &Scope<'_>,
) -> impl Iterator<Item = usize> {
    let edges = node.edges.iter().enumerate().filter(move |(_, edge)| takes(edge, verdict, scope));
    let most = match node.routing {
        Routing::First => 1,
        Routing::All => usize::MAX,
    };
    edges.map(|(place, _)| place).take(most)
}

/// Whether a verdict meets a condition.
#[must_use]
pub fn matching(when: Condition, verdict: Option<bool>) -> bool {
    match when {
        Condition::Always => true,
        Condition::Satisfied => verdict == Some(true),
        Condition::NotSatisfied => verdict == Some(false),
    }
}

fn takes(edge: &Edge, verdict: Option<bool>, scope: &Scope<'_>) -> bool {
    matching(edge.when, verdict) && edge.guard.as_ref().is_none_or(|guard| holds(guard, scope))
}

/// Whether a comparison holds.
pub(crate) fn holds(guard: &Guard, scope: &Scope<'_>) -> bool {
    let value = scope.get(&guard.path);
    match &guard.test {
        Test::Equals(expected) => value.is_some_and(|value| *value == *expected),
        Test::NotEquals(other) => value.is_none_or(|value| *value != *other),
        Test::Exists(wanted) => value.is_some() == *wanted,
    }
}
