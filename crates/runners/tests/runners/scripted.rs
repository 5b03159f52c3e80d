//! The scripted provider and the dispatch.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use materia_contract::script::Script;
use materia_contract::{
    Amount, Behavior, Budget, ErrorCode, GlobalMode, Limits, Node, NodeId, Plan, Policy,
    ScriptEntry, TurnUsage,
};
use materia_engine::{Runner, StopSource, TurnFault, TurnJob, TurnReport, Work};
use materia_runners::{Runners, ScriptError, ScriptedRunner, bind, load, unmatched_keys};
use serde_json::{Value, json};

use crate::stage::{Stage, of, perform, runtime};

fn agent(stage: &Stage, entry: Option<(&str, u32)>) -> TurnJob {
    let script = entry.map(|(key, index)| ScriptEntry { key: key.to_owned(), index });
    let work = Work::Agent {
        prompt: "do".into(),
        tools: None,
        model: None,
        provider: None,
        schema: None,
        session: None,
        script,
    };
    of(&stage.job, work)
}

fn script(json: Value) -> Script {
    serde_json::from_value(json).unwrap()
}

fn ask(stage: &Stage, answers: Value, entry: Option<(&str, u32)>) -> TurnReport {
    let (_source, stop) = StopSource::new();
    perform(&ScriptedRunner::new(script(answers)), agent(stage, entry), stop)
}

/// The fault of a turn whose one answer is this.
#[track_caller]
fn fault_of(stage: &Stage, answer: &Value) -> TurnFault {
    ask(stage, json!({"turns": {"A": [answer]}}), Some(("A", 0))).outcome.unwrap_err()
}

#[test]
fn answers_are_taken_by_position() {
    let stage = Stage::new();
    let turns = json!({"turns": {"A": [
        {"text": "one", "usage": {"inputTokens": 3, "outputTokens": 4, "cost": 0.5}},
        {"json": {"satisfied": true, "context": "b\n"}},
        {},
    ]}});
    let said = |index| ask(&stage, turns.clone(), Some(("A", index))).outcome;
    let first = said(0).unwrap();
    assert_eq!(first.output, "one");
    let usage = TurnUsage {
        input_tokens: Some(3),
        output_tokens: Some(4),
        cost: Some(Amount::from_millionths(500_000)),
    };
    assert_eq!(first.usage, Some(usage));
    assert_eq!(said(1).unwrap().output, r#"{"satisfied":true,"context":"b\n"}"#);
    assert_eq!(said(2).unwrap().output, "");
    let fault = said(3).unwrap_err();
    assert_eq!(fault.code, ErrorCode::ScriptExhausted);
    assert!(fault.message.contains("`A` ran out after 3 answers"), "{}", fault.message);
}

#[test]
fn the_last_answer_repeats_only_where_asked_and_there_is_one() {
    let stage = Stage::new();
    let turns =
        json!({"turns": {"A": [{"text": "x"}, {"text": "y"}], "B": []}, "repeatLast": true});
    assert_eq!(ask(&stage, turns.clone(), Some(("A", 9))).outcome.unwrap().output, "y");
    for missing in [Some(("B", 0)), Some(("C", 0)), None] {
        let fault = ask(&stage, turns.clone(), missing).outcome.unwrap_err();
        assert_eq!(fault.code, ErrorCode::ScriptExhausted, "{}", fault.message);
    }
    let fault = ask(&stage, turns, None).outcome.unwrap_err();
    assert!(fault.message.contains("no answers for socket `Socket-1`"), "{}", fault.message);
}

#[test]
fn a_provider_can_fail_with_what_it_said() {
    let stage = Stage::new();
    let fault = fault_of(&stage, &json!({"error": "overloaded", "usage": {"cost": 1.0}}));
    assert_eq!((fault.code, fault.message.as_str()), (ErrorCode::ProviderFailed, "overloaded"));
    assert_eq!(
        fault.report.usage.and_then(|usage| usage.cost),
        Some(Amount::from_millionths(1_000_000))
    );
}

#[test]
fn a_delay_costs_real_time_or_simulated_time() {
    let mut stage = Stage::new();
    let turns = json!({"turns": {"A": [{"text": "x", "delayMs": 120}]}});
    let begun = Instant::now();
    let report = ask(&stage, turns.clone(), Some(("A", 0)));
    assert!(begun.elapsed() >= Duration::from_millis(120));
    assert_eq!(report.after, Duration::ZERO);

    stage.job.virtual_time = true;
    let hour = json!({"turns": {"A": [{"text": "x", "delayMs": 3_600_000}]}});
    stage.job.timeout = None;
    let report = ask(&stage, hour.clone(), Some(("A", 0)));
    assert_eq!(report.after, Duration::from_hours(1));
    assert_eq!(report.outcome.unwrap().output, "x");

    stage.job.timeout = Some(Duration::from_secs(1));
    let report = ask(&stage, hour, Some(("A", 0)));
    assert_eq!(report.after, Duration::from_secs(1));
    assert_eq!(report.outcome.unwrap_err().code, ErrorCode::ProviderFailed);
}

#[test]
fn a_stop_ends_a_delay_before_anything_is_written() {
    let stage = Stage::new();
    let answers = json!({"turns": {"A": [{"delayMs": 60_000, "writes": {"a.txt": "x"}}]}});
    let mut job = agent(&stage, Some(("A", 0)));
    job.timeout = None;
    let (source, stop) = StopSource::new();
    source.ask();
    let begun = Instant::now();
    let report = perform(&ScriptedRunner::new(script(answers)), job, stop);
    assert!(report.outcome.is_err() && begun.elapsed() < Duration::from_secs(30));
    assert!(!stage.cwd().join("a.txt").exists());
}

#[test]
fn files_and_artifacts_are_written() {
    let stage = Stage::new();
    let answer = json!({
        "text": "built", "writes": {"src/deep/a.txt": "A", "b.txt": "B"},
        "artifacts": {"diff": "+A", "logs": "ok"},
    });
    ask(&stage, json!({"turns": {"A": [answer]}}), Some(("A", 0))).outcome.unwrap();
    let read = |path: &str| fs::read_to_string(stage.cwd().join(path)).unwrap();
    assert_eq!((read("src/deep/a.txt"), read("b.txt")), ("A".into(), "B".into()));
    assert_eq!(read(".materia/run/sockets/Socket-1/2-1.diff"), "+A");
    assert_eq!(read(".materia/run/sockets/Socket-1/2-1.logs"), "ok");
}

#[test]
fn files_outside_the_project_are_refused_and_nothing_is_written() {
    let stage = Stage::new();
    symlink(stage.outside(), stage.cwd().join("out")).unwrap();
    symlink(stage.outside().join("new.txt"), stage.cwd().join("dangling")).unwrap();
    fs::write(stage.outside().join("far.txt"), "precious").unwrap();
    symlink("../far.txt", stage.cwd().join("far")).unwrap();
    let absolute = stage.outside().join("new.txt").to_str().unwrap().to_owned();
    let bad = [
        "../new.txt",
        "a/../../new.txt",
        &absolute,
        "out/new.txt",
        "out/x/new.txt",
        "dangling",
        "far",
        "",
        ".",
        "x/",
    ];
    for path in bad {
        let fault = fault_of(&stage, &json!({"writes": {"first.txt": "x", path: "x"}}));
        assert_eq!(fault.code, ErrorCode::ProviderFailed);
        assert!(fault.message.contains("nothing was written"), "{path}: {}", fault.message);
        assert!(!stage.cwd().join("first.txt").exists(), "{path}");
    }
    assert!(!stage.outside().join("new.txt").exists());
    assert_eq!(fs::read_to_string(stage.outside().join("far.txt")).unwrap(), "precious");
    for kind in ["../x", "a/b", "", ".hidden"] {
        let fault =
            fault_of(&stage, &json!({"artifacts": {kind: "x"}, "writes": {"first.txt": "x"}}));
        assert!(fault.message.contains("no plain name"), "{kind}: {}", fault.message);
        assert!(!stage.cwd().join("first.txt").exists());
    }
}

#[test]
fn planning_allows_the_doc_root_only() {
    let mut stage = Stage::new();
    stage.job.global_mode = GlobalMode::Planning;
    fault_of(&stage, &json!({"writes": {"a.txt": "x"}}));
    assert!(!stage.cwd().join("docs").exists(), "a refused answer changes nothing");
    let good =
        json!({"turns": {"A": [{"writes": {"docs/new/a.md": "x"}, "artifacts": {"diff": "d"}}]}});
    ask(&stage, good, Some(("A", 0))).outcome.unwrap();
    assert!(stage.cwd().join("docs/new/a.md").exists());
    symlink("..", stage.cwd().join("docs/up")).unwrap();
    for path in ["a.txt", "docsx/a.txt", "docs/up/a.txt", "docs/up/new/a.txt"] {
        let fault = fault_of(&stage, &json!({"writes": {"docs/first.md": "x", path: "x"}}));
        assert_eq!(fault.code, ErrorCode::ProviderFailed);
        assert!(fault.message.contains("in Planning mode only `docs`"), "{}", fault.message);
        assert!(!stage.cwd().join("docs/first.md").exists(), "{path}");
        assert!(!stage.cwd().join(path).exists(), "{path}");
    }
}

#[test]
fn implementation_allows_what_the_policy_names() {
    let mut stage = Stage::new();
    let write = |paths: &[&str]| {
        let write = Some(paths.iter().map(|path| (*path).to_owned()).collect());
        Some(Policy { write, ..Policy::default() })
    };
    stage.job.policy = write(&["src/gen", "notes.txt"]);
    let good = json!({"turns": {"A": [{"writes": {"src/gen/deep/a.rs": "x", "notes.txt": "x"}}]}});
    ask(&stage, good, Some(("A", 0))).outcome.unwrap();
    assert!(stage.cwd().join("src/gen/deep/a.rs").exists());
    symlink("..", stage.cwd().join("src/gen/up")).unwrap();
    for path in ["src/a.rs", "src/generated/a.rs", "src/gen/up/a.rs", "notes.txt.old"] {
        let fault = fault_of(&stage, &json!({"writes": {"src/gen/first.rs": "x", path: "x"}}));
        assert!(fault.message.contains("only to `src/gen`, `notes.txt`"), "{}", fault.message);
        assert!(!stage.cwd().join("src/gen/first.rs").exists(), "{path}");
        assert!(!stage.cwd().join(path).exists(), "{path}");
    }
    stage.job.policy = write(&[]);
    let fault = fault_of(&stage, &json!({"writes": {"src/gen/b.rs": "x"}}));
    assert!(fault.message.contains("lets it write nothing"), "{}", fault.message);
    // A policy that says nothing about writing leaves everything inside the project.
    stage.job.policy = Some(Policy::default());
    let free = json!({"turns": {"A": [{"writes": {"src/a.rs": "x"}}]}});
    ask(&stage, free, Some(("A", 0))).outcome.unwrap();
}

#[test]
fn a_script_is_loaded_or_refused_with_its_place() {
    let stage = Stage::new();
    let path = stage.cwd().join("script.json");
    fs::write(&path, r#"{"turns": {"A": [{"text": "x"}]}, "repeatLast": true}"#).unwrap();
    assert!(load(&path).unwrap().repeat_last);
    fs::write(&path, "{\n  \"turns\": {\"A\": [{\"txt\": 1}]}\n}").unwrap();
    let error = load(&path).unwrap_err();
    let shown = error.to_string();
    assert!(
        shown.contains("script.json:2:") && shown.contains("`txt` is no field here"),
        "{shown}"
    );
    assert!(!shown.contains("at line"), "{shown}");
    let wide = "{\n  \"turns\": {\n    \"A\": [{\"json\": {\"n\": 18446744073709551616}}]}\n}";
    fs::write(&path, wide).unwrap();
    let shown = load(&path).unwrap_err().to_string();
    let said = "script.json:3:26 is not valid: the integer 18446744073709551616 has more than 64 bits; write it as a string";
    assert!(shown.ends_with(said), "{shown}");
    fs::write(&path, "nonsense").unwrap();
    assert!(matches!(load(&path), Err(ScriptError::Invalid { line: 1, .. })));
    fs::File::create(&path).unwrap().set_len(17 * 1024 * 1024).unwrap();
    assert!(matches!(load(&path), Err(ScriptError::TooLarge { .. })));
    assert!(matches!(load(&stage.cwd().join("none")), Err(ScriptError::Unreadable { .. })));
}

#[test]
fn lists_are_bound_to_agent_nodes_and_an_id_wins() {
    let asks = || Behavior::Agent {
        prompt: String::new(),
        origin: String::new(),
        tools: None,
        model: None,
        provider: None,
    };
    let runs = Behavior::Utility { command: vec!["true".into()], params: serde_json::Map::new() };
    let nodes = [
        ("S1", Node::new("Build", asks())),
        ("S2", Node::new("Build", asks())),
        ("S3", Node::new("Tool", runs)),
        ("S4", Node::new("Other", asks())),
    ];
    let plan = Plan {
        loadout: "L".into(),
        entry: NodeId::new("S1"),
        nodes: nodes.into_iter().map(|(id, node)| (NodeId::new(id), node)).collect(),
        loops: IndexMap::new(),
        limits: Limits::default(),
        budget: Budget::default(),
        doc_root: "docs".into(),
    };
    let script =
        script(json!({"turns": {"S2": [], "Build": [], "S3": [], "Tool": [], "Gone": []}}));
    let binding = bind(&script, "s.json", &plan);
    let keys: Vec<_> = binding.keys.iter().map(|(id, key)| (id.as_str(), key.as_str())).collect();
    assert_eq!(keys, [("S1", "Build"), ("S2", "S2")]);
    assert_eq!(binding.path, "s.json");
    assert_eq!(unmatched_keys(&script, &plan), ["Gone"]);
}

#[test]
fn turns_go_to_the_runner_of_their_kind() {
    let stage = Stage::new();
    let scripted = ScriptedRunner::new(script(json!({"turns": {"A": [{"text": "agent"}]}})));
    let mut runners = Runners {
        utility: Arc::new(stage.runner.clone()),
        scripted: Some(Arc::new(scripted)),
        mock: None,
        agent: None,
    };
    let run = |runners: &Runners, job: TurnJob| {
        let (_source, stop) = StopSource::new();
        runtime().block_on(runners.run(job.stopped_by(stop))).outcome
    };
    assert_eq!(run(&runners, agent(&stage, Some(("A", 0)))).unwrap().output, "agent");
    let utility = stage.command(&["echo", "tool"], json!({}));
    assert_eq!(run(&runners, utility).unwrap().output, "tool\n");

    runners.scripted = None;
    let fault = run(&runners, agent(&stage, Some(("A", 0)))).unwrap_err();
    assert_eq!(fault.code, ErrorCode::ProviderFailed);
    assert!(fault.message.contains("--script FILE"), "{}", fault.message);
}

/// The report of a utility, answered by this list.
fn answered(stage: &Stage, results: &Value) -> TurnReport {
    let mut job = stage.command(&["touch", "ran"], json!({}));
    if let Work::Utility { script, .. } = &mut job.order.work {
        *script = Some(ScriptEntry { key: "U".to_owned(), index: 0 });
    }
    let runners = Runners {
        utility: Arc::new(stage.runner.clone()),
        scripted: Some(Arc::new(ScriptedRunner::new(script(json!({"utilities": {"U": results}}))))),
        mock: None,
        agent: None,
    };
    let report = perform(&runners, job, StopSource::new().1);
    assert!(!stage.cwd().join("ran").exists(), "the program was started");
    report
}

/// V0: a result of a script is reported as a program's own, and no program is started.
#[test]
fn a_utility_is_answered_and_its_program_is_not_started() {
    let mut stage = Stage::new();
    stage.job.virtual_time = true;
    stage.job.timeout = Some(Duration::from_millis(100));
    let report = answered(&stage, &json!([{"stdout": "out", "stderr": "err", "delayMs": 40}]));
    let output = report.outcome.unwrap();
    assert_eq!((output.output.as_str(), output.stderr.as_str()), ("out", "err"));
    assert_eq!((output.exit_code, report.after), (Some(0), Duration::from_millis(40)));
    let fault = |results| answered(&stage, &results).outcome.unwrap_err();
    let failed = fault(json!([{"exitCode": 3, "stderr": "no host"}]));
    assert_eq!((failed.code, failed.report.exit_code), (ErrorCode::UtilityFailed, Some(3)));
    assert_eq!(failed.message, "`touch ran` exited with code 3; stderr: no host");
    let missing = fault(json!([{"error": "not found"}]));
    assert_eq!(missing.code, ErrorCode::UtilityFailed);
    assert_eq!(missing.message, "`touch ran` was not run: not found");
    let late = fault(json!([{"delayMs": 500}]));
    assert_eq!(late.code, ErrorCode::UtilityTimeout);
    assert!(late.message.contains("limit of 100 ms"), "{}", late.message);
    assert_eq!(fault(json!([])).code, ErrorCode::ScriptExhausted);
}

/// V0: without the script nothing is started either.
#[test]
fn a_utility_that_a_script_answers_never_falls_back_to_its_program() {
    let stage = Stage::new();
    let mut job = stage.command(&["touch", "ran"], json!({}));
    if let Work::Utility { script, .. } = &mut job.order.work {
        *script = Some(ScriptEntry { key: "U".to_owned(), index: 0 });
    }
    let utility = Arc::new(stage.runner.clone());
    let runners = Runners { utility, scripted: None, mock: None, agent: None };
    let fault = perform(&runners, job, StopSource::new().1).outcome.unwrap_err();
    assert_eq!(fault.code, ErrorCode::ScriptExhausted);
    assert!(!stage.cwd().join("ran").exists());
}
