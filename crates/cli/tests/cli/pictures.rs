//! Findings as people see them.

use crate::bench::Bench;

#[test]
fn a_fault_is_drawn_under_its_line() {
    let bench = Bench::new();
    bench.write(
        "materia.json",
        r#"{
  // a way that leads nowhere
  "activeLoadout": "L",
  "loadouts": { "L": { "entry": "Start", "sockets": {
    "Start": { "materia": "M", "edges": [ { "to": "Biuld" } ] },
    "Build": { "materia": "M" }
  } } },
  "materia": { "M": { "prompt": "Build it." } }
}
"#,
    );
    let ran = bench.run(&["check"]).exits(2);
    assert!(
        ran.err.contains(
            " --> materia.json:5:51\n  \
               |\n\
             5 |     \"Start\": { \"materia\": \"M\", \"edges\": [ { \"to\": \"Biuld\" } ] },\n  \
               |                                                   ^^^^^^^\n"
        ),
        "{}",
        ran.err
    );
    assert!(ran.err.starts_with("error[graph::unknown-target]: "), "{}", ran.err);
    assert!(ran.err.contains("Build`"), "the help names the nearest: {}", ran.err);
}

#[test]
fn hostile_names_are_shown_as_signs() {
    let bench = Bench::new();
    bench.write(
        "materia.json",
        "{\"activeLoadout\": \"\\u001b[2J\\u0007x\", \"loadouts\": {\"a\\u009bb\": {\"entry\": \"\\u202e\", \"sockets\": {\"\\u001b]0;t\\u0007\": {}}}}}",
    );
    for args in [&["check"][..], &["cast", "go"], &["grid"]] {
        let ran = bench.run(args).exits(2);
        let raw = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!ran.err.chars().any(raw), "{:?}", ran.err);
    }
}

#[test]
fn a_configuration_on_one_line_does_not_flood() {
    let bench = Bench::new();
    let sockets: Vec<_> = (0..200)
        .map(|n| {
            format!("\"s{n}\": {{\"materia\": \"M\", \"edges\": [{{\"to\": \"nowhere{n}\"}}]}}")
        })
        .collect();
    let text = format!(
        "{{\"loadouts\": {{\"L\": {{\"entry\": \"s0\", \"sockets\": {{{}}}}}}}, \"materia\": {{\"M\": {{\"prompt\": \"x\"}}}}}}",
        sockets.join(", ")
    );
    bench.write("materia.json", &text);
    let ran = bench.run(&["check"]).exits(2);
    assert!(ran.err.len() < 60_000, "{}", ran.err.len());
    assert!(ran.err.contains("more\n"), "the rest is counted");
    let all = bench.run(&["check", "--json"]).exits(2).json();
    assert!(all["error"]["findings"].as_array().unwrap().len() >= 200, "programs get all of it");
}

#[test]
fn warnings_are_shown_and_refuse_nothing() {
    let bench = Bench::new();
    bench.write(
        "materia.json",
        r#"{"colour": 1, "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "M"}}}}, "materia": {"M": {"prompt": "x"}}}"#,
    );
    let ran = bench.run(&["check", "--json"]).exits(0);
    assert_eq!(ran.json()["findings"][0]["severity"], "warning");
    assert!(ran.err.contains("warning["), "{}", ran.err);
}
