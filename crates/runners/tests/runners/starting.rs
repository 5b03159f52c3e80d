//! Environment of a program, its report, and the errors when it cannot start.

use std::fs;
use std::time::Duration;

use materia_contract::ErrorCode;
use materia_engine::{StopSource, Work};
use materia_runners::{STREAM_BYTES_MAX, UtilityRunner};
use serde_json::{Value, json};

use crate::stage::{Stage, perform, program};

#[test]
fn a_program_gets_its_folder_its_input_and_its_names() {
    let stage = Stage::new();
    let script = "import os,sys,json
print(json.dumps({'cwd': os.getcwd(), 'in': json.load(sys.stdin), 'args': sys.argv[1:],
  'cast': os.environ['MATERIA_CAST_ID'], 'socket': os.environ['MATERIA_SOCKET_ID'],
  'inherited': os.environ['CARGO_MANIFEST_DIR']}))
print('aside', file=sys.stderr)";
    let output = stage.output(&["python3", "-c", script, "a b", "$HOME", "*"]);
    let seen: Value = serde_json::from_str(&output.output).unwrap();
    assert_eq!(seen["cwd"], json!(stage.cwd().canonicalize().unwrap()));
    assert_eq!(seen["in"], json!({"a": 1}));
    assert_eq!(seen["args"], json!(["a b", "$HOME", "*"]), "no shell touches arguments");
    assert_eq!(seen["cast"], json!(stage.job.run.as_str()));
    assert_eq!(seen["socket"], json!("Socket-1"));
    assert_eq!(seen["inherited"], json!(std::env::var("CARGO_MANIFEST_DIR").unwrap()));
    assert_eq!(output.stderr, "aside\n");
    assert_eq!((output.exit_code, output.signal), (Some(0), None));
    assert!(output.duration_ms.is_some() && !output.lossy);
}

#[test]
fn simulated_time_measures_nothing() {
    let mut stage = Stage::new();
    stage.job.virtual_time = true;
    let report = stage.report(&["true"]);
    assert_eq!(report.after, Duration::ZERO);
    assert_eq!(report.outcome.unwrap().duration_ms, None);

    stage.job.timeout = Some(Duration::from_millis(100));
    let report = stage.report(&["sleep", "60"]);
    assert_eq!(report.after, Duration::from_millis(100));
    assert_eq!(report.outcome.unwrap_err().code, ErrorCode::UtilityTimeout);
}

#[test]
fn a_failure_names_command_code_and_the_end_of_stderr() {
    let stage = Stage::new();
    let fault =
        stage.fault(&["sh", "-c", "echo part; echo first >&2; echo '\x1b[31mboom' >&2; exit 3"]);
    assert_eq!(fault.code, ErrorCode::UtilityFailed);
    assert!(fault.message.starts_with("`sh -c "), "{}", fault.message);
    assert!(
        fault.message.ends_with("exited with code 3; stderr: first ⏎ boom"),
        "{}",
        fault.message
    );
    assert_eq!(fault.report.output, "part\n");
    assert_eq!(fault.report.exit_code, Some(3));

    let fault = stage.fault(&["sh", "-c", "kill -SEGV $$"]);
    assert!(fault.message.ends_with("was ended by signal 11 (SIGSEGV)"), "{}", fault.message);
    assert_eq!((fault.report.exit_code, fault.report.signal), (None, Some(11)));
}

#[test]
fn what_cannot_start_is_named_with_the_reason() {
    let stage = Stage::new();
    let at = |name: &str, content: &str, mode| program(&stage.cwd().join(name), content, mode);
    let plain = at("plain", "#!/bin/sh\n", 0o644);
    let lost = at("lost", "#!/no/such/interpreter\n", 0o755);
    let bare = at("bare", "echo no shell may run this\n", 0o755);
    let folder = stage.cwd().to_str().unwrap().to_owned();
    let long = "x".repeat(3 * 1024 * 1024);
    let cases: [(&[&str], &str); 8] = [
        (&["no-such-program-here"], "`no-such-program-here` was not found in any folder of PATH"),
        (&["./nothing"], "the program `./nothing` does not exist"),
        (&[&plain], "is not executable"),
        (&[&lost], "the interpreter that its first line names is not"),
        (&[&bare], "a script needs a `#!` line"),
        (&[&folder], "is a folder"),
        (&["true", &long], "longer than the system allows"),
        (&[], "the command is empty"),
    ];
    for (command, expected) in cases {
        let fault = stage.fault(command);
        assert_eq!(fault.code, ErrorCode::UtilityFailed);
        assert!(fault.message.contains(expected), "{expected:?} not in {}", fault.message);
        assert!(fault.message.len() < 1000);
    }
}

#[test]
fn a_relative_program_is_found_in_the_project() {
    let stage = Stage::new();
    program(&stage.cwd().join("here"), "#!/bin/sh\necho found\n", 0o755);
    assert_eq!(stage.output(&["./here"]).output, "found\n");
}

#[test]
fn a_missing_project_folder_is_said() {
    let mut stage = Stage::new();
    stage.job.cwd = stage.cwd().join("gone");
    let fault = stage.fault(&["true"]);
    assert_eq!(fault.code, ErrorCode::UtilityFailed);
    assert!(fault.message.contains("gone` to run it in does not exist"), "{}", fault.message);
}

#[test]
fn input_of_any_size_is_read_or_not_as_the_program_likes() {
    let stage = Stage::new();
    let large = json!({ "x": "y".repeat(4 * 1024 * 1024) });
    let expected = format!("{}\n", serde_json::to_string(&large).unwrap().len() + 1);
    let output = stage.report_on(&["wc", "-c"], large.clone()).outcome.unwrap();
    assert_eq!(output.output, expected);
    for unread in ["true", "exec 0<&-; sleep 0.1", "head -c 10 > /dev/null", "sleep 0.2"] {
        stage.report_on(&["sh", "-c", unread], large.clone()).outcome.expect(unread);
    }
}

#[test]
fn output_is_whole_up_to_the_limit_and_counted_beyond() {
    let stage = Stage::new();
    let print = |count: usize| {
        let script = format!("import sys; sys.stdout.write('a' * {count}); sys.stdout.flush()");
        stage.output(&["python3", "-c", &script])
    };
    let whole = print(STREAM_BYTES_MAX);
    assert_eq!((whole.output.len(), whole.stdout_dropped), (STREAM_BYTES_MAX, 0));
    assert_eq!(whole.files, [], "the event has all of it");
    let cut = print(STREAM_BYTES_MAX + 12_345);
    assert_eq!(cut.stdout_dropped, 12_345);
    let lines: Vec<&str> = cut.output.lines().collect();
    let [head, line, tail] = lines[..] else { panic!("{} lines", lines.len()) };
    assert_eq!((head.len(), tail.len()), (256 << 10, 768 << 10));
    assert!(line.starts_with("[materia: 12345 bytes are missing here"), "{line}");
    let [full] = &cut.files[..] else { panic!("{:?}", cut.files) };
    assert_eq!((full.kind.as_str(), full.dropped), ("stdout.full", 0));
    let bytes = fs::read(stage.job.run_dir.join(&full.name)).unwrap();
    assert_eq!((bytes.len(), full.bytes), (STREAM_BYTES_MAX + 12_345, bytes.len() as u64));
    assert_eq!(full.hash, materia_contract::BlobHash::of(&bytes).to_string());
}

#[test]
fn a_stream_beyond_its_limit_still_has_its_end_and_leaves_no_secret_at_the_cut() {
    let mut stage = Stage::new();
    let Work::Utility { manner, .. } = &mut stage.job.work else { unreachable!() };
    manner.env = vec![("DEPLOY_TOKEN".to_owned(), "hush-hush-hush".to_owned())];
    manner.keeps.megabytes = 2;
    // The secret lies across both cuts of the text, and across the end of the file.
    let script = "import os,sys
secret = os.environ['DEPLOY_TOKEN']
total = 5 << 20
text = bytearray(b'a' * total)
for at in [256 << 10, 2 << 20, total - (768 << 10), total - 20]:
    text[at - 7 : at + 7] = secret.encode()
sys.stdout.buffer.write(text)";
    let output = stage.output(&["python3", "-c", script]);
    let [full] = &output.files[..] else { panic!("{:?}", output.files) };
    let bytes = fs::read(stage.job.run_dir.join(&full.name)).unwrap();
    assert_eq!((bytes.len(), full.bytes), (2 << 20, 2 << 20));
    // Each secret is four bytes longer than the mark in its place.
    let total = (5 << 20) - 4 * 4;
    assert_eq!(output.stdout_dropped, total - STREAM_BYTES_MAX as u64);
    assert_eq!(full.dropped, total - (2 << 20));
    let line = "has the first 2097152 bytes of 5242864 (`limits.maxOutputMb`)]";
    assert!(output.output.lines().nth(1).unwrap().ends_with(line));
    assert!(output.output.ends_with("aaa[redacted]aaaaaaaaaaaaa"), "its end is there");
    for text in [output.output.as_bytes(), &bytes] {
        let text = String::from_utf8_lossy(text);
        assert!(!text.contains("hush"), "half of it is there");
        assert!(text.contains("aredacted]a") || text.contains("[redacted]a"));
    }
}

#[test]
fn json_is_reported_whole_where_it_is_read() {
    let mut stage = Stage::new();
    let Work::Utility { manner, .. } = &mut stage.job.work else { unreachable!() };
    (manner.keeps.json, manner.keeps.megabytes) = (true, 2);
    let print = |stage: &Stage, text: &str| {
        stage.output(&["python3", "-c", &format!("print({text}, end='')")])
    };
    let object = |size: usize| format!("'{{\"a\": \"' + 'x' * {size} + '\"}}'");
    let short = print(&stage, &object(100));
    assert_eq!((short.whole, short.output.len()), (None, 109));
    let long = print(&stage, &object(1 << 20));
    assert_eq!(long.whole.as_ref().map(String::len), Some((1 << 20) + 9));
    assert!(long.stdout_dropped > 0 && long.output.contains("bytes are missing here"));
    assert_eq!(print(&stage, "'x' * (1 << 20) + '{}'").whole, None, "that is no object");
    let longer = print(&stage, &object(2 << 20));
    assert_eq!(longer.whole, None);
    assert!(longer.notes[0].contains("`limits.maxOutputMb`"), "{:?}", longer.notes);
}

#[test]
fn output_that_is_no_text_is_shown_as_far_as_it_goes_and_kept_raw() {
    let stage = Stage::new();
    let output = stage.output(&["printf", r"a\377b"]);
    assert_eq!(output.output, "a\u{fffd}b");
    assert!(output.lossy);
    let raw = stage.job.run_dir.join("sockets/Socket-1/2-1.stdout");
    assert_eq!(fs::read(raw).unwrap(), b"a\xffb");
    assert!(!stage.job.artifact("stderr").exists(), "only what is no text is written");
}

#[test]
fn a_supervisor_that_is_none_is_an_internal_fault() {
    let stage = Stage::new();
    for wrong in ["/no/such/program", "/bin/false", "/bin/echo"] {
        let (_source, stop) = StopSource::new();
        let job = stage.command(&["true"], json!({}));
        let report = perform(&UtilityRunner::new(wrong.into()), job, stop);
        let fault = report.outcome.unwrap_err();
        assert_eq!(fault.code, ErrorCode::Internal, "{}", fault.message);
        assert!(fault.message.contains("supervisor"), "{}", fault.message);
    }
}
