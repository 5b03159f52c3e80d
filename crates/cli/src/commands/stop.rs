use std::time::{Duration, Instant};

use clap::Args;
use materia_contract::api::Alive;
use materia_server::client::Client;

use crate::background;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// How long a server may take to bring its casts to rest.
const END_WAIT_MAX: Duration = Duration::from_mins(1);

/// End your server; its casts rest and can be carried on
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  materia stop")]
pub(crate) struct StopArgs {}

/// Runs `stop`.
pub(crate) fn stop(_args: &StopArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let state = background::state()?;
    let Some(client) = Client::of(&state) else {
        terminal.say("No server of yours runs.");
        return Ok(Exit::Done);
    };
    let pid = client.server().pid;
    let told: Result<Alive, _> = client.post("/api/stop", &serde_json::json!({}));
    told.map_err(background::refused)?;
    let begun = Instant::now();
    while is_alive(pid) {
        if begun.elapsed() > END_WAIT_MAX {
            return Err(Failure::Broken(format!(
                "the server (process {pid}) has not ended within {} s; it was told to and may still do so",
                END_WAIT_MAX.as_secs()
            )));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    terminal.say(format_args!("The server (process {pid}) has ended; its casts rest."));
    Ok(Exit::Done)
}

/// Whether a process is there, and has not merely left its number behind.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z')
}
