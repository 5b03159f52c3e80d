use clap::Args;
use materia_app::edit::templates::{self, PROJECT_FILE, TEMPLATES};
use serde_json::json;

use crate::args::Where;
use crate::failure::{Ended, Exit, Failure};
use crate::terminal::Terminal;

const LIST: &str = "\
Templates:
  hello                  one program: the smallest loadout
  test-and-fix           runs the tests; an agent fixes what fails, at most five times
  plan-build-review      plans work items, then builds and reviews each of them
  fan-out-review         three reviewers at once, a join, one summary
  watch                  looks every ten minutes, and into what is wrong
  release-with-approval  tests, writes notes, asks a person, releases

Examples:
  materia init
  materia init test-and-fix
  materia init test-and-fix --workspace own
  materia init --list";

/// Write a materia.json to begin with
///
/// It has comments, and `$schema` for editors (`materia schemas .materia` writes that schema). An
/// existing configuration is never changed.
#[derive(Args, Debug)]
#[command(after_help = LIST)]
pub(crate) struct InitArgs {
    /// The template; `hello` if left out
    #[arg(value_name = "TEMPLATE")]
    template: Option<String>,
    /// Let every cast of this project work in a copy of the repository (own) or in the project folder
    #[arg(long, value_enum, value_name = "WHERE")]
    workspace: Option<Where>,
    /// List the templates and write nothing
    #[arg(long)]
    list: bool,
}

/// Runs `init`.
pub(crate) fn init(args: &InitArgs, terminal: &mut Terminal) -> Ended {
    if args.list {
        for template in &TEMPLATES {
            if terminal.json {
                terminal.data(&json!({ "name": template.name, "about": template.about }))?;
            } else {
                writeln!(terminal.out, "{:21}  {}", template.name, template.about)?;
            }
        }
        return Ok(Exit::Done);
    }
    let template = templates::find(args.template.as_deref().unwrap_or("hello"))?;
    let here = std::env::current_dir()
        .map_err(|error| Failure::storage(format!("cannot use the present folder: {error}")))?;
    let path = templates::write(&here, template, args.workspace.map(Into::into))?;
    if terminal.json {
        terminal.data(&json!({ "template": template.name, "file": path }))?;
    }
    terminal.say(format_args!("wrote {PROJECT_FILE} ({})", template.name));
    terminal.say("  read    its comments say what to change and how to cast it");
    terminal.say("  next    materia check · materia grid · materia cast \"…\"");
    if args.workspace.is_none() {
        terminal.say(
            "          materia cast --workspace own \"…\" lets agents work in a copy of the repository",
        );
    }
    terminal
        .say("  editor  materia schemas .materia     completes and checks the file as you type");
    Ok(Exit::Done)
}
