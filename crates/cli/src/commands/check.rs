use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use materia_app::cast::workspace;
use materia_compiler::{LayerKind, Loaded};
use materia_contract::body::{ExploreBody, Proof};
use serde_json::json;

use super::explore;
use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::findings;
use crate::project::Project;
use crate::sanitize;
use crate::terminal::Terminal;

/// Check the configuration and report every problem
///
/// Reads all layers, checks every loadout and every materia, and shows each finding under its line.
/// Runs nothing and needs no trust.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia check\n  materia check loadouts/review.json\n  materia check ../other-project\n  materia check --strict\n  materia check --diff old.json materia.json\n\nExit status: 0 without errors (warnings may be there, unless --strict), 2 with errors. With --prove: 1 if a property is refuted, 4 if one is undecided."
)]
pub(crate) struct CheckArgs {
    /// Check this file as if `--config` named it, or the project in this folder
    #[arg(value_name = "FILE|DIR")]
    file: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Prove the `properties` of every loadout, too
    #[arg(long)]
    prove: bool,
    /// Show what changed between two configuration files, without checking them
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["file", "strict", "prove"])]
    diff: Vec<PathBuf>,
}

/// Says what changed from one file to another.
fn diff(old: &Path, new: &Path, terminal: &mut Terminal) -> Ended {
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path);
        text.map_err(|error| {
            Failure::usage(format!("`{}` cannot be read: {error}", path.display()))
        })
    };
    let found = materia_compiler::diff(&read(old)?, &read(new)?);
    let found = found.map_err(|error| Failure::resolution(error.to_string()))?;
    if terminal.json {
        terminal.data(&found)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for (mark, changes) in [("+", &found.added), ("-", &found.removed), ("~", &found.changed)] {
        for change in changes {
            let _ = writeln!(text, "{mark} {}", sanitize::one_line(&change.name, 200));
        }
    }
    if found.is_empty() {
        text.push_str("Both say the same.\n");
    }
    terminal.text(&text)?;
    Ok(Exit::Done)
}

/// Runs `check`.
pub(crate) fn check(args: &CheckArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    if let [old, new] = args.diff.as_slice() {
        return diff(old, new, terminal);
    }
    let folder = args.file.as_ref().filter(|file| file.is_dir());
    if args.file.is_some() && folder.is_none() && global.config.is_some() {
        return Err(Failure::usage("name the file once: as FILE or with `--config`, not both"));
    }
    let mut project = match folder {
        Some(folder) => Project::at(folder, global)?,
        None => Project::here(global)?,
    };
    if folder.is_none() && args.file.is_some() {
        project.sources.flag_config.clone_from(&args.file);
    }
    let mut checked = project.check();
    checked.findings.extend(workspace::findings(&project, &checked.loaded));
    if args.strict {
        checked.be_strict();
    }
    findings::show(&checked.findings, &checked.loaded.layers, terminal);
    let found = checked.findings.clone();
    let (loaded, ()) = checked.sound()?;
    let files = loaded.layers.iter().filter(|layer| layer.kind != LayerKind::Shipped);
    let files: Vec<String> = files.map(|layer| layer.shown.clone()).collect();
    if files.is_empty() {
        terminal.say("There is no configuration here; only what is shipped was checked.");
        if let Some(above) = project.configured_above() {
            terminal.say(format_args!("note: {above}"));
        }
    }
    let loadouts = loaded.config.loadouts.len();
    let verdict = match found.len() {
        0 => "sound".to_owned(),
        1 => "usable, but look at the warning above".to_owned(),
        count => format!("usable, but look at the {count} warnings above"),
    };
    terminal.say(format_args!("The configuration is {verdict} ({loadouts} loadouts)."));
    let proofs = if args.prove { prove(&project, &loaded, terminal)? } else { Vec::new() };
    if terminal.json {
        let mut data = json!({ "ok": true, "files": files, "findings": found });
        if args.prove {
            data["proofs"] = json!(proofs);
        }
        terminal.data(&data)?;
    }
    let exits = proofs.iter().map(explore::proved);
    Ok(exits
        .max_by_key(|exit| {
            [Exit::Done, Exit::Undecided, Exit::Failed].iter().position(|it| it == exit)
        })
        .unwrap_or(Exit::Done))
}

/// Looks at the properties of every loadout that has some.
fn prove(
    project: &Project,
    loaded: &Loaded,
    terminal: &Terminal,
) -> Result<Vec<ExploreBody>, Failure> {
    let mut proofs = Vec::new();
    for name in loaded.config.loadouts.keys() {
        let promised = materia_app::proof::explore::promised(loaded, name);
        if promised.is_empty() {
            continue;
        }
        let (_, compiled) = project.compile(Some(name), terminal)?;
        let body = explore::Reach::default().look(&compiled.plan, &promised, terminal)?;
        for answer in &body.properties {
            let (name, property) =
                (sanitize::one_line(name, 60), sanitize::one_line(&answer.property, 200));
            let word = materia_app::proof::explore::word(answer.answer);
            terminal.say(format_args!("{name}: {property}: {word}"));
            if let Some(history) = &answer.counterexample {
                terminal.say(materia_app::proof::explore::counterexample(history));
            }
            if let (Proof::Undecided, Some(why)) = (answer.answer, &body.stopped) {
                terminal.say(format_args!("  {why}"));
            }
        }
        proofs.push(body);
    }
    Ok(proofs)
}
