//! Recordings, and turns that are played again from them.

use std::fs;
use std::path::Path;

use materia_engine::{StopSource, TurnReport, Work};
use materia_runners::agents::{RecordError, Recorder, Recording, ReplayRunner};

use super::Driving;
use crate::stage::perform;

fn record(driving: &Driving, dir: &Path) -> TurnReport {
    let runner = driving.runner().with_recorder(Recorder::create(dir, driving.cwd()).unwrap());
    let (_source, stop) = StopSource::new();
    perform(&runner, driving.job(), stop)
}

fn replay(driving: &Driving, dir: &Path) -> TurnReport {
    let runner = ReplayRunner::new(Recording::open(dir).unwrap(), driving.fleet());
    let (_source, stop) = StopSource::new();
    perform(&runner, driving.job(), stop)
}

#[test]
fn what_was_recorded_comes_out_again_without_an_agent() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let driving = Driving::new(&format!(
        "init; touch ran; delta 'see {token}'; echo hm >&2; result 'the end'"
    ));
    let dir = driving.stage.outside().join("tape");
    let first = record(&driving, &dir).outcome.unwrap();
    fs::remove_file(driving.cwd().join("ran")).unwrap();
    let second = replay(&driving, &dir).outcome.unwrap();
    assert_eq!(first.output, second.output);
    assert_eq!(first.usage, second.usage);
    assert_eq!(first.transcript, second.transcript);
    assert!(!driving.cwd().join("ran").exists(), "nothing was started");
    let tape = fs::read_to_string(dir.join("Socket-1/2-1.jsonl")).unwrap();
    assert!(!tape.contains(token) && tape.contains("[redacted]"), "{tape}");
    assert!(tape.contains("\"PATH\"") && !tape.contains(&std::env::var("PATH").unwrap()));
}

#[test]
fn a_failure_is_played_again_as_a_failure() {
    let driving = Driving::new("init; kill -9 $$");
    let dir = driving.stage.outside().join("tape");
    let first = record(&driving, &dir).outcome.unwrap_err();
    let second = replay(&driving, &dir).outcome.unwrap_err();
    assert_eq!((first.code, first.message), (second.code, second.message));
    assert_eq!(first.report.class, second.report.class);
}

#[test]
fn the_first_divergence_is_named() {
    let mut driving = Driving::new("init; result ok");
    let dir = driving.stage.outside().join("tape");
    record(&driving, &dir).outcome.unwrap();
    if let Work::Agent { prompt, .. } = &mut driving.stage.job.work {
        *prompt = "Do that.".into();
    }
    let fault = replay(&driving, &dir).outcome.unwrap_err();
    let expected = "parts from its recording at socket `Socket-1`, visit 2, attempt 1: the prompt \
                    differs from the recorded one in line 1: recorded \"Do it.\", now \"Do that.\"";
    assert!(fault.message.contains(expected), "{}", fault.message);
    driving.stage.job.visit = 3;
    let fault = replay(&driving, &dir).outcome.unwrap_err();
    assert!(
        fault.message.contains("visit 3, attempt 1: this turn was not recorded"),
        "{}",
        fault.message
    );
}

#[test]
fn a_folder_that_is_no_recording_is_refused() {
    let driving = Driving::new("");
    let dir = driving.stage.outside().join("tape");
    assert!(matches!(Recording::open(&dir), Err(RecordError::Missing(_))));
    Recorder::create(&dir, driving.cwd()).unwrap();
    assert!(matches!(Recorder::create(&dir, driving.cwd()), Err(RecordError::Exists(_))));
    assert!(matches!(
        Recorder::create(driving.cwd(), driving.cwd()),
        Err(RecordError::NotEmpty(_))
    ));
    fs::write(dir.join("recording.json"), "{\"version\":99}").unwrap();
    assert!(matches!(Recording::open(&dir), Err(RecordError::Newer(_))));
}
