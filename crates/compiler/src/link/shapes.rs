//! Checks that the output of one target fits the input of the next (D51).

use materia_contract::{Expects, Node, NodeId, Parse, Plan};

use super::ends::{self, Terminal};
use super::resolve::Target;
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;
use crate::locate::pointer;

/// Reports entries that expect more than the target before them gives, and those inside a loop that has no
/// list of its own.
pub(super) fn check(
    loaded: &Loaded,
    targets: &[Option<Target<'_>>],
    plans: &[Option<Plan>],
    faults: &mut Faults,
) {
    let both = targets.iter().zip(plans);
    for ((before, plan), (target, next)) in both.clone().zip(both.skip(1)) {
        let (Some(target), Some(next)) = (target, next) else { continue };
        let mut report = |message: String, help: String| {
            let fault = Fault::error("link::incompatible-shape", message).help(help);
            let place = pointer([ends::section(target), target.name]);
            faults.push(match loaded.origins.of(&place) {
                Some(layer) => fault.at(layer, &place),
                None => fault,
            });
        };
        let Some(entry) = next.nodes.get(&next.entry) else { continue };
        if let Some(region) = entry.loops.first() {
            let message = format!(
                "{} begins at {}, inside loop `{region}`, whose list nothing within it gives",
                target.shown(),
                target.socket(next.entry.as_str())
            );
            let help =
                "let it begin before the loop, at the generator whose list the loop consumes";
            report(message, help.to_owned());
        }
        let (Some(before), Some(plan)) = (before, plan) else { continue };
        let expects = loaded.config.materia.get(&entry.materia).and_then(|doc| doc.expects);
        let expects = expects.unwrap_or(Expects::Text);
        let Some((from, given)) = given(plan).filter(|(_, given)| !serves(*given, expects)) else {
            continue;
        };
        let message = format!(
            "{} gives {}, and {} expects {}",
            before.socket(from.as_str()),
            words(given),
            target.socket(next.entry.as_str()),
            words(expects)
        );
        let help = match expects {
            Expects::WorkItems => "put a generator between them",
            Expects::Json | Expects::Text => "add `\"parse\": \"json\"` to what comes before",
        };
        report(message, help.to_owned());
    }
}

/// Output of a target and the socket that gives it; of several sockets that can end a loop, the one with the weakest
/// output.
fn given(plan: &Plan) -> Option<(&NodeId, Expects)> {
    let of = |id| plan.nodes.get_key_value(id).map(|(id, node)| (id, shape(node)));
    match ends::terminals(plan).as_slice() {
        [Terminal::Socket(id)] => of(*id),
        [Terminal::Loop(name)] => {
            let (name, region) = plan.loops.get_key_value(*name)?;
            let movers = ends::movers(plan, name, region).filter_map(of);
            movers.min_by_key(|(_, shape)| rank(*shape))
        }
        // Which of them it is has been asked for already.
        _ => None,
    }
}

/// Type of a socket's output.
fn shape(node: &Node) -> Expects {
    match (node.generator, node.parse) {
        (true, _) => Expects::WorkItems,
        (false, Parse::Json) => Expects::Json,
        (false, Parse::Text) => Expects::Text,
    }
}

/// Whether an output of one shape can be used where another is expected: a richer shape includes a poorer one.
fn serves(given: Expects, expected: Expects) -> bool {
    rank(given) >= rank(expected)
}

fn rank(shape: Expects) -> u8 {
    match shape {
        Expects::Text => 0,
        Expects::Json => 1,
        Expects::WorkItems => 2,
    }
}

fn words(shape: Expects) -> &'static str {
    match shape {
        Expects::Text => "text",
        Expects::Json => "a JSON object",
        Expects::WorkItems => "work items",
    }
}
