//! Measures Materia against floors that are taken in the same run.
//!
//! `cargo run --release -p materia-bench [-- NAME… --full --in DIR --against PROGRAM-OR-COMMIT]` prints one JSON line a figure on standard output and a
//! table on standard error. It exits with 1 if a *limit* is missed; a missed aim only shows.
//!
//! # Invariants
//!
//! * A figure that depends on the disk is a ratio: the measured code and its floor take turns, and the median of the
//!   rounds counts. A sync costs sixty times more at one moment than at another.
//! * Where time depends on other load of the machine, CPU time, syncs and bytes are counted instead.
//!
//! One file has one subject. The measured code is the code of the binary, unchanged.

mod against;
mod calm;
mod check;
mod child;
mod cluster;
mod floor;
mod growth;
mod lists;
mod many_runs;
mod meter;
mod one_run;
mod readers;
mod replay;
mod report;
mod room;
mod server;
mod stage;
mod start;
mod workspace;

use std::process::ExitCode;

use report::{Report, say};

/// The same as the binary's.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Anything can go wrong in a measurement, and nothing can be done about it but to say so.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Selection from the command line.
struct Wanted {
    names: Vec<String>,
    /// The long version of what is shortened otherwise.
    full: bool,
    /// The program or commit to compare with.
    against: Option<String>,
}

type Subject = (&'static str, fn(&mut Report, &Wanted) -> Outcome<()>);

/// Cheap ones first; those that fill the disk last.
const SUBJECTS: &[Subject] = &[
    ("check", check::measure),
    ("one-run", one_run::measure),
    ("many-runs", many_runs::measure),
    ("start", start::measure),
    ("lists", lists::measure),
    ("server", server::measure),
    ("readers", readers::measure),
    ("cluster", cluster::measure),
    ("replay", replay::measure),
    ("growth", growth::measure),
    ("workspace", workspace::measure),
    (AGAINST, against::measure),
];

/// The subject that needs something to compare with.
const AGAINST: &str = "against";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((first, rest)) if first == child::ARGUMENT => child::main(rest).map(|()| true),
        Some(_) | None => {
            let outcome = run(arguments);
            room::clear();
            outcome
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("materia-bench: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Takes an option with its value out of the arguments.
fn taken_out(arguments: &mut Vec<String>, option: &str) -> Outcome<Option<String>> {
    let Some(at) = arguments.iter().position(|argument| argument == option) else {
        return Ok(None);
    };
    let value = arguments.get(at + 1).cloned().ok_or(format!("`{option}` needs a value"))?;
    arguments.drain(at..=at + 1);
    Ok(Some(value))
}

fn run(mut arguments: Vec<String>) -> Outcome<bool> {
    if let Some(folder) = taken_out(&mut arguments, "--in")? {
        room::set_place(&folder)?;
    }
    let against = taken_out(&mut arguments, "--against")?;
    let (flags, names): (Vec<_>, Vec<_>) =
        arguments.into_iter().partition(|argument| argument.starts_with('-'));
    let known = |name: &String| SUBJECTS.iter().any(|(subject, _)| subject == name);
    let unknown_flag = flags.iter().find(|flag| *flag != "--full");
    if let Some(unknown) = unknown_flag.or_else(|| names.iter().find(|name| !known(name))) {
        let all: Vec<_> = SUBJECTS.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "`{unknown}` is unknown; there are {}, --full, --in DIR and --against PROGRAM-OR-COMMIT",
            all.join(", ")
        )
        .into());
    }
    let wanted = Wanted { full: !flags.is_empty(), names, against };
    let mut report = Report::default();
    for (name, measure) in SUBJECTS {
        let asked = wanted.names.iter().any(|wanted| wanted == name);
        let compares = *name == AGAINST && wanted.against.is_some();
        if asked || compares || (wanted.names.is_empty() && *name != AGAINST) {
            say(&format!("measuring {name} …"));
            measure(&mut report, &wanted).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    report.print_table();
    Ok(report.holds())
}
