//! Runs conformance cases with this same binary.
//!
//! A case is data: what lies in the project, what is typed, what must come out. Each runs in a
//! scratch folder of its own, several at a time. A key of `expect` that is not known fails the
//! case, for a check that cannot fail is none.

mod check;
mod scratch;
mod subset;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use materia_contract::case::Case;
use serde_json::json;

use crate::clean;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;
use scratch::Scratch;
use subset::Names;

/// How many cases run at once for each core: most of a case is waiting.
const CASES_PER_CORE: usize = 2;

/// What became of one case.
struct Verdict {
    name: String,
    requirements: Vec<String>,
    /// What was expected and not found.
    failures: Vec<String>,
}

/// Runs every case beneath `path` and prints what failed.
pub(crate) fn run(path: &Path, coverage: bool, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    collect(path, &mut files).map_err(|error| {
        Failure::resolution(format!("cannot read `{}`: {error}", path.display()))
    })?;
    files.sort();
    if files.is_empty() {
        return Err(Failure::resolution(format!(
            "there are no cases beneath `{}`",
            path.display()
        )));
    }
    let binary = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program: {error}")))?;
    let verdicts = run_all(&files, &binary);
    for (file, verdict) in files.iter().zip(&verdicts) {
        print(file, verdict, terminal)?;
    }
    if coverage {
        print_coverage(&verdicts, terminal)?;
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.failures.is_empty()).count();
    let passed = verdicts.len() - failed;
    if terminal.json {
        terminal.data(&json!({ "passed": passed, "failed": failed }))?;
    } else {
        writeln!(terminal.out, "{passed} passed, {failed} failed")?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// All case files beneath a folder, or the one file.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in path.read_dir()? {
        let entry = entry?;
        // Links are not followed, so that there is no circle to run in.
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else if entry.path().extension().is_some_and(|extension| extension == "json") {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn run_all(files: &[PathBuf], binary: &Path) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Verdict>> = Mutex::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..(cores * CASES_PER_CORE).min(files.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { return };
                    let verdict = run_file(file, binary);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(index, verdict);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn run_file(file: &Path, binary: &Path) -> Verdict {
    let broken = |message: String| Verdict {
        name: String::new(),
        requirements: Vec::new(),
        failures: vec![message],
    };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return broken(format!("the case cannot be read: {error}")),
    };
    // Rounded, it would no longer be what the case is about.
    if let Some(wide) = materia_contract::number::too_wide(&text) {
        return broken(format!("{wide}; write the text that holds it as a string"));
    }
    match serde_json::from_str::<Case>(&text) {
        Ok(case) => {
            let failures = run_case(&case, binary).unwrap_or_else(|problem| vec![problem]);
            Verdict { name: case.name, requirements: case.requirements, failures }
        }
        Err(error) => broken(format!("this is no case: {error}")),
    }
}

/// Runs a case and all its further commands; gives what was expected and not found.
fn run_case(case: &Case, binary: &Path) -> Result<Vec<String>, String> {
    if case.requirements.is_empty() {
        return Err("the case names no requirement".to_owned());
    }
    let mut scratch = Scratch::set_up(case, binary)?;
    let (mut failures, mut names) = (Vec::new(), Names::default());
    let first = (&case.args, &case.input, &case.expect);
    let further = case.then.iter().map(|step| (&step.args, &step.input, &step.expect));
    for (number, (args, input, expect)) in std::iter::once(first).chain(further).enumerate() {
        let before = scratch.folders();
        let args: Vec<String> = args.iter().map(|arg| names.fill(arg)).collect();
        let ran = scratch.run(&args, input.as_ref())?;
        let found = check::check(expect, &ran, &before, &scratch, &mut names);
        let told = |failure| match number {
            0 => failure,
            number => format!("step {}, `{}`: {failure}", number + 1, args.join(" ")),
        };
        failures.extend(found.into_iter().map(told));
    }
    failures.extend(scratch.unverified()?);
    Ok(failures)
}

fn print(file: &Path, verdict: &Verdict, terminal: &mut Terminal) -> Result<(), Failure> {
    let ok = verdict.failures.is_empty();
    if terminal.json {
        let file = file.display().to_string();
        let (name, requirements, failures) =
            (&verdict.name, &verdict.requirements, &verdict.failures);
        return Ok(terminal.data(&json!({
            "case": file, "name": name, "ok": ok, "requirements": requirements, "failures": failures,
        }))?);
    }
    if !ok {
        writeln!(terminal.out, "FAILED {}", file.display())?;
        writeln!(terminal.out, "  {}", clean::one_line(&verdict.name, 200))?;
        for failure in &verdict.failures {
            writeln!(terminal.out, "  - {}", clean::clean(&failure.replace('\n', "\n    ")))?;
        }
    }
    Ok(())
}

fn print_coverage(verdicts: &[Verdict], terminal: &mut Terminal) -> Result<(), Failure> {
    let mut counts: BTreeMap<(String, u32, &str), usize> = BTreeMap::new();
    for requirement in verdicts.iter().flat_map(|verdict| &verdict.requirements) {
        let letters: String = requirement.chars().take_while(|c| c.is_alphabetic()).collect();
        let number = requirement[letters.len()..].parse().unwrap_or(u32::MAX);
        *counts.entry((letters, number, requirement)).or_default() += 1;
    }
    if terminal.json {
        let counts: serde_json::Map<_, _> =
            counts.into_iter().map(|((_, _, id), count)| (id.to_owned(), json!(count))).collect();
        return Ok(terminal.data(&json!({ "coverage": counts }))?);
    }
    for ((_, _, requirement), count) in counts {
        writeln!(terminal.out, "{requirement:6} {count:4}")?;
    }
    Ok(())
}
