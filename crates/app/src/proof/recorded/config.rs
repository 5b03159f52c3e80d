//! Configuration of a case: the project's own, if it alone gives the plan that the cast ran.

use std::path::{Component, Path};
use std::sync::Arc;

use indexmap::IndexMap;
use materia_compiler::{Layer, LayerKind, Loaded, Sources};
use materia_contract::{Behavior, Budget, Plan, RunCreated};
use materia_safe_fs::Temporary;
use serde_json::{Value, json};

use crate::project::Project;
use crate::{Failure, Result};

/// A configuration that makes the plan of a cast.
pub(super) struct Fitting {
    /// The text of `materia.json`, as JSON where it is that.
    pub(super) config: Option<Value>,
    /// The files of words that it names, and the configuration that the command line names.
    pub(super) files: IndexMap<String, Value>,
    /// Options of the command line: that configuration, and bounds.
    pub(super) options: Vec<String>,
}

/// Configuration files of a project of its own.
#[derive(Default)]
struct Layout {
    /// `materia.json`.
    config: Option<Arc<str>>,
    /// Further files.
    files: IndexMap<String, Value>,
    /// The file that the command line names.
    flag: Option<String>,
}

/// The configuration that makes the plan of this cast in a project of its own, if there is one: one of the files alone,
/// the project's with the one that the command line names, or all of them merged.
pub(super) fn fitting(project: &Project, created: &RunCreated) -> Result<Option<Fitting>> {
    let (loaded, _) = materia_compiler::load(&project.sources);
    let own = || loaded.layers.iter().filter(|layer| layer.kind != LayerKind::Shipped);
    let alone = |layer: &Layer| Layout {
        config: Some(layer.text().into()),
        files: words(&loaded, layer),
        flag: None,
    };
    let mut layouts: Vec<Layout> = own().rev().map(alone).collect();
    layouts.extend(as_named(project, &loaded, &created.plan.loadout));
    layouts.push(Layout {
        config: Some(merged(&loaded, &created.plan).to_string().into()),
        files: own().flat_map(|layer| words(&loaded, layer)).collect(),
        flag: None,
    });
    for layout in layouts {
        if let Some(found) = fits(layout, created)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The files where they are, if the command line or the environment names one inside the project.
fn as_named(project: &Project, loaded: &Loaded, loadout: &str) -> Option<Layout> {
    let of = |kinds: &[LayerKind]| loaded.layers.iter().rfind(|layer| kinds.contains(&layer.kind));
    let named = of(&[LayerKind::Environment, LayerKind::Flag])?;
    let path = named.path.strip_prefix(&project.dir).ok().filter(|path| is_plain(path))?;
    let name = path.to_str()?.to_owned();
    let folder = path.parent().unwrap_or(Path::new(""));
    let inside = |file: String| folder.join(file).to_str().map(str::to_owned);
    let own = of(&[LayerKind::Project]);
    let mut files = own.map(|layer| words(loaded, layer)).unwrap_or_default();
    let others = words(loaded, named).into_iter();
    files.extend(others.filter_map(|(file, text)| Some((inside(file)?, text))));
    files.extend(programs(project, loadout));
    files.insert(name.clone(), Value::String(named.text().to_owned()));
    Some(Layout { config: own.map(|layer| layer.text().into()), files, flag: Some(name) })
}

/// The files of the project that its programs name. Which argument is a file shows only where the file is.
fn programs(project: &Project, loadout: &str) -> IndexMap<String, Value> {
    let compiled = project.compile(Some(loadout)).sound().ok();
    let nodes = compiled.iter().flat_map(|(_, compiled)| compiled.plan.nodes.values());
    let words = nodes.filter_map(|node| match &node.behavior {
        Behavior::Utility { command, .. } => Some(command),
        Behavior::Agent { .. } => None,
    });
    let file = |word: &String| {
        let path = Path::new(word).strip_prefix(&project.dir).ok().filter(|path| is_plain(path))?;
        let text = std::fs::read_to_string(word).ok()?;
        Some((path.to_str()?.to_owned(), Value::String(text)))
    };
    words.flatten().filter_map(file).collect()
}

/// All layers as one: the loadout of a plan and its materia.
fn merged(loaded: &Loaded, plan: &Plan) -> Value {
    let mut config = loaded.config.clone();
    config.loadouts.retain(|name, _| *name == plan.loadout);
    config.materia.retain(|name, _| plan.nodes.values().any(|node| node.materia == *name));
    json!(config)
}

fn fits(layout: Layout, created: &RunCreated) -> Result<Option<Fitting>> {
    let failed = |error: std::io::Error| Failure::storage(format!("no temporary folder: {error}"));
    let scratch = Temporary::new("case").map_err(failed)?;
    for folder in ["project", "profile"] {
        scratch.folder().new_folder(folder).map_err(failed)?;
    }
    let home = scratch.folder().folder("project").map_err(failed)?;
    let config = layout.config.iter().map(|text| ("materia.json", &**text));
    let files = layout.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    for (name, text) in config.chain(files.map(|(name, text)| (name, text.unwrap_or_default()))) {
        if let Some((folder, _)) = name.rsplit_once('/') {
            home.make_folder(folder).map_err(failed)?;
        }
        home.write(name, text.as_bytes()).map_err(failed)?;
    }
    let sources = Sources {
        project_dir: home.path().to_owned(),
        profile_dir: Some(scratch.path().join("profile")),
        flag_config: layout.flag.as_ref().map(|name| home.path().join(name)),
        ..Sources::default()
    };
    let apart = Project::open(sources, None)?;
    let Some(bounds) = bounds(&apart, created) else { return Ok(None) };
    let config = layout.config.map(|text| {
        serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.to_string()))
    });
    let flag = layout.flag.into_iter().flat_map(|name| ["--config".to_owned(), name]);
    let options = flag.chain(bounds).collect();
    Ok(Some(Fitting { config, files: layout.files, options }))
}

/// Refuses where the files of the project alone do not make a loadout: a case could not run.
pub(super) fn has_loadout(project: &Project, loadout: &str) -> Result<()> {
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
    names.retain(|name| is_plain(Path::new(name)));
    names
}

fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
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
