//! The generic agent against a program that speaks the protocol.

use std::time::{Duration, Instant};

use materia_contract::{FailureClass, GlobalMode};
use materia_engine::StopSource;
use materia_runners::agents::{Recorder, Recording, ReplayRunner};

use super::Driving;
use crate::stage::{perform, planning_is_enforced};

/// A program that speaks the protocol; `hooks` may change what it does.
fn agent(hooks: &str) -> String {
    format!(
        r#"
import json, os, sys, time
def send(**message): print(json.dumps(dict(jsonrpc="2.0", **message)), flush=True)
def update(**what): send(method="session/update", params=dict(sessionId=session, update=what))
def chunk(text, **more): update(sessionUpdate="agent_message_chunk", content=dict(type="text", text=text), **more)
def read():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    open("heard.jsonl", "a").write(line)
    return json.loads(line)
def ask(kind, **more):
    send(id=900, method="session/request_permission", params=dict(sessionId=session, toolCall=dict(toolCallId="c", kind=kind, title="do " + kind, **more), options=[dict(optionId="yes", kind="allow_once", name="y"), dict(optionId="no", kind="reject_once", name="n")]))
    return read()["result"]["outcome"].get("optionId")
session = "s-1"
version = 1
capabilities = dict(loadSession=True)
def new(id, params): send(id=id, result=dict(sessionId=session))
def load(id, params):
    update(sessionUpdate="user_message_chunk", content=dict(type="text", text="old question"))
    chunk("old answer")
    send(id=id, result=None)
def prompt(id, params):
    chunk("Let me see. ")
    update(sessionUpdate="tool_call", toolCallId="t", kind="edit", title="Edit a.txt", status="pending")
    update(sessionUpdate="tool_call_update", toolCallId="t", status="completed", content=[dict(type="diff", path=os.getcwd() + "/a.txt", newText="x")])
    chunk("All "); chunk("done.")
    send(id=id, result=dict(stopReason="end_turn", usage=dict(inputTokens=5, outputTokens=3, cachedReadTokens=2, totalTokens=10)))
{hooks}
print("a banner that is no JSON", flush=True)
while True:
    message = read()
    method, id, params = message.get("method"), message.get("id"), message.get("params")
    if method == "initialize": send(id=id, result=dict(protocolVersion=version, agentCapabilities=capabilities))
    elif method == "session/new": new(id, params)
    elif method in ("session/load", "session/resume"): load(id, params)
    elif method == "session/prompt": prompt(id, params)
"#
    )
}

fn heard(driving: &Driving) -> Vec<serde_json::Value> {
    let text = driving.read("heard.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn methods(driving: &Driving) -> Vec<String> {
    let heard = heard(driving);
    heard.iter().filter_map(|one| one["method"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_turn_goes_well() {
    let driving = Driving::acp(&agent(""));
    let output = driving.answer();
    assert_eq!(output.output, "All done.");
    let usage = output.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(7), Some(3)));
    assert_eq!(driving.said(), "Let me see. \n› edit: Edit a.txt\n› wrote a.txt\nAll done.");
    assert_eq!(methods(&driving), ["initialize", "session/new", "session/prompt"]);
    let heard = heard(&driving);
    assert_eq!(heard[0]["params"]["clientCapabilities"]["terminal"], false);
    assert_eq!(heard[0]["params"]["clientCapabilities"]["fs"]["writeTextFile"], false);
    assert_eq!(heard[2]["params"]["prompt"][0]["text"], "Do it.");
}

#[test]
fn a_session_is_taken_up_again_and_its_past_is_not_the_answer() {
    let mut driving = Driving::acp(&agent(""));
    driving.in_session(7, false, 1);
    driving.answer();
    driving.in_session(7, true, 1);
    assert_eq!(driving.answer().output, "All done.");
    assert_eq!(methods(&driving)[3..], ["initialize", "session/load", "session/prompt"]);
    assert_eq!(heard(&driving)[4]["params"]["sessionId"], "s-1");

    let mut driving = Driving::acp(&agent(
        "capabilities = dict(loadSession=True, sessionCapabilities=dict(resume={}))",
    ));
    driving.in_session(7, false, 1);
    driving.answer();
    driving.in_session(7, true, 1);
    driving.answer();
    assert!(methods(&driving).contains(&"session/resume".to_owned()));
}

#[test]
fn one_that_lost_its_session_or_never_keeps_any_says_so_and_begins_anew_when_asked() {
    for hook in [
        "def load(id, params): send(id=id, error=dict(code=-32603, message='no such session'))",
        "capabilities = dict(loadSession=False)",
    ] {
        let mut driving = Driving::acp(&agent(hook));
        driving.in_session(7, false, 1);
        driving.answer();
        driving.in_session(7, true, 1);
        // One attempt is one start of a program (D44): the next one begins anew.
        assert_eq!(driving.fault().report.class, Some(FailureClass::SessionLost));
        driving.in_session(7, false, 2);
        assert_eq!(driving.answer().output, "All done.");
    }
}

#[test]
fn questions_are_answered_by_the_rules_of_the_socket() {
    let asks = "def prompt(id, params):
    chunk(' '.join(str(ask(kind)) for kind in ('read', 'edit', 'execute')))
    send(id=901, method='fs/read_text_file', params={})
    chunk(' ' + str(read()['error']['code']))
    send(id=id, result=dict(stopReason='end_turn'))";
    let driving = Driving::acp(&agent(asks));
    assert_eq!(driving.answer().output, "yes yes yes -32601");
    if !planning_is_enforced() {
        return;
    }
    let mut driving = Driving::acp(&agent(asks));
    driving.with_tools("readOnly");
    let fault = driving.fault();
    // It writes what it hears into the project, which a socket that only reads may not.
    assert!(
        fault.report.stderr.contains("PermissionError"),
        "{} {}",
        fault.message,
        fault.report.stderr
    );
    let quiet = asks.replace(
        "def prompt",
        "def read(): return json.loads(sys.stdin.readline() or sys.exit(0))\ndef prompt",
    );
    let mut driving = Driving::acp(&agent(&quiet));
    driving.with_tools("readOnly");
    let output = driving.answer();
    assert_eq!(output.output, "yes no no -32601");
    assert_eq!(output.notes.len(), 2, "{:?}", output.notes);
}

#[test]
fn planning_holds_an_agent_that_never_asks() {
    if !planning_is_enforced() {
        return;
    }
    let mut driving = Driving::acp(&agent(
        "def read(): return json.loads(sys.stdin.readline() or sys.exit(0))
def prompt(id, params):
    try: open('code.txt', 'w').write('x'); chunk('wrote')
    except PermissionError: chunk('refused')
    os.makedirs('docs', exist_ok=True); open('docs/plan.md', 'w').write('plan')
    send(id=id, result=dict(stopReason='end_turn'))",
    ));
    driving.stage.job.global_mode = GlobalMode::Planning;
    assert_eq!(driving.answer().output, "refused");
    assert_eq!(driving.read("docs/plan.md"), "plan");
}

#[test]
fn failures_have_their_class() {
    let prompt = |body: &str| format!("def prompt(id, params):\n    {body}");
    let error = |code: i32, message: &str| {
        prompt(&format!("send(id=id, error=dict(code={code}, message='{message}'))"))
    };
    let stop = |reason: &str| {
        prompt(&format!("chunk('x'); send(id=id, result=dict(stopReason='{reason}'))"))
    };
    let cases = [
        (error(-32000, "Authentication required"), FailureClass::Auth),
        (error(429, "slow down"), FailureClass::RateLimit),
        (error(-32603, "Internal error: overloaded"), FailureClass::Transient),
        (error(400, "bad request"), FailureClass::Permanent),
        (stop("refusal"), FailureClass::Permanent),
        (stop("max_tokens"), FailureClass::Contract),
        (stop("max_turn_requests"), FailureClass::Permanent),
        (stop("cancelled"), FailureClass::Transient),
        (stop("something_new"), FailureClass::Permanent),
        (prompt("send(id=id, result=dict(stopReason='end_turn'))"), FailureClass::Contract),
        (prompt("os._exit(0)"), FailureClass::Transient),
        (
            prompt("sys.stdout.write('{\"jsonrpc\"'); sys.stdout.flush(); os.kill(os.getpid(), 9)"),
            FailureClass::Transient,
        ),
        ("version = 2".to_owned(), FailureClass::Permanent),
        ("def new(id, params): send(id=id, result={})".to_owned(), FailureClass::Permanent),
        (
            "def new(id, params): send(id=id, error=dict(code=-32000, message='log in'))"
                .to_owned(),
            FailureClass::Auth,
        ),
    ];
    for (hook, class) in cases {
        let fault = Driving::acp(&agent(&hook)).fault();
        assert_eq!(fault.report.class, Some(class), "{hook}: {}", fault.message);
    }
}

#[test]
fn a_hung_agent_is_called_off_and_ended() {
    let mut driving = Driving::acp(&agent(
        "import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def prompt(id, params):
    chunk('hm'); open('up', 'w')
    if read().get('method') == 'session/cancel': send(id=id, result=dict(stopReason='cancelled'))
    time.sleep(60)",
    ));
    driving.limits.idle = Duration::from_millis(900);
    let begun = Instant::now();
    let fault = driving.fault();
    assert!(fault.message.contains("said nothing for too long"), "{}", fault.message);
    assert_eq!(fault.report.class, Some(FailureClass::Transient));
    assert!(driving.cwd().join("up").exists());
    assert!(begun.elapsed() < Duration::from_secs(30), "took {:?}", begun.elapsed());
    assert!(methods(&driving).contains(&"session/cancel".to_owned()));
}

#[test]
fn a_conversation_is_played_again() {
    let driving = Driving::acp(&agent(""));
    let dir = driving.stage.outside().join("tape");
    let (_source, stop) = StopSource::new();
    let recorder = driving.runner().with_recorder(Recorder::create(&dir, driving.cwd()).unwrap());
    let first = perform(&recorder, driving.job(), stop.clone()).outcome.unwrap();
    let replay = ReplayRunner::new(Recording::open(&dir).unwrap(), driving.fleet());
    let second = perform(&replay, driving.job(), stop).outcome.unwrap();
    assert_eq!((first.output, first.usage), (second.output, second.usage));
}
