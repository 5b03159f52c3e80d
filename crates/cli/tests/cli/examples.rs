//! The examples that people copy: each is sound and runs to its end without a model.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

fn example(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    folder.canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
}

/// Checks a loadout and casts it with its script.
fn cast(bench: &Bench, name: &str, script: &str) -> Ran {
    let (config, script) = (example(name), example(script));
    let found = bench.run(&["check", &config, "--json"]).exits(0).json();
    assert_eq!(found["findings"], json!([]), "{name}");
    let text = std::fs::read_to_string(&config).unwrap();
    assert!(text.contains("\"$schema\": \"../schemas/config.schema.json\""), "{name}");
    let args =
        ["cast", "--config", &config, "--script", &script, "--cast-id", "c1", "--json", "go"];
    bench.run(&args)
}

fn visited(report: &Value) -> String {
    let visits = report["visits"].as_array().unwrap().iter();
    let short = |visit: &Value| visit["socket"].as_str().unwrap().replace("Socket-", "");
    visits.map(short).collect::<Vec<_>>().join(" ")
}

#[test]
fn hello() {
    let bench = Bench::new();
    let config = example("hello.json");
    let found = bench.run(&["check", &config, "--json"]).exits(0).json();
    assert_eq!(found["findings"], json!([]), "hello.json");
    let args = ["cast", "--config", &config, "--cast-id", "c1", "--json", "say hello"];
    assert_eq!(visited(&bench.run(&args).exits(0).json()), "hello");
}

#[test]
fn graph_semantics() {
    let bench = Bench::new();
    bench.write(".git/HEAD", "");
    let ran = cast(&bench, "graph-semantics-loadout.json", "graph-semantics-script.json").exits(0);
    let report = ran.json();
    assert_eq!(visited(&report), "1 2 3 4 5 6 4 5 4 5 6 4 5 6 7");
    assert_eq!(report["state"]["hidden"]["changed"], true);
    assert_eq!(bench.read(".gitignore"), ".materia/\n");
    assert!(bench.read("search.txt").ends_with("nothing found\n"));
    assert!(ran.err.contains("sends WI-2 Search results back to Socket-4: The list is not sorted"));
    let config = example("graph-semantics-loadout.json");
    let grid = bench.run(&["grid", "--config", &config, "--json"]).exits(0).json();
    assert_eq!(grid["loops"]["workItemIteration"]["consumes"], "Socket-3");
    assert_eq!(grid["loops"]["workItemIteration"]["exits"][1]["to"], "Socket-8");
    assert_eq!(grid["sockets"][2]["generator"], true);
    let why = bench.run(&["why", "c1", "Socket-8", "--config", &config]).exits(0).out;
    assert!(why.contains("has not run") && why.contains("workItemIteration"), "{why}");
    let why = bench.run(&["why", "c1", "Socket-7", "--config", &config]).exits(0).out;
    assert!(why.contains("loop-exit:workItemIteration:exit:Socket-6:satisfied"), "{why}");
}

#[test]
fn graph_semantics_outside_a_repository() {
    let bench = Bench::new();
    let ran = cast(&bench, "graph-semantics-loadout.json", "graph-semantics-script.json").exits(0);
    assert_eq!(visited(&ran.json()), "1 2 8");
    assert!(
        ran.err.contains("Socket-2 Look-For-Git: sends to Socket-8: There is no git"),
        "{}",
        ran.err
    );
}

#[test]
fn review_until_good() {
    let bench = Bench::new();
    let ran = cast(&bench, "review-until-good.json", "review-until-good-script.json").exits(0);
    assert_eq!(visited(&ran.json()), "1 2 1 2");
    assert!(bench.read("docs/cache.md").contains("empties it"));
}

#[test]
fn release_notes() {
    let bench = Bench::new();
    let report = cast(&bench, "release-notes.json", "release-notes-script.json").exits(0).json();
    assert_eq!(visited(&report), "1 2 3 3 4");
    assert!(bench.read("NOTES.md").contains("dark theme, which follows"));
    assert_eq!(report["state"]["commits"], 0);
}

#[test]
fn interactive_plan() {
    let bench = Bench::new();
    let ran = cast(&bench, "interactive-plan.json", "interactive-plan-script.json").exits(3);
    assert_eq!(ran.json()["waiting"]["node"], "Socket-1");
    let config = example("interactive-plan.json");
    let go = |words: &[&str]| bench.run(&[words, &["--config", &config, "--json"]].concat());
    go(&["say", "c1", "keep the old names"]).exits(0);
    go(&["resume", "c1"]).exits(3);
    let report = go(&["continue", "c1"]).exits(0).json();
    assert_eq!(visited(&report), "1 1 2 3 2 3 2 3", "the plan that was talked over is built");
}

/// Casts what is named with a configuration of `seeds/`, without a model.
fn seed(bench: &Bench, config: &str, args: &[&str]) -> Ran {
    let config = example(&format!("seeds/{config}"));
    let found = bench.run(&["check", &config, "--json"]).exits(0).json();
    let faults: Vec<&Value> = found["findings"].as_array().unwrap().iter().collect();
    // A seed has an exit that its own condition never lets through; that is said, and no fault.
    let sound =
        |fault: &&Value| fault["severity"] == "info" || fault["code"] == "loop::unreachable-exit";
    assert!(faults.iter().all(sound), "{faults:?}");
    let mut all = vec![args[0], "--config", &config, "--provider", "mock", "--json"];
    all.extend(&args[1..]);
    bench.run(&all)
}

#[test]
fn graphs_and_handoffs_of_the_seeds() {
    let bench = Bench::new();
    let report = seed(&bench, "graph.json", &["cast", "--cast-id", "g1", "go"]).exits(0).json();
    assert_eq!(visited(&report), "3 4 5 6 8", "one item, and the way out for a good verdict");
    assert_eq!(report["visits"][1]["itemLabel"], "Mock item");
    let report = seed(&bench, "handoff.json", &["cast", "--cast-id", "h1", "go"]).exits(0).json();
    assert_eq!(visited(&report), "Planner Build Evaluator Maintain");
    assert_eq!(report["state"]["workItems"][0]["title"], "Mock item");
}

#[test]
fn utilities_of_the_seeds() {
    let bench = Bench::new();
    let cast = |args: &[&str]| seed(&bench, "utilities.json", args).exits(0).json();
    let hello = cast(&["cast", "--cast-id", "u1", "go"]);
    assert_eq!(hello["state"]["hello"]["message"], "HELLO WORLD");
    let ignored = cast(&["cast", "--loadout", "Ignore Artifacts", "--cast-id", "u2", "go"]);
    assert_eq!(ignored["state"]["artifactIgnore"]["added"], json!([".pi/pi-materia/"]));
    assert_eq!(bench.read(".gitignore"), ".pi/pi-materia/\n");
    let again = cast(&["cast", "--loadout", "Ignore Artifacts", "--cast-id", "u3", "go"]);
    assert_eq!(again["state"]["artifactIgnore"]["changed"], false);
    assert_eq!(visited(&cast(&["cast", "--loadout", "Route", "--cast-id", "u4", "go"])), "2 3");
    // They are found without the configuration that made them (D52).
    let casts = bench.run(&["casts", "--json"]).exits(0).out;
    for id in ["u1", "u2", "u3", "u4"] {
        assert!(casts.contains(&format!("\"castId\":\"{id}\"")), "{casts}");
    }
}

#[test]
fn every_link_of_the_seeds() {
    let bench = Bench::new();
    let link = |id: &str, args: &[&str], prompt: &str| {
        let mut all = vec!["link", "--cast-id", id];
        all.extend(args);
        all.extend(["--", prompt]);
        seed(&bench, "link.json", &all)
    };
    let first = link("l1", &["Planner", "Build"], "Add a small settings page.").exits(0).json();
    assert_eq!(visited(&first), "1 2");
    let build = bench.read(".materia/l1/sockets/Socket-2/1-1.prompt.txt");
    assert!(build.contains("1. Mock item: ok"), "the plan reaches whoever builds: {build}");
    // Somebody has to agree with a plan that is made together.
    link("l2", &["loadout:Planning-Consult", "loadout:Full-Auto"], "Design it.").exits(3);
    let mixed = ["materia:Context-Check", "loadout:Planning-Consult", "Build"];
    link("l3", &mixed, "Audit the request, plan, then implement.").exits(3);
    let from = |id, targets: &[&str]| {
        let mut all = vec!["--from", "l1"];
        all.extend(targets);
        link(id, &all, "Continue.")
    };
    let chained = from("l4", &["Chain-Context", "Build"]).exits(0).json();
    assert_eq!(chained["fromCastId"], "l1");
    from("l5", &["Chain-Context", "loadout:Hojo-Consult"]).exits(3);
    from("l6", &["loadout:Full-Auto"]).exits(0);
}
