//! Trust as a question and its answer.

use std::fs;

use materia_app::cast::prepare::{self, GoingOn};
use materia_app::trust::{Question, Untrusted};
use materia_app::{Failure, RunOptions};
use materia_contract::{RunCreated, RunId};
use materia_engine::{Driver, NoObserver, blocking, load_to_drive};

use crate::bench::{Bench, CONFIG, approved, scripted};

/// The one question that something waits for.
fn asked(bench: &Bench) -> Question {
    let waiting = bench.prepare(&scripted()).unwrap();
    let [question] = waiting.questions() else { panic!("{:?}", waiting.questions()) };
    question.clone()
}

fn changes(question: &Question) -> Vec<String> {
    question.changes.iter().flat_map(materia_app::trust::Change::lines).collect()
}

#[test]
fn a_question_shows_what_would_run_and_is_asked_until_it_is_answered() {
    let bench = Bench::new();
    let question = asked(&bench);
    assert_eq!(question.files, ["materia.json", "run.sh"]);
    let shown = serde_json::to_value(&question).unwrap();
    assert_eq!(shown["about"], "project");
    assert_eq!(shown["commands"][0]["materia"], "Run");
    let script = bench.project.dir.join("run.sh");
    assert_eq!(shown["commands"][0]["command"], serde_json::json!(["sh", script]));
    assert_eq!(shown["agents"][0]["materia"], "Ask");
    assert_eq!(shown["agents"][0]["prompt"], "go on");
    assert_eq!(shown["hash"], question.hash.as_str());
    assert!(shown.get("news").is_none(), "what is remembered is nobody's business");
    let text = question.whole(&|words| format!("materia {words}"));
    for part in ["Run: [\"sh\"", "Ask, a prompt of 5 characters: “go on”", "the folder `docs`"]
    {
        assert!(text.contains(part), "{text}");
    }
    // Not answered, it is asked again, and is the same question; a no is no answer.
    let waiting = bench.prepare(&scripted()).unwrap();
    let refused = waiting.settle(|asked| Err::<(), _>(asked.hash.clone()), &mut Vec::new());
    assert_eq!(refused.err().unwrap(), question.hash);
    let again = bench.prepare(&scripted()).unwrap();
    assert_eq!(again.questions()[0].hash, question.hash);
    approved(again);
    assert!(bench.prepare(&scripted()).unwrap().questions().is_empty());
}

#[test]
fn another_content_is_another_question_that_tells_what_changed() {
    let bench = Bench::new();
    let first = bench.prepare(&scripted()).unwrap();
    bench.write("run.sh", "echo something else");
    let second = asked(&bench);
    assert_ne!(first.questions()[0].hash, second.hash);
    // The answer to the first approves nothing of the second, which is asked at once.
    let mut asked_about: Vec<Question> = Vec::new();
    let answer = |question: &Question| {
        asked_about.push(question.clone());
        if asked_about.len() == 1 { Ok(()) } else { Err(()) }
    };
    assert!(first.settle(answer, &mut Vec::new()).is_err());
    assert_eq!(asked_about.len(), 2);
    assert_eq!(
        changes(&asked_about[1]),
        ["changed: file `run.sh`", "  - echo ran", "  + echo something else"]
    );
    assert_eq!(asked(&bench).hash, second.hash, "nothing was approved");
    approved(bench.prepare(&scripted()).unwrap());
    bench.write("materia.json", &CONFIG.replace("go on", "go on and publish it"));
    assert_eq!(
        changes(&asked(&bench)),
        ["changed: materia `Ask`", "  - prompt: go on", "  + prompt: go on and publish it"]
    );
    // What it was before is still approved.
    bench.write("materia.json", CONFIG);
    assert!(bench.prepare(&scripted()).unwrap().questions().is_empty());
}

#[test]
fn only_what_matters_asks_again() {
    let bench = Bench::new();
    approved(bench.prepare(&scripted()).unwrap());
    let open = |text: &str| {
        bench.write("materia.json", text);
        !bench.prepare(&scripted()).unwrap().questions().is_empty()
    };
    let with =
        |more: &str| format!("{},{more} }}", CONFIG.trim_end().trim_end_matches('}').trim_end());
    // Formatting, comments, and words for people.
    assert!(!open(&format!("// words\n{}", CONFIG.replace('\n', " "))));
    assert!(!open(
        &CONFIG.replace("\"prompt\"", "\"label\": \"A\", \"description\": \"b\", \"prompt\"")
    ));
    // Anything that changes what is done.
    for (from, to) in [
        ("go on", "go off"),
        ("\"prompt\"", "\"model\": \"large\", \"prompt\""),
        ("\"prompt\"", "\"tools\": [\"Bash(*)\"], \"prompt\""),
        ("\"prompt\"", "\"multiTurn\": true, \"prompt\""),
        ("\"sh\", \"run.sh\"", "\"sh\", \"run.sh\", \"x\""),
        ("\"command\"", "\"env\": {\"A\": \"b\"}, \"command\""),
        ("\"materia\": \"Ask\"", "\"materia\": \"Ask\", \"policy\": {\"network\": true}"),
        ("\"materia\": \"Ask\"", "\"materia\": \"Ask\", \"prompt\": \"and more\""),
        ("\"always\", \"to\": \"b\"", "\"always\", \"to\": \"end\""),
    ] {
        assert!(CONFIG.contains(from) && open(&CONFIG.replacen(from, to, 1)), "{from}: {to}");
    }
    for setting in
        ["\"docRoot\": \"src\"", "\"limits\": {\"maxRepairs\": 9}", "\"budget\": {\"maxTurns\": 9}"]
    {
        assert!(open(&with(setting)), "{setting}");
    }
    // A materia that takes no part is nobody's business now.
    assert!(!open(&CONFIG.replace("\"Run\": {", "\"Unused\": { \"prompt\": \"x\" }, \"Run\": {")));
}

/// Reads a cast as it is carried on.
fn going_on(bench: &Bench, options: &RunOptions) -> Result<Untrusted<GoingOn>, Failure> {
    let wanted = RunId::new("c1");
    let found = bench.project.find(&wanted).unwrap();
    prepare::going_on(&bench.project, load_to_drive(found.journal(), &wanted).unwrap(), options)
}

/// Begins a cast that goes no further.
fn begun(bench: &Bench) -> RunCreated {
    let options = RunOptions { cast_id: Some("c1".to_owned()), ..scripted() };
    let beginning = approved(bench.prepare(&options).unwrap());
    let journal = beginning.open(&mut Vec::new()).unwrap();
    let (id, created) = (beginning.id.clone(), beginning.created.clone());
    let lease = blocking(&*journal).claim(&id).unwrap();
    let mut driver =
        Driver::fresh(id, lease.epoch(), journal.clone(), std::sync::Arc::new(NoObserver));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let create = materia_contract::Input::Create(created.clone().into());
    runtime
        .block_on(driver.take_for(
            materia_contract::time::VIRTUAL_EPOCH,
            create,
            materia_contract::Actor::PERSON,
        ))
        .unwrap();
    assert!(runtime.block_on(journal.head(&RunId::new("c1"))).unwrap().is_some());
    created
}

#[test]
fn a_cast_goes_on_unasked_where_it_began_and_nowhere_else() {
    let bench = Bench::new();
    begun(&bench);
    assert!(going_on(&bench, &RunOptions::default()).unwrap().questions().is_empty());
    fs::remove_file(bench.profile().join("trust.json")).unwrap();
    let waiting = going_on(&bench, &RunOptions::default()).unwrap();
    let [question] = waiting.questions() else { panic!() };
    assert!(question.files[0].contains("not begun here"), "{:?}", question.files);
    assert_eq!(question.commands[0].materia, "Run");
    assert!(question.settings.iter().any(|one| one.contains("script.json")), "{question:?}");
    approved(waiting);
    assert!(going_on(&bench, &RunOptions::default()).unwrap().questions().is_empty());
}

#[test]
fn what_a_cast_runs_is_looked_at_again_each_time() {
    let bench = Bench::new();
    begun(&bench);
    bench.write("run.sh", "echo other");
    let waiting = going_on(&bench, &RunOptions::default()).unwrap();
    let [question] = waiting.questions() else { panic!() };
    assert_eq!(changes(question), ["changed: file `run.sh`", "  - echo ran", "  + echo other"]);
    assert!(!question.files.iter().any(|file| file.contains("journal")), "it did begin here");
    approved(waiting);
    assert!(going_on(&bench, &RunOptions::default()).unwrap().questions().is_empty());
    // The script that answers can write files: it counts like a program, unless a person names it now.
    bench.write("script.json", r#"{ "turns": { "Ask": [{ "text": "Other." }] } }"#);
    let waiting = going_on(&bench, &RunOptions::default()).unwrap();
    assert!(changes(&waiting.questions()[0])[0].contains("script of answers"));
    assert!(going_on(&bench, &scripted()).unwrap().questions().is_empty());
}

#[test]
fn a_memory_that_cannot_be_read_approves_nothing_and_is_warned_of() {
    let bench = Bench::new();
    approved(bench.prepare(&scripted()).unwrap());
    fs::write(bench.profile().join("trust.json"), "no JSON").unwrap();
    let again = bench.prepare(&scripted()).unwrap();
    assert_eq!(again.questions().len(), 1);
    assert!(again.what().prepared.warnings[0].contains("trust.json"));
}
