//! Runs conformance cases with a binary of `materia`.
//!
//! A case is data: what lies in the project, what is typed, what must come out. Each runs in a
//! scratch folder of its own, several at a time. A key of `expect` that is not known fails the
//! case, for a check that cannot fail is none.
//!
//! The runner knows the binary from outside only, and shares no code with it but the forms in
//! `contract`. What came of the cases it gives back as data; who shows it is elsewhere.

mod check;
mod scratch;
mod subset;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use materia_contract::case::Case;
use scratch::Scratch;
use subset::Names;

/// How many cases run at once for each core: most of a case is waiting.
const CASES_PER_CORE: usize = 2;

/// What became of one case.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The file it is written in.
    pub file: PathBuf,
    /// What it shows; empty where it cannot be read.
    pub name: String,
    /// The requirements that it shows.
    pub requirements: Vec<String>,
    /// What was expected and not found.
    pub failures: Vec<String>,
}

impl Verdict {
    /// Whether all was as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Why no case was run.
#[derive(Debug, thiserror::Error)]
pub enum NoCases {
    /// The folder cannot be read.
    #[error("cannot read `{}`: {source}", .path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is none.
    #[error("there are no cases beneath `{}`", .0.display())]
    Absent(PathBuf),
}

/// A file of a case, as it was read once: what is looked at is what runs.
#[derive(Debug, Clone)]
pub struct CaseFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its text, or why it cannot be read.
    pub text: Result<String, String>,
}

/// Reads every case beneath `path`, in the order of the files' names. Nothing runs.
pub fn read(path: &Path) -> Result<Vec<CaseFile>, NoCases> {
    let mut files = Vec::new();
    collect(path, &mut files)
        .map_err(|source| NoCases::Unreadable { path: path.to_owned(), source })?;
    files.sort();
    if files.is_empty() {
        return Err(NoCases::Absent(path.to_owned()));
    }
    let file = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        CaseFile { path, text }
    };
    Ok(files.into_iter().map(file).collect())
}

/// Runs these cases with `binary`, in folders of their own beneath `scratch`; the verdicts are in their order.
#[must_use]
pub fn run(cases: &[CaseFile], binary: &Path, scratch: &Path) -> Vec<Verdict> {
    run_all(cases, &Place { binary, scratch })
}

/// How many cases show each requirement, in the order of letters, then numbers.
#[must_use]
pub fn coverage(verdicts: &[Verdict]) -> Vec<(&str, usize)> {
    let mut counts: BTreeMap<(String, u32, &str), usize> = BTreeMap::new();
    for requirement in verdicts.iter().flat_map(|verdict| &verdict.requirements) {
        let letters: String = requirement.chars().take_while(|c| c.is_alphabetic()).collect();
        let number = requirement[letters.len()..].parse().unwrap_or(u32::MAX);
        *counts.entry((letters, number, requirement)).or_default() += 1;
    }
    counts.into_iter().map(|((_, _, requirement), count)| (requirement, count)).collect()
}

/// What runs the cases, and where.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    binary: &'a Path,
    /// The folder in which each case gets one of its own.
    scratch: &'a Path,
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

fn run_all(files: &[CaseFile], place: &Place<'_>) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Verdict>> = Mutex::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..(cores * CASES_PER_CORE).min(files.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { return };
                    let verdict = run_file(file, place);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(index, verdict);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn run_file(CaseFile { path: file, text }: &CaseFile, place: &Place<'_>) -> Verdict {
    let broken = |message: String| Verdict {
        file: file.to_owned(),
        name: String::new(),
        requirements: Vec::new(),
        failures: vec![message],
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => return broken(format!("the case cannot be read: {error}")),
    };
    // Rounded, it would no longer be what the case is about.
    if let Some(wide) = materia_contract::number::too_wide(text) {
        return broken(format!("{wide}; write the text that holds it as a string"));
    }
    match serde_json::from_str::<Case>(text) {
        Ok(case) => {
            let failures = run_case(&case, place).unwrap_or_else(|problem| vec![problem]);
            let file = file.to_owned();
            Verdict { file, name: case.name, requirements: case.requirements, failures }
        }
        Err(error) => broken(format!("this is no case: {error}")),
    }
}

/// Runs a case and all its further commands; gives what was expected and not found.
fn run_case(case: &Case, place: &Place<'_>) -> Result<Vec<String>, String> {
    if case.requirements.is_empty() {
        return Err("the case names no requirement".to_owned());
    }
    let mut scratch = Scratch::set_up(case, place.binary, place.scratch)?;
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
