use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use materia_app::proof::explore::{self, Options};
use materia_contract::Plan;
use materia_contract::body::{ExploreBody, Proof};

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;

/// How many states are looked at, where nothing else is said.
const STATES_MAX: usize = 200_000;

/// How often a scheduled socket ticks, where nothing else is said.
const TICKS: u32 = 2;

/// Explore every history that a loadout can take, before it runs
///
/// The kernel makes every decision, and every turn gets every possible answer: each verdict, lists
/// of each length, each value that an edge compares, a broken contract, a failure. What can fail,
/// wait, be dropped or depend on the order of two turns is reported with a shortest history;
/// `--json` contains it as a script for `cast --virtual-time --script`. Runs no program.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia explore\n  materia explore Release --items 0..3\n  materia explore --answers answers.json\n  materia explore --prove 'always Socket-5 before Socket-6' --prove never-drops\n\nProperties: completes, never SOCKET, always SOCKET before SOCKET, at-most N SOCKET, every-item SOCKET, never-drops\n\nExit status: 0 if all histories were looked at, 4 if not; with --prove 0 proved, 1 refuted, 4 undecided."
)]
pub(crate) struct ExploreArgs {
    /// The loadout; otherwise the active one
    #[arg(value_name = "LOADOUT")]
    loadout: Option<String>,
    /// Prove a property, or find a history that breaks it
    #[arg(long, value_name = "PROPERTY")]
    prove: Vec<String>,
    /// How far to look.
    #[command(flatten)]
    reach: Reach,
}

/// How far to look.
#[derive(Args, Debug)]
pub(crate) struct Reach {
    /// Try lists of these lengths
    #[arg(long, value_name = "A..B", default_value = "0..2", value_parser = lengths)]
    items: std::ops::RangeInclusive<usize>,
    /// Answer the sockets that this script names with any of its answers, and with no others
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Stop after N states
    #[arg(long, value_name = "N", default_value_t = STATES_MAX)]
    max_states: usize,
    /// Stop after N seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Let all turns in flight also end at the same instant
    #[arg(long)]
    together: bool,
    /// Let a scheduled socket tick N times
    #[arg(long, value_name = "N", default_value_t = TICKS)]
    ticks: u32,
}

impl Default for Reach {
    fn default() -> Self {
        Self {
            items: 0..=2,
            answers: None,
            max_states: STATES_MAX,
            seconds: None,
            together: false,
            ticks: TICKS,
        }
    }
}

/// Reads `2` or `0..2`.
fn lengths(text: &str) -> Result<std::ops::RangeInclusive<usize>, String> {
    let number = |part: &str| {
        let number: usize = part.parse().map_err(|_| format!("`{part}` is not a number"))?;
        if number > 20 { Err("a list can have at most 20 items".to_owned()) } else { Ok(number) }
    };
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let (low, high) = (number(low)?, number(high)?);
    if low > high {
        Err(format!("`{text}`: the first number must not be larger than the second"))
    } else {
        Ok(low..=high)
    }
}

/// Runs `explore`.
pub(crate) fn explore(args: &ExploreArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let (_, compiled) = project.compile(args.loadout.as_deref(), terminal)?;
    let body = args.reach.look(&compiled.plan, &args.prove, terminal)?;
    if terminal.json {
        terminal.data(&body)?;
    } else {
        terminal.text(&explore::told(&body))?;
    }
    Ok(if args.prove.is_empty() && body.complete { Exit::Done } else { proved(&body) })
}

/// The exit status of what was to be proved.
pub(crate) fn proved(body: &ExploreBody) -> Exit {
    let any = |proof| body.properties.iter().any(|it| it.answer == proof);
    if any(Proof::Refuted) {
        Exit::Failed
    } else if any(Proof::Undecided) || body.properties.is_empty() {
        Exit::Undecided
    } else {
        Exit::Done
    }
}

impl Reach {
    /// Explores a plan. Progress is shown to a person who watches.
    pub(crate) fn look(
        &self,
        plan: &Plan,
        prove: &[String],
        terminal: &Terminal,
    ) -> Result<ExploreBody, Failure> {
        let answers = self.answers.as_ref().map(|file| explore::answers(file, plan));
        let options = Options {
            items: self.items.clone().collect(),
            answers: answers.transpose()?,
            max_states: self.max_states,
            time: self.seconds.map(Duration::from_secs),
            together: self.together,
            ticks: self.ticks,
            properties: explore::properties(prove, plan)?,
            ..Options::default()
        };
        let mut told = 0;
        let progress = |states: usize, open: usize| {
            if states >= told + 100_000 && terminal.watched {
                told = states;
                terminal.say(format_args!("{states} states, {open} of them still to be looked at"));
            }
        };
        Ok(explore::explore(plan, &options, progress).body())
    }
}
