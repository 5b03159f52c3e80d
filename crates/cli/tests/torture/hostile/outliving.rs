//! Processes that want to outlive their turn, its limit, materia, or all of them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use super::Stage;
use super::people::{Who, finds, people, skipped};
use super::turns::{confines, project};

/// Writes its pid to the file `$1`, once it is what `$2` says, and goes on for ever.
///
/// `led`: its first thread has ended. `hidden`: that, and its environment is empty and read by nobody. `stopped`: it is stopped.
const LIVE: &str = r"
import ctypes, os, platform, signal, sys, threading, time
libc = ctypes.CDLL(None)
place, how = sys.argv[1:3]
def told():
    with open(place + '.new', 'w') as file:
        file.write(str(os.getpid()))
    os.rename(place + '.new', place)
def live(leader):
    # Not before the first thread has ended.
    while how != 'stopped' and not leader():
        time.sleep(0.005)
    told()
    if how == 'stopped':
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        time.sleep(0.05)
def ended():
    with open('/proc/self/stat', 'rb') as stat:
        return stat.read().rpartition(b')')[2].split()[0] == b'Z'
if how == 'hidden':
    libc.prctl(4, 0, 0, 0, 0)
if how == 'stopped':
    live(None)
threading.Thread(target=live, args=(ended,)).start()
libc.syscall(ctypes.c_long({'x86_64': 60}.get(platform.machine(), 93)), 0)
";

/// Starts it away from everybody: orphaned, in a session of its own, with nothing of ours open.
const AWAY: &str = "(setsid python3 live.py $P $HOW >/dev/null 2>&1 </dev/null &)";
/// The same with an empty environment.
const BARE: &str =
    "(env -i PATH=$PATH setsid python3 live.py $P $HOW >/dev/null 2>&1 </dev/null &)";
const UNTIL: &str = "while [ ! -e $P ]; do sleep 0.01; done";
const KILL_BOTH: &str = "kill -9 $(awk '/^PPid/{print $2}' /proc/$PPID/status) $PPID; sleep 60.91";

/// A project whose turn runs a script, with `$P` where a process says its pid and `$HOW` what it is.
fn stage(who: Who, script: &str, how: &str, place: &str, limit: Option<u64>) -> Stage {
    let script = format!("P={place} HOW={how}; {script}");
    let socket = limit.map_or(json!({}), |limit| json!({ "timeoutMs": limit }));
    let stage = project(&script, &json!({ "socket": socket })).of(who);
    stage.write("project/live.py", LIVE);
    stage
}

/// Whether any thread of a process lives.
fn lives(pid: &str) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.into_iter().any(|thread| {
        let stat = fs::read(thread.path().join("stat")).unwrap_or_default();
        let state = stat.iter().rposition(|byte| *byte == b')').and_then(|at| stat.get(at + 2));
        state.is_some_and(|state| !b"ZX".contains(state))
    })
}

/// Panics if the process that left its pid at `place` outlives a few seconds.
fn gone(stage: &Stage, place: &str, what: &str) {
    let pid =
        fs::read_to_string(stage.path(place)).unwrap_or_else(|_| panic!("{what}: it never lived"));
    let begun = Instant::now();
    while lives(&pid) {
        let late = begun.elapsed() > Duration::from_secs(20);
        if late {
            let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
        }
        assert!(!late, "{what}: {pid} outlived it");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const CAST: [&str; 5] = ["cast", "--trust", "--cast-id", "c1", "go"];
const PLAN: [&str; 6] = ["cast", "--planning", "--trust", "--cast-id", "c1", "go"];

#[test]
fn whoever_goes_on_without_its_first_thread_ends_with_its_turn() {
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        for how in ["led", "hidden", "stopped"] {
            let what = format!("{how} as {who:?}");
            let open = stage(who, &format!("{AWAY}; {UNTIL}"), how, "../outside/pid", None);
            let ran = open.run(&CAST);
            assert_eq!(ran.exit, 0, "{what}: {ran:?}");
            gone(&open, "outside/pid", &what);
            if !confines() {
                continue;
            }
            let held =
                stage(who, &format!("mkdir -p docs; {BARE}; {UNTIL}"), how, "docs/pid", None);
            let ran = held.run(&PLAN);
            assert_eq!(ran.exit, 0, "{what}: {ran:?}");
            gone(&held, "project/docs/pid", &what);
        }
    }
}

#[test]
fn whoever_goes_on_without_its_first_thread_ends_at_its_limit() {
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        for how in ["led", "hidden"] {
            let what = format!("{how} as {who:?}");
            // The program itself, and one that its program waits for.
            for script in ["exec python3 live.py $P $HOW", "python3 live.py $P $HOW; true"] {
                let open = stage(who, script, how, "../outside/pid", Some(4000));
                let ran = open.run(&CAST);
                assert_eq!(ran.exit, 1, "{what}: {ran:?}");
                assert!(ran.err.contains("took longer than its limit"), "{what}: {ran:?}");
                gone(&open, "outside/pid", &what);
            }
        }
    }
}

#[test]
fn whoever_goes_on_without_its_first_thread_is_found_when_its_supervisor_was_killed() {
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        for (how, start) in [("led", AWAY), ("led", BARE), ("hidden", BARE), ("stopped", BARE)] {
            let what = format!("{how} as {who:?} by {start}");
            let script = format!("{start}; {UNTIL}; kill -9 $PPID; sleep 60.91");
            let open = stage(who, &script, how, "../outside/pid", None);
            let ran = open.run(&CAST);
            assert_eq!(ran.exit, 1, "{what}: {ran:?}");
            gone(&open, "outside/pid", &what);
        }
    }
}

#[test]
fn what_outlived_materia_and_its_supervisor_is_swept_before_the_run_goes_on() {
    let machine = materia_runners::machine();
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        // By its mark, which its other threads show.
        let mut ways = vec![("led", AWAY, "true")];
        // By its cgroup, whatever it shows; it waits until a living thread is in one.
        let in_group =
            "while ! grep -qs materia- /proc/$(cat $P)/task/*/cgroup; do sleep 0.01; done";
        if machine.cgroup && who == Who::Me {
            ways.extend([
                ("led", BARE, in_group),
                ("hidden", BARE, in_group),
                ("stopped", BARE, in_group),
            ]);
        } else {
            skipped("whoever shows no mark is found by a cgroup, and there is none");
        }
        for (how, start, before) in ways {
            let what = format!("{how} as {who:?} by {start}");
            let script = format!("[ -e $P ] && exit 0; {start}; {UNTIL}; {before}; {KILL_BOTH}");
            let open = stage(who, &script, how, "../outside/pid", None);
            let ran = open.run(&CAST);
            assert_ne!(ran.exit, 0, "{what}: {ran:?}");
            let pid = fs::read_to_string(open.path("outside/pid")).unwrap();
            assert!(lives(&pid), "{what}: nobody was left, so that there is nothing to sweep");
            // The file that its words name is new, so that it is asked about.
            let ran = open.run(&["resume", "c1", "--trust"]);
            assert_eq!(ran.exit, 0, "{what}: {ran:?}");
            assert!(!lives(&pid), "{what}: {pid} outlived it");
        }
    }
}

/// A turn that lasts until it has a cgroup, and says which one.
const IN_GROUP: &str =
    "while ! grep -q materia- /proc/self/cgroup; do sleep 0.01; done; grep ^0:: /proc/self/cgroup";

/// Runs it; gives the folder of its cgroup.
fn group() -> PathBuf {
    let open = stage(Who::Me, IN_GROUP, "led", "x", None);
    let ran = open.run(&CAST);
    assert_eq!(ran.exit, 0, "{ran:?}");
    let said = fs::read_to_string(open.path("project/.materia/c1/sockets/a/1-1.stdout")).unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 ")).unwrap();
    let folder =
        format!("{}{}", mount.split(' ').nth(4).unwrap(), said.trim().trim_start_matches("0::"));
    assert!(folder.contains("/materia-"), "{said}");
    folder.into()
}

#[test]
fn no_cgroup_is_left_behind() {
    if !materia_runners::machine().cgroup {
        skipped("turns get no cgroup here");
        return;
    }
    let folder = group();
    assert!(!folder.exists(), "{folder:?} is left");
    // One that a killed supervisor left goes with the next turn; a new one, and one that is in use, stay.
    let beside =
        |name: &str| folder.with_file_name(format!("materia-{}-{name}", std::process::id()));
    let [old, new, used] = ["old", "new", "used"].map(beside);
    for folder in [&old, &new, &used] {
        fs::create_dir(folder).unwrap();
    }
    let mut within = Command::new("sleep").arg("60").spawn().unwrap();
    fs::write(used.join("cgroup.procs"), within.id().to_string()).unwrap();
    let long_ago = SystemTime::now() - Duration::from_mins(10);
    for folder in [&old, &used] {
        fs::File::open(folder).unwrap().set_modified(long_ago).unwrap();
    }
    group();
    let left = [&old, &new, &used].map(|folder| folder.exists());
    within.kill().unwrap();
    within.wait().unwrap();
    for folder in [&old, &new, &used] {
        let _ = fs::remove_dir(folder);
    }
    assert_eq!(left, [false, true, true]);
}

/// Runs a program that may not end any process.
const HARMLESS: &str = r"
import ctypes, os, struct, sys
kill, signal = int(sys.argv[1]), int(sys.argv[2])
def step(code, yes, no, value): return struct.pack('HBBI', code, yes, no, value)
steps = step(0x20, 0, 0, 0) + step(0x15, 2, 0, kill) + step(0x15, 1, 0, signal) + step(0x06, 0, 0, 0x7fff0000) + step(0x06, 0, 0, 0x50001)
text = ctypes.create_string_buffer(steps)
program = struct.pack('HP', 5, ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[3], sys.argv[3:])
";

#[test]
fn a_run_does_not_go_on_beside_a_process_that_cannot_be_ended() {
    let (kill, signal) = (libc::SYS_kill.to_string(), libc::SYS_pidfd_send_signal.to_string());
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        // By the mark in its environment, and by that of a supervisor among its arguments.
        for (what, words) in
            [("marked", &["sleep", "60.93"][..]), ("a supervisor", &["sh", "__supervise"])]
        {
            let script = format!(
                "echo x >> ../outside/ran; [ -e ../outside/mark ] && exit 0; echo $MATERIA_TURN > ../outside/mark; {KILL_BOTH}"
            );
            let open = stage(who, &script, "led", "x", None);
            assert_ne!(open.run(&CAST).exit, 0, "{what} as {who:?}");
            let mark = fs::read_to_string(open.path("outside/mark")).unwrap().trim().to_owned();
            open.write("outside/__supervise", "read x\n");
            let mut left = who.command(words);
            left.current_dir(open.path("outside")).stdin(Stdio::piped());
            if what == "marked" {
                left.env("MATERIA_TURN", &mark)
            } else {
                left.arg(&mark)
            };
            let mut left = left.spawn().unwrap();
            let pid = left.id().to_string();
            let harmless = ["python3", "-c", HARMLESS, &kill, &signal];
            let ran = open.run_by(&harmless, &["resume", "c1", "--trust"]);
            assert_eq!(ran.exit, 2, "{what} as {who:?}: {ran:?}");
            assert!(ran.err.contains("could not be ended") && ran.err.contains(&pid), "{ran:?}");
            assert!(lives(&pid), "{what} as {who:?}");
            assert_eq!(fs::read_to_string(open.path("outside/ran")).unwrap(), "x\n");
            // Who may end it does, and goes on.
            open.run(&["resume", "c1", "--trust"]).exits(0);
            assert!(!left.wait().unwrap().success());
            assert_eq!(fs::read_to_string(open.path("outside/ran")).unwrap(), "x\nx\n");
        }
    }
}

#[test]
fn a_process_of_another_user_with_the_same_mark_holds_nobody_up() {
    for who in people().into_iter().filter(|who| *who == Who::Nobody) {
        let script = format!(
            "[ -e ../outside/mark ] && exit 0; echo $MATERIA_TURN > ../outside/mark; {KILL_BOTH}"
        );
        let open = stage(who, &script, "led", "x", None);
        assert_ne!(open.run(&CAST).exit, 0);
        let mark = fs::read_to_string(open.path("outside/mark")).unwrap().trim().to_owned();
        open.write("outside/__supervise", "read x\n");
        let mut other = Who::Me.command(&["sh", "__supervise", &mark]);
        let mut other =
            other.current_dir(open.path("outside")).stdin(Stdio::piped()).spawn().unwrap();
        open.run(&["resume", "c1", "--trust"]).exits(0);
        assert!(other.try_wait().unwrap().is_none(), "it is not this user's to end");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
