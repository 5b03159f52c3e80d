//! Ways of writing outside the doc root in Planning mode, each tried as a turn of its own.
//!
//! After each way the tree outside `docs` and the run folder must have the same names and the
//! same contents, byte for byte. That a way is refused proves little unless it works where
//! nothing refuses it, so each that does not depend on the machine is tried unconfined as well, in
//! a project of its own, and must then have changed something.

mod metadata;
mod tree;
mod ways;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use materia_contract::GlobalMode;

use crate::stage::{Stage, planning_is_enforced};
use tree::{Tree, project};
use ways::{CALLS, SHELL, THROUGH_OTHERS, Unconfined};

const PYTHON: &str = include_str!("ways.py");
/// How many ways must be there at least.
const WAYS_MIN: usize = 65;
/// How many are tried at a time: mostly they wait for a process to start or to end.
const AT_ONCE: usize = 4;

/// One way.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    unconfined: Unconfined,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Shell,
    Call,
    ThroughAnother,
}

fn every_way() -> Vec<Way> {
    [(SHELL, How::Shell), (CALLS, How::Call), (THROUGH_OTHERS, How::ThroughAnother)]
        .into_iter()
        .flat_map(|(list, how)| {
            list.iter().map(move |&(unconfined, name)| Way { name, unconfined, how })
        })
        .collect()
}

#[test]
fn no_way_of_writing_outside_the_doc_root_changes_a_name_or_a_content() {
    if !planning_is_enforced() {
        return;
    }
    let ways = every_way();
    assert!(ways.len() >= WAYS_MIN, "{}", ways.len());
    let (next, wrong, tried) =
        (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let complain =
        |way: &Way, words: String| wrong.lock().unwrap().push(format!("{}: {words}", way.name));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(way) = ways.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let planned = attempt(way, GlobalMode::Planning);
                    let changed = planned.before.differences(&planned.after());
                    if !changed.is_empty() {
                        complain(way, format!("changed {changed:?}"));
                    }
                    tried.lock().unwrap().push((way, planned));
                    if must_write(way) && !in_one_go(way) {
                        let free = attempt(way, GlobalMode::Implementation);
                        if free.before == free.after() {
                            complain(way, format!("changes nothing anyway: {}", free.said));
                        }
                    }
                }
            });
        }
        scope.spawn(|| {
            for way in ineffective(&ways) {
                complain(way, "changes nothing anyway".to_owned());
            }
        });
    });
    // Somebody may have come late.
    for (way, planned) in tried.into_inner().unwrap() {
        let changed = planned.before.differences(&planned.after());
        if !changed.is_empty() {
            complain(way, format!("changed later {changed:?}"));
        }
    }
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn must_write(way: &Way) -> bool {
    match way.unconfined {
        Unconfined::Writes => true,
        Unconfined::WritesAsRoot => rustix::process::geteuid().is_root(),
        Unconfined::Perhaps => false,
    }
}

/// Whether a way can be tried unconfined without the runner, all of them in one go.
fn in_one_go(way: &Way) -> bool {
    way.how == How::Call && way.name != "inherited_descriptors"
}

/// Those of the ways that change nothing although nothing keeps them from it.
fn ineffective(ways: &[Way]) -> Vec<&Way> {
    let fresh = |way| {
        let stage = Stage::new();
        project(&stage, false);
        (way, Tree::of(&stage), stage)
    };
    let each: Vec<_> =
        ways.iter().filter(|way| in_one_go(way) && must_write(way)).map(fresh).collect();
    let [program, arguments @ ..] = python("each");
    let mut process = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = process.stdin.take().unwrap();
    for (way, _, stage) in &each {
        writeln!(pipe, "{} {}", way.name, stage.cwd().display()).unwrap();
    }
    drop(pipe);
    process.wait().unwrap();
    let same = each.iter().filter(|(_, before, stage)| *before == Tree::of(stage));
    same.map(|(way, ..)| *way).collect()
}

/// A way that was tried, with the project it was tried on.
struct Tried {
    stage: Stage,
    before: Tree,
    said: String,
}

impl Tried {
    fn after(&self) -> Tree {
        Tree::of(&self.stage)
    }
}

/// Tries one way in a fresh project.
fn attempt(way: &Way, mode: GlobalMode) -> Tried {
    let mut stage = Stage::new();
    stage.job.global_mode = mode;
    project(&stage, way.name.contains("git "));
    // Left open for whoever is started, as a careless shell might have done.
    let file = std::fs::File::options().append(true).open(stage.cwd().join("src/main.rs")).unwrap();
    let _left_open = (way.name == "inherited_descriptors").then(|| rustix::io::dup(&file).unwrap());
    let before = Tree::of(&stage);
    let said = match way.how {
        How::Shell => format!("{:?}", stage.report(&["sh", "-c", way.name]).outcome),
        How::Call => format!("{:?}", stage.report(&python(way.name)).outcome),
        How::ThroughAnother => {
            let victim = Victim::start(&stage);
            let mut command = python(way.name).to_vec();
            command.extend(victim.where_it_is.split_whitespace());
            format!("{:?}", stage.report(&command).outcome)
        }
    };
    Tried { stage, before, said }
}

/// The command that tries a way of `ways.py`.
fn python(way: &'static str) -> [&'static str; 6] {
    [interpreter(), "-I", "-S", "-c", PYTHON, way]
}

/// The interpreter itself; what the search path has first may be a slow script in front of it.
fn interpreter() -> &'static str {
    static FOUND: LazyLock<String> = LazyLock::new(|| {
        let ask = ["-c", "import sys; print(sys.executable, end='')"];
        let said = Command::new("python3").args(ask).output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    });
    &FOUND
}

/// A process outside the sandbox that has the file open and mapped for writing.
struct Victim {
    process: Child,
    /// Its pid, the descriptor and the address.
    where_it_is: String,
}

impl Victim {
    fn start(stage: &Stage) -> Self {
        let [program, arguments @ ..] = python("victim");
        let mut process = Command::new(program)
            .args(arguments)
            .current_dir(stage.cwd())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut where_it_is = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut where_it_is).unwrap();
        Self { process, where_it_is }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
