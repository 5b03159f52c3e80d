//! Trust as a question and its answer.

use materia_app::prepare;

use crate::bench::{Bench, scripted};

#[test]
fn a_question_shows_what_would_run_and_is_asked_until_it_is_answered() {
    let bench = Bench::new();
    let beginning = bench.prepare(&scripted()).unwrap();
    let [question] = &beginning.prepared.questions[..] else { panic!("one question") };
    assert_eq!(question.files, ["materia.json", "run.sh"]);
    let shown = serde_json::to_value(question).unwrap();
    assert_eq!(shown["commands"][0]["materia"], "Run");
    let script = bench.project.dir.join("run.sh");
    assert_eq!(shown["commands"][0]["command"], serde_json::json!(["sh", script]));
    assert_eq!(shown["hash"], question.hash.as_str());
    assert!(shown.get("news").is_none(), "what is remembered is nobody's business");
    // Not answered, it is asked again, and is the same question.
    let again = bench.prepare(&scripted()).unwrap();
    assert_eq!(again.prepared.questions[0].hash, question.hash);
    let mut warnings = Vec::new();
    again.prepared.approve(&again.prepared.questions[0], &mut warnings);
    assert!(bench.prepare(&scripted()).unwrap().prepared.questions.is_empty());
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn another_content_is_another_question() {
    let bench = Bench::new();
    let first = bench.prepare(&scripted()).unwrap().prepared;
    bench.write("run.sh", "echo something else");
    let second = bench.prepare(&scripted()).unwrap().prepared;
    assert_ne!(first.questions[0].hash, second.questions[0].hash);
    // The answer to the first approves nothing of the second.
    first.approve(&first.questions[0], &mut Vec::new());
    let left = bench.prepare(&scripted()).unwrap().prepared;
    assert_eq!(left.questions.len(), 1, "the script is another one now");
}

#[test]
fn a_plan_that_was_not_begun_here_is_asked_about_before_it_goes_on() {
    let bench = Bench::new();
    let beginning = bench.prepare(&scripted()).unwrap();
    let created = &beginning.created;
    let asked =
        prepare::going_on(&bench.project, created, &created.agents, &scripted()).unwrap().questions;
    assert_eq!(asked.len(), 1);
    assert!(asked[0].files[0].contains("not begun here"), "{:?}", asked[0].files);
    // Once it has begun here, nobody is asked again.
    let journal = beginning.open(&mut Vec::new()).unwrap();
    drop(journal);
    let asked =
        prepare::going_on(&bench.project, created, &created.agents, &scripted()).unwrap().questions;
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn a_memory_that_cannot_be_read_approves_nothing_and_is_warned_of() {
    let bench = Bench::new();
    let prepared = bench.prepare(&scripted()).unwrap().prepared;
    prepared.approve(&prepared.questions[0], &mut Vec::new());
    std::fs::write(bench.profile().join("trust.json"), "no JSON").unwrap();
    let again = bench.prepare(&scripted()).unwrap().prepared;
    assert_eq!(again.questions.len(), 1);
    assert!(again.warnings[0].contains("trust.json"), "{:?}", again.warnings);
}
