//! What a failed run tells whoever looks for the reason.

use materia_contract::{NodeId, RunFailed};
use materia_kernel::{Phase, Run};

use crate::play::{agent, created, plan, run, utility};

fn failure(run: &Run) -> RunFailed {
    match run.phase() {
        Phase::Failed(failed) => failed.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_utility_names_the_files_that_show_what_it_did() {
    let (run, _) = run(created(plan([("check", utility())])), &["!it broke"]);
    let failed = failure(&run);
    assert_eq!(failed.socket, Some(NodeId::new("check")));
    let files = ["input.json", "stdout", "stderr", "meta.json"];
    let files = files.map(|name| format!("{{runDir}}/sockets/check/1-1.{name}"));
    assert_eq!(failed.artifacts, files);
}

#[test]
fn a_failed_agent_names_the_files_of_its_last_attempt() {
    let (run, _) = run(created(plan([("build", agent())])), &["nonsense", "nonsense again"]);
    let files = ["prompt.txt", "output.txt", "meta.json"];
    let files = files.map(|name| format!("{{runDir}}/sockets/build/1-2.{name}"));
    assert_eq!(failure(&run).artifacts, files);
}
