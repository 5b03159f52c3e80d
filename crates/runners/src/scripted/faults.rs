//! Faults of a script for a plan.

use std::collections::BTreeMap;

use materia_contract::script::Script;
use materia_contract::{Behavior, Do, Edge, NodeId, Plan};

/// Faults of a script: names that the plan does not have, and entries that cannot be played. All at once, in words.
pub fn faults(script: &Script, plan: &Plan) -> Vec<String> {
    let mut faults = utilities(script, plan);
    faults.extend(timeline(script, plan));
    faults
}

/// A wrong key would start a program that the script was meant to answer for.
fn utilities(script: &Script, plan: &Plan) -> Vec<String> {
    let fault = |key: &String| {
        if script.turns.contains_key(key) {
            return Some("stands under `turns`, too; use the id of the socket in one of them");
        }
        let named =
            plan.nodes.iter().filter(|(id, node)| id.as_str() == key || node.materia == *key);
        let mut utilities =
            named.map(|(_, node)| matches!(node.behavior, Behavior::Utility { .. }));
        match utilities.next() {
            None => Some("is neither a socket nor a materia of this loadout"),
            Some(first) if first || utilities.any(|one| one) => None,
            Some(_) => Some("asks an agent; its answers stand under `turns`"),
        }
    };
    let faults = script.utilities.keys().filter_map(|key| Some((key, fault(key)?)));
    faults.map(|(key, why)| format!("`{key}` under `utilities` {why}")).collect()
}

fn timeline<'a>(script: &'a Script, plan: &'a Plan) -> impl Iterator<Item = String> + 'a {
    let mut beside: BTreeMap<u64, usize> = BTreeMap::new();
    for entry in &script.timeline {
        *beside.entry(entry.at_ms).or_default() += 1;
    }
    let entries = script.timeline.iter().enumerate();
    entries.filter_map(move |(place, entry)| {
        let act = &entry.act;
        let why = if !act.may_be_scripted() {
            format!(
                "`{}` cannot stand in one; only offer, trigger, approve, deny, mode, pause, globalMode, crash, \
                 say, continue, skip, budget and nodeBudget can",
                act.name()
            )
        } else if !act.is_of_an_instant() && beside[&entry.at_ms] > 1 {
            format!(
                "`{}` is done alone; no other entry may have its instant, which is {} ms",
                act.name(),
                entry.at_ms
            )
        } else {
            act.fault().or_else(|| unknown(act, plan))?
        };
        Some(format!("entry {place} of the timeline: {why}"))
    })
}

/// Name in an act that the plan does not have.
fn unknown(act: &Do, plan: &Plan) -> Option<String> {
    match act {
        Do::Offer { edge, .. } => {
            let named = |id: &NodeId, one: &Edge| {
                one.id.as_str() == edge || *edge == format!("{id}->{}", one.target())
            };
            let known =
                plan.nodes.iter().any(|(id, node)| node.edges.iter().any(|one| named(id, one)));
            (!known).then(|| format!("there is no edge `{edge}`"))
        }
        Do::Trigger { node, .. }
        | Do::Approve { node, .. }
        | Do::Deny { node, .. }
        | Do::NodeBudget { node, .. }
        | Do::Say { node: Some(node), .. }
        | Do::Continue { node: Some(node) } => {
            let known = plan.nodes.contains_key(node);
            (!known).then(|| format!("there is no socket `{node}`"))
        }
        Do::Skip { region: Some(region), .. } => {
            let known = plan.loops.contains_key(region);
            (!known).then(|| format!("there is no loop `{region}`"))
        }
        Do::Mode { .. }
        | Do::Pause
        | Do::GlobalMode { .. }
        | Do::Crash
        | Do::Say { node: None, .. }
        | Do::Continue { node: None }
        | Do::Skip { region: None, .. }
        | Do::Budget { .. }
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Stop { .. }
        | Do::Abort { .. } => None,
    }
}
