use std::io::Write as _;

use clap::Args;
use materia_app::proof::bounds;
use materia_compiler::{Loaded, active_loadout, edit};
use materia_contract::body::BoundOf;
use serde_json::{Value, json};

use crate::args::Global;
use crate::catalog::{self, CopyOptions, Line, Original, joined, origin_data};
use crate::config_writer::{self, ConfigWriter, origin};
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::sanitize::{clean, one_line};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  materia loadout                          which there are; `*` marks the active one
  materia loadout Planning-Consult         cast this one from now on
  materia loadout --show Release           what is in it
  materia loadout --copy Full-Auto --as Mine

The choice is written as `activeLoadout` where the present one is written, otherwise into the
project's file, and without one into `.materia/materia.json`. Comments stay.";

/// How much of a formula is listed.
const BOUND_CHARS_MAX: usize = 60;

/// List the loadouts, or choose the active one
///
/// Without NAME lists every loadout with the most turns that a cast of it can take, and the layer it comes from.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadoutArgs {
    /// The loadout to cast from now on
    #[arg(value_name = "NAME", conflicts_with_all = ["show", "copy"])]
    name: Option<String>,
    /// Show what a loadout consists of
    #[arg(long, value_name = "NAME", conflicts_with = "copy")]
    show: Option<String>,
    /// Choose for all projects, in the profile
    #[arg(long, requires = "name")]
    profile: bool,
    /// Options that make a copy.
    #[command(flatten)]
    copy: CopyOptions,
}

impl LoadoutArgs {
    /// Whether it changes a configuration.
    pub(super) fn writes(&self) -> bool {
        self.name.is_some() || self.copy.copy.is_some()
    }
}

/// Runs `loadout`.
pub(crate) fn loadout(args: &LoadoutArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let (loaded, _) = catalog::load(&project, terminal);
    if let Some(name) = &args.name {
        switch(&project, &loaded, name, args.profile, terminal)?;
    } else if let Some(name) = &args.show {
        show(&loaded, name, terminal)?;
    } else if let Some(name) = &args.copy.copy {
        let value = document(&loaded, name)?;
        let original = Original { field: "loadouts", thing: "loadout", name, value };
        catalog::copy(&project, &loaded, &original, args.copy.new_name.as_deref(), terminal)?;
        keep_active(&project, &loaded, terminal)?;
    } else {
        list(&loaded, terminal)?;
    }
    Ok(Exit::Done)
}

/// A loadout of one's own could become the active one by being the only one; what was active stays so.
fn keep_active(project: &Project, before: &Loaded, terminal: &Terminal) -> Result<(), Failure> {
    let kept = terminal.warned(|warnings| config_writer::keep_active(project, before, warnings))?;
    if let Some((name, file)) = kept {
        terminal.say(format_args!(
            "`{}` is still the one that is cast (written to `{file}`); `materia loadout NAME` chooses.",
            one_line(&name, 60)
        ));
    }
    Ok(())
}

fn list(loaded: &Loaded, terminal: &mut Terminal) -> Result<(), Failure> {
    let active = active_loadout(loaded);
    if terminal.json {
        let all = loaded.config.loadouts.keys().map(|name| data(loaded, name));
        let all: Vec<Value> = all.collect();
        return Ok(terminal.data(&json!({ "active": active, "loadouts": all }))?);
    }
    let lines: Vec<Line<'_>> = loaded
        .config
        .loadouts
        .iter()
        .map(|(name, loadout)| Line {
            mark: if active == Some(name) { "*" } else { " " },
            name,
            kind: in_short(bound(loaded, name).as_ref()),
            layer: loaded.loadout_layer(name),
            description: loadout.description.as_deref().unwrap_or_default(),
        })
        .collect();
    catalog::list(&lines, terminal)?;
    if active.is_none() {
        terminal.say("None is active: `materia loadout NAME` chooses one.");
    }
    Ok(())
}

fn data(loaded: &Loaded, name: &str) -> Value {
    let description =
        loaded.config.loadouts.get(name).and_then(|loadout| loadout.description.as_deref());
    let active = active_loadout(loaded) == Some(name);
    let bound =
        bound(loaded, name).map(|(bounded, turns)| json!({ "bounded": bounded, "turns": turns }));
    let own = json!({ "name": name, "active": active, "description": description, "bound": bound });
    joined(own, origin_data(loaded.loadout_layer(name)))
}

/// Whether a loadout has a bound of turns, and which; `None` where it has errors.
fn bound(loaded: &Loaded, name: &str) -> Option<(bool, BoundOf)> {
    let (compiled, found) = materia_compiler::compile(loaded, Some(name));
    let compiled = compiled.filter(|_| !crate::project::has_errors(&found))?;
    Some(bounds::turns(&compiled.plan))
}

fn in_short(bound: Option<&(bool, BoundOf)>) -> String {
    match bound {
        None => "has errors".to_owned(),
        Some((false, _)) => "no bound".to_owned(),
        Some((true, BoundOf { formula: Some(formula), .. })) => {
            format!("≤ {} turns", one_line(formula, BOUND_CHARS_MAX))
        }
        Some((true, BoundOf { formula: None, most: Some(most) })) => format!("≤ {most} turns"),
        Some((true, BoundOf { formula: None, most: None })) => "no useful bound".to_owned(),
    }
}

fn document(loaded: &Loaded, name: &str) -> Result<Value, Failure> {
    let Some(loadout) = loaded.config.loadouts.get(name) else { return Err(unknown(loaded, name)) };
    Ok(json!(loadout))
}

fn unknown(loaded: &Loaded, name: &str) -> Failure {
    catalog::unknown("loadout", name, loaded.config.loadouts.keys().map(String::as_str))
}

fn show(loaded: &Loaded, name: &str, terminal: &mut Terminal) -> Result<(), Failure> {
    let loadout = document(loaded, name)?;
    if terminal.json {
        let whole = joined(data(loaded, name), json!({ "loadout": loadout }));
        return Ok(terminal.data(&whole)?);
    }
    terminal.say(format_args!(
        "{} ({}); `materia grid` draws it",
        one_line(name, 60),
        origin(loaded.loadout_layer(name))
    ));
    writeln!(terminal.out, "{}", clean(&format!("{loadout:#}")))?;
    // What stands in files is shown as well: it is what agents are asked.
    let sockets = loadout["sockets"].as_object().into_iter().flatten();
    for (id, socket) in sockets {
        let prompt = &socket["prompt"];
        let named = prompt["file"].as_str().or_else(|| prompt["replace"]["file"].as_str());
        let (Some(file), Some(layer)) = (named, loaded.loadout_layer(name)) else { continue };
        let words = materia_compiler::words_of_layer(loaded, layer, file).unwrap_or_default();
        writeln!(terminal.out, "\n(the words of {} are in {})", clean(id), clean(file))?;
        writeln!(terminal.out, "\n{}", clean(&words))?;
    }
    Ok(())
}

fn switch(
    project: &Project,
    loaded: &Loaded,
    name: &str,
    profile: bool,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    if !loaded.config.loadouts.contains_key(name) {
        return Err(unknown(loaded, name));
    }
    let before = active_loadout(loaded);
    let file = if profile {
        ConfigWriter::in_profile(project, loaded)?
    } else {
        ConfigWriter::for_choice(project, loaded)
    };
    let set = |text: &str| edit::set(text, "activeLoadout", &name.into());
    terminal.warned(|warnings| file.change(set, warnings))?;
    let shown = file.shown();
    let (now, _) = materia_compiler::load(&project.sources);
    let active = active_loadout(&now);
    let told = one_line(name, 60);
    if active == Some(name) {
        terminal.say(format_args!("`{told}` is cast from now on (written to `{shown}`)."));
    } else {
        terminal.say(format_args!(
            "`{told}` is written to `{shown}`, but {} says otherwise and counts here.",
            now.active_layer().map_or_else(|| "another file".to_owned(), |one| origin(Some(one)))
        ));
    }
    if terminal.json {
        terminal.data(&json!({ "active": active, "before": before, "file": shown }))?;
    }
    Ok(())
}
