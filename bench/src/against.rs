//! Two versions of the program side by side: is a step of this one dearer than a step of that one?
//!
//! A disk is not the same from one minute to the next, so a figure of today says nothing beside one of yesterday. Here
//! both programs run once in every round, in turns and in new folders; the ratio within a round counts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::child::{Task, Told};
use crate::meter::quartiles;
use crate::report::{Figure, Report, say};
use crate::{Outcome, Wanted, calm, room, start};

/// Rounds, each with both programs.
const ROUNDS: usize = 20;

/// One run of so many steps.
const ALONE: Task = Task { runs: 1, steps: 2_000, delay_ms: 0 };

/// Many runs at once.
const MANY: Task = Task { runs: 200, steps: 10, delay_ms: 0 };

pub(crate) fn measure(report: &mut Report, wanted: &Wanted) -> Outcome<()> {
    let Some(other) = &wanted.against else {
        say("nothing to compare with: `--against` names a program or a commit");
        return Ok(());
    };
    let pair = [bench_of(other)?, std::env::current_exe()?];
    calm::wait(report)?;
    compare(report, &pair, ALONE, ["against.steps", "against.cpu"])?;
    compare(report, &pair, MANY, ["against.many-steps", "against.many-cpu"])?;
    starts(report, &pair)
}

/// The bench of another version: a program, or the one that is built from a commit of this repository.
fn bench_of(named: &str) -> Outcome<PathBuf> {
    let program = Path::new(named);
    if program.is_file() {
        return Ok(program.canonicalize()?);
    }
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).ok_or("the program lies in no folder")?;
    let commit = git(target, &["rev-parse", "--verify", "--quiet", &format!("{named}^{{commit}}")])
        .map_err(|_| format!("`{named}` is neither a program nor a commit of this repository"))?;
    let tree = target.join("against").join(commit.get(..12).unwrap_or(&commit));
    let bench = tree.join("target/release/materia-bench");
    if bench.is_file() {
        return Ok(bench);
    }
    say(&format!("building {named} ({commit}) in {}", tree.display()));
    if !tree.is_dir() {
        let folder = tree.to_str().ok_or("the folder of the build is not UTF-8")?;
        git(target, &["worktree", "add", "--force", "--detach", folder, &commit])?;
    }
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--locked", "-p", "materia-bench", "-p", "materia-cli"]);
    build.current_dir(&tree).env("CARGO_TARGET_DIR", tree.join("target"));
    // Otherwise it would be led back to the present package.
    let status = build.env_remove("CARGO_MANIFEST_DIR").stdout(Stdio::null()).status()?;
    if status.success() { Ok(bench) } else { Err(format!("{commit} was not built").into()) }
}

/// Asks git in the repository that holds a folder.
fn git(folder: &Path, words: &[&str]) -> Outcome<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).output()?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?.trim().to_owned());
    }
    Err(format!("git {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr)).into())
}

/// Both programs do the same task in each round; each begins every other round.
fn compare(
    report: &mut Report,
    pair: &[PathBuf; 2],
    task: Task,
    [steps, cpu]: [&'static str; 2],
) -> Outcome<()> {
    let mut ratios: [Vec<f64>; 2] = Default::default();
    for round in 0..ROUNDS {
        let [old, new] = in_turns(round, |which| {
            let folder = room::on_disk()?;
            task.run_by(&pair[which], &folder)
        })?;
        let ratio = |of: fn(&Told) -> f64| of(&new) / of(&old);
        ratios[0].push(ratio(|told| told.steps_a_second));
        ratios[1].push(ratio(|told| told.cpu_ms_a_step));
    }
    let what = format!("{} runs of {} steps", task.runs, task.steps);
    for (name, values) in [steps, cpu].into_iter().zip(ratios) {
        add(report, name, values, &what);
    }
    Ok(())
}

/// Does something with both, in an order that changes from round to round.
fn in_turns<T>(round: usize, mut measured: impl FnMut(usize) -> Outcome<T>) -> Outcome<[T; 2]> {
    if round.is_multiple_of(2) {
        let old = measured(0)?;
        return Ok([old, measured(1)?]);
    }
    let new = measured(1)?;
    Ok([measured(0)?, new])
}

fn add(report: &mut Report, name: &'static str, values: Vec<f64>, what: &str) {
    let [low, middle, high] = quartiles(values);
    let note = format!(
        "{what}, this version / the other; quartiles {low:.3}, {high:.3} of {ROUNDS} rounds"
    );
    report.add(Figure::new(name, middle, "of the other").floor(1.0).note(note));
}

/// A scripted cast by the program beside each bench, if it is there.
fn starts(report: &mut Report, pair: &[PathBuf; 2]) -> Outcome<()> {
    let programs = pair.each_ref().map(|bench| bench.with_file_name("materia"));
    let folder = room::in_memory().map_or_else(room::on_disk, Ok)?;
    if let Some(missing) = programs.iter().find(|program| !program.is_file()) {
        say(&format!("{} is missing: starts are not compared", missing.display()));
        return Ok(());
    }
    let projects = [
        start::project(&folder, "other", start::SCRIPTED)?,
        start::project(&folder, "this", start::SCRIPTED)?,
    ];
    let mut ratios = Vec::new();
    for round in 0..=ROUNDS {
        let [old, new] = in_turns(round, |which| {
            start::timed(&mut start::scripted_cast(&programs[which], &projects[which]), None)
        })?;
        // The first cast of a project also makes its journal.
        if round > 0 {
            ratios.push(new / old);
        }
    }
    add(report, "against.start", ratios, "a cast of one scripted socket, the whole process");
    Ok(())
}
