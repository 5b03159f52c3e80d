//! Parts of a project's own files, which a person approves (D35).
//!
//! A part is a materia, a loadout, an agent or a setting in a file of the project. Its content includes the text of
//! the files that it names, and leaves out labels and descriptions.
//!
//! Deliberately absent: the files that a program runs, earlier approvals, and prompting.

use std::collections::BTreeSet;

use materia_contract::{Link, Plan, TargetKind, content_hash};
use serde_json::{Map, Value, json};

use crate::build::words_of_layer;
use crate::command::resolve;
use crate::layers::{Layer, LayerKind, Loaded};
use crate::locate::pointer;
use crate::part::{Part, PartKind, Program};

impl Part {
    /// The hash of what matters of it: blake3, in hexadecimal.
    pub fn hash(&self) -> String {
        content_hash(&self.content)
    }
}

/// Every part of the project's own files.
pub fn parts(loaded: &Loaded) -> Vec<Part> {
    loaded.parts.get_or_init(|| find(loaded)).clone()
}

fn find(loaded: &Loaded) -> Vec<Part> {
    let shipped = &*loaded.lowest;
    let of_project = |kind: &str, name: &str| {
        let layer = loaded.origins.of(&pointer([kind, name]))?;
        loaded.layers.get(layer).filter(|layer| layer.kind == LayerKind::Project)
    };
    let mut parts = Vec::new();
    for (name, doc) in &loaded.config.materia {
        let Some(layer) = of_project("materia", name) else { continue };
        let programs = materia_program(loaded, name).into_iter().collect();
        let content = materia_content(loaded, layer, &json!(doc));
        let replaces_shipped = shipped.contains(&("materia", name.clone()));
        parts.push(part((PartKind::Materia, name), layer, content, programs, replaces_shipped));
    }
    for (name, doc) in &loaded.config.loadouts {
        let Some(layer) = of_project("loadouts", name) else { continue };
        let content = loadout_content(loaded, layer, &json!(doc));
        let programs = loadout_programs(loaded, name);
        let replaces_shipped = shipped.contains(&("loadouts", name.clone()));
        parts.push(part((PartKind::Loadout, name), layer, content, programs, replaces_shipped));
    }
    for (name, doc) in &loaded.config.agents {
        let Some(layer) = of_project("agents", name) else { continue };
        let mut command = doc.command.clone().unwrap_or_else(|| vec![name.clone()]);
        command.extend(doc.args.iter().cloned());
        command.extend(doc.env.iter().map(|name| format!("(sees ${name})")));
        let by = format!("agent {name}");
        let (params, env) = (Map::new(), Vec::new());
        let program = Program { by, command, params, env, cwd: None };
        parts.push(part((PartKind::Agent, name), layer, json!(doc), vec![program], false));
    }
    parts.extend(settings(loaded));
    parts
}

fn part(
    (kind, name): (PartKind, &str),
    layer: &Layer,
    content: Value,
    programs: Vec<Program>,
    replaces_shipped: bool,
) -> Part {
    let (name, file) = (name.to_owned(), layer.shown.clone());
    Part { kind, name, file, content, programs, replaces_shipped }
}

/// Whatever else the project's files say: by its place, as `limits.maxRepairs`.
fn settings(loaded: &Loaded) -> Vec<Part> {
    let mut parts = Vec::new();
    for (place, layer) in loaded.origins.all() {
        let layer = &loaded.layers[layer];
        let first = place.split('/').nth(1).unwrap_or_default();
        let named = matches!(first, "materia" | "loadouts" | "agents");
        if named || layer.kind != LayerKind::Project {
            continue;
        }
        let Some(value) = loaded.settings.pointer(place) else { continue };
        // What is in an object has a place of its own.
        if value.is_object() && place.matches('/').count() == 1 {
            continue;
        }
        let name = place.trim_start_matches('/').replace('/', ".");
        parts.push(part((PartKind::Setting, &name), layer, value.clone(), Vec::new(), false));
    }
    parts
}

/// Which of these parts have a say in a run of the plan. `by_choice` says that the configuration chose its loadout,
/// and `agents` are those that would be asked.
///
/// Every setting has a say, also in a run of shipped utilities: what they write and where may come from it.
pub fn taking_part<'p>(
    parts: &'p [Part],
    plan: &Plan,
    (link, by_choice): (Option<&Link>, bool),
    agents: &[String],
) -> Vec<&'p Part> {
    let placed: BTreeSet<&str> = plan.nodes.values().map(|node| node.materia.as_str()).collect();
    let graphs: BTreeSet<&str> = match link {
        Some(link) => {
            let loadouts = link.targets.iter().filter(|one| one.kind == TargetKind::Loadout);
            loadouts.map(|one| one.name.as_str()).collect()
        }
        None => BTreeSet::from([plan.loadout.as_str()]),
    };
    let has_a_say = |part: &&Part| match part.kind {
        PartKind::Materia => placed.contains(part.name.as_str()),
        PartKind::Loadout => graphs.contains(part.name.as_str()),
        PartKind::Agent => agents.contains(&part.name),
        PartKind::Setting => by_choice || part.name != "activeLoadout",
    };
    parts.iter().filter(has_a_say).collect()
}

/// Content of a materia that needs approval.
fn materia_content(loaded: &Loaded, layer: &Layer, doc: &Value) -> Value {
    let mut content = doc.clone();
    without(&mut content, &["label", "description", "group", "color"]);
    if let Some(prompt) = content.get_mut("prompt") {
        put_words(loaded, layer, prompt);
    }
    content
}

/// Content of a loadout that needs approval.
fn loadout_content(loaded: &Loaded, layer: &Layer, doc: &Value) -> Value {
    let mut content = doc.clone();
    without(&mut content, &["description"]);
    let sockets = content.get_mut("sockets").and_then(Value::as_object_mut);
    for socket in sockets.into_iter().flat_map(Map::values_mut) {
        let Some(prompt) = socket.get_mut("prompt") else { continue };
        put_words(loaded, layer, prompt);
        if let Some(replace) = prompt.get_mut("replace") {
            put_words(loaded, layer, replace);
        }
    }
    content
}

fn without(content: &mut Value, names: &[&str]) {
    if let Some(fields) = content.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
}

/// Beside the name of a file of words, what is in it.
fn put_words(loaded: &Loaded, layer: &Layer, prompt: &mut Value) {
    let Some(named) = prompt.get("file").and_then(Value::as_str).map(str::to_owned) else { return };
    if let Some(fields) = prompt.as_object_mut() {
        let words = words_of_layer(loaded, layer, &named);
        fields.insert("words".to_owned(), json!(words));
    }
}

/// The program that a utility starts, as it would run, whichever layer defines it.
pub fn materia_program(loaded: &Loaded, name: &str) -> Option<Program> {
    let doc = loaded.config.materia.get(name)?;
    let layer = loaded.materia_layer(name)?;
    let command = match (&doc.command, &doc.script) {
        (Some(command), _) => resolve(command, layer.dir()).unwrap_or_else(|_| command.clone()),
        (None, Some(script)) => vec![crate::shipped::RUNTIME.to_owned(), script.name.clone()],
        (None, None) => return None,
    };
    let params = doc.params.clone().unwrap_or_default();
    let env = doc.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    Some(Program { by: name.to_owned(), command, params, env, cwd: doc.cwd.clone() })
}

/// Programs of others that a loadout gives something of its own, and programs of the user's own that it places.
fn loadout_programs(loaded: &Loaded, name: &str) -> Vec<Program> {
    let Some(loadout) = loaded.config.loadouts.get(name) else { return Vec::new() };
    let mut programs = Vec::new();
    for (id, socket) in &loadout.sockets {
        let Some(materia) = socket.materia.as_deref() else { continue };
        let Some(mut program) = materia_program(loaded, materia) else { continue };
        let given = socket.params.as_ref().filter(|params| !params.is_empty());
        let by = loaded.materia_layer(materia).map(|layer| layer.kind);
        let of_user =
            by.is_some_and(|kind| !matches!(kind, LayerKind::Project | LayerKind::Shipped));
        if given.is_none() && socket.env.is_empty() && !of_user {
            continue;
        }
        program.by = format!("{materia} in {name}, socket {id}");
        program.params.extend(given.cloned().unwrap_or_default());
        for (variable, value) in &socket.env {
            program.env.retain(|(known, _)| known != variable);
            program.env.push((variable.clone(), value.clone()));
        }
        programs.push(program);
    }
    programs
}
