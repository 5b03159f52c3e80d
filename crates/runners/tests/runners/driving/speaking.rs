//! Turns that go well, and streams that break.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use materia_contract::{ErrorCode, FailureClass};
use materia_engine::Work;

use super::Driving;

#[test]
fn a_good_turn_is_told_live_and_kept() {
    let driving = Driving::new("init; cat > prompt.txt; delta 'Working.'; result 'It is done.'");
    let output = driving.answer();
    assert_eq!(output.output, "It is done.");
    assert_eq!(driving.read("prompt.txt"), "Do it.");
    assert_eq!(driving.said(), "› model fake-1\nWorking.");
    let usage = output.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(10), Some(2)));
    assert_eq!((output.exit_code, output.class), (Some(0), None));

    let kept = output.transcript.unwrap();
    let path = driving.stage.job.run_dir.join(&kept.path);
    assert_eq!(path, driving.transcript());
    let bytes = fs::read(&path).unwrap();
    assert_eq!(kept.hash, blake3::hash(&bytes).to_hex().to_string());
    assert_eq!(kept.bytes, bytes.len() as u64);
    assert_eq!(String::from_utf8_lossy(&bytes).lines().count(), 3);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o077, 0, "for us alone");
}

#[test]
fn a_prompt_that_nobody_reads_and_one_that_is_large_are_fine() {
    let mut driving = Driving::new("init; exec 0<&-; result ok");
    if let Work::Agent { prompt, .. } = &mut driving.stage.job.work {
        *prompt = "x".repeat(3 * 1024 * 1024).into();
    }
    assert_eq!(driving.answer().output, "ok");
    let driving = Driving { ..Driving::new("init; wc -c > size; result ok") };
    let mut driving = driving;
    if let Work::Agent { prompt, .. } = &mut driving.stage.job.work {
        *prompt = "x".repeat(3 * 1024 * 1024).into();
    }
    driving.answer();
    assert_eq!(driving.read("size").trim(), "3145728");
}

#[test]
fn a_stream_in_small_pieces_with_pauses_is_the_same_stream() {
    let driving = Driving::new(
        "all=$(init; delta 'a b'; result done)
while [ -n \"$all\" ]; do
  rest=${all#?????????????????????????????????????????}
  [ \"$rest\" = \"$all\" ] && rest=
  printf %s \"${all%\"$rest\"}\"; sleep 0.02; all=$rest
done; echo",
    );
    assert_eq!(driving.answer().output, "done");
    assert!(driving.said().ends_with("a b"));
}

#[test]
fn a_stream_without_its_last_event_has_failed_whatever_the_exit_code() {
    for ending in
        ["exit 0", "exit 3", "printf '{\"type\":\"result\",\"subtype\":\"succ'", "kill -9 $$"]
    {
        let driving = Driving::new(&format!("init; delta 'almost'; {ending}"));
        let fault = driving.fault();
        assert_eq!(fault.code, ErrorCode::ProviderFailed, "{ending}");
        assert_eq!(
            fault.report.class,
            Some(FailureClass::Transient),
            "{ending}: {}",
            fault.message
        );
        assert!(fault.report.output.is_empty() && fault.report.transcript.is_some());
    }
}

#[test]
fn nonsense_between_events_changes_nothing() {
    let driving = Driving::new(
        r#"echo banner; init; printf '\377\376\n{"type":"new_thing","x":[1]}\n{"type":\n'; result fine; echo '{"type":"late"}'"#,
    );
    assert_eq!(driving.answer().output, "fine");
}

#[test]
fn a_program_that_is_not_there_is_said_to_be_missing() {
    let mut driving = Driving::new("");
    driving.docs[0].1.command = Some(vec!["no-such-agent".to_owned()]);
    let fault = driving.fault();
    assert_eq!(fault.report.class, Some(FailureClass::Permanent));
    assert!(fault.message.contains("`claude` is not installed"), "{}", fault.message);
    driving.docs[0].1.command = Some(vec!["/dev/null".to_owned()]);
    assert!(driving.fault().message.contains("not installed"));
}

#[test]
fn a_flood_is_survived_and_cut_off() {
    let mut driving = Driving::new(
        "init; exec yes '{\"type\":\"noise\",\"text\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}'",
    );
    driving.stage.job.timeout = Some(Duration::from_millis(800));
    let fault = driving.fault();
    assert_eq!(fault.report.class, Some(FailureClass::Permanent), "{}", fault.message);
    let kept = fault.report.transcript.unwrap();
    assert!(kept.bytes > 1_000_000, "{kept:?}");
}

#[test]
fn what_comes_before_a_slow_reader_is_not_lost() {
    // More than any pipe holds, written by somebody who does not wait: dd with a large block.
    let driving = Driving::new(
        "init; head -c 900000 /dev/zero | tr '\\0' x | sed 's/.*/{\"type\":\"noise\",\"t\":\"&\"}/'; echo; result end",
    );
    let output = driving.answer();
    assert_eq!(output.output, "end");
    assert!(output.transcript.unwrap().bytes > 900_000);
}

#[test]
fn a_refused_login_is_told_as_such() {
    let driving = Driving::new(
        r#"init; printf '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key","api_error_status":401,"session_id":"x"}\n'; exit 1"#,
    );
    let fault = driving.fault();
    assert_eq!(fault.report.class, Some(FailureClass::Auth));
    assert_eq!(fault.code, ErrorCode::ProviderFailed);
}
