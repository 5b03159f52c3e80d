//! Configuration of a case: the project's own, if it alone gives the plan that the cast ran.

use std::path::{Component, Path};

use indexmap::IndexMap;
use materia_compiler::{Layer, LayerKind, Loaded, Sources};
use materia_contract::{Behavior, Budget, Plan, RunCreated};
use materia_safe_fs::Temporary;
use serde_json::{Value, json};

use crate::Failure;
use crate::project::Project;

/// A configuration that makes the plan of a cast.
pub(super) struct Fitting {
    /// The text of `materia.json`, as JSON where it is that.
    pub(super) config: Value,
    /// The files of words that it names.
    pub(super) files: IndexMap<String, Value>,
    /// The bounds that the command line gave the cast.
    pub(super) bounds: Vec<String>,
}

/// The configuration that makes the plan of this cast in a project of its own, if one of the files does: a file of the
/// project, the one that was named, or the file of the profile.
pub(super) fn fitting(project: &Project, created: &RunCreated) -> Result<Option<Fitting>, Failure> {
    let (loaded, _) = materia_compiler::load(&project.sources);
    let own = loaded.layers.iter().filter(|layer| layer.kind != LayerKind::Shipped);
    for layer in own.rev() {
        if let Some(found) = fits(&loaded, layer, created)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn fits(loaded: &Loaded, layer: &Layer, created: &RunCreated) -> Result<Option<Fitting>, Failure> {
    let files = words(loaded, layer);
    let failed = |error: std::io::Error| Failure::storage(format!("no temporary folder: {error}"));
    let scratch = Temporary::new("case").map_err(failed)?;
    for folder in ["project", "profile"] {
        scratch.folder().new_folder(folder).map_err(failed)?;
    }
    let home = scratch.folder().folder("project").map_err(failed)?;
    home.write("materia.json", layer.text.as_bytes()).map_err(failed)?;
    for (name, text) in &files {
        home.write(name, text.as_str().unwrap_or_default().as_bytes()).map_err(failed)?;
    }
    let sources = Sources {
        project_dir: home.path().to_owned(),
        profile_dir: Some(scratch.path().join("profile")),
        ..Sources::default()
    };
    let apart = Project::open(sources, None)?;
    let Some(bounds) = bounds(&apart, created) else { return Ok(None) };
    let config = serde_json::from_str(&layer.text);
    let config = config.unwrap_or_else(|_| Value::String(layer.text.to_string()));
    Ok(Some(Fitting { config, files, bounds }))
}

/// Refuses where the files of the project alone do not make a loadout: a case could not run.
pub(super) fn has_loadout(project: &Project, loadout: &str) -> Result<(), Failure> {
    let sources =
        Sources { project_dir: project.dir.clone(), profile_dir: None, ..Sources::default() };
    let (loaded, _) = materia_compiler::load(&sources);
    if materia_compiler::compile(&loaded, Some(loadout)).0.is_some() {
        return Ok(());
    }
    Err(Failure::resolution(format!(
        "the loadout `{loadout}` cannot be built from the files of this project alone, and no known configuration gives the graph that the cast ran; \
         name the file that contains it"
    )))
}

/// The plan without the names of the files that its prompts stand in.
fn nameless(mut plan: Plan) -> Plan {
    for node in plan.nodes.values_mut() {
        if let Behavior::Agent { origin, .. } = &mut node.behavior {
            origin.clear();
        }
    }
    plan
}

/// The bounds that the command line gave a cast, if the configuration of `project` makes its plan with these.
pub(super) fn bounds(project: &Project, created: &RunCreated) -> Option<Vec<String>> {
    let compiled = project.compile(Some(&created.plan.loadout)).sound().ok()?.1;
    let own = compiled.plan.budget;
    let plan = Plan { budget: created.plan.budget, ..compiled.plan };
    let kept = project.places().kept(RunCreated { plan, ..created.clone() });
    if nameless(kept.plan) != nameless(created.plan.clone()) {
        return None;
    }
    let told = created.plan.budget;
    let told = Budget {
        max_tokens: told.max_tokens.filter(|most| Some(*most) != own.max_tokens),
        max_cost: told.max_cost.filter(|most| Some(*most) != own.max_cost),
        max_turns: told.max_turns.filter(|most| Some(*most) != own.max_turns),
        ..told
    };
    let mut words = Vec::new();
    let mut say = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{name}={value}")));
    };
    say("max-tokens", told.max_tokens.map(|most| most.to_string()));
    say("max-cost", told.max_cost.map(|most| most.to_string()));
    say("max-turns", told.max_turns.map(|most| most.to_string()));
    Some(words)
}

/// The files of words that a configuration names, from the folder of its file.
pub(crate) fn word_files(loaded: &Loaded) -> Vec<String> {
    let mut names = Vec::new();
    collect(&json!(loaded.config), false, &mut names);
    let plain = |name: &String| {
        Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
    };
    names.retain(plain);
    names
}

fn words(loaded: &Loaded, layer: &Layer) -> IndexMap<String, Value> {
    let folder = layer.path.parent().unwrap_or(Path::new("."));
    let read = |name: String| {
        let text = std::fs::read_to_string(folder.join(&name)).ok()?;
        Some((name, Value::String(text)))
    };
    word_files(loaded).into_iter().filter_map(read).collect()
}

fn collect(value: &Value, in_prompt: bool, names: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(file) if in_prompt && name == "file" => names.push(file.to_owned()),
                    _ => collect(value, in_prompt || name == "prompt", names),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, in_prompt, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
