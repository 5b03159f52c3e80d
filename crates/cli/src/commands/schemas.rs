use std::path::PathBuf;

use clap::Args;

use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Write the JSON Schemas of all published forms into a folder
#[derive(Args, Debug)]
#[command(hide = true)]
pub(crate) struct SchemasArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs `schemas`.
pub(crate) fn schemas(args: &SchemasArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let written = std::fs::create_dir_all(&args.directory).and_then(|()| {
        materia_compiler::schemas().into_iter().try_for_each(|(name, text)| {
            terminal.say(name);
            std::fs::write(args.directory.join(name), text)
        })
    });
    written.map_err(|error| {
        Failure::storage(format!("cannot write to `{}`: {error}", args.directory.display()))
    })?;
    Ok(Exit::Done)
}
