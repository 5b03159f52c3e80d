//! Options that several commands share. The command line as a whole is in `commands`.

use std::path::PathBuf;

use clap::Args;
use materia_contract::{Amount, Budget, GoOnFrom, WorkspaceKind};

/// Options of every command.
#[derive(Args, Debug, Clone, Default)]
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
    #[arg(
        long,
        alias = "materia-config",
        value_name = "FILE",
        global = true,
        help_heading = "Options for every command"
    )]
    pub config: Option<PathBuf>,
    /// Keep casts in this journal: `sqlite`, or the address of NATS servers (also `MATERIA_JOURNAL`)
    #[arg(long, value_name = "URL", global = true, help_heading = "Options for every command")]
    pub journal: Option<String>,
    /// The name of this project's casts on NATS servers (also `MATERIA_SPACE`)
    #[arg(long, value_name = "NAME", global = true, help_heading = "Options for every command")]
    pub space: Option<String>,
    /// Print data as JSON on standard output
    #[arg(long, global = true, help_heading = "Options for every command")]
    pub json: bool,
    /// Print only errors and warnings as messages, and ask no questions
    #[arg(long, short, global = true, help_heading = "Options for every command")]
    pub quiet: bool,
}

/// Options of commands that carry a cast on unless they are told not to.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct CarryOptions {
    /// Only store the command; the next `resume` carries it out first
    #[arg(long)]
    pub no_run: bool,
    /// Options of the run.
    #[command(flatten)]
    pub run: RunOptions,
}

/// Budget of a new cast; overrides the configuration.
#[derive(Args, Debug, Clone, Default)]
#[expect(clippy::struct_field_names, reason = "the names are those of the options")]
pub(crate) struct Bounds {
    /// Stop and ask when this much is spent, in the currency of the provider's reports
    #[arg(long, value_name = "X", value_parser = cost, allow_negative_numbers = true)]
    #[arg(help_heading = "Bounds")]
    pub max_cost: Option<Amount>,
    /// Stop and ask after this many turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(help_heading = "Bounds")]
    pub max_turns: Option<u64>,
    /// Stop and ask after this many tokens, in and out together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(help_heading = "Bounds")]
    pub max_tokens: Option<u64>,
}

impl Bounds {
    /// The same as data.
    pub(crate) fn budget(&self) -> Budget {
        Budget {
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
            max_turns: self.max_turns,
            ..Budget::default()
        }
    }
}

/// Reads an amount of money.
pub(crate) fn cost(text: &str) -> Result<Amount, String> {
    let number: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if number.is_nan() {
        return Err("it is no number".to_owned());
    }
    if number < 0.0 {
        return Err("it must not be negative".to_owned());
    }
    Amount::try_from(number).map_err(|error| error.to_string())
}

/// Options of commands that start a run or carry one on.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct RunOptions {
    /// Answer every agent socket from FILE instead of asking a model
    #[arg(long, value_name = "FILE", help_heading = "Options of a run")]
    pub script: Option<PathBuf>,
    /// Simulate the clock: delays and timeouts take no real time (only with --script)
    #[arg(long, help_heading = "Options of a run")]
    pub virtual_time: bool,
    /// Use the agent NAME in every socket that names no agent
    #[arg(long, value_name = "NAME", help_heading = "Options of a run")]
    pub provider: Option<String>,
    /// Record the agents' answers in DIR, without secrets, to replay them later
    #[arg(long, value_name = "DIR", help_heading = "Options of a run")]
    pub record: Option<PathBuf>,
    /// Answer every agent socket from the recording in DIR instead of asking a model
    #[arg(long, value_name = "DIR", help_heading = "Options of a run")]
    pub replay: Option<PathBuf>,
    /// Use ID as the id of the cast instead of a generated one
    #[arg(long, value_name = "ID", help_heading = "Options of a run")]
    pub cast_id: Option<String>,
    /// Approve the project's own configuration and everything that this cast runs, and remember the
    /// approval
    #[arg(long, help_heading = "Options of a run")]
    pub trust: bool,
    /// Trust a journal that your materia did not begin here, and continue it as your own
    #[arg(long, help_heading = "Options of a run")]
    pub trust_journal: bool,
    /// Let turns write only in the documents folder
    #[arg(long, help_heading = "Options of a run")]
    pub planning: bool,
    /// Start a turn only when a person asks for it
    #[arg(long, help_heading = "Options of a run")]
    pub interactive: bool,
    /// Exit with 1 if the cast completes and its verdict is false
    #[arg(long, conflicts_with = "detach", help_heading = "Options of a run")]
    pub strict_end: bool,
    /// Hand the cast to your server and return; if no server runs, start one in the background
    #[arg(long, help_heading = "Options of a run")]
    pub detach: bool,
    /// Ask no questions on the terminal; a cast that needs a person waits (exit 3)
    #[arg(long, help_heading = "Options of a run")]
    pub no_input: bool,
    /// The files from which a cast in a workspace goes on, as `resume` is told.
    #[arg(skip)]
    pub go_on: GoOnFrom,
}

/// Where the turns of a new cast work.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Workspace {
    /// Work in a copy of the git repository (own) or in the project folder (project)
    #[arg(long, value_name = "WHERE", value_enum, help_heading = "Options of a run")]
    pub workspace: Option<Where>,
    /// Begin the copy with the uncommitted changes of the project folder
    #[arg(long, help_heading = "Options of a run")]
    pub include_changes: bool,
}

/// The words of `--workspace`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Where {
    /// In the project folder
    Project,
    /// In a copy of the git repository that belongs to the cast
    Own,
}

impl From<Where> for WorkspaceKind {
    fn from(told: Where) -> Self {
        match told {
            Where::Project => Self::Project,
            Where::Own => Self::Own,
        }
    }
}

impl Workspace {
    /// The same in the options of a run.
    pub(crate) fn with(&self, options: materia_app::RunOptions) -> materia_app::RunOptions {
        let workspace = self.workspace.map(Into::into);
        materia_app::RunOptions { workspace, include_changes: self.include_changes, ..options }
    }
}

impl RunOptions {
    /// Options of the run. The approval options are handled separately.
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
            no_request: false,
            workspace: None,
            include_changes: false,
            go_on: self.go_on,
            budget: Budget::default(),
        }
    }
}
