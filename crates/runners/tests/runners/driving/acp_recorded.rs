//! The generic agent against protocol recordings of real programs.

use std::fs;
use std::path::PathBuf;

use materia_contract::{FailureClass, GlobalMode, Uuid};
use materia_runners::agents::acp::Acp;
use materia_runners::agents::{
    Adapter, AgentSession, AgentSettings, Ask, Ended, Exit, SessionPlan,
};

/// Answer of the model in all recordings.
const ANSWER: &str = r#"{"satisfied": true, "context": "ok"}"#;

fn recording(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/acp");
    fs::read(folder.join(format!("{name}.jsonl"))).unwrap()
}

/// The session that a recording is about.
fn session_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let (_, rest) = text.split_once("\"sessionId\":\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Outcome of a turn with this output of the agent.
fn play(bytes: &[u8], resumed: Option<&str>) -> Ended {
    let session = match resumed {
        None => SessionPlan::Fresh { id: Uuid::nil() },
        Some(id) => SessionPlan::Resume(AgentSession {
            agent: "mine".to_owned(),
            id: id.to_owned(),
            totals: None,
        }),
    };
    let ask = Ask {
        prompt: "turn one".to_owned(),
        cwd: "/project".into(),
        run_dir: "/project/.materia/c".into(),
        scratch: "/project/.materia/c/tmp".into(),
        session,
        tools: None,
        mode: GlobalMode::Implementation,
        doc_root: "docs".to_owned(),
        confined: false,
        network: None,
        model: None,
        schema: None,
        settings: AgentSettings::default(),
    };
    let acp = Acp { name: "mine".to_owned(), command: vec!["mine".to_owned()] };
    let mut reader = acp.reader(&ask);
    for line in bytes.split(|byte| *byte == b'\n') {
        reader.line(line);
        reader.reply();
    }
    reader.finish(Exit { code: Some(0), ..Exit::default() })
}

#[test]
fn every_recorded_agent_is_understood() {
    for name in ["claude", "codex", "gemini", "opencode", "pi"] {
        let bytes = recording(name);
        let ended = play(&bytes, None);
        let answer = ended.outcome.unwrap_or_else(|fault| panic!("{name}: {}", fault.message)).text;
        // One of them begins with a banner, which the contract's own rule looks past.
        assert!(answer.ends_with(ANSWER), "{name}: {answer}");
        assert_eq!(name == "pi", answer != ANSWER, "{name}: {answer}");
        assert_eq!(ended.session.unwrap().id, session_of(&bytes), "{name}");
        let tokens = ended.usage.output_tokens;
        assert_eq!(tokens.is_some(), !["gemini", "pi"].contains(&name), "{name}: {tokens:?}");
    }
}

#[test]
fn a_past_that_is_told_again_is_not_the_answer() {
    for name in ["claude-load", "codex-load", "gemini-load", "opencode-load", "pi-load"] {
        let bytes = recording(name);
        let ended = play(&bytes, Some(&session_of(&bytes)));
        let answer = ended.outcome.unwrap_or_else(|fault| panic!("{name}: {}", fault.message)).text;
        assert_eq!(answer, ANSWER, "{name}");
        assert_eq!(ended.usage.cost, None, "{name}: what this turn cost is not known");
    }
}

#[test]
fn a_session_that_is_gone_is_told_as_such() {
    let ended = play(&recording("gemini-load-fail"), Some("b62c"));
    assert_eq!(ended.outcome.unwrap_err().class, FailureClass::SessionLost);
    assert_eq!(ended.session, None);
}

#[test]
fn no_stream_that_was_cut_is_a_success() {
    for name in ["claude", "codex", "gemini", "opencode", "pi"] {
        let bytes = recording(name);
        let whole = bytes.trim_ascii_end().len();
        for end in 0..whole {
            let near_a_line_end = bytes[end] == b'\n' || end + 400 > whole || end % 97 == 0;
            if near_a_line_end {
                assert!(play(&bytes[..end], None).outcome.is_err(), "{name} cut at {end}");
            }
        }
        assert!(play(&bytes[..whole], None).outcome.is_ok());
    }
}
