//! Builds one loadout with all its sockets.

use std::collections::HashMap;

use materia_contract::{Budget, EdgeId, Limits, Loadout, NodeId, Plan};

use super::built::{Built, Scope};
use super::region::{self, Regions};
use super::{Place, advances, agent, cycle, empty_socket, graph, socket};
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;
use crate::project::doc_root;

/// Builds one loadout; `None` if there is an error in it or in a materia it uses.
pub(super) fn build<'a>(
    loaded: &'a Loaded,
    name: &'a str,
    loadout: &'a Loadout,
    built: &'a HashMap<&'a str, Built<'a>>,
    faults: &mut Faults,
) -> Option<Plan> {
    let errors = faults.errors();
    let place = Place::of(loaded, "loadouts", name);
    let scope = Scope { loaded, name, loadout, place, built };
    let entry = entry(&scope, faults);
    let regions = region::read(&scope, faults);
    let sockets =
        loadout.sockets.iter().filter(|(id, doc)| !empty_socket::is_vacant(loadout, id, doc));
    let drafts: Vec<_> =
        sockets.map(|(id, doc)| socket::draft(&scope, &regions, id, doc, faults)).collect();
    advances::check(&regions, &drafts, faults);
    let ids = graph::edge_ids(&drafts, &regions, faults);
    if let Some(entry) = entry {
        entry_inside(&scope, &regions, entry, faults);
        graph::find_unreachable(entry, &drafts, &regions, faults);
    }
    if faults.errors() > errors {
        return None;
    }
    let nodes = drafts.iter().zip(&ids).map(|(draft, ids): (_, &Vec<EdgeId>)| {
        draft.node(&regions, ids).map(|node| (NodeId::new(draft.id), node))
    });
    let plan = Plan {
        loadout: name.to_owned(),
        entry: NodeId::new(entry?),
        nodes: nodes.collect::<Option<_>>()?,
        loops: advances::planned(&regions, &drafts)?,
        limits: limits(loaded),
        budget: budget(loaded),
        doc_root: doc_root(loaded),
    };
    cycle::find_unbounded(&scope, &plan, faults);
    cycle::find_ticking(&scope, &plan, faults);
    cycle::find_endless(&scope, &plan, faults);
    cycle::find_dependency_circles(&scope, &plan, faults);
    agent::plan(loaded, &plan, None, faults);
    Some(plan)
}

fn entry<'a>(scope: &Scope<'a>, faults: &mut Faults) -> Option<&'a str> {
    let (name, loadout, place) = (scope.name, scope.loadout, &scope.place);
    let Some((first, _)) = loadout.sockets.first() else {
        if !place.is_mended(scope.loaded) {
            let fault =
                Fault::error("graph::no-sockets", format!("loadout `{name}` has no sockets"));
            let help = "add `sockets`, an object of socket ids and what runs there";
            faults.push(place.mark(fault).help(help));
        }
        return None;
    };
    let field = place.child("entry");
    let Some(entry) = &loadout.entry else {
        if !field.is_mended(scope.loaded) {
            let message = format!("loadout `{name}` does not say where it begins");
            let fault = Fault::error("graph::no-entry", message);
            faults.push(place.mark(fault).help(format!("add `\"entry\": \"{first}\"`")));
        }
        return None;
    };
    if !loadout.sockets.contains_key(entry) {
        let message = format!("loadout `{name}` begins at `{entry}`, which is none of its sockets");
        let fault = Fault::error("graph::unknown-entry", message);
        faults.push(field.mark(fault).help(scope.socket_help(entry, None)));
        return None;
    }
    Some(entry)
}

/// A cast cannot begin inside a loop that waits for a generator: nothing has run before.
fn entry_inside(scope: &Scope<'_>, regions: &Regions<'_>, entry: &str, faults: &mut Faults) {
    let mut around = regions.around(entry).iter().map(|at| &regions.list[*at]);
    let Some(region) = around.find(|region| region.consumes()) else { return };
    let message = format!(
        "loadout `{}` begins at `{entry}`, inside loop `{}`, whose list nothing has given yet",
        scope.name, region.id
    );
    let fault = Fault::error("loop::entry-inside", message);
    let help = "begin at the generator, or before it";
    faults.push(scope.place.child("entry").mark(fault).help(help));
}

fn budget(loaded: &Loaded) -> Budget {
    let Some(budget) = &loaded.config.budget else { return Budget::default() };
    Budget {
        max_tokens: budget.max_tokens,
        max_cost: budget.max_cost,
        max_turns: budget.max_turns,
        warn_at_percent: budget.warn_at_percent,
        max_storage_mb: None,
    }
}

fn limits(loaded: &Loaded) -> Limits {
    let default = Limits::default();
    let Some(limits) = &loaded.config.limits else { return default };
    Limits {
        max_repairs: limits.max_repairs.unwrap_or(default.max_repairs),
        max_no_advance_cycles: limits
            .max_no_advance_cycles
            .unwrap_or(default.max_no_advance_cycles),
        max_concurrent_turns: limits.max_concurrent_turns.unwrap_or(default.max_concurrent_turns),
        max_cycle_turns: limits.max_cycle_turns.unwrap_or(default.max_cycle_turns),
        max_retries: limits.max_retries.unwrap_or(default.max_retries),
        max_storage_mb: limits.max_storage_mb.unwrap_or(default.max_storage_mb),
        max_output_mb: limits.max_output_mb.unwrap_or(default.max_output_mb),
    }
}
