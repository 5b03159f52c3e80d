//! Measures Materia against floors that are taken in the same run.
//!
//! `cargo run --release -p materia-bench [-- NAME… --full --in DIR]` prints one JSON line a figure on standard output and a
//! table on standard error. It exits with 1 if a *limit* is missed; a missed aim only shows.
//!
//! # Invariants
//!
//! * A figure that depends on the disk is a ratio: the measured code and its floor take turns, and the median of the
//!   rounds counts. A sync costs sixty times more at one moment than at another.
//! * Where time depends on other load of the machine, CPU time, syncs and bytes are counted instead.
//!
//! One file has one subject. The measured code is the code of the binary, unchanged.

mod calm;
mod check;
mod child;
mod floor;
mod growth;
mod lists;
mod many_runs;
mod meter;
mod one_run;
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
    ("replay", replay::measure),
    ("growth", growth::measure),
    ("workspace", workspace::measure),
];

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

fn run(mut arguments: Vec<String>) -> Outcome<bool> {
    if let Some(at) = arguments.iter().position(|argument| argument == "--in") {
        let folder = arguments.get(at + 1).ok_or("`--in` needs a folder")?;
        room::set_place(folder)?;
        arguments.drain(at..=at + 1);
    }
    let (flags, names): (Vec<_>, Vec<_>) =
        arguments.into_iter().partition(|argument| argument.starts_with('-'));
    let known = |name: &String| SUBJECTS.iter().any(|(subject, _)| subject == name);
    let unknown_flag = flags.iter().find(|flag| *flag != "--full");
    if let Some(unknown) = unknown_flag.or_else(|| names.iter().find(|name| !known(name))) {
        let all: Vec<_> = SUBJECTS.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "`{unknown}` is unknown; there are {}, --full and --in DIR",
            all.join(", ")
        )
        .into());
    }
    let wanted = Wanted { full: !flags.is_empty(), names };
    let mut report = Report::default();
    for (name, measure) in SUBJECTS {
        if wanted.names.is_empty() || wanted.names.iter().any(|wanted| wanted == name) {
            say(&format!("measuring {name} …"));
            measure(&mut report, &wanted).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    report.print_table();
    Ok(report.holds())
}
