//! Output of `why`; its advice works.

use serde_json::json;

use crate::bench::{Bench, agents};

/// The command lines behind "To let it run:", as words.
fn advised(out: &str) -> Vec<Vec<String>> {
    let (_, advice) = out.split_once("To let it run:\n").unwrap();
    let lines = advice.lines().map(|line| line.trim().strip_prefix("materia ").unwrap());
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn follow(bench: &Bench, out: &str) {
    for words in advised(out) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        bench.run(&words);
    }
}

#[test]
fn the_tree_is_drawn_and_its_advice_can_be_typed() {
    let (mut config, script) = agents(&["a", "b"]);
    config["loadouts"]["L"]["sockets"]["b"]["approval"] = json!("before");
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    bench.run(&["cast", "--script", "s.json", "--cast-id", "c1", "go"]).exits(3);
    let out = bench.run(&["why", "c1", "b"]).exits(0).out;
    assert!(out.starts_with("`b` has not run: its input waits for a person's approval"), "{out}");
    for line in [
        "\nIt does not start by itself:\n",
        "  ✓ input: 1 payload waits\n    ✓ `a` completed with no verdict (event 6) and sent it",
        "  ✗ approval: the turn waits for a person's approval (event 9)\n",
        "  ✓ pace, mode, control, trigger, room, dependencies, budget, runBudget, concurrency\n",
        "\nTo let it run:\n  materia approve c1 b\n",
    ] {
        assert!(out.contains(line), "{line:?} in {out}");
    }
    follow(&bench, &out);
    let report = bench.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(report["visits"][1]["socket"], "b");
}

#[test]
fn advice_about_the_past_is_a_fork_that_works() {
    let (mut config, script) = agents(&["a", "b", "c"]);
    config["loadouts"]["L"]["sockets"]["a"]["edges"] = json!([{ "to": "end" }]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    bench.run(&["cast", "--script", "s.json", "--cast-id", "c1", "go"]).exits(0);
    let out = bench.run(&["why", "c1", "c"]).exits(0).out;
    let advice =
        "  materia fork c1 --at 6 --interactive --cast-id c1-fork\n  materia trigger c1-fork c\n";
    assert!(out.ends_with(advice), "{out}");
    follow(&bench, &out);
    let report = bench.run(&["show", "c1-fork", "--json"]).exits(0).json();
    assert_eq!(report["visits"][1]["socket"], "c", "{report}");
    let runnable = bench.run(&["why", "c1", "a", "--at", "2"]).exits(0).out;
    assert!(runnable.contains("It is about to start: every condition holds."), "{runnable}");
}
