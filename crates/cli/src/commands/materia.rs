use std::io::Write as _;

use clap::Args;
use materia_compiler::Loaded;
use materia_contract::{Materia, MateriaKind, PromptDoc};
use serde_json::{Value, json};

use crate::args::Global;
use crate::catalog::{self, CopyOptions, Line, Original, joined, origin_data};
use crate::config_writer::origin;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::sanitize::{clean, one_line};
use crate::terminal::Terminal;

/// List the materia, or show one
///
/// A materia is a behaviour that a socket names: an agent with a prompt, or a local program.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia materia\n  materia materia Auto-Eval\n  materia materia --copy Build --as Build-Here"
)]
pub(crate) struct MateriaArgs {
    /// The materia to show; otherwise all are listed
    #[arg(value_name = "NAME", conflicts_with = "copy")]
    name: Option<String>,
    /// Options that make a copy.
    #[command(flatten)]
    copy: CopyOptions,
}

impl MateriaArgs {
    /// Whether it changes a configuration.
    pub(super) fn writes(&self) -> bool {
        self.copy.copy.is_some()
    }
}

/// Runs `materia`.
pub(crate) fn materia(args: &MateriaArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let (loaded, _) = catalog::load(&project, terminal);
    if let Some(name) = &args.name {
        show(&loaded, name, terminal)?;
    } else if let Some(name) = &args.copy.copy {
        let value = json!(find(&loaded, name)?);
        let original = Original { field: "materia", thing: "materia", name, value };
        catalog::copy(&project, &loaded, &original, args.copy.new_name.as_deref(), terminal)?;
    } else {
        list(&loaded, terminal)?;
    }
    Ok(Exit::Done)
}

fn find<'a>(loaded: &'a Loaded, name: &str) -> Result<&'a Materia, Failure> {
    let all = &loaded.config.materia;
    all.get(name).ok_or_else(|| catalog::unknown("materia", name, all.keys().map(String::as_str)))
}

fn list(loaded: &Loaded, terminal: &mut Terminal) -> Result<(), Failure> {
    let all = &loaded.config.materia;
    if terminal.json {
        let all: Vec<Value> = all.iter().map(|(name, one)| data(loaded, name, one)).collect();
        return Ok(terminal.data(&json!({ "materia": all }))?);
    }
    let lines: Vec<Line<'_>> = all
        .iter()
        .map(|(name, one)| Line {
            mark: " ",
            name,
            kind: kind(one).join(", "),
            layer: loaded.materia_layer(name),
            description: one.description.as_deref().unwrap_or_default(),
        })
        .collect();
    catalog::list(&lines, terminal)
}

/// Kind of a materia, in words.
fn kind(materia: &Materia) -> Vec<&'static str> {
    let kind = match materia.kind.unwrap_or_default() {
        MateriaKind::Agent => "agent",
        MateriaKind::Utility => "utility",
    };
    let generator = materia.generator.unwrap_or(false).then_some("generator");
    let multi_turn = materia.multi_turn.unwrap_or(false).then_some("multi-turn");
    std::iter::once(kind).chain(generator).chain(multi_turn).collect()
}

fn data(loaded: &Loaded, name: &str, materia: &Materia) -> Value {
    let own = json!({
        "name": name,
        "type": kind(materia)[0],
        "generator": materia.generator.unwrap_or(false),
        "multiTurn": materia.multi_turn.unwrap_or(false),
        "group": materia.group,
        "description": materia.description,
    });
    joined(own, origin_data(loaded.materia_layer(name)))
}

fn show(loaded: &Loaded, name: &str, terminal: &mut Terminal) -> Result<(), Failure> {
    let materia = find(loaded, name)?;
    if terminal.json {
        let whole = joined(data(loaded, name, materia), json!({ "materia": materia }));
        return Ok(terminal.data(&whole)?);
    }
    terminal.say(format_args!(
        "{}: {} ({})",
        one_line(name, 60),
        kind(materia).join(", "),
        origin(loaded.materia_layer(name))
    ));
    // The prompt is text for people; inside a JSON string it could not be read.
    let settings = Materia { prompt: None, ..materia.clone() };
    writeln!(terminal.out, "{}", clean(&format!("{:#}", json!(settings))))?;
    match &materia.prompt {
        Some(PromptDoc::Text(text)) => writeln!(terminal.out, "\n{}", clean(text))?,
        Some(PromptDoc::File(named)) => {
            writeln!(terminal.out, "\n(the words are in {})", clean(&named.file))?;
            let layer = loaded.materia_layer(name);
            let words = layer
                .and_then(|layer| materia_compiler::words_of_layer(loaded, layer, &named.file));
            writeln!(terminal.out, "\n{}", clean(&words.unwrap_or_default()))?;
        }
        None => {}
    }
    Ok(())
}
