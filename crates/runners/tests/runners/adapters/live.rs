//! Live output of an agent.

use std::path::PathBuf;

use materia_runners::agents::LiveEvent;

use super::{Recording, adapter, ask};

fn news(agent: &str, name: &str) -> Vec<LiveEvent> {
    let mut reader = adapter(agent).reader(&ask());
    Recording::load(agent, name).lines().iter().flat_map(|line| reader.line(line)).collect()
}

#[test]
fn the_answer_appears_as_it_is_written() {
    for agent in ["claude", "gemini", "pi"] {
        let mut pieces: Vec<String> = Vec::new();
        for news in news(agent, "first") {
            if let LiveEvent::Delta(text) = news {
                pieces.push(text);
            }
        }
        assert!(pieces.len() > 1, "{agent}");
        assert_eq!(pieces.concat(), r#"{"satisfied": true, "context": "ok"}"#, "{agent}");
    }
    let said = news("codex", "first");
    assert!(
        said.contains(&LiveEvent::Message(r#"{"satisfied": true, "context": "ok"}"#.to_owned()))
    );
}

#[test]
fn files_are_named_when_they_were_written_and_not_before() {
    for (agent, name, file) in [
        ("claude", "write-acceptedits", "/project/a.txt"),
        ("codex", "patch", "/project/c.txt"),
        ("gemini", "yolo-write", "/project/a.txt"),
        ("pi", "write", "a.txt"),
    ] {
        let mut files: Vec<PathBuf> = Vec::new();
        for news in news(agent, name) {
            if let LiveEvent::File(path) = news {
                files.push(path);
            }
        }
        assert_eq!(files, [PathBuf::from(file)], "{agent}");
    }
    for (agent, name) in [("gemini", "default-write"), ("pi", "readonly")] {
        let written = news(agent, name).iter().any(|news| matches!(news, LiveEvent::File(_)));
        assert!(!written, "{agent} wrote nothing");
    }
}

#[test]
fn tools_are_named_with_what_they_are_used_on() {
    let calls = news("gemini", "yolo-write");
    let shell = LiveEvent::Tool {
        name: "run_shell_command".to_owned(),
        about: "echo hi > b.txt".to_owned(),
    };
    assert!(calls.contains(&shell), "{calls:?}");
    let failed = LiveEvent::ToolDone { name: "shell".to_owned(), ok: false };
    assert!(news("codex", "ro-exec").contains(&failed));
}

#[test]
fn tries_and_warnings_are_shown() {
    let tries = |agent: &str, name: &str| {
        news(agent, name).iter().filter(|news| matches!(news, LiveEvent::Retry(_))).count()
    };
    assert_eq!(tries("claude", "error401"), 7);
    assert_eq!(tries("codex", "error500"), 3);
    assert!(tries("pi", "error429") > 0);
    let warned = news("codex", "first");
    assert!(
        warned
            .iter()
            .any(|news| matches!(news, LiveEvent::Warning(text) if text.contains("gpt-fake")))
    );
}
