//! Sessions: kept, taken up again, lost, and used by one turn at a time.

use std::fs;
use std::time::Duration;

use materia_contract::{AgentDoc, FailureClass, Uuid};
use materia_engine::{Runner, StopSource};

use super::Driving;
use crate::stage::runtime;

/// Says how it was started.
const TELLS: &str = "echo \"$verb $id\" >> started; init; result ok";

fn started(driving: &Driving) -> Vec<String> {
    driving.read("started").lines().map(str::to_owned).collect()
}

#[test]
fn a_later_turn_goes_on_in_the_session() {
    let mut driving = Driving::new(TELLS);
    driving.in_session(7, false, 1);
    driving.answer();
    driving.in_session(7, true, 1);
    driving.answer();
    let id = Uuid::from_u128(7);
    assert_eq!(started(&driving), [format!("--session-id {id}"), format!("--resume {id}")]);
}

#[test]
fn after_a_crash_the_turn_begins_anew_under_another_name() {
    let mut driving = Driving::new(&format!(
        "[ -e crashed ] || {{ touch crashed; echo \"$verb $id\" >> started; init; kill -9 $$; }}; {TELLS}"
    ));
    driving.in_session(7, false, 1);
    driving.fault();
    driving.in_session(7, false, 2);
    driving.answer();
    driving.in_session(7, true, 1);
    driving.answer();
    let starts = started(&driving);
    assert_eq!(starts[0], format!("--session-id {}", Uuid::from_u128(7)));
    assert!(starts[1].starts_with("--session-id") && starts[1] != starts[0], "{starts:?}");
    assert_eq!(starts[2], starts[1].replace("--session-id", "--resume"));
}

#[test]
fn a_rejected_answer_is_mended_in_its_session() {
    let mut driving = Driving::new(TELLS);
    driving.in_session(7, false, 1);
    driving.answer();
    driving.in_session(7, false, 2);
    driving.answer();
    let id = Uuid::from_u128(7);
    assert_eq!(started(&driving), [format!("--session-id {id}"), format!("--resume {id}")]);
}

#[test]
fn a_session_that_vanished_ends_the_attempt_and_nothing_else_is_started() {
    let mut driving = Driving::new(
        "echo \"$verb $id\" >> started
if [ $verb = --resume ]; then
  echo \"No conversation found with session ID: $id\" >&2
  printf '{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"errors\":[\"No conversation found with session ID: %s\"]}\\n' \"$id\"
  exit 1
fi
init; result fresh",
    );
    driving.in_session(7, false, 1);
    driving.answer();
    driving.in_session(7, true, 1);
    let fault = driving.fault();
    assert_eq!(fault.report.class, Some(FailureClass::SessionLost));
    let starts = started(&driving);
    assert_eq!(starts.len(), 2, "one attempt is one start: {starts:?}");
    let transcript = fs::read_to_string(driving.transcript()).unwrap();
    assert!(transcript.contains("materia.session_lost"), "{transcript}");
    // The next attempt is told everything, in a session of its own.
    driving.in_session(8, false, 2);
    assert_eq!(driving.answer().output, "fresh");
    assert_eq!(started(&driving)[2], format!("--session-id {}", Uuid::from_u128(8)));
}

#[test]
fn a_session_of_which_nothing_is_known_is_lost_before_anything_starts() {
    let mut driving = Driving::new(TELLS);
    driving.in_session(7, true, 1);
    let fault = driving.fault();
    assert_eq!(fault.report.class, Some(FailureClass::SessionLost));
    assert!(fault.message.contains("nothing is known"), "{}", fault.message);
    assert!(!driving.cwd().join("started").exists());
}

#[test]
fn a_fresh_one_that_is_lost_fails_and_does_not_go_round() {
    let mut driving = Driving::new(
        "echo \"$verb $id\" >> started; init
printf '{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"errors\":[\"No conversation found\"]}\\n'; exit 1",
    );
    driving.in_session(7, false, 1);
    let fault = driving.fault();
    assert_eq!(fault.report.class, Some(FailureClass::SessionLost));
    assert_eq!(started(&driving).len(), 1);
}

#[test]
fn two_turns_do_not_use_one_session_at_once() {
    let script = "mkdir busy || touch torn; sleep 0.3; rmdir busy; init; result ok";
    let mut driving = Driving::new(script);
    driving.in_session(7, false, 1);
    let runner = driving.runner();
    let (first, mut second) = (driving.job(), driving.job());
    second.visit += 1;
    second.turn += 1;
    let (_source, stop) = StopSource::new();
    runtime().block_on(async {
        let (one, other) = tokio::join!(
            runner.run(first.stopped_by(stop.clone())),
            runner.run(second.stopped_by(stop.clone()))
        );
        assert!(one.outcome.is_ok() && other.outcome.is_ok(), "{one:?} {other:?}");
    });
    assert!(!driving.cwd().join("torn").exists());
}

#[test]
fn one_that_waits_too_long_for_its_session_may_try_later() {
    let mut driving = Driving::new("touch up; sleep 1; init; result ok");
    driving.in_session(7, false, 1);
    let patient = driving.runner();
    driving.patience = Duration::from_millis(50);
    let hasty = driving.runner();
    let (first, mut second) = (driving.job(), driving.job());
    second.visit += 1;
    let (_source, stop) = StopSource::new();
    runtime().block_on(async {
        let turn = tokio::spawn(patient.run(first.stopped_by(stop.clone())));
        while !driving.cwd().join("up").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let fault = hasty.run(second.stopped_by(stop.clone())).await.outcome.unwrap_err();
        assert_eq!(fault.report.class, Some(FailureClass::Transient));
        assert!(fault.message.contains("still uses session"), "{}", fault.message);
        assert!(turn.await.unwrap().outcome.is_ok());
    });
}

#[test]
fn what_is_left_of_a_killed_cast_keeps_its_session_until_it_is_gone() {
    // Somebody else's supervisor still holds the lock of the tree.
    let mut driving = Driving::new(TELLS);
    driving.in_session(7, false, 1);
    let folder = driving.stage.job.run_dir.join("sessions");
    fs::create_dir_all(&folder).unwrap();
    let lock = fs::File::create(folder.join(format!("{}.tree.lock", Uuid::from_u128(7)))).unwrap();
    lock.lock().unwrap();
    let begun = driving.cwd().join("started");
    let freed = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        let early = begun.exists();
        drop(lock);
        early
    });
    driving.answer();
    assert!(!freed.join().unwrap(), "the agent was started while the lock was held");
    assert_eq!(started(&driving).len(), 1);
}

/// A project whose agent of that name plays recordings of the real program: a good turn, a session that is
/// gone, a good turn.
fn recorded(agent: &str, exit: i32) -> Driving {
    let stage = crate::stage::Stage::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");
    let path = stage.outside().join("recorded.sh");
    let program = format!(
        "echo start >> started
cat > /dev/null
if [ $(wc -l < started) -eq 2 ]; then
  cat {folder}/{agent}/badsession.stderr >&2
  [ -e {folder}/{agent}/badsession.jsonl ] && cat {folder}/{agent}/badsession.jsonl
  exit {exit}
fi
cat {folder}/{agent}/first.jsonl
"
    );
    fs::write(&path, program).unwrap();
    let command = vec!["sh".to_owned(), path.to_str().unwrap().to_owned()];
    Driving::with(stage, agent, AgentDoc { command: Some(command), ..AgentDoc::default() })
}

#[test]
fn every_program_whose_session_is_gone_ends_its_attempt_and_begins_anew_when_asked() {
    for (agent, exit) in [("claude", 1), ("codex", 1), ("gemini", 42), ("pi", 1)] {
        let mut driving = recorded(agent, exit);
        driving.in_session(7, false, 1);
        driving.answer();
        driving.in_session(7, true, 1);
        let fault = driving.fault();
        assert_eq!(
            fault.report.class,
            Some(FailureClass::SessionLost),
            "{agent}: {}",
            fault.message
        );
        assert_eq!(started(&driving).len(), 2, "{agent}: one attempt is one start");
        driving.in_session(8, false, 2);
        driving.answer();
        assert_eq!(started(&driving).len(), 3, "{agent}");
    }
}

#[test]
fn a_program_that_cannot_resume_is_told_so_by_its_answer() {
    let mut driving = Driving::acp(
        "import json, sys
def send(**message): print(json.dumps(dict(jsonrpc='2.0', **message)), flush=True)
open('started', 'a').write('start\\n')
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get('method'), message.get('id')
    if method == 'initialize': send(id=id, result=dict(protocolVersion=1, agentCapabilities={}))
    elif method == 'session/new': send(id=id, result=dict(sessionId='s1'))
    elif method == 'session/prompt':
        send(method='session/update', params=dict(sessionId='s1', update=dict(sessionUpdate='agent_message_chunk', content=dict(type='text', text='built'))))
        send(id=id, result=dict(stopReason='end_turn'))
",
    );
    driving.in_session(7, false, 1);
    assert_eq!(driving.answer().output, "built");
    driving.in_session(7, true, 1);
    assert_eq!(driving.fault().report.class, Some(FailureClass::SessionLost));
    driving.in_session(8, false, 2);
    assert_eq!(driving.answer().output, "built");
    assert_eq!(started(&driving).len(), 3);
}
