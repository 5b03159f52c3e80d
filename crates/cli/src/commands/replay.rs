use std::path::Path;

use clap::Args;
use materia_contract::{ChainHash, RunId};
use materia_engine::{Journal, ReadError, Replay, ReplayError};
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
            does_not_verify(&run, Some(seq), &fault.to_string(), terminal)
        }
        // What cannot even be read has not been verified either.
        Err(ReplayError::Read(error @ ReadError::Damaged { .. })) => {
            let seq = first_damaged(found.journal(), &found.id);
            does_not_verify(&found.id, seq, &error.to_string(), terminal)
        }
        Err(error @ (ReplayError::Unknown(_) | ReplayError::NoSuchEvent { .. })) => {
            Err(Failure::resolution(error.to_string()))
        }
        Err(ReplayError::Read(error)) => Err(error.into()),
    }
}

fn does_not_verify(
    id: &RunId,
    seq: Option<u64>,
    fault: &str,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let fault = clean::clean(fault);
    let place = seq.map(|seq| format!(" at event {seq}")).unwrap_or_default();
    terminal.say(format_args!("error: cast `{id}` does not verify{place}: {fault}"));
    if terminal.json {
        terminal.data(&json!({ "castId": id, "ok": false, "seq": seq, "fault": fault }))?;
    }
    Ok(Exit::Failed)
}

/// The first event that is not what was written, where a whole page could not be read; `None`
/// if the damage is beside the events. Slow, but it runs once and only on what is broken.
fn first_damaged(journal: &dyn Journal, id: &RunId) -> Option<u64> {
    let (mut seq, mut head) = (0, ChainHash::origin(id));
    loop {
        match journal.read(id, seq, 1) {
            Ok(page) => {
                let record = page.first()?;
                if record.hash_after(head) != record.hash {
                    return Some(seq + 1);
                }
                (seq, head) = (record.seq, record.hash);
            }
            Err(ReadError::Damaged { place, .. }) => {
                return place.starts_with("event ").then_some(seq + 1);
            }
            Err(ReadError::Storage(_)) => return None,
        }
    }
}

fn tell(id: &RunId, replay: &Replay, terminal: &mut Terminal) -> Result<(), Failure> {
    let Replay { events, undecided, state, status, last_seq, last_hash } = replay;
    if terminal.json {
        return Ok(terminal.data(&json!({
            "castId": id,
            "ok": true,
            "events": events,
            "undecided": undecided,
            "status": status,
            "state": state,
            "lastSeq": last_seq,
            "lastHash": last_hash.to_string(),
        }))?);
    }
    if *undecided == 0 {
        writeln!(
            terminal.out,
            "{id} verifies: {events} events, all hashes and all decisions hold"
        )?;
    } else {
        let decided = if undecided < events { ", and the decisions behind" } else { "" };
        writeln!(terminal.out, "{id} verifies: {events} events, all hashes hold{decided}")?;
        writeln!(
            terminal.out,
            "  events 1 to {undecided} were written by an earlier version, without what they were decided on: \
             their hashes were checked, but no decision among them could be taken again, nor held to the rules"
        )?;
    }
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
