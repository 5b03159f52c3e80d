use std::path::PathBuf;

use clap::Args;

use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Run the conformance cases: behaviour as data
///
/// Each case is a JSON file with a configuration, arguments and what must come out. It runs in
/// a scratch project of its own, with this same binary.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia conformance\n  materia conformance conformance/graph\n  materia conformance --coverage\n\nExit status: 0 none failed, 1 some did, 2 no case was found."
)]
pub(crate) struct ConformanceArgs {
    /// A folder of cases, or one case
    #[arg(value_name = "PATH", default_value = "conformance")]
    path: PathBuf,
    /// Print how many cases show each requirement
    #[arg(long)]
    coverage: bool,
}

/// Runs `conformance`.
pub(crate) fn conformance(
    args: &ConformanceArgs,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    crate::conformance::run(&args.path, args.coverage, terminal)
}
