//! The recordings once more, this time from processes that play them and misbehave.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use materia_contract::{AgentDoc, FailureClass};

use super::Recording;
use crate::driving::Driving;
use crate::stage::Stage;

const OK: &str = r#"{"satisfied": true, "context": "ok"}"#;

/// An agent that plays a recording.
fn player(agent: &str, name: &str, options: &[&str]) -> Driving {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    let path = |path: PathBuf| path.to_str().unwrap().to_owned();
    let mut command = vec!["python3".to_owned(), path(tests.join("fake_agent/fake_agent.py"))];
    command.push(path(tests.join("transcripts").join(agent).join(name)));
    command.extend(options.iter().map(|option| (*option).to_owned()));
    command.push("--".to_owned());
    let doc = AgentDoc { command: Some(command), ..AgentDoc::default() };
    Driving::with(Stage::new(), agent, doc)
}

#[test]
fn a_good_turn_is_good_in_any_pieces_and_whatever_its_process_does_afterwards() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        for options in [
            &["--heed"][..],
            &["--heed", "--piece", "7"],
            &["--heed", "--then", "exit:1"],
            &["--heed", "--child", "--then", "kill:9"],
            &["--heed", "--child", "--hold"],
        ] {
            let output = player(agent, "first", options).answer();
            assert_eq!(output.output, OK, "{agent} {options:?}");
            assert_eq!(output.usage.unwrap().input_tokens, Some(1_200), "{agent} {options:?}");
        }
    }
}

#[test]
fn a_process_that_does_not_end_behind_a_good_answer_is_ended_and_the_answer_counts() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        let begun = Instant::now();
        let options = ["--heed", "--child", "--hold", "--deaf", "--then", "hang"];
        assert_eq!(player(agent, "first", &options).answer().output, OK, "{agent}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{agent} took {:?}", begun.elapsed());
    }
}

#[test]
fn a_stream_that_ends_behind_any_line_but_the_last_has_failed() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        let count = Recording::load(agent, "first").lines().len();
        // Each is a process; a few of the many lines are enough, for every place is tried without one.
        for lines in [0, 1, count / 2, count - 1] {
            let lines = lines.to_string();
            let fault = player(agent, "first", &["--heed", "--lines", &lines]).fault();
            let class = fault.report.class;
            assert_eq!(class, Some(FailureClass::Transient), "{agent} {lines}: {}", fault.message);
        }
    }
}

#[test]
fn a_stream_cut_in_its_last_line_has_failed() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        // Without its line feed and its closing brace.
        let cut = (Recording::load(agent, "first").stdout.len() - 2).to_string();
        for end in ["exit:0", "kill:15"] {
            let fault = player(agent, "first", &["--heed", "--cut", &cut, "--then", end]).fault();
            assert_eq!(fault.report.class, Some(FailureClass::Transient), "{agent} {end}");
        }
    }
}

#[test]
fn a_hung_stream_is_ended_with_all_its_tools() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        let mut driving = player(
            agent,
            "first",
            &["--heed", "--lines", "2", "--child", "--hold", "--then", "hang"],
        );
        driving.limits.idle = Duration::from_millis(500);
        let fault = driving.fault();
        assert_eq!(fault.report.class, Some(FailureClass::Transient), "{agent}: {}", fault.message);
    }
}

#[test]
fn recorded_failures_have_their_class_through_a_process_too() {
    use FailureClass::{Auth, Permanent, RateLimit, SessionLost};
    for (agent, name, end, class) in [
        ("claude", "end429", "exit:1", RateLimit),
        ("claude", "budget", "exit:1", Permanent),
        ("codex", "error401", "exit:1", Auth),
        ("codex", "badsession", "exit:1", SessionLost),
        ("gemini", "noauth", "exit:41", Auth),
        ("gemini", "untrusted", "exit:55", Permanent),
        ("pi", "error429", "exit:0", RateLimit),
    ] {
        let fault = player(agent, name, &["--heed", "--then", end]).fault();
        assert_eq!(fault.report.class, Some(class), "{agent}/{name}: {}", fault.message);
    }
}

#[test]
fn a_prompt_arrives_whole_however_long_it_is() {
    let mut driving = player("claude", "first", &["--prompt", "heard.txt"]);
    let prompt = "Käse und Brot. ".repeat(20_000);
    if let materia_engine::Work::Agent { prompt: text, .. } = &mut driving.stage.job.work {
        *text = prompt.as_str().into();
    }
    driving.answer();
    assert_eq!(driving.read("heard.txt"), prompt);
}
