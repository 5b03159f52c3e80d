use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::failure::{Ended, Exit};
use crate::terminal::Terminal;
use crate::typed_path;

/// Write manual pages into a folder
///
/// One for `materia` and one for each command, made from the same texts as `--help`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  materia man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs `man`.
pub(crate) fn man(args: &ManArgs, mut whole: clap::Command, terminal: &mut Terminal) -> Ended {
    whole.build();
    let mut pages = vec![("materia".to_owned(), page("materia", &whole))];
    for command in whole.get_subcommands().filter(|one| !one.is_hide_set()) {
        let name = format!("materia-{}", command.get_name());
        pages.push((name.clone(), page(&name, command)));
    }
    for (name, text) in &pages {
        typed_path::write(&args.folder.join(format!("{name}.1")), text.as_bytes(), true)?;
    }
    terminal.say(format_args!("{} pages in {}", pages.len(), args.folder.display()));
    Ok(Exit::Done)
}

/// One page.
fn page(name: &str, command: &clap::Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text =
        format!(".TH {} 1\n.SH NAME\n{} \\- {}\n", quoted(name), roff(name), roff(&about));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(text, ".SH SYNOPSIS\n.nf\n{}\n.fi\n", roff(usage));
    if let Some(long) = command.get_long_about() {
        let _ = write!(text, ".SH DESCRIPTION\n{}\n", roff(&long.to_string()));
    }
    let options: Vec<&clap::Arg> =
        command.get_arguments().filter(|option| !option.is_hide_set()).collect();
    if !options.is_empty() {
        text.push_str(".SH OPTIONS\n");
    }
    for option in options {
        let help = option.get_long_help().or_else(|| option.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let _ = write!(text, ".TP\n.B {}\n{}\n", roff(&option.to_string()), roff(&help));
    }
    let commands: Vec<&clap::Command> =
        command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
    if !commands.is_empty() {
        text.push_str(".SH COMMANDS\n");
    }
    for one in commands {
        let about = one.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(text, ".TP\n.B {}\n{}\n", roff(one.get_name()), roff(&about));
    }
    if let Some(after) = command.get_after_help() {
        let _ = write!(text, ".SH NOTES\n.nf\n{}\n.fi\n", roff(&after.to_string()));
    }
    text
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.to_uppercase())
}

/// Text as the formatter takes it: no line of it is a request.
fn roff(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}
