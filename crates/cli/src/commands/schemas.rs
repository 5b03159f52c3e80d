use std::path::PathBuf;

use clap::Args;

use crate::failure::{Ended, Exit};
use crate::terminal::Terminal;
use crate::typed_path;

/// Write the JSON Schemas of all published forms into a folder
///
/// `config.schema.json` is the one that `"$schema"` of a materia.json names: with it, editors complete and
/// check the file. The others describe events, scripts, cases, and what commands print with --json.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia schemas .materia\n  materia schemas schemas")]
pub(crate) struct SchemasArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs `schemas`.
pub(crate) fn schemas(args: &SchemasArgs, terminal: &mut Terminal) -> Ended {
    for (name, text) in materia_compiler::SCHEMAS {
        typed_path::write(&args.folder.join(name), text.as_bytes(), true)?;
        terminal.say(name);
    }
    Ok(Exit::Done)
}
