use std::time::Instant;

use clap::Args;
use materia_contract::api::Alive;
use materia_server::client::{AskError, Client};

use crate::background::{self, END_WAIT_MAX, POLL_INTERVAL};
use crate::failure::{Ended, Exit, Failure};
use crate::terminal::Terminal;

/// Stop your server; its casts stop too and can be resumed
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  materia stop")]
pub(crate) struct StopArgs {}

/// Runs `stop`.
pub(crate) fn stop(_args: &StopArgs, terminal: &mut Terminal) -> Ended {
    let state = background::state()?;
    if !materia_server::is_held(&state) {
        terminal.say("No server is running.");
        return told(false, terminal);
    }
    // It may be about to begin, or have been told to end already.
    let mut pid = None;
    let begun = Instant::now();
    while materia_server::is_held(&state) || pid.is_some_and(is_alive) {
        if pid.is_none()
            && let Some(client) = Client::of(&state)
        {
            pid = Some(client.server().pid);
            let told: Result<Alive, _> = client.post("/api/stop", &serde_json::json!({}));
            match told {
                // Another process was quicker: the server already ends.
                Ok(_) | Err(AskError::Unreached(_)) => {}
                Err(refused) => return Err(background::refused(refused)),
            }
        }
        if begun.elapsed() > END_WAIT_MAX {
            let told = match pid {
                Some(_) => "it was told to and may still do so",
                None => "it does not answer, so it could not be told to",
            };
            return Err(Failure::Broken(format!(
                "the server{} has not ended within {} s; {told}",
                named(pid),
                END_WAIT_MAX.as_secs()
            )));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    terminal.say(format_args!("The server{} has ended; its casts rest.", named(pid)));
    told(true, terminal)
}

/// Prints whether a server was stopped.
fn told(stopped: bool, terminal: &mut Terminal) -> Result<Exit, Failure> {
    if terminal.json {
        terminal.data(&serde_json::json!({ "stopped": stopped }))?;
    }
    Ok(Exit::Done)
}

fn named(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// Whether a process is there, and has not merely left its number behind.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z')
}
