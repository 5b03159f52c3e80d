//! Driving a cast here, or handing it to the server (S3) or to a worker (M5).

use std::io::Write as _;
use std::sync::Arc;

use materia_app::cast::drive::Drive;
use materia_app::cast::worker;
use materia_app::project::place::NatsJournal;
use materia_contract::api::{CastSummary, DriveBody};
use materia_contract::{Command, RunId};
use materia_journal::Views;
use serde::Serialize;
use tokio::runtime::Builder;

use crate::background;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::run;
use crate::terminal::Terminal;

/// Drives a cast until it rests; or hands it over and returns.
pub(crate) fn go(
    drive: Drive,
    project: &Project,
    provider: Option<&str>,
    detach: bool,
    terminal: &mut Terminal,
) -> Ended {
    if !detach {
        return run::go(drive, project, terminal);
    }
    if let Some(journal) = project.remote()? {
        return to_workers(drive, project, &journal, provider, terminal);
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let providers = drive.providers();
    let names: Vec<&str> = providers.iter().map(String::as_str).collect();
    let needs = drive.answering.needs(&names, is_set);
    let id = drive.id.clone();
    // Before anything is written: who cannot be reached takes nothing over.
    let server = background::ensure(&project.dir)?;
    server.add_project(&project.dir.to_string_lossy()).map_err(background::refused)?;
    let what = leave(drive)?.what;
    let body = DriveBody {
        project: Some(project.dir.to_string_lossy().into_owned()),
        what: Some(what),
        needs,
        provider: provider.map(str::to_owned),
    };
    let taken: Result<CastSummary, _> = server.post(&format!("/api/casts/{id}/drive"), &body);
    let summary = taken.map_err(|error| {
        let failure = background::refused(error);
        let resume = project.command(&format!("resume {id}"));
        Failure::resolution(format!(
            "cast `{id}` is written down, and the server did not take it: {failure}; `{resume}` carries it on here"
        ))
    })?;
    let attach = project.command(&format!("attach {id}"));
    terminal.say(format_args!(
        "cast `{id}` goes on in the background ({}); `{attach}` follows it",
        server.server().url
    ));
    print(terminal, &id, &summary)
}

/// Prints the summary of a cast as JSON, or its id.
fn print(terminal: &mut Terminal, id: &RunId, summary: &impl Serialize) -> Ended {
    if terminal.json {
        terminal.data(summary)?;
    } else {
        writeln!(terminal.out, "{id}")?;
    }
    Ok(Exit::Done)
}

/// Hands a cast to the workers of its space (M5).
fn to_workers(
    mut drive: Drive,
    project: &Project,
    journal: &NatsJournal,
    provider: Option<&str>,
    terminal: &mut Terminal,
) -> Ended {
    let (id, needs) = (drive.id.clone(), worker::Needs::of(project, &mut drive));
    let command = leave(drive)?;
    let handed = worker::hand_over(project, journal, &id, (command, provider), needs)?;
    let attach = project.command(&format!("attach {id}"));
    if handed.takers.is_empty() {
        let space = journal.options().space.as_str();
        let start = project.command(&format!("worker --trust-space {space}"));
        terminal.say(format_args!(
            "cast `{id}` waits: no worker is there that can run it; `{start}` starts one in this folder"
        ));
    } else {
        terminal.say(format_args!("cast `{id}` waits for a worker; `{attach}` follows it"));
    }
    print(terminal, &id, &handed.line)
}

/// Stores a cast for another process. Returns the command that this process must apply.
fn leave(drive: Drive) -> Result<Command, Failure> {
    let views = Arc::new(Views::start(&drive.root, &drive.folders));
    let runtime = run::runtime(Builder::new_current_thread())?;
    let command = runtime.block_on(drive.leave(views.clone()))?;
    // If the files beside the journal cannot be written now, the driver of the cast writes them later.
    let _ = views.flush();
    Ok(command)
}
