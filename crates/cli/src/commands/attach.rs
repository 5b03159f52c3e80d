use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use materia_app::cast::follow::{self, Following, Next};
use materia_app::views::remote_output::{RemoteOutput, under_way};
use materia_contract::{CastStatus, Event, RunId};
use materia_engine::{Committed, Journal, PAGE_BYTES, blocking, status_after};
use tokio::runtime::Builder;

use crate::args::Global;
use crate::continuation::Continuation;
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::live::Watching;
use crate::narrator::Narrator;
use crate::run;
use crate::terminal::Terminal;

/// Follow a cast that another process runs, as if it ran here
///
/// Ctrl-C only leaves: the cast goes on.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia attach last\n  materia cast --detach \"fix the tests\" && materia attach last"
)]
pub(crate) struct AttachArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
}

/// Runs `attach`.
pub(crate) fn attach(args: &AttachArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, found) = journals::look(&args.id, global, terminal)?;
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let plan = run.created().map(|created| created.plan.clone());
    let plan = plan.ok_or_else(|| Failure::storage("the cast has no beginning"))?;
    let story = Narrator::so_far(found.journal(), &found.id)?;
    let watching = Watching::new(terminal, &plan, story);
    let left = Arc::new(AtomicBool::new(false));
    leave_on_ctrl_c(&left)?;
    let mut remote_output =
        RemoteOutput::live(found.root.join(found.id.as_str()), project.dir.clone());
    for record in under_way(found.journal(), &found.id, run.seq())? {
        remote_output.note(&record);
    }
    let mut seen = Seen { seq: run.seq(), status: run.phase().status(), remote_output };
    let mut following = Following::default();
    let rests = loop {
        if left.load(Ordering::Relaxed) {
            break false;
        }
        match following.next(found.journal(), &found.id, seen.status) {
            Next::Rests => break true,
            Next::Last if !seen.look(found.journal(), &found.id, &watching)? => break true,
            Next::Last | Next::Wait => {}
        }
        std::thread::sleep(follow::POLL_INTERVAL);
        if seen.look(found.journal(), &found.id, &watching)? {
            following.news();
        }
        for said in seen.remote_output.look() {
            watching.streamed(&found.id, &said.socket, &said.text);
        }
    };
    watching.finish();
    if !rests {
        terminal.say(format_args!("Cast `{}` goes on.", found.id));
        return Ok(Exit::Done);
    }
    let options = crate::args::RunOptions::default();
    Continuation { id: found.id.as_str(), options: &options, global, no_run: false }
        .as_it_is(terminal)
}

/// How far a cast was seen.
struct Seen {
    seq: u64,
    status: CastStatus,
    remote_output: RemoteOutput,
}

impl Seen {
    /// Tells what is new; says whether anything was.
    fn look(
        &mut self,
        journal: &dyn Journal,
        id: &RunId,
        watching: &Watching,
    ) -> Result<bool, Failure> {
        let mut any = false;
        loop {
            let page = blocking(journal).read(id, self.seq, PAGE_BYTES)?;
            let events: Vec<Event> =
                page.records.iter().filter_map(|record| record.event().ok()).collect();
            for record in &page.records {
                self.seq = record.seq;
                self.remote_output.note(record);
                self.status = status_after(&record.kind).unwrap_or(self.status);
            }
            any |= !page.records.is_empty();
            let (records, events) = (page.records.into(), events.into());
            watching.committed(&Committed { run: id.clone(), records, events });
            if page.end {
                return Ok(any);
            }
        }
    }
}

/// Notes that a person wants to leave.
fn leave_on_ctrl_c(left: &Arc<AtomicBool>) -> Result<(), Failure> {
    let runtime = run::runtime(Builder::new_current_thread())?;
    let left = Arc::clone(left);
    std::thread::spawn(move || {
        runtime.block_on(async {
            // An error means that signals cannot be heard; Ctrl-C then ends the process, which leaves as well.
            if tokio::signal::ctrl_c().await.is_ok() {
                left.store(true, Ordering::Relaxed);
            }
        });
    });
    Ok(())
}
