use std::path::PathBuf;

use clap::Args;
use materia_conformance::Verdict;
use serde_json::json;

use crate::clean;
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
    let binary = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program: {error}")))?;
    let verdicts = materia_conformance::run(&args.path, &binary, &std::env::temp_dir())
        .map_err(|error| Failure::resolution(error.to_string()))?;
    for verdict in &verdicts {
        print(verdict, terminal)?;
    }
    if args.coverage {
        print_coverage(&verdicts, terminal)?;
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    let passed = verdicts.len() - failed;
    if terminal.json {
        terminal.data(&json!({ "passed": passed, "failed": failed }))?;
    } else {
        writeln!(terminal.out, "{passed} passed, {failed} failed")?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

fn print(verdict: &Verdict, terminal: &mut Terminal) -> Result<(), Failure> {
    let Verdict { file, name, requirements, failures } = verdict;
    let ok = verdict.passed();
    if terminal.json {
        let file = file.display().to_string();
        return Ok(terminal.data(&json!({
            "case": file, "name": name, "ok": ok, "requirements": requirements, "failures": failures,
        }))?);
    }
    if !ok {
        writeln!(terminal.out, "FAILED {}", file.display())?;
        writeln!(terminal.out, "  {}", clean::one_line(name, 200))?;
        for failure in failures {
            writeln!(terminal.out, "  - {}", clean::clean(&failure.replace('\n', "\n    ")))?;
        }
    }
    Ok(())
}

fn print_coverage(verdicts: &[Verdict], terminal: &mut Terminal) -> Result<(), Failure> {
    let counts = materia_conformance::coverage(verdicts);
    if terminal.json {
        let counts: serde_json::Map<_, _> =
            counts.into_iter().map(|(id, count)| (id.to_owned(), json!(count))).collect();
        return Ok(terminal.data(&json!({ "coverage": counts }))?);
    }
    for (requirement, count) in counts {
        writeln!(terminal.out, "{requirement:6} {count:4}")?;
    }
    Ok(())
}
