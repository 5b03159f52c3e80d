use clap::Args;
use clap_complete::Shell;

use crate::complete;
use crate::failure::{Ended, Exit};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  materia completions bash > ~/.local/share/bash-completion/completions/materia
  materia completions zsh > ~/.zfunc/_materia       # a folder of your fpath
  materia completions fish > ~/.config/fish/completions/materia.fish

In bash, zsh and fish the names of casts, loadouts, sockets, materia and agents are offered as well.";

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs `completions`.
pub(crate) fn completions(
    args: &CompletionsArgs,
    line: &clap::Command,
    terminal: &mut Terminal,
) -> Ended {
    if let Some(script) = complete::script(args.shell) {
        terminal.out.write_all(script.as_bytes())?;
        return Ok(Exit::Done);
    }
    let mut text = Vec::new();
    let mut command = without_inner(line);
    clap_complete::generate(args.shell, &mut command, "materia", &mut text);
    terminal.out.write_all(&text)?;
    Ok(Exit::Done)
}

/// The commands that people type; inner ones are not offered.
fn without_inner(command: &clap::Command) -> clap::Command {
    let hidden: Vec<String> = command
        .get_subcommands()
        .filter(|one| one.is_hide_set())
        .map(|one| one.get_name().to_owned())
        .collect();
    let kept: Vec<clap::Command> = command
        .get_subcommands()
        .filter(|one| !hidden.iter().any(|name| name == one.get_name()))
        .cloned()
        .collect();
    let (about, args) = (command.get_about().cloned(), command.get_arguments().cloned());
    let plain = clap::Command::new("materia").args(args).subcommands(kept);
    match about {
        Some(about) => plain.about(about),
        None => plain,
    }
}
