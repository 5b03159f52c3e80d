//! A stream cut at any byte is never a success unless its last event was wholly there.

use materia_runners::agents::{Cut, Exit};

use super::{Recording, adapter, ask, code};

const AGENTS: [&str; 4] = ["claude", "codex", "gemini", "pi"];

/// How the process may have ended behind the cut.
fn exits() -> [Exit; 4] {
    let cut = |cut| Exit { signal: Some(9), cut: Some(cut), ..Exit::default() };
    [code(0), code(1), cut(Cut::Idle), cut(Cut::Wall)]
}

#[test]
fn a_part_of_a_line_says_nothing() {
    for agent in AGENTS {
        for recording in Recording::all(agent) {
            let mut reader = adapter(agent).reader(&ask());
            for line in recording.lines() {
                let settled = reader.settled();
                for end in 0..line.len() {
                    let news = reader.line(&line[..end]);
                    assert!(news.is_empty(), "{} at {end}", recording.name);
                    assert_eq!(reader.settled(), settled, "{} at {end}", recording.name);
                }
                reader.line(line);
            }
        }
    }
}

#[test]
fn a_stream_cut_behind_any_line_is_a_success_only_when_settled() {
    for agent in AGENTS {
        for recording in Recording::all(agent) {
            let lines = recording.lines();
            for count in 0..=lines.len() {
                for exit in exits() {
                    let mut reader = adapter(agent).reader(&ask());
                    for line in &lines[..count] {
                        reader.line(line);
                    }
                    let settled = reader.settled();
                    let ended = reader.finish(exit);
                    let name = &recording.name;
                    assert!(settled || ended.outcome.is_err(), "{name} cut behind line {count}");
                }
            }
        }
    }
}

#[test]
fn the_last_event_is_what_makes_a_turn_good() {
    for agent in AGENTS {
        let recording = Recording::load(agent, "first");
        let lines = recording.lines();
        let (last, before) = lines.split_last().unwrap();
        // All bytes but the closing brace, and then with it.
        for (end, good) in [(0, false), (1, false), (last.len() - 1, false), (last.len(), true)] {
            let mut reader = adapter(agent).reader(&ask());
            for line in before {
                reader.line(line);
            }
            reader.line(&last[..end]);
            assert_eq!(reader.finish(code(0)).outcome.is_ok(), good, "{agent} at {end}");
        }
    }
}

#[test]
fn bytes_lost_in_the_middle_never_make_a_success_of_a_failure() {
    for agent in AGENTS {
        for recording in Recording::all(agent) {
            let whole = {
                let mut reader = adapter(agent).reader(&ask());
                recording.lines().iter().for_each(|line| drop(reader.line(line)));
                reader.finish(code(0)).outcome.is_ok()
            };
            let bytes = &recording.stdout;
            for start in (0..bytes.len()).step_by(199) {
                let end = (start + 311).min(bytes.len());
                let torn = [&bytes[..start], &bytes[end..]].concat();
                let mut reader = adapter(agent).reader(&ask());
                torn.split(|byte| *byte == b'\n').for_each(|line| drop(reader.line(line)));
                let good = reader.finish(code(0)).outcome.is_ok();
                assert!(whole || !good, "{} without {start}..{end}", recording.name);
            }
        }
    }
}

#[test]
fn nonsense_is_ignored() {
    let deep = format!("{{\"type\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let nonsense: [&[u8]; 13] = [
        b"",
        b"\r",
        b"null",
        b"[]",
        b"\"result\"",
        b"{}",
        b"{\"type\":null}",
        b"{\"type\":\"result\"}{\"type\":\"result\"}",
        b"\xff\xfe{\"type\":\"result\"}",
        b"{\"type\":\"assistant\",\"message\":7}",
        b"{\"type\":\"item.completed\",\"item\":[]}",
        b"{\"type\":\"tomorrow.invented\",\"session_id\":42}",
        deep.as_bytes(),
    ];
    for agent in AGENTS {
        let mut reader = adapter(agent).reader(&ask());
        for line in nonsense {
            reader.line(line);
            reader.line(line);
            reader.stderr(line);
        }
        assert!(!reader.settled(), "{agent}");
        for line in Recording::load(agent, "first").lines() {
            reader.line(line);
            for line in nonsense {
                reader.line(line);
            }
        }
        assert!(reader.finish(code(0)).outcome.is_ok(), "{agent} is put off by nonsense");
    }
}

#[test]
fn figures_too_large_to_be_true_are_no_panic() {
    let huge = u64::MAX;
    let lines = [
        (
            "claude",
            format!(
                r#"{{"type":"result","subtype":"success","is_error":false,"result":"x","modelUsage":{{"a":{{"inputTokens":{huge},"cacheReadInputTokens":{huge},"outputTokens":{huge}}},"b":{{"inputTokens":{huge},"outputTokens":1}}}}}}"#
            ),
        ),
        (
            "claude",
            format!(
                r#"{{"type":"result","subtype":"success","is_error":false,"result":"x","usage":{{"input_tokens":{huge},"cache_read_input_tokens":{huge},"output_tokens":{huge}}}}}"#
            ),
        ),
        (
            "codex",
            format!(
                r#"{{"type":"turn.completed","usage":{{"input_tokens":{huge},"cached_input_tokens":{huge},"output_tokens":{huge}}}}}"#
            ),
        ),
        (
            "gemini",
            format!(
                r#"{{"type":"result","status":"success","stats":{{"input_tokens":{huge},"output_tokens":{huge},"models":{{"gemini-2.5-flash":{{"input_tokens":{huge},"cached":{huge},"output_tokens":{huge}}}}}}}}}"#
            ),
        ),
    ];
    let message = format!(
        r#"{{"type":"message_end","message":{{"role":"assistant","usage":{{"input":{huge},"output":{huge},"cacheRead":1}}}}}}"#
    );
    let mut pi = adapter("pi").reader(&ask());
    pi.line(message.as_bytes());
    pi.line(message.as_bytes());
    assert_eq!(pi.finish(code(0)).usage.output_tokens, Some(huge));
    for (agent, line) in lines {
        let mut reader = adapter(agent).reader(&ask());
        reader.line(line.as_bytes());
        assert!(reader.settled(), "{agent}");
        reader.finish(code(0));
    }
}
