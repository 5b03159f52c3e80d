use clap::Args;
use materia_app::cast::follow::{self, Following, Next};
use materia_app::views::remote_output::{RemoteOutput, Said, under_way};
use materia_app::views::turn_output::{self, Which};
use materia_contract::NodeId;
use materia_engine::{PAGE_BYTES, blocking, status_after};

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::project::{Found, Project};
use crate::terminal::Terminal;

/// Print the streams of a turn: standard output, standard error, an agent's transcript
///
/// With --follow, print the output of commands and agents while they run, until the cast ends or
/// waits. With --json that is one object a line.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia logs last Test\n  materia logs last Socket-4@2\n  materia logs -f last\n  materia logs -f last Test"
)]
pub(crate) struct LogsArgs {
    /// Print output as it arrives
    #[arg(short, long)]
    follow: bool,
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket, and which of its visits; otherwise the newest turn, with --follow every turn
    #[arg(value_name = "SOCKET[@VISIT]")]
    which: Option<String>,
}

/// Runs `logs`.
pub(crate) fn logs(args: &LogsArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let which = Which::parse(args.which.as_deref())?;
    let (project, found) = Project::with_cast(&args.id, global)?;
    if args.follow && follow(&project, &found, &which, terminal)? {
        return Ok(Exit::Done);
    }
    let heard = turn_output::find(found.journal(), &found.id, &which)?;
    let streams = turn_output::streams(heard, &found.root.join(found.id.as_str()));
    if terminal.json {
        terminal.data(&streams)?;
        return Ok(Exit::Done);
    }
    let whose = format!("{} visit {}, attempt {}", streams.socket, streams.visit, streams.attempt);
    let parts = [
        ("stdout", Some(streams.stdout)),
        ("stderr", Some(streams.stderr)),
        ("transcript", streams.transcript),
    ];
    for (name, text) in parts {
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        terminal.out.flush()?;
        terminal.say(format_args!("--- {name} of {whose}"));
        terminal.text(&text)?;
    }
    Ok(Exit::Done)
}

/// Prints what is said until the cast rests; says whether it did not rest from the beginning.
fn follow(
    project: &Project,
    found: &Found,
    which: &Which,
    terminal: &mut Terminal,
) -> Result<bool, Failure> {
    let (journal, id) = (found.journal(), &found.id);
    let (run, _) = materia_engine::load(journal, id)?;
    let plan = run.created().map(|created| &created.plan);
    let socket = plan.map(|plan| which.socket_in(plan)).transpose()?.flatten();
    let mut remote_output = RemoteOutput::all(found.root.join(id.as_str()), project.dir.clone());
    for record in under_way(journal, id, run.seq())? {
        remote_output.note(&record);
    }
    let mut printed = Printed { socket, visit: which.visit(), last: None };
    let (mut seq, mut status) = (run.seq(), run.phase().status());
    let mut following = Following::default();
    let mut rested = true;
    loop {
        let next = following.next(journal, id, status);
        if next == Next::Rests {
            return Ok(!rested);
        }
        rested = false;
        let mut any = false;
        loop {
            printed.print(remote_output.look(), terminal)?;
            let page = blocking(journal).read(id, seq, PAGE_BYTES)?;
            for record in &page.records {
                (seq, any) = (record.seq, true);
                status = status_after(&record.kind).unwrap_or(status);
                printed.print(remote_output.note(record), terminal)?;
            }
            if page.end {
                break;
            }
        }
        match (any, next) {
            (true, _) => following.news(),
            (false, Next::Last) => return Ok(true),
            (false, Next::Wait | Next::Rests) => std::thread::sleep(follow::POLL_INTERVAL),
        }
    }
}

/// Options for printing the output of a cast's turns.
struct Printed {
    socket: Option<NodeId>,
    visit: Option<u32>,
    /// The turn whose output was printed last.
    last: Option<(NodeId, u32, u32, &'static str)>,
}

impl Printed {
    fn print(&mut self, said: Vec<Said>, terminal: &mut Terminal) -> Result<(), Failure> {
        for piece in said {
            let meant = self.socket.as_ref().is_none_or(|socket| *socket == piece.socket)
                && self.visit.is_none_or(|visit| visit == piece.visit);
            if !meant {
                continue;
            }
            if terminal.json {
                terminal.data(&piece)?;
            } else {
                let Said { socket, visit, attempt, stream, text } = piece;
                let whose = Some((socket.clone(), visit, attempt, stream));
                if self.last != whose {
                    terminal.out.flush()?;
                    let turn = format_args!("{socket} visit {visit}, attempt {attempt}");
                    terminal.say(format_args!("--- {stream} of {turn}"));
                    self.last = whose;
                }
                terminal.text(&text)?;
            }
            terminal.out.flush()?;
        }
        Ok(())
    }
}
