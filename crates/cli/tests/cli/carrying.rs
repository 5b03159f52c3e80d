//! Steps of a person that carry a cast on: recast, revive, say, continue, trigger, approve, budget.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, agents, finish, until, utilities};

fn message(ran: &Ran) -> String {
    assert_eq!(ran.json()["error"]["code"], "resolution", "{ran:?}");
    ran.json()["error"]["message"].as_str().unwrap().to_owned()
}

/// Two agents, the second of which judges; work that is not good goes back.
fn rework(most: u32) -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "write", "sockets": {
            "write": { "materia": "W", "edges": [{ "to": "judge" }] },
            "judge": { "materia": "J", "parse": "json", "edges": [
                { "when": "satisfied", "to": "end" },
                { "when": "not_satisfied", "to": "write", "maxTraversals": most },
            ] },
        } } },
        "materia": { "W": { "prompt": "Write." }, "J": { "prompt": "Judge." } },
    })
}

fn scripted(config: &Value, script: &Value) -> Bench {
    let bench = Bench::with(config);
    bench.write("s.json", &script.to_string());
    bench
}

const CAST: [&str; 7] = ["cast", "--script", "s.json", "--cast-id", "c1", "--json", "go"];

#[test]
fn a_failed_turn_is_tried_again() {
    let (config, _) = agents(&["a", "b"]);
    let script = json!({ "turns": { "M": [
        { "text": "fine" }, { "error": "the line is busy" }, { "text": "fine" },
    ] } });
    let bench = scripted(&config, &script);
    let ran = bench.run(&CAST).exits(1);
    assert_eq!(ran.json()["error"]["code"], "provider_failed");
    assert!(ran.err.contains("materia recast c1"), "{}", ran.err);
    for other in ["resume", "revive", "continue"] {
        let said = message(&bench.run(&[other, "c1", "--json"]).exits(2));
        assert!(said.contains("materia recast c1"), "{other}: {said}");
    }
    assert!(bench.run(&["show", "c1"]).exits(0).out.contains("next      materia recast c1"));
    let report = bench.run(&["recast", "c1", "--json"]).exits(0).json();
    let visits: Vec<_> = report["visits"].as_array().unwrap().iter().collect();
    assert_eq!(visits.len(), 3, "what had completed stays: {visits:?}");
    assert_eq!((&visits[2]["socket"], &visits[2]["attempt"]), (&json!("b"), &json!(2)));
    let said = message(&bench.run(&["recast", "c1", "--json"]).exits(2));
    assert!(said.contains("materia show c1"), "{said}");
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn an_exhausted_edge_is_revived() {
    let script = json!({ "turns": { "W": [{ "text": "x" }], "J": [
        { "json": { "satisfied": false, "context": "too short" } },
        { "json": { "satisfied": false, "context": "too long" } },
        { "json": { "satisfied": true } },
    ] }, "repeatLast": true });
    let bench = scripted(&rework(1), &script);
    let ran = bench.run(&CAST).exits(1);
    assert_eq!(ran.json()["error"]["code"], "edge_exhausted");
    assert!(ran.err.contains("judge J: sends back to write: too short"), "{}", ran.err);
    assert!(ran.err.contains("materia revive c1"), "{}", ran.err);
    for other in ["resume", "recast"] {
        let said = message(&bench.run(&[other, "c1", "--json"]).exits(2));
        assert!(said.contains("materia revive c1"), "{other}: {said}");
    }
    let ran = bench.run(&["revive", "c1", "--json"]).exits(0);
    assert_eq!(ran.json()["visits"].as_array().unwrap().len(), 6);
    assert!(ran.err.contains("is revived"), "{}", ran.err);
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn going_in_circles_is_stopped_and_can_be_revived() {
    let mut config = rework(1);
    let back = json!({ "when": "not_satisfied", "to": "write" });
    config["loadouts"]["L"]["sockets"]["judge"]["edges"][1] = back;
    let mut verdicts = vec![json!({ "json": { "satisfied": false } }); 7];
    verdicts.push(json!({ "json": { "satisfied": true } }));
    let script = json!({ "turns": { "W": [{ "text": "x" }], "J": verdicts }, "repeatLast": true });
    let bench = scripted(&config, &script);
    let mut ran = bench.run(&CAST).exits(1);
    assert_eq!(ran.json()["error"]["code"], "no_advance");
    let mut revivals = 0;
    while ran.exit == 1 && revivals < 7 {
        assert!(ran.err.contains("materia revive c1"), "{}", ran.err);
        ran = bench.run(&["revive", "c1", "--json"]);
        revivals += 1;
    }
    assert_eq!(ran.exits(0).json()["visits"].as_array().unwrap().len(), 16);
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_multi_turn_socket_goes_on_only_when_a_person_says_so() {
    let (mut config, mut script) = agents(&["a", "b"]);
    config["materia"]["T"] = json!({ "prompt": "Talk.", "multiTurn": true });
    config["loadouts"]["L"]["sockets"]["a"]["materia"] = json!("T");
    script["turns"]["T"] = json!([{ "text": "one" }, { "text": "two" }]);
    let bench = scripted(&config, &script);
    let ran = bench.run(&CAST).exits(3);
    assert_eq!(ran.json()["waiting"]["reason"], "multi_turn");
    assert!(ran.err.contains("materia say c1") && ran.err.contains("materia continue c1"));
    let prompt = || {
        let events = bench.run(&["events", "c1", "--json"]).exits(0).lines();
        let last = events.iter().rev().find(|event| event["type"] == "turn.started").unwrap();
        (last["nodeId"].clone(), last["data"]["prompt"].as_str().unwrap().to_owned())
    };
    for (words, text) in [
        (&["looks", "good", "continue"][..], "looks good continue"),
        (&["a", "for", "you"], "for you"),
        (&["a"], "a"),
        (&["b"], "b"),
        (&["zzz", "top"], "zzz top"),
    ] {
        let ran = bench.run(&[&["say", "c1", "--json"], words].concat());
        assert_eq!(ran.exits(0).json()["waiting"]["reason"], "multi_turn");
        let ran = bench.run(&["resume", "c1", "--json"]);
        assert_eq!(ran.exits(3).json()["waiting"]["reason"], "multi_turn");
        let (node, prompt) = prompt();
        assert_eq!(node, "a");
        assert!(prompt.contains(text), "{prompt}");
    }
    assert!(message(&bench.run(&["continue", "c1", "zzz", "--json"]).exits(2)).contains("`zzz`"));
    // Any socket may be told something; what it does with it finishes nothing here.
    bench.run(&["say", "c1", "b", "hello", "--json"]).exits(0);
    let report = bench.run(&["resume", "c1", "--json"]).exits(3).json();
    assert_eq!(report["waiting"]["reason"], "multi_turn");
    let (node, told) = prompt();
    assert_eq!(node, "b");
    assert!(told.contains("hello"), "{told}");
    assert_eq!(bench.run(&["say", "c1", " ", "--json"]).exits(2).json()["error"]["code"], "usage");
    let report = bench.run(&["continue", "c1", "a", "--json"]).exits(0).json();
    assert_eq!(report["visits"].as_array().unwrap().last().unwrap()["socket"], "b");
    bench.run(&["continue", "c1"]).exits(2);
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_spent_budget_waits_for_a_larger_one() {
    let (mut config, mut script) = agents(&["a", "b", "c", "d"]);
    config["budget"] = json!({ "maxTurns": 2 });
    script["turns"]["M"] =
        json!([{ "text": "x", "usage": { "inputTokens": 30, "outputTokens": 5, "cost": 0.25 } }]);
    let bench = scripted(&config, &script);
    let ran = bench.run(&CAST).exits(3);
    assert_eq!(ran.json()["waiting"]["reason"], "budget");
    assert!(ran.err.contains("has spent 2 of 2 turns"), "it warned: {}", ran.err);
    assert!(ran.err.contains("materia budget c1 --max-turns 4"), "{}", ran.err);
    let shown = bench.run(&["budget", "c1"]).exits(0).out;
    assert_eq!(
        shown,
        "turns   2 of 2\ntokens  70, not bounded\ncost    0.5, not bounded\nwarns   at 75 %\n"
    );
    let turns = |ran: Ran| ran.json()["usage"]["turns"].clone();
    assert_eq!(turns(bench.run(&["resume", "c1", "--json"]).exits(3)), 2, "nothing more ran");
    assert_eq!(turns(bench.run(&["budget", "c1", "--max-turns", "3", "--json"]).exits(3)), 3);
    let other = ["budget", "c1", "--max-tokens", "9000", "--warn-at-percent", "90", "--json"];
    assert_eq!(turns(bench.run(&other).exits(3)), 3, "the other bound stays");
    assert_eq!(
        bench.run(&["budget", "c1", "--json"]).exits(0).json(),
        json!({
            "castId": "c1",
            "status": "waiting",
            "budget": { "maxTokens": 9000, "maxTurns": 3, "warnAtPercent": 90 },
            "usage": { "turns": 3, "tokens": 105, "cost": 0.75 },
        })
    );
    for bad in [["--max-cost", "-1"], ["--max-cost", "NaN"], ["--warn-at-percent", "0"]] {
        bench.run(&[&["budget", "c1"], &bad[..]].concat()).exits(2);
    }
    let ran = bench.run(&["budget", "c1", "--max-turns", "50", "--json"]).exits(0);
    assert!(ran.err.contains("may now spend 50 turns, 9000 tokens"), "{}", ran.err);
    assert_eq!(turns(ran), 4);
    message(&bench.run(&["budget", "c1", "--max-turns", "60", "--json"]).exits(2));
    assert!(bench.run(&["budget", "c1"]).exits(0).out.starts_with("turns   4 of 50\n"));
    bench.run(&["replay", "c1"]).exits(0);
}

/// Waits in its first run and comes straight through in any later one.
const SLOW: &str = "
import os, time
first = not os.path.exists('began.txt')
open('began.txt', 'a').write('x')
if first:
    time.sleep(60)
";

#[test]
fn what_was_spent_stays_spent_across_a_kill_and_a_revival() {
    let mut config = utilities(&[("slow", SLOW)]);
    let judged = rework(1);
    config["loadouts"]["L"] = judged["loadouts"]["L"].clone();
    config["loadouts"]["L"]["sockets"]["write"]["edges"] = json!([{ "to": "slow" }]);
    config["loadouts"]["L"]["sockets"]["slow"] =
        json!({ "materia": "M-slow", "edges": [{ "to": "judge" }] });
    for name in ["W", "J"] {
        config["materia"][name] = judged["materia"][name].clone();
    }
    config["budget"] = json!({ "maxTurns": 6, "warnAtPercent": 100 });
    let usage = json!({ "inputTokens": 10 });
    let no = json!({ "json": { "satisfied": false, "context": "no" }, "usage": usage });
    let yes = json!({ "json": { "satisfied": true }, "usage": usage });
    let script = json!({ "turns": {
        "W": [{ "text": "w", "usage": usage }], "J": [no, no, yes],
    }, "repeatLast": true });
    let bench = scripted(&config, &script);
    let child = bench.start(&[&CAST[..], &["--trust"]].concat());
    bench.wait_for("began.txt");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let by = format!("pid {}", child.id());
    // Resuming it here lets it go on there (D59).
    assert_eq!(bench.run(&["resume", "c1", "--json"]).exits(0).json()["told"], true);
    for words in [&["recast"][..], &["revive"], &["continue"], &["say", "x"]] {
        let mut args = vec![words[0], "c1", "--json"];
        args.extend(&words[1..]);
        let said = message(&bench.run(&args).exits(2));
        assert!(said.contains(&by) && !said.contains("goes on"), "{words:?}: {said}");
    }
    // What the process that runs it can do, it is told.
    let told = bench.run(&["budget", "c1", "--max-turns", "6", "--json"]).exits(0).json();
    assert_eq!((&told["castId"], &told["told"]), (&json!("c1"), &json!(true)));
    let follows = told["events"].as_array().unwrap();
    assert_eq!(follows.len(), 1, "it says what came of it: {told}");
    kill_process(pid, Signal::KILL).unwrap();
    finish(child).exits(-1);
    let spent = |ran: Ran, turns: u64, tokens: u64| {
        let usage = ran.json()["usage"].clone();
        assert_eq!((&usage["turns"], &usage["tokens"]), (&json!(turns), &json!(tokens)), "{ran:?}");
    };
    spent(bench.run(&["show", "c1", "--json"]), 2, 10);
    let said = message(&bench.run(&["say", "c1", "hi", "--json"]).exits(2));
    assert!(said.contains("materia resume c1"), "{said}");
    // write, slow (killed), slow, judge: no, write, slow; the seventh would be too much.
    spent(bench.run(&["resume", "c1", "--json"]).exits(3), 6, 30);
    spent(bench.run(&["resume", "c1", "--json"]).exits(3), 6, 30);
    let ran = bench.run(&["budget", "c1", "--max-turns", "8", "--json"]).exits(1);
    assert_eq!(ran.json()["error"]["code"], "edge_exhausted");
    spent(ran, 7, 40);
    let ran = bench.run(&["revive", "c1", "--json"]).exits(3);
    assert_eq!(ran.json()["waiting"]["reason"], "budget", "reviving gives an edge, not a budget");
    spent(ran, 8, 50);
    spent(bench.run(&["budget", "c1", "--max-turns", "20", "--json"]).exits(0), 10, 60);
    bench.run(&["replay", "c1"]).exits(0);
}

const HELD: &str = "
import os, time
open('began.txt', 'w')
while not os.path.exists('go.txt'):
    time.sleep(0.01)
";

#[test]
fn what_a_person_does_reaches_a_cast_that_another_process_runs() {
    // In Planning mode nobody may change the project beside the documents while a turn runs.
    let held = HELD.replace("go.txt", "docs/go.txt");
    let mut config = utilities(&[("held", &held)]);
    let (agents, script) = agents(&["b", "c"]);
    let sockets = &mut config["loadouts"]["L"]["sockets"];
    sockets["held"]["edges"] = json!([{ "to": "b" }]);
    for name in ["b", "c"] {
        sockets[name] = agents["loadouts"]["L"]["sockets"][name].clone();
    }
    sockets["c"]["approval"] = json!("before");
    config["materia"]["M"] = agents["materia"]["M"].clone();
    let bench = scripted(&config, &script);
    let child = bench.start(&[&CAST[..], &["--trust"]].concat());
    bench.wait_for("began.txt");
    for words in [
        &["pause", "c1"][..],
        &["mode", "c1", "PLANNING"],
        &["say", "c1", "b", "mind the gap"],
        &["trigger", "c1", "b", "by hand"],
    ] {
        let told = bench.run(&[words, &["--json"]].concat()).exits(0).json();
        assert_eq!(told["told"], true, "{words:?}");
    }
    // While nothing may start nothing asks for approval, and there is no such socket.
    bench.run(&["approve", "c1", "c", "--json"]).exits(2);
    bench.run(&["trigger", "c1", "nobody", "--json"]).exits(2);
    let events = || bench.run(&["events", "c1", "--json"]).exits(0).lines();
    until("the last word is heard", || {
        events().iter().any(|event| event["type"] == "turn.requested")
    });
    bench.write("docs/go.txt", "");
    let ran = finish(child).exits(3);
    assert_eq!(ran.json()["waiting"]["reason"], "interactive", "{ran:?}");
    let events = events();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let place = |kind: &str| kinds.iter().position(|one| *one == kind).expect(kind);
    assert!(place("mode.changed") < place("turn.completed"), "it was told at once: {kinds:?}");
    assert!(place("message.received") < place("turn.requested"), "in order: {kinds:?}");
    let ran = bench.run(&["resume", "c1", "--json"]).exits(3);
    assert_eq!(ran.json()["waiting"]["reason"], "approval");
    assert!(ran.err.contains("materia approve c1 c"), "{}", ran.err);
    bench.run(&["approve", "c1", "c", "--json"]).exits(0);
    bench.run(&["replay", "c1"]).exits(0);
}
