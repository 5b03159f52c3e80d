//! The whole command line. Each command's arguments are in its own file.

use std::ffi::OsString;

use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::{
    abort, approve, attach, blame, bounds, budget, case, cast, casts, check, clean, compare,
    completions, conformance, crashtest, demo, doctor, events, explore, export, finish, fork, fuzz,
    grid, init, journal, link, loadout, logs, man, materia, mode, output, recast, replay, resume,
    revive, say, schemas, serve, show, skip, stop, test, trigger, utility, whatif, why, worker,
    workers, workspace,
};
use crate::args::Global;

const FIRST_STEPS: &str = "\
First steps:
  materia demo                  a whole workflow in a few seconds: no key, no set-up
  materia doctor                which agents are there, and what is missing?
  materia init test-and-fix     a configuration to begin with
  materia check                 is the configuration in this folder sound?
  materia grid                  what would run, drawn as text
  materia cast \"fix the tests\"  run it in this terminal
  materia show last             what came of it
  materia events last           every event of it
  materia resume last           carry on after Ctrl-C, a crash or a question

A cast is one run of a loadout: a graph of sockets, each with a materia that says what runs
there. Configuration is read from `materia.json` in the project, from your profile, and from
the file that `--config` or MATERIA_CONFIG names. Everything a cast does is kept under
`.materia/` and can be read, verified and explained afterwards.

Exit status:
  0    completed
  1    the cast failed or was aborted, or a verification did not hold
  2    refused before anything ran: usage, configuration, or something that is not there
  3    stopped, waiting for a person
  4    undecided: `replay` of another version's events, `explore` within its limits
  75   another server of yours runs already
  130  interrupted by Ctrl-C; the cast waits and can be resumed";

/// Runs graphs of agents and local programs, and remembers every step
///
/// Messages go to standard error, data to standard output.
#[derive(Parser, Debug)]
#[command(name = "materia", version, after_help = FIRST_STEPS)]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Global options.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Defines the commands, and [`alone`] with a row for each. A variant is called like its command.
macro_rules! commands {
    ($($name:ident($args:ty),)*) => {
        /// The commands.
        #[derive(Subcommand, Debug)]
        pub(crate) enum Command {
            $($name($args),)*
            /// The checkpoint utility of the demo.
            #[command(name = crate::demo::MAINTAIN, hide = true)]
            DemoMaintain,
        }

        /// The command of this name with its arguments, and nothing of the other commands.
        fn alone(name: &str) -> Option<clap::Command> {
            $(if name.eq_ignore_ascii_case(stringify!($name)) {
                // Once in a process, and needed until its end.
                let name: &'static str = Box::leak(name.into());
                return Some(<$args>::augment_args(clap::Command::new(name)));
            })*
            None
        }
    };
}

commands! {
    Init(init::InitArgs),
    Cast(cast::CastArgs),
    Link(link::LinkArgs),
    Check(check::CheckArgs),
    Bounds(bounds::BoundsArgs),
    Explore(explore::ExploreArgs),
    Fuzz(fuzz::FuzzArgs),
    Crashtest(crashtest::CrashtestArgs),
    Casts(casts::CastsArgs),
    Show(show::ShowArgs),
    Output(output::OutputArgs),
    Logs(logs::LogsArgs),
    Events(events::EventsArgs),
    Replay(replay::ReplayArgs),
    Resume(resume::ResumeArgs),
    Recast(recast::RecastArgs),
    Revive(revive::ReviveArgs),
    Skip(skip::SkipArgs),
    Say(say::SayArgs),
    Continue(finish::ContinueArgs),
    Trigger(trigger::TriggerArgs),
    Approve(approve::ApproveArgs),
    Deny(approve::DenyArgs),
    Pause(mode::PauseArgs),
    Mode(mode::ModeArgs),
    Budget(budget::BudgetArgs),
    Abort(abort::AbortArgs),
    Workspace(workspace::WorkspaceArgs),
    Clean(clean::CleanArgs),
    Fork(fork::ForkArgs),
    Grid(grid::GridArgs),
    Loadout(loadout::LoadoutArgs),
    Materia(materia::MateriaArgs),
    Utility(utility::UtilityArgs),
    Why(why::WhyArgs),
    Blame(blame::BlameArgs),
    Compare(compare::CompareArgs),
    Case(case::CaseArgs),
    Test(test::TestArgs),
    Whatif(whatif::WhatIfArgs),
    Export(export::ExportArgs),
    Serve(serve::ServeArgs),
    Ui(serve::UiArgs),
    Attach(attach::AttachArgs),
    Stop(stop::StopArgs),
    Worker(worker::WorkerArgs),
    Workers(workers::WorkersArgs),
    Journal(journal::JournalArgs),
    Demo(demo::DemoArgs),
    Doctor(doctor::DoctorArgs),
    Conformance(conformance::ConformanceArgs),
    Completions(completions::CompletionsArgs),
    Schemas(schemas::SchemasArgs),
    Man(man::ManArgs),
}

impl Command {
    /// Whether it does more than to read, to check, to test and to explore: it begins, changes or ends casts, chooses
    /// or writes configuration, or has programs run on others' behalf.
    pub(crate) fn steers(&self) -> bool {
        match self {
            Self::Loadout(args) => args.writes(),
            Self::Materia(args) => args.writes(),
            Self::Crashtest(args) => args.real,
            Self::Check(_)
            | Self::Bounds(_)
            | Self::Explore(_)
            | Self::Fuzz(_)
            | Self::Casts(_)
            | Self::Show(_)
            | Self::Output(_)
            | Self::Logs(_)
            | Self::Events(_)
            | Self::Replay(_)
            | Self::Grid(_)
            | Self::Utility(_)
            | Self::Why(_)
            | Self::Compare(_)
            | Self::Blame(_)
            | Self::Case(_)
            | Self::Whatif(_)
            | Self::Export(_)
            | Self::Attach(_)
            | Self::Doctor(_)
            | Self::Workers(_)
            | Self::DemoMaintain
            | Self::Completions(_)
            | Self::Schemas(_)
            | Self::Man(_) => false,
            Self::Init(_)
            | Self::Cast(_)
            | Self::Link(_)
            | Self::Resume(_)
            | Self::Recast(_)
            | Self::Revive(_)
            | Self::Skip(_)
            | Self::Say(_)
            | Self::Continue(_)
            | Self::Trigger(_)
            | Self::Approve(_)
            | Self::Deny(_)
            | Self::Pause(_)
            | Self::Mode(_)
            | Self::Budget(_)
            | Self::Abort(_)
            | Self::Workspace(_)
            | Self::Clean(_)
            | Self::Fork(_)
            | Self::Serve(_)
            | Self::Ui(_)
            | Self::Stop(_)
            | Self::Worker(_)
            | Self::Journal(_)
            | Self::Demo(_)
            | Self::Test(_)
            | Self::Conformance(_) => true,
        }
    }
}

/// Commands that do something to a cast that is there. What a cast begins with means nothing to them; it is
/// understood, and not offered.
const TO_A_CAST: [&str; 12] = [
    "resume", "recast", "revive", "skip", "say", "continue", "trigger", "approve", "deny", "pause",
    "mode", "budget",
];

/// Parses the words of the command line.
///
/// Describing all commands takes longer than many of them run. So only the command that is named is described first; if
/// that does not lead to its arguments, the whole command line says why.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    if let Some(cli) = quickly(words) {
        return Ok(cli);
    }
    let mut line = command();
    Cli::from_arg_matches(&line.try_get_matches_from_mut(words)?)
}

/// The arguments of the first word that names a command, if the line is in order with this command alone.
fn quickly(words: &[OsString]) -> Option<Cli> {
    let named = words.iter().skip(1).find_map(|word| alone(word.to_str()?))?;
    let line = Global::augment_args(clap::Command::new("materia")).subcommand(named);
    Cli::from_arg_matches(&line.try_get_matches_from(words).ok()?).ok()
}

/// The command line, with each option shown where it means something.
pub(crate) fn command() -> clap::Command {
    TO_A_CAST.into_iter().fold(Cli::command(), |line, name| {
        line.mut_subcommand(name, |command| {
            let mut useless = vec!["cast_id", "planning"];
            if !matches!(name, "resume" | "recast" | "revive") {
                useless.push("detach");
            }
            if name != "resume" {
                useless.push("interactive");
            }
            if matches!(name, "say" | "pause") {
                useless.extend([
                    "virtual_time",
                    "provider",
                    "record",
                    "replay",
                    "no_input",
                    "detach",
                ]);
            }
            useless
                .into_iter()
                .fold(command, |command, name| command.mut_arg(name, |option| option.hide(true)))
        })
    })
}
