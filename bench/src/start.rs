//! From process start to exit: the overhead of the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::meter::median;
use crate::report::{Bound, Figure, Report, say};
use crate::{Outcome, Wanted, room};

const ROUNDS: usize = 41;

/// One agent socket, answered by a script.
pub(crate) const SCRIPTED: &str = r#"{"activeLoadout":"one","loadouts":{"one":{"entry":"a","sockets":{"a":{"materia":"a"}}}},"materia":{"a":{"type":"agent","prompt":"Say something."}}}"#;
const SCRIPT: &str = r#"{"turns":{"a":[{"text":"something"}]},"repeatLast":true}"#;

/// The seed's HELLO WORLD, as the repository ships it.
const HELLO: &str = include_str!("../../examples/hello-utility.json");

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    let Some(materia) = binary()? else {
        say(
            "the binary `materia` is not beside this program: cargo build --release -p materia-cli",
        );
        return Ok(());
    };
    match room::in_memory() {
        Some(folder) => {
            scripted(report, &materia, &folder)?;
            looks(report, &materia, &folder)?;
            hello(report, &materia, &folder, "start.hello", true)?;
        }
        None => say("no file system in memory here: the time of the syncs cannot be left out"),
    }
    let folder = room::on_disk()?;
    hello(report, &materia, &folder, "start.hello-disk", false)
}

pub(crate) fn binary() -> Outcome<Option<PathBuf>> {
    let beside = std::env::current_exe()?.with_file_name("materia");
    Ok(beside.is_file().then_some(beside))
}

/// A project with a configuration, and a profile of its own.
pub(crate) fn project(folder: &Path, name: &str, config: &str) -> Outcome<PathBuf> {
    let project = folder.join(name);
    fs::create_dir_all(project.join("profile"))?;
    fs::write(project.join("materia.json"), config)?;
    fs::write(project.join("script.json"), SCRIPT)?;
    Ok(project)
}

fn cast(materia: &Path, project: &Path) -> Command {
    let mut command = command(materia, project);
    command.args(["cast", "--trust", "--json"]);
    command
}

/// A cast of [`SCRIPTED`] in its project.
pub(crate) fn scripted_cast(materia: &Path, project: &Path) -> Command {
    let mut command = cast(materia, project);
    command.arg("--script").arg(project.join("script.json")).arg("go");
    command
}

/// A command of the program in a project, with a profile and state of its own.
pub(crate) fn command(materia: &Path, project: &Path) -> Command {
    let mut command = Command::new(materia);
    command.arg("-C").arg(project);
    command.env("MATERIA_PROFILE_DIR", project.join("profile")).env_remove("MATERIA_CONFIG");
    command.env("MATERIA_STATE_DIR", project.join("state"));
    command
}

/// Runs a program to its end; milliseconds.
pub(crate) fn timed(command: &mut Command, input: Option<&Path>) -> Outcome<f64> {
    let stdin = match input {
        Some(path) => Stdio::from(fs::File::open(path)?),
        None => Stdio::null(),
    };
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    let since = Instant::now();
    let status = command.status()?;
    let took = since.elapsed().as_secs_f64() * 1e3;
    if status.success() { Ok(took) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Milliseconds that a command takes more than `true`, which runs in turns with it: the median, and that of `true`.
pub(crate) fn over_nothing(command: &mut Command) -> Outcome<(f64, f64)> {
    let (mut over, mut nothing) = (Vec::new(), Vec::new());
    timed(command, None)?;
    for _ in 0..ROUNDS {
        let floor = timed(&mut Command::new("true"), None)?;
        over.push(timed(command, None)? - floor);
        nothing.push(floor);
    }
    Ok((median(over), median(nothing)))
}

fn scripted(report: &mut Report, materia: &Path, folder: &Path) -> Outcome<()> {
    let project = project(folder, "scripted", SCRIPTED)?;
    let (over, nothing) = over_nothing(&mut scripted_cast(materia, &project))?;
    let note = format!(
        "median of {ROUNDS} in turns with `true`, which is taken off; in memory, where a sync costs nothing"
    );
    let figure = Figure::new("start.scripted", over, "ms more").floor(nothing);
    report.add(figure.limit(Bound::AtMost, 12.0).aim(5.0).note(note));
    Ok(())
}

/// Commands that only look, in the project of [`scripted`].
fn looks(report: &mut Report, materia: &Path, folder: &Path) -> Outcome<()> {
    let project = folder.join("scripted");
    let asked: [(&str, &[&str]); 3] = [
        ("start.version", &["--version"]),
        ("start.casts", &["casts"]),
        ("start.show", &["show", "last"]),
    ];
    for (name, words) in asked {
        let (over, nothing) = over_nothing(command(materia, &project).args(words))?;
        let note =
            format!("`materia {}`; median of {ROUNDS} in turns with `true`", words.join(" "));
        let figure = Figure::new(name, over, "ms more").floor(nothing);
        report.add(figure.limit(Bound::AtMost, 8.0).aim(5.0).note(note));
    }
    Ok(())
}

/// The program by hand gets, byte for byte, what the cast gave it.
fn hello(
    report: &mut Report,
    materia: &Path,
    folder: &Path,
    name: &'static str,
    syncs_cost_nothing: bool,
) -> Outcome<()> {
    let project = project(folder, "hello", HELLO)?;
    let mut command = cast(materia, &project);
    command.arg("go");
    timed(&mut command, None)?;
    let input = room::files(&project)?
        .into_iter()
        .find(|path| path.ends_with("sockets/hello/1-1.input.json"))
        .ok_or("the cast has left no input of its utility")?;
    let config: serde_json::Value = serde_json::from_str(HELLO)?;
    let argv: Vec<&str> = config["materia"]["helloUtility"]["command"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(serde_json::Value::as_str)
        .collect();
    let (program, arguments) = argv.split_first().ok_or("the example has no command")?;
    let (mut over, mut by_hand) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut hand = Command::new(program);
        let floor = timed(hand.args(arguments).current_dir(&project), Some(&input))?;
        over.push(timed(&mut command, None)? - floor);
        by_hand.push(floor);
    }
    let place = if syncs_cost_nothing {
        "in memory, where a sync costs nothing"
    } else {
        "on the disk, syncs included; without a limit, for they swing"
    };
    let note =
        format!("HELLO WORLD; median of {ROUNDS} in turns with the program by hand; {place}");
    let figure = Figure::new(name, median(over), "ms more").floor(median(by_hand)).note(note);
    report.add(if syncs_cost_nothing { figure.limit(Bound::AtMost, 25.0) } else { figure });
    Ok(())
}
