use clap::Args;
use materia_app::views::subject::Subject;
use materia_app::views::verify::{self, Mending};
use materia_contract::RunId;
use materia_contract::body::{Mismatch, ReplayBody, Verified};

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::project::Project;
use crate::sanitize;
use crate::terminal::Terminal;

/// Rebuild a cast from its events and verify every one of them
///
/// Checks the chain of hashes, makes every decision again and compares, and repairs the files
/// beside the journal where they differ from it.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia replay last\n  materia replay last --at 12\n  materia replay cast.materia\n\nExit status: 0 verified, 1 verification failed, 4 undecided (another version wrote events of it)."
)]
pub(crate) struct ReplayArgs {
    /// The cast: its id, the beginning of it, or `last`; or an archive, `cast.materia`
    #[arg(value_name = "ID")]
    id: String,
    /// Show the state as of this event instead of the end
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Also compare an archive with this cast of the project, event by event
    #[arg(long, value_name = "ID")]
    against: Option<String>,
}

/// Runs `replay`.
pub(crate) fn replay(args: &ReplayArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, subject) = journals::open(&args.id, global, terminal)?;
    let body = match &subject {
        Subject::Cast(found) => verify::replay(found, args.at)?,
        Subject::Archive(archive) => verify::replay_archive(archive, args.at)?,
    };
    let mut same = None;
    let body = match (body, &args.against) {
        (body @ ReplayBody::Mismatch(_), _) | (body, None) => body,
        (body, Some(against)) => match compared(&subject, against, global)? {
            Ok(told) => {
                same = Some(told);
                body
            }
            Err(mismatch) => ReplayBody::Mismatch(mismatch),
        },
    };
    let exit = match &body {
        ReplayBody::Verified(verified) => {
            if let Subject::Cast(found) = &subject {
                match verify::mend_views(found, &subject.folders(&project)) {
                    Mending::Nothing => {}
                    Mending::Done(what) => terminal.say(what),
                    Mending::Failed(why) => terminal.say(format_args!("warning: {why}")),
                }
            }
            if !terminal.json {
                tell(verified, terminal)?;
                same.iter().try_for_each(|same| same.tell(verified, terminal))?;
            }
            if verified.ok == Some(true) { Exit::Done } else { Exit::Undecided }
        }
        ReplayBody::Mismatch(Mismatch { cast_id, seq, fault, .. }) => {
            let place = seq.map(|seq| format!(" at event {seq}")).unwrap_or_default();
            terminal.say(format_args!("error: cast `{cast_id}` does not verify{place}: {fault}"));
            Exit::Failed
        }
    };
    if terminal.json {
        terminal.data(&body)?;
    }
    Ok(exit)
}

/// The same, unless the archive is not one of that cast.
/// The cast of which an archive holds the events.
struct Same {
    id: RunId,
    events: u64,
}

impl Same {
    fn tell(&self, verified: &Verified, terminal: &mut Terminal) -> Result<(), Failure> {
        let (Self { id, events }, held) = (self, verified.events);
        let what = if verified.redacted { "the redaction of" } else { "from" };
        if held == *events {
            writeln!(terminal.out, "Every event is {what} cast `{id}`, and none is missing.")?;
        } else {
            writeln!(
                terminal.out,
                "Every event is {what} cast `{id}`, which has {} more at its end.",
                events.saturating_sub(held)
            )?;
        }
        Ok(())
    }
}

fn compared(
    subject: &Subject,
    against: &str,
    global: &Global,
) -> Result<Result<Same, Mismatch>, Failure> {
    let Some(archive) = subject.archive() else {
        return Err(Failure::usage("`--against` compares an archive (`cast.materia`) with a cast"));
    };
    let (_, found) = Project::with_cast(against, global)?;
    let compared = verify::against(archive, &found)?;
    Ok(compared.map(|events| Same { id: found.id, events }))
}

fn tell(verified: &Verified, terminal: &mut Terminal) -> Result<(), Failure> {
    let Verified { cast_id: id, events, undecided, status, state, last_seq, last_hash, .. } =
        verified;
    if verified.redacted {
        let some = if *undecided == 0 { "" } else { ", some of another version" };
        writeln!(
            terminal.out,
            "{id} is redacted: {events} events{some}; order, routes, budgets and timers hold; texts and chain unchecked"
        )?;
    } else if *undecided == 0 {
        writeln!(
            terminal.out,
            "{id} verifies: {events} events, all hashes and all decisions hold"
        )?;
    } else {
        let rest = if undecided < events { "; the decisions of the others hold" } else { "" };
        writeln!(terminal.out, "{id} is undecided: {events} events, all hashes hold{rest}")?;
        writeln!(
            terminal.out,
            "  {undecided} events were written by another version: their hashes were checked, but no decision \
             among them could be taken again, nor held to the rules"
        )?;
    }
    if verified.gone > 0 {
        let (gone, were) =
            (verified.gone, if verified.gone == 1 { "transcript was" } else { "transcripts were" });
        writeln!(terminal.out, "  {gone} {were} removed because of their age")?;
    }
    writeln!(terminal.out, "  at event {last_seq} it is {}", status.word())?;
    if !verified.redacted {
        writeln!(terminal.out, "  hash {last_hash}")?;
    }
    let state = serde_json::to_string_pretty(state).map_err(std::io::Error::from)?;
    writeln!(terminal.out, "  state {}", sanitize::clean(&state))?;
    Ok(())
}
