//! The commands, one file each.

pub(crate) mod abort;
pub(crate) mod approve;
pub(crate) mod attach;
mod blame;
mod bounds;
pub(crate) mod budget;
mod case;
pub(crate) mod cast;
pub(crate) mod casts;
pub(crate) mod check;
pub(crate) mod clean;
mod compare;
pub(crate) mod completions;
pub(crate) mod conformance;
mod crashtest;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod explore;
mod export;
pub(crate) mod finish;
pub(crate) mod fork;
mod fuzz;
pub(crate) mod grid;
pub(crate) mod init;
mod journal;
pub(crate) mod line;
pub(crate) mod link;
pub(crate) mod loadout;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod materia;
pub(crate) mod mode;
pub(crate) mod output;
pub(crate) mod recast;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod revive;
pub(crate) mod say;
pub(crate) mod schemas;
pub(crate) mod serve;
pub(crate) mod show;
mod skip;
pub(crate) mod stop;
mod test;
pub(crate) mod trigger;
pub(crate) mod utility;
mod whatif;
pub(crate) mod why;
mod worker;
mod workers;
pub(crate) mod workspace;

use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use materia_contract::{Finding, Severity};

use crate::failure::{Ended, Exit, Failure};
use crate::sanitize as cleaning;
use crate::terminal::Terminal;
use line::{Cli, Command};

/// Reads the arguments, runs the command, and says how it went.
pub(crate) fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let cli = match line::parse(&words) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(misused(&error).code()),
    };
    let mut terminal = Terminal::of_process(cli.global.json, cli.global.quiet);
    let exit = match run(&cli, &mut terminal) {
        Ok(exit) => exit,
        Err(failure) => explain(failure, &mut terminal),
    };
    let exit = match terminal.out.flush() {
        Ok(()) => exit,
        // A failed write does not hide a worse exit status of the command.
        Err(error) => Failure::Output(error).exit().max(exit),
    };
    ExitCode::from(exit.code())
}

fn run(cli: &Cli, terminal: &mut Terminal) -> Ended {
    crate::limits::heed()?;
    if let Some(directory) = &cli.global.directory {
        std::env::set_current_dir(directory).map_err(|error| {
            Failure::usage(format!("cannot go to `{}`: {error}", directory.display()))
        })?;
    }
    refuse_steering(&cli.command)?;
    let global = &cli.global;
    match &cli.command {
        Command::Cast(args) => cast::cast(args, global, terminal),
        Command::Link(args) => link::link(args, global, terminal),
        Command::Check(args) => check::check(args, global, terminal),
        Command::Bounds(args) => bounds::bounds(args, global, terminal),
        Command::Explore(args) => explore::explore(args, global, terminal),
        Command::Fuzz(args) => fuzz::fuzz(args, global, terminal),
        Command::Crashtest(args) => crashtest::crashtest(args, global, terminal),
        Command::Casts(args) => casts::casts(args, global, terminal),
        Command::Init(args) => init::init(args, terminal),
        Command::Show(args) => show::show(args, global, terminal),
        Command::Output(args) => output::output(args, global, terminal),
        Command::Logs(args) => logs::logs(args, global, terminal),
        Command::Events(args) => events::events(args, global, terminal),
        Command::Replay(args) => replay::replay(args, global, terminal),
        Command::Resume(args) => resume::resume(args, global, terminal),
        Command::Recast(args) => recast::recast(args, global, terminal),
        Command::Revive(args) => revive::revive(args, global, terminal),
        Command::Skip(args) => skip::skip(args, global, terminal),
        Command::Say(args) => say::say(args, global, terminal),
        Command::Continue(args) => finish::finish(args, global, terminal),
        Command::Trigger(args) => trigger::trigger(args, global, terminal),
        Command::Approve(args) => approve::approve(args, global, terminal),
        Command::Deny(args) => approve::deny(args, global, terminal),
        Command::Pause(args) => mode::pause(args, global, terminal),
        Command::Mode(args) => mode::mode(args, global, terminal),
        Command::Fork(args) => fork::fork(args, global, terminal),
        Command::Budget(args) => budget::budget(args, global, terminal),
        Command::Abort(args) => abort::abort(args, global, terminal),
        Command::Workspace(args) => workspace::workspace(args, global, terminal),
        Command::Clean(args) => clean::clean(args, global, terminal),
        Command::Grid(args) => grid::grid(args, global, terminal),
        Command::Loadout(args) => loadout::loadout(args, global, terminal),
        Command::Materia(args) => materia::materia(args, global, terminal),
        Command::Utility(args) => utility::utility(args, global, terminal),
        Command::Why(args) => why::why(args, global, terminal),
        Command::Blame(args) => blame::blame(args, global, terminal),
        Command::Compare(args) => compare::compare(args, global, terminal),
        Command::Case(args) => case::case(args, global, terminal),
        Command::Test(args) => test::test(args, global, terminal),
        Command::Whatif(args) => whatif::whatif(args, global, terminal),
        Command::Export(args) => export::export(args, global, terminal),
        Command::Serve(args) => serve::serve(args, global, terminal),
        Command::Ui(args) => serve::ui(args, global, terminal),
        Command::Attach(args) => attach::attach(args, global, terminal),
        Command::Worker(args) => worker::worker(args, global, terminal),
        Command::Workers(args) => workers::workers(args, global, terminal),
        Command::Journal(args) => journal::journal(args, global, terminal),
        Command::Stop(args) => stop::stop(args, terminal),
        Command::Demo(args) => demo::demo(args, global, terminal),
        Command::Doctor(args) => doctor::doctor(args, global, terminal),
        Command::DemoMaintain => crate::demo::maintain(terminal),
        Command::Conformance(args) => conformance::conformance(args, global, terminal),
        Command::Completions(args) => completions::completions(args, &line::command(), terminal),
        Command::Man(args) => man::man(args, line::command(), terminal),
        Command::Schemas(args) => schemas::schemas(args, terminal),
    }
}

/// Refuses what controls casts inside a turn whose policy does not allow that.
fn refuse_steering(command: &Command) -> Result<(), Failure> {
    let vouches = |word: std::ffi::OsString| word == "--trust" || word == "--trust-journal";
    let steers = command.steers() || std::env::args_os().any(vouches);
    match steers.then(materia_runners::own_turn).flatten() {
        Some(turn) if !turn.steers => Err(Failure::forbidden(
            "this command runs inside a turn of a cast, and that turn may not control casts; \
             `\"policy\": {\"steer\": true}` of its socket allows it, and is asked about before the cast begins \
             (without the system's `/proc`, every command counts as one of a turn)",
        )),
        Some(_) | None => Ok(()),
    }
}

/// Says why a command did not come to its end.
fn explain(failure: Failure, terminal: &mut Terminal) -> Exit {
    let exit = failure.exit();
    if exit == Exit::Done {
        return exit;
    }
    let told = match &failure {
        // The findings have been drawn; what they say is not said twice.
        Failure::Refused(refusal) if refusal.findings.iter().any(is_error) => {
            let count = refusal.findings.iter().filter(|finding| is_error(finding)).count();
            match count {
                1 => "nothing was run: there is an error above".to_owned(),
                _ => format!("nothing was run: there are {count} errors above"),
            }
        }
        Failure::Refused(_) | Failure::Broken(_) | Failure::Output(_) => failure.to_string(),
    };
    terminal.say(format_args!("error: {}", cleaning::clean(&told)));
    if terminal.json
        && let Some(report) = failure.report()
        && let Err(error) = terminal.data(&report)
    {
        return Failure::Output(error).exit().max(exit);
    }
    exit
}

fn is_error(finding: &Finding) -> bool {
    finding.severity == Severity::Error
}

/// Prints the help or the error of the argument parser.
fn misused(error: &clap::Error) -> Exit {
    let helped = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    // Without arguments nothing was asked for; the help is the answer, and still a misuse.
    let _ = error.print();
    if helped {
        return Exit::Done;
    }
    if std::env::args_os().any(|word| word == "--json") {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or(&text);
        let message = first.trim().trim_start_matches("error: ");
        let mut terminal = Terminal::of_process(true, false);
        if let Some(report) = Failure::usage(cleaning::clean(message)).report() {
            let _ = terminal.data(&report).and_then(|()| terminal.out.flush());
        }
    }
    Exit::Refused
}
