//! `MATERIA_LOG`: content of the log, and data that never appears in it.

use serde_json::json;

use crate::bench::{Bench, Ran};

/// Each is in one place where a cast meets it: prompt, request, parameters, output of both kinds, what is
/// said on the side, environment, command line.
const SECRETS: [&str; 8] = [
    "sk-prompt-1f3a",
    "sk-request-1f3a",
    "sk-params-1f3a",
    "sk-answer-1f3a",
    "sk-stdout-1f3a",
    "sk-stderr-1f3a",
    "sk-environment-1f3a",
    "sk-argument-1f3a",
];

fn told(log: Option<&str>) -> Ran {
    let [prompt, request, params, answer, stdout, stderr, environment, argument] = SECRETS;
    let bench = Bench::with(&json!({
        "activeLoadout": "L",
        "loadouts": {"L": {
            "entry": "Ask",
            "sockets": {
                "Ask": {"materia": "ask", "edges": [{"when": "always", "to": "Run"}]},
                "Run": {"materia": "run", "edges": [{"when": "always", "to": "end"}]},
            },
        }},
        "materia": {
            "ask": {"type": "agent", "tools": "none", "prompt": format!("Keep {prompt} to yourself.")},
            "run": {
                "type": "utility",
                "command": ["sh", "-c", format!("cat; echo {stdout}; echo {stderr} >&2; exit 3"), argument],
                "params": {"key": params},
            },
        },
    }));
    bench.write("s.json", &json!({"turns": {"Ask": [{"text": answer}]}}).to_string());
    let args = ["cast", "--trust", "--script", "s.json", "--cast-id", "c1", request];
    let mut command = bench.command(&args);
    command.env("SOME_KEY", environment).env_remove("MATERIA_LOG");
    if let Some(log) = log {
        command.env("MATERIA_LOG", log);
    }
    command.output().unwrap().into()
}

fn is_log(line: &&str) -> bool {
    ["materia_engine", "materia_journal", "materia_runners"].iter().any(|part| line.contains(part))
}

#[test]
fn casts_and_turns_are_named_and_nothing_of_what_is_in_them() {
    let (plain, logged) = (told(None), told(Some("trace")));
    assert_eq!((plain.exit, logged.exit, &plain.out), (1, 1, &logged.out));
    assert_eq!(plain.err.lines().filter(is_log).count(), 0, "off by default: {}", plain.err);
    let lines: Vec<&str> = logged.err.lines().filter(is_log).collect();
    let has = |what: &[&str]| lines.iter().any(|line| what.iter().all(|word| line.contains(word)));
    assert!(has(&["cast{id=c1}", "turn{", "node=Ask", "attempt=1", "done"]), "{lines:#?}");
    assert!(has(&["cast{id=c1}", "node=Run", "failed", "utility_failed"]), "{lines:#?}");
    assert!(has(&["materia_journal", "committed"]), "{lines:#?}");
    assert!(has(&["materia_runners", "starts a program"]), "{lines:#?}");
    assert!(has(&["at rest", "failed"]), "{lines:#?}");
    for secret in SECRETS {
        assert!(!has(&[secret]), "{secret}: {lines:#?}");
        // Nor elsewhere: a person is shown the same with it and without.
        let shown = |ran: &Ran| ran.err.matches(secret).count();
        assert_eq!(shown(&plain), shown(&logged), "{secret}");
    }
}

#[test]
fn a_filter_that_is_none_is_said() {
    let ran = told(Some("a=b=c"));
    assert_eq!(ran.exit, 1);
    assert!(ran.err.contains("warning: MATERIA_LOG is `a=b=c`, which is no filter"), "{}", ran.err);
    assert_eq!(ran.err.lines().filter(is_log).count(), 1, "only the example names a part");
}
