//! Hostile input.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use materia_compiler::{CONFIG_BYTES_MAX, check, load};
use materia_contract::Finding;

use crate::support::{Project, render};

fn codes(text: impl AsRef<[u8]>) -> Vec<String> {
    Project::with(text).check().into_iter().map(|finding| finding.code).collect()
}

#[test]
fn ten_megabytes_are_refused_unread() {
    let mut text = "{\"x\": \"".to_owned();
    text.push_str(&"a".repeat(10_000_000));
    text.push_str("\"}");
    assert_eq!(codes(&text), ["config::too-large"]);
    let most = usize::try_from(CONFIG_BYTES_MAX).unwrap();
    assert_eq!(codes(format!("{{}}{}", " ".repeat(most - 2))), Vec::<String>::new());
    assert_eq!(codes(format!("{{}}{}", " ".repeat(most - 1))), ["config::too-large"]);
}

#[test]
fn deep_nesting_is_refused_and_harms_nothing() {
    for depth in [200, 600, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = if open == "[" { "" } else { "1" };
            let nested = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(
                codes(format!("{{\"x\": {nested}}}")),
                ["document::too-deep"],
                "{depth}{open}"
            );
            assert_eq!(codes(format!("{{\"x\": {}", open.repeat(depth))).len(), 1);
        }
    }
    let fits = format!("{{\"x\": {}{}}}", "[".repeat(127), "]".repeat(127));
    assert_eq!(codes(fits), ["document::unknown-field"]);
    let too_deep = format!("{{\"x\": {}{}}}", "[".repeat(128), "]".repeat(128));
    assert_eq!(codes(too_deep), ["document::too-deep"]);
    // Brackets in text and comments open nothing.
    let quoted = format!("{{\"description\": 1, // {0}\n \"docRoot\": \"{0}\"}}", "[".repeat(1000));
    assert_eq!(codes(quoted), ["document::unknown-field"]);
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let project = Project::with(b"{\n \"a\": \"\xff\xfe\"}");
    assert_eq!(
        render(&project.check()),
        "error config::not-utf8 2:8: the file is not UTF-8 text from here on"
    );
    assert_eq!(codes(b"\0"), ["document::syntax"]);
    assert_eq!(codes(b"{\"a\": \0}"), ["document::syntax"]);
}

#[test]
fn numbers_beyond_all_bounds_are_refused() {
    let huge = "9".repeat(400);
    for (number, code) in [
        ("1e999", "document::bad-number"),
        (huge.as_str(), "document::bad-number"),
        ("99999999999999999999", "document::bad-number"),
        ("1e30", "document::out-of-range"),
        ("-1", "document::out-of-range"),
        ("1.5", "document::wrong-type"),
        ("1.0", "document::wrong-type"),
    ] {
        let text =
            format!("{{\"materia\": {{\"m\": {{\"prompt\": \"p\", \"timeoutMs\": {number}}}}}}}");
        assert_eq!(codes(&text).first().map(String::as_str), Some(code), "{number}");
    }
}

#[test]
fn an_integer_of_more_than_64_bits_is_refused_wherever_it_stands() {
    let check = |number: &str| {
        let params = format!("{{\n \"id\": \"{number}\",\n \"list\": [1, {number}]\n}}");
        let utility =
            format!("{{\"type\": \"utility\", \"command\": [\"true\"], \"params\": {params}}}");
        render(&Project::with(format!("{{\"materia\": {{\"m\": {utility}}}}}")).check())
    };
    for held in ["18446744073709551615", "-9223372036854775808", "1e30"] {
        assert_eq!(check(held), "", "{held}");
    }
    for wide in ["18446744073709551616", "-9223372036854775809"] {
        let told = format!(
            "error document::bad-number 3:14 /materia/m/params/list/1: the integer {wide} has more than 64 bits"
        );
        assert_eq!(check(wide), told);
    }
}

#[test]
fn an_amount_beyond_all_bounds_is_refused() {
    for budget in
        ["\"budget\": {\"maxCost\": 1e30}", "\"agents\": {\"claude\": {\"maxTurnCost\": 1e19}}"]
    {
        assert_eq!(codes(format!("{{{budget}}}")), ["document::out-of-range"], "{budget}");
    }
}

#[test]
fn thousands_of_faults_are_counted_and_an_error_among_them_is_not_lost() {
    let mut text = "{".to_owned();
    for n in 0..50_000 {
        let _ = write!(text, "\"unknown{n}\": 1, ");
    }
    text.push_str("\"docRoot\": 5}");
    let (_, findings) = load(&Project::with(&text).sources);
    assert!(findings.len() < 500);
    assert!(findings.iter().any(|finding| finding.code == "document::wrong-type"));
    let last = findings.last().unwrap();
    assert_eq!(last.code, "document::too-many");
    assert_eq!(last.message, "49600 more findings are not shown");
}

/// How many findings of each code there are, and what the last one says.
fn tally(findings: &[Finding]) -> (BTreeMap<&str, usize>, &str) {
    let mut tally = BTreeMap::new();
    for finding in findings {
        *tally.entry(finding.code.as_str()).or_default() += 1;
    }
    (tally, findings.last().map_or("", |last| last.message.as_str()))
}

#[test]
fn every_edge_of_a_large_graph_is_checked() {
    let mut text = "{\"materia\": {\"m\": {\"prompt\": \"p\"}}, \"loadouts\": {\"L\": {\"entry\": \"s0\", \"sockets\": {".to_owned();
    for n in 0..5_000 {
        let _ = write!(
            text,
            "\"s{n}\": {{\"materia\": \"m\", \"edges\": [{{\"to\": \"s{}\"}}]}},",
            (n + 1) % 5_000
        );
    }
    text.push_str("\"wide\": {\"materia\": \"n\", \"edges\": [");
    for n in 0..20_000 {
        let _ = write!(
            text,
            "{{\"where\": {{\"path\": \"state.a\", \"equals\": {n}}}, \"to\": \"x{n}\"}},"
        );
    }
    text.push_str("]}}}}}");
    let project = Project::with(&text);
    let findings = check(&load(&project.sources).0);
    // The materia of the wide socket, and each of its targets. What it costs is measured in `bench`.
    let (found, last) = tally(&findings);
    let expected =
        [("document::too-many", 1), ("graph::unknown-materia", 1), ("graph::unknown-target", 399)];
    assert_eq!(found, expected.into());
    assert_eq!(last, format!("{} more findings are not shown", 1 + 20_000 - 400));
}

#[test]
fn every_exit_of_many_loops_is_checked() {
    let mut text = "{\"materia\": {\"m\": {\"prompt\": \"p\"}}, \"loadouts\": {\"L\": {\"entry\": \"s0\", \"sockets\": {".to_owned();
    let mut members = String::new();
    for n in 0..3_000 {
        let _ = write!(text, "\"s{n}\": {{\"materia\": \"m\", \"advance\": {{}}}},");
        let _ = write!(members, "\"s{n}\",");
    }
    text.push_str("}, \"loops\": {");
    for n in 0..3_000 {
        let _ = write!(text, "\"l{n}\": {{\"sockets\": [\"s{n}\", \"s{}\"]}},", n + 1);
    }
    let _ = write!(text, "\"all\": {{\"sockets\": [{members}], \"exits\": [");
    for n in 0..20_000 {
        let _ = write!(
            text,
            "{{\"id\": \"e{n}\", \"from\": \"s{n}\", \"condition\": \"satisfied\", \"targetSocketId\": \"x\"}},"
        );
    }
    text.push_str("]}}}}}");
    let project = Project::with(&text);
    let findings = check(&load(&project.sources).0);
    // The member that is not there, and for each exit its source or its form, and its target.
    let (found, last) = tally(&findings);
    let expected =
        [("document::too-many", 1), ("loop::exit-target", 399), ("loop::unknown-member", 1)];
    assert_eq!(found, expected.into());
    assert_eq!(last, format!("{} more findings are not shown", 1 + 2 * 20_000 - 400));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_project_file_is_not_waited_for() {
    let project = Project::new();
    let made = std::process::Command::new("mkfifo").arg(project.path("materia.json")).status();
    assert!(made.unwrap().success(), "without a pipe there is nothing to see");
    assert_eq!(
        render(&project.check()),
        "error config::unreadable -: `materia.json` cannot be read: it is not a regular file"
    );
}

#[test]
fn strange_names_are_data() {
    let project = Project::with(
        r#"{"materia": {"": {"prompt": "p"}, "a/b~c\n": {"type": "utility"}}, "loadouts": {"": {"entry": "", "sockets": {"": {"materia": ""}}}}}"#,
    );
    let findings = project.check();
    let found: Vec<_> =
        findings.iter().map(|one| (one.code.as_str(), one.pointer.as_str())).collect();
    assert_eq!(
        found,
        [("utility::no-command", "/materia/a~1b~0c\n"), ("graph::bad-id", "/loadouts//sockets/")]
    );
}
