//! Runs conformance cases with a binary of `materia`.
//!
//! A case is data: project files, commands, and their expected output. Each runs in its own
//! scratch folder, several at a time. An unknown key in `expect` fails the case, so that no check
//! is ignored.
//!
//! The runner only starts the binary and shares no code with it except the types in `contract`. It
//! returns the results as data and prints nothing.

mod check;
mod scratch;
mod subset;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use materia_contract::case::Case;
use materia_contract::{EdgeId, Plan};
use scratch::Scratch;
use serde_json::Value;
use subset::Names;

/// How many cases run at once for each core: most of a case is waiting.
const CASES_PER_CORE: usize = 2;

/// Result of one case.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The file it is written in.
    pub file: PathBuf,
    /// Name of the case; empty if the file cannot be read.
    pub name: String,
    /// The requirements that it shows.
    pub requirements: Vec<String>,
    /// Expectations that were not met.
    pub failures: Vec<String>,
    /// How long it took.
    pub duration: Duration,
    /// The ways that its casts took, where that was asked for.
    pub taken: Vec<Taken>,
    /// Its text with what came out as what is expected, where it failed and that would let it pass.
    pub updated: Option<String>,
}

/// The ways that a cast took.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Plan that it ran.
    pub plan: Plan,
    /// The edges that were selected.
    pub edges: BTreeSet<EdgeId>,
}

/// A file of the project that cases without a configuration run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseFile {
    /// Its path in the project.
    pub path: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Whether it can be started.
    pub executable: bool,
}

/// The setting of cases of an author.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The project of a case that has no configuration.
    pub base: &'a [BaseFile],
}

impl Verdict {
    /// Whether all was as expected.
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

/// A file of a case, read once: the text that is checked is the text that runs.
#[derive(Debug, Clone)]
pub struct CaseFile {
    /// Its path.
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

/// Runs these cases with `binary`, in folders of their own beneath `scratch`; the verdicts are in their order. `journal` is
/// where their casts are kept: on NATS servers each case has a space of its own, as its folder is its own.
pub fn run(
    cases: &[CaseFile],
    binary: &Path,
    scratch: &Path,
    journal: Option<&str>,
) -> Vec<Verdict> {
    run_all(cases, &Place { binary, scratch, author: None, journal })
}

/// Runs cases of an author: they need no requirements, run on the author's project where they have no configuration,
/// and say which ways they take.
pub fn run_own(
    cases: &[CaseFile],
    binary: &Path,
    scratch: &Path,
    author: Author<'_>,
) -> Vec<Verdict> {
    run_all(cases, &Place { binary, scratch, author: Some(author), journal: None })
}

/// How many cases show each requirement, in the order of letters, then numbers.
pub fn coverage(verdicts: &[Verdict]) -> Vec<(&str, usize)> {
    let mut counts: BTreeMap<(String, u32, &str), usize> = BTreeMap::new();
    for requirement in verdicts.iter().flat_map(|verdict| &verdict.requirements) {
        let letters: String = requirement.chars().take_while(|c| c.is_alphabetic()).collect();
        let number = requirement[letters.len()..].parse().unwrap_or(u32::MAX);
        *counts.entry((letters, number, requirement)).or_default() += 1;
    }
    counts.into_iter().map(|((_, _, requirement), count)| (requirement, count)).collect()
}

/// Environment of the cases: binary and folders.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    binary: &'a Path,
    /// The folder in which each case gets one of its own.
    scratch: &'a Path,
    author: Option<Author<'a>>,
    /// Where casts are kept, if not in a file.
    journal: Option<&'a str>,
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
    let mut verdict = Verdict {
        file: file.to_owned(),
        name: String::new(),
        requirements: Vec::new(),
        failures: Vec::new(),
        duration: Duration::ZERO,
        taken: Vec::new(),
        updated: None,
    };
    let case = match text {
        Ok(text) => read_case(text),
        Err(error) => Err(format!("the case cannot be read: {error}")),
    };
    match (case, text) {
        (Ok(case), Ok(text)) => {
            verdict.name.clone_from(&case.name);
            verdict.requirements.clone_from(&case.requirements);
            let begun = Instant::now();
            match run_case(&case, place) {
                Ok(ran) => {
                    verdict.failures = ran.failures;
                    verdict.taken = ran.taken;
                    verdict.updated = ran.expects.and_then(|all| update::text(text, &all));
                }
                Err(problem) => verdict.failures.push(problem),
            }
            verdict.duration = begun.elapsed();
        }
        (Err(problem), _) => verdict.failures.push(problem),
        (Ok(_), Err(_)) => {}
    }
    verdict
}

fn read_case(text: &str) -> Result<Case, String> {
    // Rounded, it would no longer be what the case is about.
    if let Some(wide) = materia_contract::number::too_wide(text) {
        return Err(format!("{wide}; write the text that holds it as a string"));
    }
    // A list would be read as the fields in their order.
    if text.trim_start().starts_with('[') {
        return Err("this is no case: an object is needed here, not a list".to_owned());
    }
    serde_json::from_str::<Case>(text).map_err(|error| format!("this is no case: {error}"))
}

/// The result of a case.
struct Outcome {
    failures: Vec<String>,
    taken: Vec<Taken>,
    /// New `expect` of each command that would let a failed case pass, if there is one.
    expects: Option<Vec<Value>>,
}

/// Runs a case and all its further commands; gives what was expected and not found.
fn run_case(case: &Case, place: &Place<'_>) -> Result<Outcome, String> {
    if case.requirements.is_empty() && place.author.is_none() {
        return Err("the case names no requirement".to_owned());
    }
    let base = place.author.map(|author| author.base).unwrap_or_default();
    let mut scratch = Scratch::set_up(case, base, place)?;
    let (mut failures, mut names) = (Vec::new(), Names::default());
    let first = (&case.args, &case.input, &case.expect);
    let further = case.then.iter().map(|step| (&step.args, &step.input, &step.expect));
    let mut expects = Some(Vec::new());
    for (number, (args, input, expect)) in std::iter::once(first).chain(further).enumerate() {
        let before = scratch.folders();
        let args: Vec<String> = args.iter().map(|arg| names.fill(arg)).collect();
        let ran = scratch.run(&args, input.as_ref())?;
        let mut unbound = names.clone();
        let found = check::check(expect, &ran, &before, &scratch, &mut names);
        let mut now = expect.clone();
        if !found.is_empty() {
            now = update::expectation(expect, &ran);
            let left = check::check(&now, &ran, &before, &scratch, &mut unbound);
            expects = expects.filter(|_| left.is_empty());
        }
        if let Some(expects) = &mut expects {
            expects.push(now);
        }
        let told = |failure| match number {
            0 => failure,
            number => format!("step {}, `{}`: {failure}", number + 1, args.join(" ")),
        };
        failures.extend(found.into_iter().map(told));
    }
    let unverified = scratch.unverified()?;
    let expects = expects.filter(|_| !failures.is_empty() && unverified.is_empty());
    failures.extend(unverified);
    let taken = if place.author.is_some() { scratch.taken()? } else { Vec::new() };
    Ok(Outcome { failures, taken, expects })
}
