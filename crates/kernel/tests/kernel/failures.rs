//! What a failed run tells whoever looks for the reason.

use materia_contract::{Do, EventBody, NodeId, RunFailed};
use materia_kernel::{Input, Phase, Run};

use crate::play::{Play, agent, created, plan, run, utility};

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

#[test]
fn what_breaks_the_contract_leaves_nothing_among_the_variables() {
    // It exited well, so what it put out is an answer, and a bad one; only a failure leaves evidence (D49).
    let broken = r#"{"state": {"x": 1}, "satisfied": "no"}"#;
    let (run, events) = run(created(plan([("check", utility())])), &[broken]);
    assert_eq!(failure(&run).code.word(), "contract_error");
    let patched =
        |event: &materia_contract::Event| matches!(event.body, EventBody::StatePatched(_));
    assert!(!events.iter().any(patched));
}

#[test]
fn a_run_whose_process_died_while_it_was_being_stopped_goes_on_when_it_is_resumed() {
    let mut play = Play::of(plan([("build", agent())]));
    play.act(Do::Stop { message: None });
    assert_eq!((play.run.phase(), play.turns().len()), (&Phase::Running, 1));
    // Nobody ended the turn: the process went away. Whoever resumes a stopped run wants it to go on.
    play.take(Input::resume(None));
    assert_eq!((play.run.phase(), play.turns().len()), (&Phase::Running, 1));
}
