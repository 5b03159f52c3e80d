use std::path::{Path, PathBuf};

use clap::Args;
use materia_app::trust::Case;
use materia_conformance::{CaseFile, Verdict};
use serde_json::json;

use crate::args::Global;
use crate::begin;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::sanitize;
use crate::terminal::Terminal;

/// Run the conformance cases: behaviour as data
///
/// Each case is a JSON file with a configuration, arguments and what must come out. It runs in
/// a scratch project of its own, with this same binary. A case says which programs run, so you are
/// asked to approve new cases, like the configuration of a project. With `--journal nats://…` each case
/// keeps its casts in a space of its own on those servers.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia conformance\n  materia conformance conformance/graph\n  materia conformance --trust --coverage\n  materia conformance --journal nats://127.0.0.1:4222\n\nExit status: 0 none failed, 1 some did, 2 no case was found, or they are not approved."
)]
pub(crate) struct ConformanceArgs {
    /// A folder of cases, or one case
    #[arg(value_name = "PATH", default_value = "conformance")]
    path: PathBuf,
    /// Print how many cases show each requirement
    #[arg(long)]
    coverage: bool,
    /// Approve what the cases run, and remember it
    #[arg(long)]
    trust: bool,
}

/// Runs `conformance`.
pub(crate) fn conformance(
    args: &ConformanceArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Ended {
    let binary = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program: {error}")))?;
    let cases = materia_conformance::read(&args.path)
        .map_err(|error| Failure::resolution(sanitize::one_line(&error.to_string(), 1_000)))?;
    let project = Project::here(global)?;
    approve(&cases, (&args.path, args.trust), &project, terminal)?;
    // One in the profile is for the casts of the user.
    let named = project.place.journal.is_some();
    let journal = project.nats_options()?.filter(|_| named).map(|options| options.url);
    let (scratch, journal) = (std::env::temp_dir(), journal.as_deref());
    let verdicts = materia_conformance::run(&cases, &binary, &scratch, journal);
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

/// Has the cases approved, which say what runs.
pub(super) fn approve(
    cases: &[CaseFile],
    (path, trust): (&Path, bool),
    project: &Project,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let gate = project.gate();
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let shown = cases.iter().map(|case| Case {
        file: case.path.display().to_string(),
        text: case.text.clone().unwrap_or_default(),
    });
    let shown: Vec<Case> = shown.collect();
    let waiting = terminal.warned(|warnings| gate.cases(&place, &shown, warnings));
    begin::settle(waiting, trust, project, terminal).map(|_| ())
}

fn print(verdict: &Verdict, terminal: &mut Terminal) -> Result<(), Failure> {
    let Verdict { file, name, requirements, failures, .. } = verdict;
    let ok = verdict.passed();
    if terminal.json {
        let file = file.display().to_string();
        return Ok(terminal.data(&json!({
            "case": file, "name": name, "ok": ok, "requirements": requirements, "failures": failures,
        }))?);
    }
    if !ok {
        writeln!(
            terminal.out,
            "FAILED {}",
            sanitize::one_line(&file.display().to_string(), 1_000)
        )?;
        writeln!(terminal.out, "  {}", sanitize::one_line(name, 200))?;
        for failure in failures {
            writeln!(terminal.out, "  - {}", sanitize::clean(&failure.replace('\n', "\n    ")))?;
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
