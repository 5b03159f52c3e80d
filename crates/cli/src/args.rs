//! The command line as a whole. What each command takes is in its own file.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    abort, approve, budget, cast, casts, check, completions, conformance, demo, doctor, events,
    finish, fork, grid, link, loadout, materia, mode, recast, replay, resume, revive, say, schemas,
    show, trigger, utility, why,
};

const FIRST_STEPS: &str = "\
First steps:
  materia demo                  a whole workflow in a few seconds: no key, no set-up
  materia doctor                which agents are there, and what is missing?
  materia check                 is the configuration in this folder sound?
  materia grid                  what would run, drawn as text
  materia cast \"fix the tests\"  run it, here and now
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
  130  interrupted by Ctrl-C; the cast waits and can be resumed";

/// Runs graphs of agents and local programs, and remembers every step
///
/// Words for people go to standard error, data to standard output.
#[derive(Parser, Debug)]
#[command(name = "materia", version, after_help = FIRST_STEPS, disable_help_subcommand = true)]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Args, Debug, Clone)]
pub(crate) struct Global {
    /// Run as if started in DIR
    #[arg(
        short = 'C',
        value_name = "DIR",
        global = true,
        help_heading = "Options for every command"
    )]
    pub directory: Option<PathBuf>,
    /// Read FILE as configuration too, over all other layers
    #[arg(long, value_name = "FILE", global = true, help_heading = "Options for every command")]
    pub config: Option<PathBuf>,
    /// Print data as JSON on standard output
    #[arg(long, global = true, help_heading = "Options for every command")]
    pub json: bool,
}

/// Options of commands that start a run or carry one on.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct RunOptions {
    /// Answer every agent socket from FILE instead of asking a model
    #[arg(long, value_name = "FILE", help_heading = "Options of a run")]
    pub script: Option<PathBuf>,
    /// Simulate the clock: delays and time limits cost nothing (only with --script)
    #[arg(long, help_heading = "Options of a run")]
    pub virtual_time: bool,
    /// Ask the agent NAME in every socket that names none
    #[arg(long, value_name = "NAME", help_heading = "Options of a run")]
    pub provider: Option<String>,
    /// Keep what the agents say in DIR, secrets removed, to replay it later
    #[arg(long, value_name = "DIR", help_heading = "Options of a run")]
    pub record: Option<PathBuf>,
    /// Answer every agent socket from the recording in DIR instead of asking a model
    #[arg(long, value_name = "DIR", help_heading = "Options of a run")]
    pub replay: Option<PathBuf>,
    /// Name the cast ID instead of making a name up
    #[arg(long, value_name = "ID", help_heading = "Options of a run")]
    pub cast_id: Option<String>,
    /// Approve the commands that the project brings, and remember that
    #[arg(long, help_heading = "Options of a run")]
    pub trust: bool,
    /// Let turns write only under the folder of documents
    #[arg(long, help_heading = "Options of a run")]
    pub planning: bool,
    /// Start no turn by itself; a person does
    #[arg(long, help_heading = "Options of a run")]
    pub interactive: bool,
}

impl RunOptions {
    /// What they say about a run. Whether commands are approved is no part of that.
    pub(crate) fn plain(&self) -> materia_app::RunOptions {
        materia_app::RunOptions {
            script: self.script.clone(),
            virtual_time: self.virtual_time,
            provider: self.provider.clone(),
            record: self.record.clone(),
            replay: self.replay.clone(),
            cast_id: self.cast_id.clone(),
            planning: self.planning,
            interactive: self.interactive,
        }
    }
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Cast(cast::CastArgs),
    Link(link::LinkArgs),
    Check(check::CheckArgs),
    Casts(casts::CastsArgs),
    Show(show::ShowArgs),
    Events(events::EventsArgs),
    Replay(replay::ReplayArgs),
    Resume(resume::ResumeArgs),
    Recast(recast::RecastArgs),
    Revive(revive::ReviveArgs),
    Say(say::SayArgs),
    Continue(finish::ContinueArgs),
    Trigger(trigger::TriggerArgs),
    Approve(approve::ApproveArgs),
    Deny(approve::DenyArgs),
    Pause(mode::PauseArgs),
    Mode(mode::ModeArgs),
    Budget(budget::BudgetArgs),
    Abort(abort::AbortArgs),
    Fork(fork::ForkArgs),
    Grid(grid::GridArgs),
    Loadout(loadout::LoadoutArgs),
    Materia(materia::MateriaArgs),
    Utility(utility::UtilityArgs),
    Why(why::WhyArgs),
    Demo(demo::DemoArgs),
    Doctor(doctor::DoctorArgs),
    /// The checkpoint utility of the demo.
    #[command(name = crate::demo::MAINTAIN, hide = true)]
    DemoMaintain,
    Conformance(conformance::ConformanceArgs),
    Completions(completions::CompletionsArgs),
    Schemas(schemas::SchemasArgs),
}
