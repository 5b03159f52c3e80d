//! Composes targets into one virtual loadout that exists for one cast (L1–L14).
//!
//! 1. [`usage`] checks the arguments of the command.
//! 2. [`resolve`] resolves each target, and wraps a single materia as a graph of one socket.
//! 3. Each target is built like any loadout, so that all its findings apply.
//! 4. [`ends`] finds the ends of each plan but the last; there must be exactly one (D30). Its output must fit the input
//!    of the next target ([`shapes`], D51).
//! 5. [`compose`] renumbers the sockets, keeps names of targets apart (D31), and redirects every edge to `end` to the
//!    entry of the next target.
//!
//! Composition works on plans, where all defaults and short forms are expanded, so that the composed plan needs no
//! second build. Faults are found before it, with the socket ids that the authors know.
//!
//! # Invariants
//!
//! * All faults are reported at once; there is a result exactly if no finding is an error.
//! * The same targets over the same configuration give the same plan, byte for byte.
//! * Nothing is saved, and the configuration does not change.
//!
//! [`document`] writes a link as a loadout, for an editor that saves it.
//!
//! Deliberately absent: choosing sockets by hand, trying a chain without running it.

mod compose;
mod document;
mod ends;
mod remap;
mod resolve;
mod shapes;
mod stitch;
mod usage;

use materia_contract::{Finding, Link, LinkTarget, Loadout, NodeId, Plan};

use crate::build::{Compiled, build_each};
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;
use crate::project::{artifact_dir, check_folders, workspace};
pub use compose::compose;
pub use document::document;
use resolve::Target;
pub use usage::{Invocation, unknown_cast};

/// The most sockets that a virtual loadout may have.
const SOCKETS_MAX: usize = 10_000;
/// How many characters of the plan's hash name the virtual loadout.
const ID_CHARS: usize = 16;

/// A link that can be cast.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    /// The virtual loadout, ready to run.
    pub compiled: Compiled,
    /// Targets of the link.
    pub link: Link,
}

/// Composes the targets of a command into one virtual loadout.
///
/// There is a result exactly if no finding is an error. Whether the cast of `from` exists is not
/// looked at here.
pub fn link(loaded: &Loaded, asked: &Invocation) -> (Option<Linked>, Vec<Finding>) {
    let mut faults = Faults::default();
    check_folders(loaded, &mut faults);
    usage::check(asked, &mut faults);
    // Without the delimiter, targets and request cannot be distinguished.
    let words: &[String] = if asked.delimited { &asked.targets } else { &[] };
    let targets = resolve::all(loaded, words, &mut faults);
    let linked = linked(loaded, asked, &targets, &mut faults);
    if loaded.errors > 0 && faults.errors() == 0 {
        let message = "the configuration has errors, so nothing can be linked from it";
        faults.push(Fault::error("config::broken", message).help("`materia check` lists them"));
    }
    let linked = linked.filter(|_| faults.errors() == 0);
    (linked, faults.place(&loaded.layers))
}

fn linked(
    loaded: &Loaded,
    asked: &Invocation,
    targets: &[Option<Target<'_>>],
    faults: &mut Faults,
) -> Option<Linked> {
    let plans = plans(loaded, targets, faults);
    ends::check(loaded, targets, &plans, faults);
    shapes::check(loaded, targets, &plans, faults);
    let sockets = plans.iter().flatten().map(|plan| plan.nodes.len()).sum::<usize>();
    if sockets > SOCKETS_MAX {
        let message =
            format!("together the targets have {sockets} sockets, more than {SOCKETS_MAX}");
        faults.push(Fault::error("link::too-large", message).help("link fewer targets at once"));
    }
    if faults.errors() > 0 {
        return None;
    }
    let targets: Vec<&Target<'_>> = targets.iter().flatten().collect();
    let plans: Vec<&Plan> = plans.iter().flatten().collect();
    let name = targets.iter().map(|target| target.name).collect::<Vec<_>>().join(" → ");
    let plan = compose(&plans, &name)?;
    let link = Link {
        invocation: asked.typed(),
        targets: recorded(&targets, &plans),
        loadout_id: format!("link-{}", &plan.hash()[..ID_CHARS]),
        loadout_name: name,
    };
    let artifact_dir = artifact_dir(loaded);
    let workspace = workspace(loaded, targets.iter().map(|target| &*target.loadout));
    let compiled = Compiled { plan, artifact_dir, workspace, by_choice: false };
    Some(Linked { compiled, link })
}

/// The plan of each target; none for what was not found or has errors.
fn plans(
    loaded: &Loaded,
    targets: &[Option<Target<'_>>],
    faults: &mut Faults,
) -> Vec<Option<Plan>> {
    let mut distinct: Vec<&Target<'_>> = Vec::new();
    for target in targets.iter().flatten() {
        if !distinct.iter().any(|known| known.same(target)) {
            distinct.push(target);
        }
    }
    let loadouts: Vec<(&str, &Loadout)> =
        distinct.iter().map(|target| (target.name, target.loadout.as_ref())).collect();
    let built = build_each(loaded, &loadouts, faults);
    let of = |target: &Option<Target<'_>>| {
        let target = target.as_ref()?;
        let place = distinct.iter().position(|known| known.same(target))?;
        built.get(place)?.clone()
    };
    targets.iter().map(of).collect()
}

/// The targets as the cast records them, with the numbers that their sockets get.
fn recorded(targets: &[&Target<'_>], plans: &[&Plan]) -> Vec<LinkTarget> {
    let mut first = 1;
    let numbered = targets.iter().zip(plans).map(|(target, plan)| {
        let sockets = first..first + plan.nodes.len();
        first = sockets.end;
        let sockets: Vec<NodeId> = sockets.map(remap::socket).collect();
        LinkTarget { kind: target.kind, name: target.name.to_owned(), sockets }
    });
    numbered.collect()
}
