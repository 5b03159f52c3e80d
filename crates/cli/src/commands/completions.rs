use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::line::Cli;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  materia completions bash > ~/.local/share/bash-completion/completions/materia"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs `completions`.
pub(crate) fn completions(
    args: &CompletionsArgs,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "materia", &mut text);
    terminal.out.write_all(&text)?;
    Ok(Exit::Done)
}
