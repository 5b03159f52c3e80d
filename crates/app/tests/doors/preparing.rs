//! Preparation of a run.

use materia_app::Failure;
use materia_app::RunOptions;
use materia_app::failure::Hint;
use materia_app::options::Contradiction;
use materia_contract::{GlobalMode, Pace, RefusalCode};

use crate::bench::{Bench, scripted};

#[test]
fn a_path_that_is_not_absolute_lies_in_the_project_whatever_folder_the_process_is_in() {
    let bench = Bench::new();
    let beginning = bench.prepare(&scripted()).unwrap();
    let bound = beginning.what().created.script.clone().unwrap();
    assert_eq!(bound.path, "{project}/script.json");
    let missing = RunOptions { script: Some("nowhere.json".into()), ..RunOptions::default() };
    let Failure::Refused(refused) = bench.prepare(&missing).err().unwrap() else { panic!() };
    assert_eq!(refused.refusal.code, RefusalCode::Usage);
    let message = &refused.refusal.message;
    assert!(message.contains(" nowhere.json"), "as it was named: {message}");
}

#[test]
fn options_become_how_a_cast_begins_and_nothing_is_written_yet() {
    let bench = Bench::new();
    let options = RunOptions {
        planning: true,
        interactive: true,
        cast_id: Some("c1".to_owned()),
        ..scripted()
    };
    let waiting = bench.prepare(&options).unwrap();
    let beginning = waiting.what();
    assert_eq!(beginning.id.as_str(), "c1");
    let created = &beginning.created;
    assert_eq!((created.pace, created.global_mode), (Pace::Interactive, GlobalMode::Planning));
    assert_eq!(created.plan_hash, created.plan.hash());
    assert!(!beginning.root.exists() && !bench.profile().exists(), "nothing is written");
}

#[test]
fn options_that_do_not_go_together_are_named_as_what_they_are() {
    let bench = Bench::new();
    let told = |options: &RunOptions| match bench.prepare(options).err().unwrap() {
        Failure::Contradiction(what) => what,
        other @ (Failure::Refused(_) | Failure::Broken(_)) => panic!("{other}"),
    };
    let plain = RunOptions::default;
    let (record, replay) = (Some("a".into()), Some("b".into()));
    let virtual_time = RunOptions { virtual_time: true, ..plain() };
    assert_eq!(told(&virtual_time), Contradiction::VirtualTimeWithoutScript);
    let provider = Some("scripted".to_owned());
    assert_eq!(told(&RunOptions { provider, ..plain() }), Contradiction::ScriptedWithoutScript);
    let provider = Some("claude".to_owned());
    let both = Contradiction::ProviderAndScript("claude".to_owned());
    assert_eq!(told(&RunOptions { provider, ..scripted() }), both);
    let two = RunOptions { record: record.clone(), replay: replay.clone(), ..plain() };
    assert_eq!(told(&two), Contradiction::RecordAndReplay);
    assert_eq!(told(&RunOptions { record, ..scripted() }), Contradiction::RecordAndScript);
    assert_eq!(told(&RunOptions { replay, ..scripted() }), Contradiction::ReplayAndScript);
    bench.write("script.json", r#"{ "turns": {}, "timeline": [{ "atMs": 1, "do": "crash" }] }"#);
    assert_eq!(told(&scripted()), Contradiction::TimelineInRealTime);
}

#[test]
fn a_script_that_answers_nobody_is_warned_of() {
    let bench = Bench::new();
    bench.write("script.json", r#"{ "turns": { "Ask": [], "Nobody": [] } }"#);
    let waiting = bench.prepare(&scripted()).unwrap();
    let beginning = waiting.what();
    assert!(
        beginning.prepared.warnings.iter().any(|warning| warning.contains("`Nobody`")),
        "{:?}",
        beginning.prepared.warnings
    );
}

#[test]
fn what_would_help_is_a_hint_and_no_command() {
    let bench = Bench::new();
    let wanted = materia_app::project::cast_id("nowhere").unwrap();
    let Failure::Refused(refused) = bench.project.find(&wanted).err().unwrap() else { panic!() };
    assert_eq!(refused.hint, Some(Hint::ListCasts));
    assert_eq!(refused.refusal.code, RefusalCode::Resolution);
    assert!(!refused.refusal.message.contains("materia casts"));
}

#[test]
fn faults_of_a_configuration_come_with_the_refusal() {
    let bench = Bench::new();
    bench.write("materia.json", r#"{ "loadouts": { "L": { "entry": "x", "sockets": {} } } }"#);
    let checked = bench.project.compile(None);
    let count = checked.findings.len();
    assert!(count > 0 && checked.loaded.layers.iter().any(|layer| layer.shown == "materia.json"));
    let Failure::Refused(refused) = checked.sound().err().unwrap() else { panic!() };
    assert_eq!(refused.refusal.code, RefusalCode::Configuration);
    assert_eq!(refused.refusal.findings.len(), count);
}
