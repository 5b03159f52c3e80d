use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use clap::Args;
use materia_compiler::shipped::{self, RUNTIME, SCRIPTS, Script};
use materia_contract::search_path;

use crate::args::Global;
use crate::failure::{Ended, Failure};
use crate::profile;
use crate::project::Project;
use crate::sanitize::one_line;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  echo \"{\\\"cwd\\\": \\\"$PWD\\\"}\" | materia utility Detect-VCS
  materia utility Commit-Sigil < .materia/CAST/sockets/Socket-5/1-1.input.json

The input is the object that a cast gives to its utilities; what a utility does not need may be
left out. Its exit status is that of the command.";

/// Run a shipped utility alone: JSON in, JSON out
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UtilityArgs {
    /// The utility, by its materia or its file: `Detect-VCS` or `detect-vcs.mjs`
    #[arg(value_name = "NAME")]
    name: String,
}

/// Runs `utility`. Where all is well it does not come back: the utility takes this process's place,
/// so that its streams, its signals and its exit status are the command's own.
pub(crate) fn utility(args: &UtilityArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let script = find(&args.name)?;
    let project = Project::here(global)?;
    let (loaded, _) = materia_compiler::load(&project.sources);
    terminal.warned(|warnings| profile::ready(loaded.shelf(), &[script], warnings))?;
    let Some(shelf) = loaded.shelf() else {
        return Err(Failure::storage("the profile folder is not known"));
    };
    if std::io::stdin().is_terminal() {
        terminal.say("Reading one JSON object from standard input; Ctrl-D ends it.");
    }
    let error = Command::new(RUNTIME)
        .arg(shelf.path(script))
        .env("PATH", search_path(std::env::var_os("PATH").as_deref()))
        .exec();
    Err(Failure::resolution(format!("`{RUNTIME}` cannot be started: {error}")))
}

/// The script that a name means: the name of its file, with or without the ending, or of its
/// materia, which is spelt the same but for capitals.
fn find(name: &str) -> Result<&'static Script, Failure> {
    let wanted = name.to_lowercase();
    let stem = |script: &Script| script.name.trim_end_matches(".mjs").to_owned();
    let found = SCRIPTS.iter().find(|one| one.name == wanted || stem(one) == wanted);
    if let Some(script) = found {
        return Ok(script);
    }
    let shown = one_line(name, 100);
    if let Some(current) = shipped::current_name(name) {
        return Err(Failure::resolution(format!(
            "`{shown}` is an obsolete name: this utility is called `{current}` now"
        )));
    }
    let known: Vec<String> = SCRIPTS.iter().map(stem).collect();
    Err(Failure::resolution(format!(
        "there is no shipped utility `{shown}`; there are {}",
        known.join(", ")
    )))
}
