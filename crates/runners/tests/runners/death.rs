//! Behaviour when materia or a supervisor is killed.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use materia_contract::ErrorCode;

use crate::stage::{SUPERVISOR, Stage, eventually, marked};

/// Starts a process that runs `command` as materia would and marks everything below it.
fn materia(stage: &Stage, command: &[&str]) -> (Child, String) {
    let child = Command::new(SUPERVISOR)
        .arg("run")
        .args(command)
        .env("MATERIA_TEST_MARK", stage.job.run.as_str())
        .current_dir(stage.cwd())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    (child, format!("MATERIA_TEST_MARK={}", stage.job.run))
}

#[test]
fn when_materia_is_killed_everything_it_ran_is_gone() {
    let stage = Stage::new();
    let script = "import os,signal,time
for s in (signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
for step in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        if step:
            for fd in (0,1,2): os.close(fd)
        open('up%d' % step, 'w').close()
        time.sleep(60)
time.sleep(60)";
    let (mut materia, mark) = materia(&stage, &["python3", "-c", script]);
    let up = || (0..3).all(|step| stage.cwd().join(format!("up{step}")).exists());
    eventually("the whole tree", up);
    // materia, its supervisor, the program and three daemons.
    assert!(marked(&mark).len() >= 6, "{:?}", marked(&mark));
    materia.kill().unwrap();
    materia.wait().unwrap();
    eventually("an empty machine", || marked(&mark).is_empty());
}

#[test]
fn when_a_supervisor_is_killed_its_tree_goes_and_the_fault_is_ours() {
    let stage = Stage::new();
    let fault = stage.fault(&["sh", "-c", "sleep 60 & kill -KILL $PPID; sleep 60"]);
    assert_eq!(fault.code, ErrorCode::Internal);
    assert!(fault.message.contains("supervisor ended before"), "{}", fault.message);
    eventually("an empty tree", || stage.processes().is_empty());
}

#[test]
fn a_flood_takes_little_memory_on_either_side() {
    let stage = Stage::new();
    let (mut materia, mark) =
        materia(&stage, &["sh", "-c", "touch up; timeout 30 yes & timeout 30 yes >&2"]);
    eventually("the flood", || stage.cwd().join("up").exists());
    let peaks = || -> Vec<u64> { marked(&mark).iter().filter_map(|line| peak_kib(line)).collect() };
    // materia, its supervisor, the shell and two floods.
    eventually("two floods", || peaks().len() >= 5);
    // A flood would fill any memory in this time.
    std::thread::sleep(Duration::from_secs(1));
    let peaks = peaks();
    materia.kill().unwrap();
    materia.wait().unwrap();
    assert!(peaks.iter().all(|peak| *peak < 24 * 1024), "{peaks:?} KiB");
    eventually("an empty machine", || marked(&mark).is_empty());
}

/// The most memory that a process has had, given its line of [`marked`].
fn peak_kib(line: &str) -> Option<u64> {
    let pid = line.split(' ').next()?;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse().ok()
}
