//! Checks before a cast whether an agent can do what a materia requires.
//!
//! [`capability`] is the table of capabilities. This module checks each materia that names a provider, and the whole
//! plan once the agent for the others is known.

use materia_contract::capability::{AGENTS, Capabilities, Guarded, SchemaSupport, capabilities};
use materia_contract::{
    AgentProtocol, Behavior, Finding, MOCK, Materia, Parse, Plan, SCRIPTED, SessionPolicy, ToolSet,
    ToolsDoc,
};

use super::Place;
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;
use crate::suggest::did_you_mean;

/// Whether a name stands for answers without an agent: those of a script, or the least that will do.
fn answers_itself(name: &str) -> bool {
    [SCRIPTED, MOCK].contains(&name)
}

/// Capabilities of the agent of that name; `None` if there is none.
fn known(loaded: &Loaded, name: &str) -> Option<&'static Capabilities> {
    let own = loaded.config.agents.get(name);
    match own.and_then(|own| own.protocol) {
        Some(AgentProtocol::Acp) => capabilities("acp"),
        // `acp` is a kind of agent and no agent by itself.
        None => capabilities(name).filter(|row| row.name != "acp"),
    }
}

/// Checks what the configuration says about agents themselves.
pub(super) fn declared(loaded: &Loaded, faults: &mut Faults) {
    for (name, doc) in &loaded.config.agents {
        let place = Place::of(loaded, "agents", name);
        if place.is_mended(loaded) {
            continue;
        }
        if known(loaded, name).is_none() {
            let message = format!("`{name}` is no agent that is known, and it names no protocol");
            let fault = Fault::error("agent::no-protocol", message);
            let help = "add `\"protocol\": \"acp\"` and a `command` if it speaks that, or correct \
                        its name: claude, codex, gemini, pi";
            faults.push(place.mark(fault).help(help));
        }
        let program = doc.command.as_ref().and_then(|command| command.first());
        let empty = program.is_none_or(String::is_empty);
        if empty && (doc.protocol.is_some() || doc.command.is_some()) {
            let message = format!("agent `{name}` does not say which program to start");
            let fault = Fault::error("agent::no-command", message);
            let help = "add `command`, a list of the program and its arguments";
            faults.push(place.child("command").mark(fault).help(help));
        }
    }
}

/// Checks a materia that names its provider.
pub(super) fn materia(
    loaded: &Loaded,
    name: &str,
    doc: &Materia,
    place: &Place,
    faults: &mut Faults,
) {
    let Some(provider) = &doc.provider else { return };
    if answers_itself(provider) || place.child("provider").is_mended(loaded) {
        return;
    }
    match known(loaded, provider) {
        Some(row) => tools(name, doc.tools.as_ref(), row, place, faults),
        None if loaded.config.agents.contains_key(provider) => {}
        None => {
            let fault = unknown(loaded, provider);
            faults.push(place.child("provider").mark(fault));
        }
    }
}

/// Checks the tools that a socket gives a materia which names its provider.
pub(super) fn socket_tools(
    loaded: &Loaded,
    name: &str,
    provider: &str,
    allowed: &ToolsDoc,
    place: &Place,
    faults: &mut Faults,
) {
    if let Some(row) = known(loaded, provider) {
        tools(name, Some(allowed), row, place, faults);
    }
}

/// Checks the provider that the configuration prefers.
pub(super) fn preferred(loaded: &Loaded, faults: &mut Faults) {
    let Some(name) = &loaded.config.provider else { return };
    let declared = loaded.config.agents.contains_key(name);
    if !answers_itself(name) && !declared && known(loaded, name).is_none() {
        let fault = unknown(loaded, name);
        faults.push(match loaded.origins.of("/provider") {
            Some(layer) => fault.at(layer, "/provider"),
            None => fault,
        });
    }
}

fn unknown(loaded: &Loaded, provider: &str) -> Fault {
    let shipped = AGENTS.iter().map(|row| row.name).filter(|name| *name != "acp");
    let own = loaded.config.agents.keys().map(String::as_str);
    // A script can answer for any agent, so this is only a warning.
    Fault::warning("agent::unknown", format!("there is no agent `{provider}`")).help(did_you_mean(
        provider,
        shipped.chain(own),
        "agents",
    ))
}

/// Checks whether an agent can be held to these tools.
fn tools(
    name: &str,
    tools: Option<&ToolsDoc>,
    row: &Capabilities,
    place: &Place,
    faults: &mut Faults,
) {
    let label = row.label;
    let fault = match tools {
        Some(ToolsDoc::List(list)) if !list.is_empty() && !row.tool_list => {
            let message = format!("`{name}` lists its tools, and {label} cannot be held to a list");
            let help = "write \"none\", \"readOnly\" or \"coding\", or choose another provider";
            Fault::error("agent::tool-list", message).help(help)
        }
        Some(ToolsDoc::List(list)) if list.is_empty() && !row.no_tools => no_tools(name, row),
        Some(ToolsDoc::Set(ToolSet::None)) if !row.no_tools => no_tools(name, row),
        Some(ToolsDoc::Set(ToolSet::ReadOnly)) if row.read_only == Guarded::Nobody => {
            let message = format!(
                "`{name}` may only read, and nothing but the sandbox of Materia keeps {label} from \
                 writing"
            );
            let help = "choose a provider that guards itself where the kernel has no Landlock";
            Fault::warning("agent::read-only", message).help(help)
        }
        Some(ToolsDoc::List(_) | ToolsDoc::Set(_)) | None => return,
    };
    faults.push(place.child("tools").mark(fault));
}

fn no_tools(name: &str, row: &Capabilities) -> Fault {
    let message = format!("`{name}` may use no tools, and {} may still read files", row.label);
    let help = "choose another provider where that matters";
    Fault::warning("agent::no-tools", message).help(help)
}

/// Checks the agents of a plan: those without a provider, which `chosen` answers, or, if none is chosen, those with
/// one.
pub(super) fn plan(loaded: &Loaded, plan: &Plan, chosen: Option<&str>, faults: &mut Faults) {
    let mut unchecked: Vec<(&str, &'static Capabilities)> = Vec::new();
    for (id, node) in &plan.nodes {
        let Behavior::Agent { provider, tools: allowed, .. } = &node.behavior else { continue };
        let name = match (provider, chosen) {
            (Some(provider), None) => provider,
            (None, Some(chosen)) => chosen,
            (Some(_), Some(_)) | (None, None) => continue,
        };
        let Some(row) = known(loaded, name) else { continue };
        let place = Place::of(loaded, "materia", &node.materia);
        if provider.is_none() {
            tools(&node.materia, allowed.as_ref(), row, &place, faults);
        }
        if !row.resume && (node.multi_turn || node.session == SessionPolicy::Keep) {
            let label = row.label;
            let message =
                format!("socket `{id}` keeps its session, and {label} need not be able to");
            let help = "where it cannot, every turn starts a new session; `materia doctor` says what it can";
            faults.push(place.mark(Fault::warning("agent::session", message)).help(help));
        }
        if node.parse == Parse::Json && row.schema == SchemaSupport::Absent {
            unchecked.push((id.as_str(), row));
        }
    }
    text_only(loaded, plan, &unchecked, faults);
}

/// Says once that answers will be looked for in text: it works, only less surely.
fn text_only(
    loaded: &Loaded,
    plan: &Plan,
    unchecked: &[(&str, &'static Capabilities)],
    faults: &mut Faults,
) {
    let Some((_, row)) = unchecked.first() else { return };
    let sockets: Vec<String> = unchecked.iter().map(|(id, _)| format!("`{id}`")).collect();
    let message = format!(
        "{} checks no schema, so the answers of {} are taken from its text",
        row.label,
        sockets.join(", ")
    );
    let place = Place::of(loaded, "loadouts", &plan.loadout);
    let help = "nothing needs to be done; claude and codex take a schema";
    faults.push(place.mark(Fault::info("agent::text-only", message)).help(help));
}

/// Findings about the agent that answers where a materia names no provider.
///
/// Call it once the agent is known, before the cast starts. A plan that a script answers does not need it.
pub fn agent_findings(loaded: &Loaded, compiled: &Plan, chosen: &str) -> Vec<Finding> {
    let mut faults = Faults::default();
    if !answers_itself(chosen) && known(loaded, chosen).is_none() {
        faults.push(unknown(loaded, chosen));
    }
    plan(loaded, compiled, Some(chosen), &mut faults);
    faults.place(&loaded.layers)
}
