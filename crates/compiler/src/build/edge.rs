//! Edges of one socket.

use materia_contract::{Condition, Delivery, END, EdgeDoc, Guard, Root, Socket};

use super::Place;
use super::built::Scope;
use super::delivery;
use super::paths::guard;
use super::target::{Target, target};
use super::ways::{self, Way};
use crate::fault::{Fault, Faults};

/// An edge as far as it could be read.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) doc: &'a EdgeDoc,
    pub(super) place: Place,
    pub(super) when: Condition,
    pub(super) guard: Option<Guard>,
    pub(super) to: Target,
    pub(super) delivery: Option<Delivery>,
    /// Whether all of it could be read.
    pub(super) whole: bool,
    /// Whether an edge before it matches whenever it would.
    pub(super) shadowed: bool,
}

impl Draft<'_> {
    /// Condition of the edge.
    fn way(&self) -> Way<'_> {
        Way { when: self.when, guard: self.guard.as_ref() }
    }
}

/// Reads the edges of a socket.
pub(super) fn drafts<'a>(
    scope: &Scope<'a>,
    socket: &'a Socket,
    owner: &Place,
    faults: &mut Faults,
) -> Vec<Draft<'a>> {
    let list = owner.child("edges");
    let edges = socket.edges.iter().enumerate();
    edges.map(|(index, doc)| draft(scope, doc, list.child(&index.to_string()), faults)).collect()
}

fn draft<'a>(scope: &Scope<'a>, doc: &'a EdgeDoc, place: Place, faults: &mut Faults) -> Draft<'a> {
    let guard =
        doc.guard.as_ref().map(|doc| guard(scope.loaded, doc, &place.child("where"), faults));
    let to = target(scope, "graph::unknown-target", &doc.to, &place.child("to"), faults);
    let delivery = delivery::read(scope.loaded, doc, &to, &place, faults);
    let whole = !matches!(guard, Some(None))
        && delivery.is_some()
        && to != Target::Unknown
        && !place.is_mended(scope.loaded);
    let when = doc.when.unwrap_or(Condition::Always);
    let guard = guard.flatten();
    Draft { doc, place, when, guard, to, delivery, whole, shadowed: false }
}

/// Reads where a failed turn of a socket leads (D61).
pub(super) fn on_failure(
    scope: &Scope<'_>,
    socket: &Socket,
    owner: &Place,
    faults: &mut Faults,
) -> Option<Target> {
    let doc = socket.on_failure.as_ref()?;
    let place = owner.child("onFailure").child("to");
    Some(target(scope, "graph::unknown-target", &doc.to, &place, faults))
}

/// Marks and reports edges behind one that matches whenever they would.
pub(super) fn find_shadowed(edges: &mut [Draft<'_>], faults: &mut Faults) {
    let shadowed = ways::shadowed(edges.iter().map(Draft::way));
    for (edge, shadowed) in edges.iter_mut().zip(shadowed) {
        edge.shadowed = shadowed;
        if shadowed {
            let message = format!(
                "the edge to `{}` is never taken: one before it matches whenever it would",
                edge.to.word()
            );
            let fault = Fault::warning("graph::unreachable-edge", message);
            faults.push(
                edge.place.mark(fault).help("put guarded edges before `always`, or remove it"),
            );
        }
    }
}

/// The edge that makes a cast fail where a socket is not satisfied.
const FALSE_FAILS: &str = r#"{"when": "not_satisfied", "to": "fail"}"#;

/// Effect of a socket on the loop around it.
pub(super) struct Moves<'a> {
    /// When it moves the cursor.
    pub(super) when: Condition,
    /// A member of the loop, for the edge that leads to the next item.
    pub(super) first: &'a str,
}

/// Reports a socket whose edges may all fail: the cast would end there.
///
/// A socket that moves a loop leaves by the loop's exit after the last item, and only then: as
/// long as items are left its edges lead on (G12), so it needs one as much as any other.
pub(super) fn may_not_match(
    id: &str,
    edges: &[Draft<'_>],
    moves: Option<&Moves<'_>>,
    owner: &Place,
    faults: &mut Faults,
) {
    let asks = moves.is_some_and(|moves| moves.when != Condition::Always);
    let all: Vec<_> = edges.iter().map(Draft::way).collect();
    if (edges.is_empty() && moves.is_none()) || !ways::may_all_fail(&all, asks) {
        return;
    }
    let (place, message, to) = match moves {
        Some(moves) if edges.is_empty() => {
            let message =
                format!("socket `{id}` moves its loop on, but no edge leads to the next item");
            (owner.clone(), message, moves.first)
        }
        Some(moves) => {
            let message = format!(
                "the edges of socket `{id}` may all fail while its loop has items left; the cast then ends there"
            );
            (owner.child("edges"), message, moves.first)
        }
        None => {
            let message =
                format!("the edges of socket `{id}` may all fail; the cast then ends there");
            (owner.child("edges"), message, END)
        }
    };
    let fault = Fault::warning("graph::may-not-match", message);
    let last = format!(
        "add a last edge without a condition: {{\"to\": \"{to}\"}} if that is what is meant"
    );
    let open: Vec<Condition> = ways::uncovered(&all, asks).collect();
    let help = if open.contains(&Condition::NotSatisfied) {
        format!("add {FALSE_FAILS} if the cast is to fail then; or {last}")
    } else {
        last
    };
    faults.push(place.mark(fault).help(help));
}

/// Reports a socket without edges whose program decides its verdict: where that is false, the cast completes (D65).
pub(super) fn false_completes(
    id: &str,
    edges: &[Draft<'_>],
    moves: Option<&Moves<'_>>,
    owner: &Place,
    faults: &mut Faults,
) {
    if !edges.is_empty() || moves.is_some() {
        return;
    }
    let message = format!(
        "socket `{id}` has no edge for the verdict false: the cast then completes, not satisfied"
    );
    let fault = Fault::info("graph::false-completes", message);
    let help = format!("add the edge {FALSE_FAILS} if the cast is to fail then");
    faults.push(owner.mark(fault).help(help));
}

/// The place of what an edge reads from its socket's output, if it reads any.
pub(super) fn reads_output(edge: &Draft<'_>) -> Option<(Place, String)> {
    if edge.when != Condition::Always {
        let what = format!("the edge to `{}` asks for `{}`", edge.to.word(), edge.when.word());
        return Some((edge.place.child("when"), what));
    }
    let guard = edge.guard.as_ref().filter(|guard| guard.path.root == Root::Output)?;
    let what = format!("the edge to `{}` looks at `{}`", edge.to.word(), guard.path);
    Some((edge.place.child("where").child("path"), what))
}
