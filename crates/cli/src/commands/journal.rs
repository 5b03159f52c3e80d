use std::io::Write as _;

use clap::{Args, ValueEnum};
use materia_contract::RunId;
use materia_contract::body::CopiedBody;

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;

/// Copy casts between the journal of the project and NATS servers
///
/// The copy has the same events and hashes and is verified. The source stays and is marked: the cast goes on at the other place
/// only. Copied back, the source gets the new events and goes on.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia journal copy sqlite nats://127.0.0.1:4222 --space shop\n  materia journal copy nats://127.0.0.1:4222 sqlite last-week --space shop"
)]
pub(crate) struct JournalArgs {
    /// The action
    #[arg(value_enum)]
    action: Action,
    /// The journal that has the casts: `sqlite`, or the address of NATS servers
    from: String,
    /// The journal that gets them: `sqlite`, or the address of NATS servers
    to: String,
    /// The casts (all of them by default)
    #[arg(value_name = "ID")]
    casts: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Action {
    /// Copy casts
    Copy,
}

/// Runs `journal`.
pub(crate) fn journal(args: &JournalArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let Action::Copy = args.action;
    if args.from == args.to {
        return Err(Failure::usage("FROM and TO are the same journal"));
    }
    let at = |journal: &String| {
        Project::here(&Global { journal: Some(journal.clone()), ..global.clone() })
    };
    let (from, to) = (at(&args.from)?, at(&args.to)?);
    let (from, to) = (from.app().journal_to_copy()?, to.app().journal_to_copy()?);
    let casts = if args.casts.is_empty() {
        materia_app::cast::copy::all(&*from)?
    } else {
        let parsed = args.casts.iter().map(|id| RunId::parse(id));
        parsed
            .collect::<Result<Vec<RunId>, _>>()
            .map_err(|error| Failure::usage(error.to_string()))?
    };
    let mut failed = None;
    for cast in casts {
        match materia_app::cast::copy::copy(&*from, &*to, &cast) {
            Ok(copied) => tell(&copied, terminal)?,
            // The others are independent of it.
            Err(error) => {
                if let Some(before) = failed.replace(error) {
                    terminal.say(format_args!("{before}"));
                }
            }
        }
    }
    failed.map_or(Ok(Exit::Done), |error| Err(error.into()))
}

fn tell(copied: &CopiedBody, terminal: &mut Terminal) -> Result<(), Failure> {
    if terminal.json {
        return Ok(terminal.data(copied)?);
    }
    let CopiedBody { cast_id, to, events, added, .. } = copied;
    writeln!(
        terminal.out,
        "Cast `{cast_id}` goes on in {to}: {events} events, {added} of them new."
    )?;
    Ok(())
}
