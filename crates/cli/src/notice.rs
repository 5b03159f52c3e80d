//! Notifies the user that a cast waits.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use materia_contract::{CastReport, CastStatus, search_path};

use crate::event_text;
use crate::project::Project;
use crate::terminal::Terminal;

/// Notifies the user that a cast waits: by the command that the user's profile names, else by the terminal bell. A
/// project cannot configure this.
pub(crate) fn waits(report: &CastReport, project: &Project, terminal: &Terminal) {
    if report.status != CastStatus::Waiting {
        return;
    }
    match project.notify() {
        Some(command) => run(&command, report, terminal),
        // What is said to people has no signs that a terminal acts on; this one is meant.
        None if terminal.watched => {
            let _ = std::io::stderr().write_all(b"\x07");
        }
        None => {}
    }
}

/// The message is one more argument, and never a part of a command line.
fn run(command: &[String], report: &CastReport, terminal: &Terminal) {
    let Some((program, arguments)) = command.split_first() else { return };
    let started = Command::new(program)
        .env("PATH", search_path(std::env::var_os("PATH").as_deref()))
        .args(arguments)
        .arg(event_text::summary(report))
        .env("MATERIA_CAST_ID", report.cast_id.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A terminal that closes ends its foreground group; the call goes on.
        .process_group(0)
        .spawn();
    if let Err(error) = started {
        terminal.say(format_args!("warning: `notify` cannot run `{program}`: {error}"));
    }
}
