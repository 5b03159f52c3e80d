//! Lists and editable copies, shared by `materia loadout` and `materia materia`.

use std::io::Write as _;

use clap::Args;
use materia_compiler::{Layer, LayerKind, Loaded, edit};
use materia_contract::{Finding, RefusalCode};
use serde_json::{Value, json};

use crate::config_writer::{ConfigWriter, origin, word};
use crate::failure::Failure;
use crate::project::{self, Project};
use crate::sanitize::one_line;
use crate::terminal::Terminal;

/// How much of a description is listed.
const DESCRIPTION_CHARS_MAX: usize = 100;
/// How long a name may be.
const NAME_CHARS_MAX: usize = 60;

/// Options that make a copy.
#[derive(Args, Debug)]
pub(crate) struct CopyOptions {
    /// Copy NAME into the project's file, to edit it there
    #[arg(long, value_name = "NAME")]
    pub copy: Option<String>,
    /// The name of the copy; without it the copy has the same name and overrides the original
    #[arg(long = "as", value_name = "NEW", requires = "copy")]
    pub new_name: Option<String>,
}

/// Loads the configuration; what could not be read is shown.
pub(crate) fn load(project: &Project, terminal: &Terminal) -> (Loaded, Vec<Finding>) {
    let (loaded, found) = materia_compiler::load(&project.sources);
    if project::has_errors(&found) {
        crate::findings::show_briefly(&found, &loaded.layers, project, terminal);
    }
    (loaded, found)
}

/// One line of a list.
pub(crate) struct Line<'a> {
    /// Mark before the name, or empty.
    pub mark: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Kind of the entry.
    pub kind: String,
    /// The layer it comes from.
    pub layer: Option<&'a Layer>,
    /// Description.
    pub description: &'a str,
}

/// Writes a list in columns.
pub(crate) fn list(lines: &[Line<'_>], terminal: &mut Terminal) -> Result<(), Failure> {
    let rows: Vec<[String; 3]> = lines
        .iter()
        .map(|line| [one_line(line.name, NAME_CHARS_MAX), line.kind.clone(), origin(line.layer)])
        .collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2)];
    for (line, [name, kind, origin]) in lines.iter().zip(&rows) {
        let described = one_line(line.description, DESCRIPTION_CHARS_MAX);
        let [a, b, c] = widths;
        let gap = if b == 0 { "" } else { "  " };
        let text = format!("{} {name:a$}  {kind:b$}{gap}{origin:c$}  {described}", line.mark);
        writeln!(terminal.out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// The fields that say where a thing comes from.
pub(crate) fn origin_data(layer: Option<&Layer>) -> Value {
    let file = layer.filter(|layer| layer.kind != LayerKind::Shipped);
    json!({
        "layer": layer.map(|layer| word(layer.kind)),
        "file": file.map(|layer| layer.shown.as_str()),
    })
}

/// One object out of two.
pub(crate) fn joined(mut left: Value, right: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut left, right) {
        all.extend(more);
    }
    left
}

/// A thing that is to be copied.
pub(crate) struct Original<'a> {
    /// `loadouts` or `materia`.
    pub field: &'static str,
    /// Name of the kind in messages.
    pub thing: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Its content.
    pub value: Value,
}

/// Copies a thing into the file that its owner edits: the one that `--config` names, or the project's.
pub(crate) fn copy(
    project: &Project,
    loaded: &Loaded,
    original: &Original<'_>,
    new_name: Option<&str>,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let name = new_name.unwrap_or(original.name);
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Failure::usage("the name of a copy must be plain text"));
    }
    let file = ConfigWriter::for_copy(project, loaded);
    let (field, thing) = (original.field, original.thing);
    let add = |text: &str| edit::add(text, field, name, &original.value);
    let added = terminal.warned(|warnings| file.change(add, warnings));
    added.map_err(|failure| match failure.into() {
        Failure::Refused(refusal)
            if refusal.code == RefusalCode::Resolution && new_name.is_none() =>
        {
            Failure::resolution(format!("{}; choose another name with `--as`", refusal.message))
        }
        failure @ (Failure::Refused(_) | Failure::Broken(_) | Failure::Output(_)) => failure,
    })?;
    let shown = file.shown();
    terminal.say(format_args!("The {thing} `{}` is in `{shown}` now.", one_line(name, 60)));
    if name == original.name {
        terminal
            .say("It takes the place of the other one of its name; remove it there to undo that.");
    }
    if terminal.json {
        terminal.data(&json!({ "copied": original.name, "name": name, "file": shown }))?;
    }
    Ok(())
}

/// The refusal of a name that nothing bears.
pub(crate) fn unknown<'n>(
    thing: &str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> Failure {
    let known: Vec<String> = known.map(|one| one_line(one, NAME_CHARS_MAX)).collect();
    let name = one_line(name, NAME_CHARS_MAX);
    let help = match materia_compiler::nearest(&name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Failure::resolution(format!("there is no {thing} `{name}`; {help}"))
}
