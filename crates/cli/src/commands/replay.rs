use std::path::Path;

use clap::Args;
use materia_contract::RunId;
use materia_engine::{Journal, Replay, ReplayError};
use materia_journal::{CatchUp, Views};
use serde_json::json;

use crate::args::Global;
use crate::clean;
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::terminal::Terminal;

/// Rebuild a cast from its events and verify every one of them
///
/// Checks the chain of hashes, takes every decision once more and compares, and mends the files
/// beside the journal where they differ from it.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia replay last\n  materia replay last --at 12\n\nExit status: 0 verified, 1 verification failed."
)]
pub(crate) struct ReplayArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Show the state as of this event instead of the end
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
}

/// Runs `replay`.
pub(crate) fn replay(
    args: &ReplayArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let wanted = project::cast_id(&args.id)?;
    let found = Project::here(global)?.find(&wanted)?;
    match materia_engine::replay(found.journal(), &found.id, args.at) {
        Ok(replay) => {
            mend_views(&found.root, found.journal(), &found.id, terminal);
            tell(&found.id, &replay, terminal)?;
            Ok(Exit::Done)
        }
        Err(ReplayError::Fault { run, seq, fault }) => {
            let fault = clean::clean(&fault.to_string()).into_owned();
            terminal
                .say(format_args!("error: cast `{run}` does not verify at event {seq}: {fault}"));
            if terminal.json {
                let id = run.as_str();
                terminal.data(&json!({ "castId": id, "ok": false, "seq": seq, "fault": fault }))?;
            }
            Ok(Exit::Failed)
        }
        Err(error @ (ReplayError::Unknown(_) | ReplayError::NoSuchEvent { .. })) => {
            Err(Failure::resolution(error.to_string()))
        }
        Err(ReplayError::Read(error)) => Err(error.into()),
    }
}

fn tell(id: &RunId, replay: &Replay, terminal: &mut Terminal) -> Result<(), Failure> {
    let Replay { events, state, status, last_seq, last_hash } = replay;
    if terminal.json {
        return Ok(terminal.data(&json!({
            "castId": id,
            "ok": true,
            "events": events,
            "status": status,
            "state": state,
            "lastSeq": last_seq,
            "lastHash": last_hash.to_string(),
        }))?);
    }
    writeln!(terminal.out, "{id} verifies: {events} events, all hashes and all decisions hold")?;
    writeln!(terminal.out, "  at event {last_seq} it is {}", status.word())?;
    writeln!(terminal.out, "  hash {last_hash}")?;
    let state = serde_json::to_string_pretty(state).map_err(std::io::Error::from)?;
    writeln!(terminal.out, "  state {}", clean::clean(&state))?;
    Ok(())
}

/// Compares the files beside the journal with it. A cast under way keeps its own.
fn mend_views(root: &Path, journal: &dyn Journal, id: &RunId, terminal: &Terminal) {
    let Ok(_claim) = journal.claim(id) else { return };
    match Views::start(root).verify(journal, id) {
        Ok(CatchUp::Current) => {}
        Ok(CatchUp::Appended { events }) => {
            terminal.say(format_args!(
                "The files beside the journal lacked {events} events; they are there now."
            ));
        }
        Ok(CatchUp::Rebuilt { why, .. }) => {
            terminal.say(format_args!("The files beside the journal were made anew: {why}."));
        }
        Err(error) => terminal.say(format_args!("warning: the files beside the journal: {error}")),
    }
}
