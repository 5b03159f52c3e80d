//! Program for the tests: the supervisor, or a process that runs a utility and can be killed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use materia_contract::{GlobalMode, NodeId, RunId};
use materia_engine::{Runner, StopSource, TurnJob, TurnOrder, Work};
use materia_runners::{UtilityRunner, supervise};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next() {
        Some(first) if first == supervise::ARGUMENT => supervise::main(),
        Some(first) if first == "run" => run(arguments.collect()),
        Some(_) | None => ExitCode::FAILURE,
    }
}

/// Runs a command as materia would, until it ends or we are killed.
fn run(command: Vec<String>) -> ExitCode {
    let here = std::env::current_dir().expect("a current folder");
    let order = TurnOrder {
        files: None,
        run: RunId::new("killed"),
        turn: 1,
        node: NodeId::new("Socket-1"),
        visit: 1,
        attempt: 1,
        work: Work::Utility {
            command,
            input: Arc::new(serde_json::json!({})),
            manner: materia_engine::Manner::default(),
            script: None,
        },
        cwd: here.clone(),
        run_dir: here.join("run"),
        timeout: None,
        global_mode: GlobalMode::Implementation,
        policy: None,
        doc_root: "docs".to_owned(),
        virtual_time: false,
        leaves: materia_engine::Leaves::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (_source, stop) = StopSource::new();
    let runner = UtilityRunner::new(PathBuf::from("/proc/self/exe"));
    let report = runtime.expect("a runtime").block_on(runner.run(TurnJob::new(order, stop)));
    if report.outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
