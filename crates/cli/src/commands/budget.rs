use clap::Args;
use materia_contract::body::BudgetBody;
use materia_contract::time::DURATION_MS_MAX;
use materia_contract::{Amount, Budget, Do, NodeBudgets, NodeId, UsageTotals};

use crate::args::{CarryOptions, Global, cost};
use crate::continuation::Continuation;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;

/// Default percentage at which a warning is given.
const WARN_AT_PERCENT_DEFAULT: u32 = 75;

/// Show what a cast may spend, or change it and go on
///
/// Without an option, shows the bounds and what is spent. With options, sets these bounds, keeps
/// the others, and resumes a cast that waited for budget. What was spent stays spent.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia budget last\n  materia budget last --max-tokens 2000000\n  materia budget last --max-turns 80 --warn-at-percent 90\n  materia budget last --node Build --max-turns 20"
)]
pub(crate) struct BudgetArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Tokens, in and out together
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Cost, in the currency of the provider's reports
    #[arg(long, value_name = "X", value_parser = cost, allow_negative_numbers = true)]
    max_cost: Option<Amount>,
    /// Turns, further attempts counted
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,
    /// Megabytes that the cast may keep, journal and files together
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    max_storage_mb: Option<u64>,
    /// Time spent in turns; only with --node
    #[arg(long, value_name = "MS", requires = "node", value_parser = clap::value_parser!(u64).range(..=DURATION_MS_MAX))]
    max_time_ms: Option<u64>,
    /// Set the bounds of this socket instead of the whole cast
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["max_tokens", "max_storage_mb", "warn_at_percent"])]
    node: Option<String>,
    /// Warn when this much of a bound is spent
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=100))]
    warn_at_percent: Option<u32>,
    /// Whether it is carried on, and how.
    #[command(flatten)]
    options: CarryOptions,
}

/// Runs `budget`.
pub(crate) fn budget(args: &BudgetArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let given = Budget {
        max_tokens: args.max_tokens,
        max_cost: args.max_cost,
        max_turns: args.max_turns,
        warn_at_percent: args.warn_at_percent,
        max_storage_mb: args.max_storage_mb,
    };
    if let Some(node) = &args.node {
        let budgets =
            NodeBudgets { turns: args.max_turns, time_ms: args.max_time_ms, cost: args.max_cost };
        if budgets == NodeBudgets::default() {
            return Err(Failure::usage(
                "`--node` needs a bound: `--max-turns`, `--max-time-ms` or `--max-cost`",
            ));
        }
        let what = Do::NodeBudget { node: NodeId::new(node), budgets };
        return Continuation::of(&args.id, &args.options, global).on(terminal, |_| Ok(what));
    }
    if given == Budget::default() {
        return show(args, global, terminal);
    }
    let what = Do::Budget { budget: given };
    Continuation::of(&args.id, &args.options, global).on(terminal, |_| Ok(what))
}

fn show(args: &BudgetArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (_, found) = Project::with_cast(&args.id, global)?;
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let (budget, spent) = (run.budget(), run.usage());
    if terminal.json {
        let (cast_id, status) = (found.id.clone(), run.phase().status());
        terminal.data(&BudgetBody { cast_id, status, budget, usage: spent })?;
        return Ok(Exit::Done);
    }
    for row in rows(budget, spent) {
        writeln!(terminal.out, "{row}")?;
    }
    Ok(Exit::Done)
}

fn rows(budget: Budget, spent: UsageTotals) -> [String; 4] {
    let row = |name: &str, spent: String, limit: Option<String>| match limit {
        Some(limit) => format!("{name:<8}{spent} of {limit}"),
        None => format!("{name:<8}{spent}, not bounded"),
    };
    let cost = spent.cost.map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
    let warns = budget.warn_at_percent.unwrap_or(WARN_AT_PERCENT_DEFAULT);
    [
        row("turns", spent.turns.to_string(), budget.max_turns.map(|most| most.to_string())),
        row("tokens", spent.tokens.to_string(), budget.max_tokens.map(|most| most.to_string())),
        row("cost", cost, budget.max_cost.map(|most| most.to_string())),
        format!("{:<8}at {warns} %", "warns"),
    ]
}
