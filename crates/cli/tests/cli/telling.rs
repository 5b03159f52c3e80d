//! How much is told, and of what: pictures, filters, pages, and what is left out.

use serde_json::json;

use crate::bench::{Bench, agents, finish, until};

/// One that ticks, one that asks, and a way back with a bound.
fn ticking(ends_with: &str) -> Bench {
    let look = format!("echo x >> looked; {ends_with}");
    Bench::with(&json!({
        "loadouts": { "L": { "entry": "look", "sockets": {
            "look": {
                "materia": "Look", "trigger": "scheduled", "intervalMs": 100, "budgets": { "turns": 1000 }, "routing": "all",
                "edges": [{ "when": "satisfied", "to": "tell", "dedupeBy": "contentHash" }],
            },
            "tell": {
                "materia": "Tell", "approval": "before", "routing": "all",
                "edges": [{ "to": "tell", "maxTraversals": 3 }],
            },
        } } },
        "materia": {
            "Look": { "type": "utility", "command": ["sh", "-c", look], "verdict": "exitCode" },
            "Tell": { "type": "utility", "command": ["true"] },
        },
    }))
}

#[test]
fn a_picture_in_ascii_says_all_that_the_other_says() {
    let bench = ticking("false");
    let plain = bench.run(&["grid", "--ascii"]).exits(0).out;
    assert!(plain.is_ascii(), "{plain}");
    let fine = bench.run(&["grid"]).exits(0).out;
    for (said, in_ascii) in [
        ("every 100 ms", "every 100 ms"),
        ("asks for approval", "asks for approval"),
        ("≤3×", "<=3x"),
    ] {
        assert!(fine.contains(said), "{said}: {fine}");
        assert!(plain.contains(in_ascii), "{in_ascii}: {plain}");
    }
    let width = |text: &str| text.lines().map(|line| line.chars().count()).max();
    assert!(width(&plain) <= width(&fine).map(|it| it + 4), "{plain}");
    let list = bench.run(&["grid", "--ascii", "--list"]).exits(0).out;
    assert!(list.is_ascii() && list.contains("at most 3 times"), "{list}");
}

#[test]
fn a_tick_takes_two_lines_and_the_way_on_is_said_once() {
    for ends_with in ["false", "true"] {
        a_tick_takes_two_lines(ends_with);
    }
}

/// Whether nothing was found, or each time the same.
fn a_tick_takes_two_lines(ends_with: &str) {
    let bench = ticking(ends_with);
    let child = bench.start(&["cast", "--trust", "--no-request", "--cast-id", "c1"]);
    until("it has looked thrice", || {
        bench.has("looked") && bench.read("looked").lines().count() >= 3
    });
    let id = rustix_pid(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let ran = finish(child).exits(130);
    let turns = bench.run(&["show", "c1", "--json"]).exits(0).json()["usage"]["turns"].clone();
    let turns = usize::try_from(turns.as_u64().unwrap()).unwrap();
    let about_look = ran.err.lines().filter(|line| line.starts_with("look ")).count();
    assert!(about_look <= 2 * turns, "{turns} turns: {}", ran.err);
    assert_eq!(ran.err.matches("materia resume c1").count(), 1, "{}", ran.err);
    let asked = usize::from(ends_with == "true");
    assert_eq!(ran.err.matches("waits for approval").count(), asked, "asked once: {}", ran.err);
    assert!(ran.err.lines().count() <= 2 * turns + 8, "{}", ran.err);
}

fn rustix_pid(child: &std::process::Child) -> rustix::process::Pid {
    rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap()
}

#[test]
fn quiet_says_errors_and_warnings_only() {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    let ran = bench.run(&["cast", "--quiet", "--script", "s.json", "--cast-id", "c1", "go"]);
    let ran = ran.exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    let ran = bench.run(&["-q", "cast", "--script", "s.json", "--json", "go"]).exits(0);
    assert_eq!((ran.json()["status"].clone(), ran.err.as_str()), (json!("completed"), ""));
    // What was asked for is data, and is there; what is wrong is said.
    assert!(bench.run(&["show", "c1", "-q"]).exits(0).out.contains("completed"));
    assert!(bench.run(&["show", "nobody", "--quiet"]).exits(2).err.starts_with("error: "));
    let mut odd = config;
    odd["colour"] = json!(1);
    bench.write("materia.json", &odd.to_string());
    assert!(bench.run(&["check", "--quiet"]).exits(0).err.contains("warning["));
}

#[test]
fn casts_and_events_are_filtered_and_limited() {
    let (mut config, script) = agents(&["a", "b"]);
    config["loadouts"]["Other"] = config["loadouts"]["L"].clone();
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    let cast = ["cast", "--script", "s.json", "--cast-id"];
    bench.run(&[&cast[..], &["one", "go"]].concat()).exits(0);
    bench.run(&[&cast[..], &["two", "--loadout", "Other", "go"]].concat()).exits(0);
    bench.run(&[&cast[..], &["three", "--interactive", "go"]].concat()).exits(3);
    let ids = |args: &[&str]| -> Vec<String> {
        let lines = bench.run(&[&["casts", "--json"], args].concat()).exits(0).lines();
        lines.iter().map(|line| line["castId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&[]), ["three", "two", "one"]);
    assert_eq!(ids(&["--limit", "2"]), ["three", "two"]);
    assert_eq!(ids(&["--status", "completed"]), ["two", "one"]);
    assert_eq!(ids(&["--status", "completed", "--loadout", "L"]), ["one"]);
    assert_eq!(ids(&["--status", "failed"]), [""; 0]);
    bench.run(&["casts", "--status", "done"]).exits(2);
    let types = |args: &[&str]| -> Vec<(u64, String, String)> {
        let lines = bench.run(&[&["events", "one", "--json"], args].concat()).exits(0).lines();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let one = |line: &serde_json::Value| {
            (line["seq"].as_u64().unwrap(), text(&line["type"]), text(&line["nodeId"]))
        };
        lines.iter().map(one).collect()
    };
    let all = types(&[]);
    let turns = types(&["--type", "turn"]);
    assert_eq!(turns.len(), 4, "{turns:?}");
    assert!(turns.iter().all(|(_, kind, _)| kind.starts_with("turn.")), "{turns:?}");
    assert_eq!(types(&["--type", "turn.started", "--socket", "b"]).len(), 1);
    assert!(types(&["--socket", "b"]).iter().all(|(_, _, node)| node == "b"));
    assert_eq!(types(&["--last", "3"]), all[all.len() - 3..]);
    assert_eq!(types(&["--after", "2"]), all[2..]);
    let refused = bench.run(&["events", "one", "--type", "turn.strated"]).exits(2).err;
    assert!(
        refused.contains("no event type `turn.strated`; did you mean `turn.started`?"),
        "{refused}"
    );
    let refused = bench.run(&["events", "one", "--type", "nonsense"]).exits(2).err;
    assert!(refused.contains("groups of types: agents, approval, "), "{refused}");
}

#[test]
fn help_and_manual_pages_come_from_one_source() {
    let bench = Bench::new().asking();
    bench.run(&["man", "pages"]).exits(0);
    let help = bench.run(&["--help"]).exits(0).out;
    let commands = help.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut names: Vec<&str> =
        commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.retain(|name| *name != "help");
    assert!(names.len() > 25, "{names:?}");
    for name in &names {
        let page = bench.read(&format!("pages/materia-{name}.1"));
        assert!(page.contains("SH SYNOPSIS"), "{name}: {page}");
        let short = bench.run(&["help", name]).exits(0).out;
        assert_eq!(short, bench.run(&[name, "--help"]).exits(0).out, "{name}");
        // Inner commands and options that mean nothing there are on no page.
        assert!(!page.contains("__") && !short.contains("__"), "{name}");
    }
    assert!(bench.read("pages/materia.1").contains("materia"));
    assert!(!bench.run(&["help", "approve"]).exits(0).out.contains("--cast-id"));
    assert!(bench.run(&["help", "cast"]).exits(0).out.contains("--cast-id"));
    for name in ["why", "trigger", "approve", "output", "events"] {
        let help = bench.run(&["help", name]).exits(0).out;
        assert!(help.contains("SOCKET") && !help.contains("<NODE>"), "one word for it: {help}");
    }
}

/// A warning is shown once for a project; then it is counted, until its text changes.
#[test]
fn warnings_that_were_shown_before_are_one_line() {
    let config = |field: &str| {
        json!({
            "activeLoadout": "L",
            "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
            "materia": { "M": { "type": "utility", "command": ["true"], field: 1 } },
        })
        .to_string()
    };
    let bench = Bench::new();
    bench.write("materia.json", &config("odd"));
    let cast = ["cast", "--no-request"];
    let first = bench.run(&cast).exits(0);
    assert!(first.err.contains("document::unknown-field"), "{first:?}");
    assert!(!first.err.contains("shown before"), "{first:?}");
    bench.write("materia.json", &format!("\n{}", config("odd")));
    let again = bench.run(&cast).exits(0);
    assert!(!again.err.contains("document::unknown-field"), "{again:?}");
    let line = "1 warning, shown before: `materia check` shows them again\n";
    assert!(again.err.contains(line), "{again:?}");
    let checked = bench.run(&["check"]).exits(0);
    assert!(checked.err.contains("document::unknown-field"), "{checked:?}");
    bench.write("materia.json", &config("other"));
    let other = bench.run(&cast).exits(0);
    assert!(other.err.contains("document::unknown-field"), "{other:?}");

    // Where nothing can be kept, they are shown each time.
    let kept = bench.state().join("shown-warnings");
    std::fs::remove_file(&kept).unwrap();
    std::fs::create_dir(&kept).unwrap();
    for _ in 0..2 {
        let shown = bench.run(&cast).exits(0);
        assert!(shown.err.contains("document::unknown-field"), "{shown:?}");
    }
}
