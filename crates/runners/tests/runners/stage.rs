//! A project folder, a run, and a check for its remaining processes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use materia_contract::{GlobalMode, NodeId, RunId, TurnOutput};
use materia_engine::{
    Manner, Runner, Stop, StopSource, TurnFault, TurnJob, TurnOrder, TurnReport, Work,
};
use materia_runners::{PlanningSupport, UtilityRunner, planning_support};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program that is the supervisor.
pub(crate) const SUPERVISOR: &str = env!("CARGO_BIN_EXE_materia-supervise-test");

/// A project in which turns run.
pub(crate) struct Stage {
    /// The next turn; tests change the fields that they need.
    pub(crate) job: TurnJob,
    pub(crate) runner: UtilityRunner,
    // Removed when the stage goes.
    dir: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("project");
        let run_dir = cwd.join(".materia/run");
        fs::create_dir_all(&run_dir).unwrap();
        // The folder's random name makes the run's id unique on this machine.
        let unique = dir.path().file_name().unwrap().to_str().unwrap().replace('.', "");
        let order = TurnOrder {
            files: None,
            run: RunId::new(format!("t{unique}-{}", std::process::id())),
            turn: 7,
            node: NodeId::new("Socket-1"),
            visit: 2,
            attempt: 1,
            work: Work::Utility {
                command: Vec::new(),
                input: Arc::new(json!({"a": 1})),
                manner: Manner::default(),
                script: None,
            },
            cwd,
            run_dir,
            timeout: Some(Duration::from_secs(30)),
            global_mode: GlobalMode::Implementation,
            policy: None,
            doc_root: "docs".to_owned(),
            virtual_time: false,
            leaves: materia_engine::Leaves::default(),
        };
        let job = TurnJob::new(order, StopSource::new().1);
        let runner = UtilityRunner::new(SUPERVISOR.into()).with_grace(Duration::from_millis(300));
        Self { job, runner, dir }
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.job.cwd
    }

    /// The folder around the project.
    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    /// The job of running `command` on `input`.
    pub(crate) fn command(&self, command: &[&str], input: Value) -> TurnJob {
        let command = command.iter().map(|part| (*part).to_owned()).collect();
        let manner = match &self.job.work {
            Work::Utility { manner, .. } => manner.clone(),
            Work::Agent { .. } => Manner::default(),
        };
        of(&self.job, Work::Utility { command, input: Arc::new(input), manner, script: None })
    }

    /// Runs a command to its end.
    pub(crate) fn report(&self, command: &[&str]) -> TurnReport {
        self.report_on(command, json!({"a": 1}))
    }

    /// Runs a command to its end on some input.
    pub(crate) fn report_on(&self, command: &[&str], input: Value) -> TurnReport {
        let (_source, stop) = StopSource::new();
        perform(&self.runner, self.command(command, input), stop)
    }

    /// Runs a command that succeeds.
    #[track_caller]
    pub(crate) fn output(&self, command: &[&str]) -> TurnOutput {
        self.report(command).outcome.expect("the command succeeds")
    }

    /// Runs a command that fails.
    #[track_caller]
    pub(crate) fn fault(&self, command: &[&str]) -> TurnFault {
        self.report(command).outcome.expect_err("the command fails")
    }

    /// The processes that belong to this run, by the mark in their environment.
    pub(crate) fn processes(&self) -> Vec<String> {
        marked(&format!("MATERIA_CAST_ID={}", self.job.run))
    }

    /// Fails unless every process of this run is gone.
    #[track_caller]
    pub(crate) fn assert_nobody_left(&self) {
        assert_eq!(self.processes(), [] as [String; 0], "processes were left behind");
    }
}

/// The same turn with other work.
pub(crate) fn of(job: &TurnJob, work: Work) -> TurnJob {
    TurnJob { order: TurnOrder { work, ..job.order.clone() }, control: job.control.clone() }
}

/// Performs a job with some runner.
pub(crate) fn perform(runner: &dyn Runner, job: TurnJob, stop: Stop) -> TurnReport {
    runtime().block_on(runner.run(job.stopped_by(stop)))
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// The living processes that have `mark` in their environment: pid and command line.
pub(crate) fn marked(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        // A zombie has no environment any more, so it is not counted.
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        environment.split(|&byte| byte == 0).find(|entry| *entry == mark.as_bytes())?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        Some(format!("{pid} {}", String::from_utf8_lossy(&command).replace('\0', " ")))
    })
    .collect()
}

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Waits until something holds; fails if it never does.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what} did not come true within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The variable that says that it is known that this kernel has no Landlock, or too little of it.
const KNOWN_ABSENT: &str = "MATERIA_NO_LANDLOCK";
/// The variable that names a file into which tests that were skipped write their names.
const SKIPPED: &str = "MATERIA_SKIPPED";

/// Whether the kernel enforces Planning mode. Without Landlock the calling test fails, so that it does not pass
/// without a check, unless the environment allows that; then it is reported and counted as skipped.
#[track_caller]
#[expect(clippy::print_stderr, reason = "whoever looks should know that it was skipped")]
pub(crate) fn planning_is_enforced() -> bool {
    let support = planning_support();
    if support == PlanningSupport::Enforced {
        return true;
    }
    let known = std::env::var_os(KNOWN_ABSENT).is_some_and(|value| value == "1");
    assert!(
        known,
        "Planning mode is {support:?} here, so this test can show nothing; where that is known, \
         set {KNOWN_ABSENT}=1"
    );
    let current = std::thread::current();
    let name = current.name().unwrap_or("a test");
    eprintln!("skipped: {name} needs a kernel with Landlock");
    if let Some(list) = std::env::var_os(SKIPPED) {
        let mut list = fs::File::options().create(true).append(true).open(list).unwrap();
        writeln!(list, "{name}").unwrap();
    }
    false
}

/// Writes an executable file.
pub(crate) fn program(path: &Path, content: &str, mode: u32) -> String {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}
