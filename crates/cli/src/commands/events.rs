use clap::Args;
use materia_app::cast::follow::{self, Following, Next};
use materia_app::views::event_view::Shown;
use materia_contract::time::wall_time;
use materia_contract::{CastStatus, EventBody, Record, RunId};
use materia_engine::{Journal, blocking, status_after};

use crate::args::Global;
use crate::event_text;
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::narrator::Narrator;
use crate::sanitize;
use crate::terminal::Terminal;

/// Print every event of a cast
///
/// Verifies the hash of each event while it prints. An altered event is still printed, with a
/// message on standard error.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia events last\n  materia events last --follow\n  materia events last --type turn --socket Build\n  materia events last --last 20\n  materia events last --json | jq -r .type\n\nExit status: 0 all hashes hold, 1 an event was altered."
)]
pub(crate) struct EventsArgs {
    /// The cast: its id, the beginning of it, or `last`; or an archive, `cast.materia`
    #[arg(value_name = "ID")]
    id: String,
    /// Print new events as they arrive, until the cast ends or waits
    #[arg(long, short)]
    follow: bool,
    /// Only events whose type is TYPE or begins with it: `turn`, `approval.denied`
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<String>,
    /// Only events about this socket
    #[arg(long, value_name = "SOCKET")]
    socket: Vec<String>,
    /// Only events after this one
    #[arg(long, value_name = "SEQ", default_value_t = 0, hide_default_value = true)]
    after: u64,
    /// Only the last N events of the cast
    #[arg(long, value_name = "N")]
    last: Option<u64>,
}

/// Runs `events`.
pub(crate) fn events(args: &EventsArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    refuse_unknown_types(&args.kinds)?;
    let (project, subject) = journals::open(&args.id, global, terminal)?;
    let (journal, id) = (subject.journal(), subject.id().clone());
    let mut printer = Printer {
        shown: Shown::new(id.clone(), subject.folders(&project)),
        status: CastStatus::Running,
        story: Narrator::default(),
        wanted: Wanted::of(args, journal, &id)?,
        altered: false,
        resume: project.command(&format!("resume {id}")),
        id,
    };
    printer.catch_up(journal, terminal)?;
    // An archive does not grow.
    if args.follow && subject.archive().is_none() {
        printer.follow(journal, terminal)?;
    }
    Ok(if printer.altered { Exit::Failed } else { Exit::Done })
}

/// Whether an event type is the wanted one, or one of the wanted group.
fn is_of(kind: &str, wanted: &str) -> bool {
    let rest = kind.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || wanted.ends_with('.'))
}

/// Refuses a type that no event can have: its events would be missing without a word.
fn refuse_unknown_types(wanted: &[String]) -> Result<(), Failure> {
    let types = EventBody::TYPES;
    let Some(unknown) = wanted.iter().find(|one| !types.iter().any(|kind| is_of(kind, one))) else {
        return Ok(());
    };
    let mut known: Vec<&str> = types.iter().filter_map(|kind| kind.split('.').next()).collect();
    known.sort_unstable();
    known.dedup();
    known.extend(types);
    let help = materia_compiler::did_you_mean(unknown, known, "groups of types");
    let unknown = sanitize::one_line(unknown, 60);
    Err(Failure::usage(format!("there is no event type `{unknown}`; {help}")))
}

/// Where the printing has got to.
struct Printer {
    id: RunId,
    shown: Shown,
    status: CastStatus,
    story: Narrator,
    wanted: Wanted,
    /// Whether an event was not what was written.
    altered: bool,
    /// The command that carries the cast on.
    resume: String,
}

/// Which events are printed.
struct Wanted {
    kinds: Vec<String>,
    sockets: Vec<String>,
    after: u64,
}

impl Wanted {
    fn of(args: &EventsArgs, journal: &dyn Journal, id: &RunId) -> Result<Self, Failure> {
        let head = blocking(journal).head(id)?.map_or(0, |head| head.seq);
        let skipped = args.last.map_or(0, |last| head.saturating_sub(last));
        let (kinds, sockets) = (args.kinds.clone(), args.socket.clone());
        Ok(Self { kinds, sockets, after: args.after.max(skipped) })
    }

    fn has(&self, record: &Record) -> bool {
        let kind = |wanted: &String| is_of(&record.kind, wanted);
        let node = record.node.as_deref();
        record.seq > self.after
            && (self.kinds.is_empty() || self.kinds.iter().any(kind))
            && (self.sockets.is_empty() || self.sockets.iter().any(|one| node == Some(one)))
    }
}

impl Printer {
    /// Prints what is there; says whether anything was.
    fn catch_up(
        &mut self,
        journal: &dyn Journal,
        terminal: &mut Terminal,
    ) -> Result<bool, Failure> {
        let mut any = false;
        let id = self.id.clone();
        for record in blocking(journal).behind(&id, self.shown.seq()) {
            self.print(&record?, terminal)?;
            any = true;
        }
        terminal.out.flush()?;
        Ok(any)
    }

    fn print(&mut self, record: &Record, terminal: &mut Terminal) -> Result<(), Failure> {
        if !self.shown.holds(record) {
            self.altered = true;
            // Keeps stdout and stderr in order if both go to the same terminal.
            terminal.out.flush()?;
            terminal.say(format_args!(
                "error: event {} of cast `{}` was altered: its hash does not match",
                record.seq, self.id
            ));
        }
        let wanted = self.wanted.has(record);
        if terminal.json {
            if wanted {
                let text = self.shown.json(record);
                terminal.json_line(&text)?;
            } else {
                self.shown.skip(record);
            }
        } else {
            let line = self.line(record);
            self.shown.skip(record);
            if wanted {
                writeln!(terminal.out, "{line}")?;
            }
        }
        self.status = status_after(&record.kind).unwrap_or(self.status);
        Ok(())
    }

    /// One event for people.
    fn line(&mut self, record: &Record) -> String {
        let time = wall_time(record.wall);
        let node = record.node.as_deref().unwrap_or("-");
        let said = match record.event() {
            Ok(event) => {
                self.story.note(&event);
                event_text::event(&event, &self.story)
            }
            Err(error) => sanitize::one_line(&error.to_string(), 200),
        };
        let kind = sanitize::one_line(&record.kind, 40);
        format!(
            "{:>5}  {time}  {kind:<22}  {:<12}  {said}",
            record.seq,
            sanitize::one_line(node, 64)
        )
    }

    fn follow(&mut self, journal: &dyn Journal, terminal: &mut Terminal) -> Result<(), Failure> {
        let mut following = Following::default();
        loop {
            match following.next(journal, &self.id, self.status) {
                Next::Rests => return Ok(()),
                Next::Last => {
                    if !self.catch_up(journal, terminal)? {
                        terminal.say(format_args!(
                            "Nobody runs this cast any more; `{}` carries on.",
                            self.resume
                        ));
                        return Ok(());
                    }
                }
                Next::Wait => {}
            }
            std::thread::sleep(follow::POLL_INTERVAL);
            if self.catch_up(journal, terminal)? {
                following.news();
            }
        }
    }
}
