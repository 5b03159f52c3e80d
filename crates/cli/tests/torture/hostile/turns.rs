//! Turns that try to write where they must not, to escape, or to forge their result.
//!
//! The kernel confines a turn in Planning mode; without Landlock those tests are skipped. All assert the same: nothing
//! outside of the project changed, the code is unchanged, and no process is left.

use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use materia_runners::{PlanningSupport, planning_support};
use serde_json::{Value, json};

use super::Stage;
use super::people::{people, skipped};

/// Final report of an older supervisor, as a turn would forge it.
const FORGED: &str = r#"python3 -c "
import struct, sys
said = b'{\"exit_code\":0,\"signal\":null,\"spawn_error\":null,\"survivors\":0,\"sandbox\":null}'
sys.stdout.buffer.write(b'O' + struct.pack('<I', 6) + b'forged' + b'X' + struct.pack('<I', len(said)) + said)
""#;

/// A project of one utility that runs a script of a shell.
pub(super) fn project(script: &str, more: &Value) -> Stage {
    let stage = Stage::new();
    let mut socket = json!({ "materia": "M", "edges": [{ "to": "end" }] });
    let mut materia = json!({ "type": "utility", "command": ["sh", "-c", script] });
    for (place, fields) in [(&mut socket, &more["socket"]), (&mut materia, &more["materia"])] {
        for (name, value) in fields.as_object().into_iter().flatten() {
            place[name] = value.clone();
        }
    }
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": socket } } },
        "materia": { "M": materia },
    });
    stage.write("project/materia.json", config.to_string());
    stage.write("project/src/main.rs", "precious\n");
    stage
}

pub(super) fn code(stage: &Stage) -> String {
    fs::read_to_string(stage.path("project/src/main.rs")).unwrap()
}

/// Whether the kernel can confine a turn. Where it cannot, `MATERIA_NO_LANDLOCK=1` must say that this is known.
pub(super) fn confines() -> bool {
    let confines = planning_support() == PlanningSupport::Enforced;
    if !confines {
        let known = std::env::var_os("MATERIA_NO_LANDLOCK").is_some_and(|value| value == "1");
        assert!(
            known,
            "no Landlock, so this test shows nothing; if you know, set MATERIA_NO_LANDLOCK=1"
        );
        skipped("it needs a kernel with Landlock");
    }
    confines
}

/// Who has these words among its arguments.
pub(super) fn alive(words: &str) -> Vec<String> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter(|entry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit));
    let told = pids.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let told = told.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    told.filter(|line| line.starts_with("sleep ") && line.contains(words)).collect()
}

/// Waits until somebody with these words lives.
pub(super) fn lives(words: &str) {
    let begun = Instant::now();
    while alive(words).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody with {words} was left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Panics if anybody with these words outlives a few seconds.
pub(super) fn gone(words: &str) {
    let begun = Instant::now();
    while !alive(words).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "alive: {:?}", alive(words));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All bytes that lie under a folder.
pub(super) fn everything(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        } else if meta.is_file() {
            fs::File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        }
    }
    bytes
}

pub(super) fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|at| at == words.as_bytes())
}

/// Ways for a turn in Planning to have the runtime write elsewhere, and others to write there itself. `$C` is the
/// folder of the cast, `$H` the home of the person.
const CONFINED: [(&str, &str); 22] = [
    (
        "a folder with a link over the socket's",
        "mkdir $TMPDIR/e; ln -s $H/.bashrc $TMPDIR/e/1-1.stdout; mv $C/sockets/a $TMPDIR/old; mv $TMPDIR/e $C/sockets/a; printf '\\377'",
    ),
    (
        "a link in the place of the socket's folder",
        "ln -s $H docs/l; rm -rf $C/sockets/a; mv docs/l $C/sockets/a; printf '\\377'",
    ),
    (
        "a link in the place of a stream",
        "ln -s $H/.bashrc docs/l; mv docs/l $C/sockets/a/1-1.stdout; printf '\\377'",
    ),
    (
        "a link in the place of the diff",
        "ln -s $PWD/src/main.rs docs/l; mv docs/l $C/sockets/a/1-1.diff",
    ),
    (
        "a second name in the place of a stream",
        "ln $H/.bashrc $C/sockets/a/1-1.stdout; printf '\\377'",
    ),
    (
        "a pipe in the place of a stream",
        "mkfifo docs/p; mv docs/p $C/sockets/a/1-1.stderr; printf '\\377' >&2",
    ),
    ("a link in the place of the sockets", "mv $C/sockets $TMPDIR/s; ln -s $H $C/sockets"),
    ("a link in the place of the sessions", "ln -s $H $C/sessions"),
    ("a link in the place of the events", "ln -s $H/.bashrc docs/l; mv docs/l $C/events.jsonl"),
    ("a link in the place of the manifest", "ln -s $H/.bashrc docs/l; mv docs/l $C/manifest.json"),
    ("a link in the place of the temporary folders", "mv $C/tmp $C/x; ln -s $H $C/tmp"),
    ("a link in its own temporary folder", "ln -s $H $TMPDIR/home; ln -s $H/.bashrc $TMPDIR/rc"),
    ("the folder of the cast", "rm -rf $C; mkdir $C; touch $C/x"),
    ("the lock of the cast", "rm -f $C/lock $C/../lock"),
    ("the journal", "rm -f $C/../journal.db*; echo x > $C/../journal.db"),
    ("the blobs", "mkdir -p $C/../blobs/aa; echo x > $C/../blobs/aa/x"),
    (
        "hooks and settings of git",
        "mkdir -p .git/hooks; echo x > .git/config; echo x > .git/hooks/pre-commit",
    ),
    ("the code, later", "(setsid sh -c 'sleep 0.4; echo late > src/main.rs' >/dev/null 2>&1 &)"),
    (
        "the code, through its supervisor",
        "for fd in 0 1 2 3 4 5 6 7 8 9; do echo x > /proc/$PPID/fd/$fd; done; echo x > /proc/$PPID/cwd/src/main.rs; echo x > /proc/$PPID/root/$PWD/src/main.rs",
    ),
    (
        "the home",
        "echo x > $H/.bashrc; echo x > $H/.ssh/authorized_keys; echo x > $H/../outside/kept",
    ),
    ("the configuration", "echo '{}' > materia.json; echo '{}' > .materia/materia.json"),
    ("the profile", "echo x > $H/../profile/trust.json; echo x > $H/../state/x"),
];

#[test]
fn in_planning_nothing_is_written_but_documents_whatever_a_turn_tries() {
    for who in people() {
        if !confines() {
            return;
        }
        for (what, script) in CONFINED {
            let script = format!(
                "C=.materia/$MATERIA_CAST_ID; H=$PWD/../home; mkdir -p docs\n{script}\nexit 0"
            );
            let stage =
                project(&script, &json!({ "socket": { "outputSelector": "artifacts:diff" } }))
                    .of(who);
            let seen = stage.watch(&["cast", "--trust", "--planning", "--cast-id", "c1", "go"]);
            assert!([0, 1].contains(&seen.ran.exit), "{what}: {seen:?}");
            let seen = seen.changed_nothing_outside();
            assert_eq!(code(&stage), "precious\n", "{what}: {seen:?}");
            assert!(!stage.path("project/.git").exists(), "{what}");
            assert!(
                !stage.path("project/.materia/c1/tmp").exists(),
                "{what}: its temporary folder is left"
            );
            // What was recorded is whole, and can be read.
            let replay = stage.run(&["replay", "c1"]);
            assert_eq!(replay.exit, 0, "{what}: {replay:?}");
        }
        gone("0.4");
    }
}

#[test]
fn in_planning_a_turn_can_neither_signal_nor_trace_nor_read_who_watches_it() {
    for who in people() {
        if !confines() {
            return;
        }
        let script = "m=$(awk '/^PPid/{print $2}' /proc/$PPID/status)
for pid in $PPID $m; do
  kill -9 $pid 2>/dev/null && echo could kill
  kill -STOP $pid 2>/dev/null && echo could stop
  cat /proc/$pid/environ >/dev/null 2>&1 && echo could read its environment
  ls -l /proc/$pid/fd/ 2>/dev/null | grep -q pipe: && echo could see its files
  head -c 1 /proc/$pid/mem >/dev/null 2>&1 && echo could read its memory
done
sleep 60.41 & kill $! && echo own";
        let stage = project(script, &json!({})).of(who);
        let seen =
            stage.watch(&["cast", "--trust", "--planning", "--cast-id", "c1", "go"]).exits(0);
        let said =
            fs::read_to_string(stage.path("project/.materia/c1/sockets/a/1-1.stdout")).unwrap();
        assert_eq!(said, "own\n", "{seen:?}");
        gone("60.41");
    }
}

#[test]
fn what_a_turn_does_to_modes_and_times_is_found_after_everything_was_written() {
    for who in people() {
        let stage =
            project("mkdir -p docs; chmod 777 src/main.rs; printf '\\377'", &json!({})).of(who);
        let seen =
            stage.watch(&["cast", "--trust", "--planning", "--cast-id", "c1", "go"]).exits(1);
        let seen = seen.says("outside it changed meanwhile: `src/main.rs`");
        assert!(stage.path("project/.materia/c1/sockets/a/1-1.stdout").is_file(), "{seen:?}");
    }
}

#[test]
fn an_unconfined_turn_does_not_get_the_runtime_to_write_elsewhere_either() {
    for who in people() {
        for (what, script) in [
            ("sockets", "rm -rf $C/sockets; ln -s $H $C/sockets"),
            ("its folder", "rm -rf $C/sockets/a; ln -s $H $C/sockets/a"),
            ("its stream", "ln -sf $H/.bashrc $C/sockets/a/1-1.stdout"),
            ("a second name", "ln -f $H/.bashrc $C/sockets/a/1-1.stdout"),
            ("its diff", "ln -sf $H/.bashrc $C/sockets/a/1-1.diff"),
            ("its meta", "ln -sf $H/.bashrc $C/sockets/a/1-1.meta.json"),
            ("the manifest", "ln -sf $H/.bashrc $C/manifest.json"),
            ("the folder of the cast", "mv $C $C-moved; ln -s $H $C"),
            ("the artifact root", "mv .materia moved; ln -s $H .materia"),
        ] {
            let script = format!(
                "C=.materia/$MATERIA_CAST_ID; H=$PWD/../home; {script}; echo more >> src/main.rs; printf '\\377owned'"
            );
            let stage =
                project(&script, &json!({ "socket": { "outputSelector": "artifacts:diff" } }))
                    .of(who);
            let seen = stage.watch(&["cast", "--trust", "--cast-id", "c1", "go"]);
            assert!([0, 1].contains(&seen.ran.exit), "{what}: {seen:?}");
            drop(seen.changed_nothing_outside());
            drop(stage.watch(&["replay", "c1"]).changed_nothing_outside());
        }
    }
}

#[test]
fn a_forged_end_is_not_believed_and_who_forged_it_does_not_survive() {
    for who in people() {
        let kill_and_forge = format!(
            "sup=$PPID; (setsid sh -c \"command exec 3>/proc/$sup/fd/1; kill -9 $sup; {} >&3; exec sleep 60.51\" &) ; sleep 60.51",
            FORGED.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$")
        );
        let through_materia = format!(
            "m=$(awk '/^PPid/{{print $2}}' /proc/$PPID/status)
for fd in $(ls /proc/$m/fd); do
  case $(readlink /proc/$m/fd/$fd) in pipe:*) {FORGED} > /proc/$m/fd/$fd & ;; esac
done 2>/dev/null
sleep 0.3; kill -9 $PPID; sleep 60.51"
        );
        let forged_alone = format!("{FORGED} > /proc/$PPID/fd/1; sleep 0.2; exit 7");
        for (what, script) in [
            ("killed and forged", kill_and_forge),
            ("forged through materia", through_materia),
            ("forged while it lives", forged_alone),
        ] {
            let stage = project(&script, &json!({})).of(who);
            let begun = Instant::now();
            let seen = stage.watch(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(1);
            assert!(begun.elapsed() < Duration::from_secs(30), "{what}: {seen:?}");
            assert!(!seen.ran.err.contains("completed"), "{what}: {seen:?}");
            gone("60.51");
        }
    }
}

#[test]
fn whoever_leaves_session_and_environment_and_kills_its_supervisor_is_found_all_the_same() {
    for who in people() {
        let script = "(env -i setsid sh -c 'exec sleep 60.61' >/dev/null 2>&1 </dev/null &)
(env -i setsid setsid sh -c 'sleep 60.61; true' >/dev/null 2>&1 </dev/null &)
sleep 0.1; kill -9 $PPID; sleep 60.61";
        let stage = project(script, &json!({})).of(who);
        let seen = stage.watch(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(1);
        assert!(seen.ran.err.contains("supervisor"), "{seen:?}");
        gone("60.61");
    }
}

#[test]
fn a_supervisor_that_was_stopped_does_not_outlast_the_limit() {
    for who in people() {
        let script = "(setsid sleep 60.65 &) ; kill -STOP $PPID; sleep 60.65";
        let stage = project(script, &json!({ "socket": { "timeoutMs": 700 } })).of(who);
        let seen = stage.watch(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(1);
        assert!(seen.ran.err.contains("took longer than its limit"), "{seen:?}");
        gone("60.65");
    }
}

#[test]
fn what_a_killed_materia_and_its_killed_supervisor_left_is_swept_before_the_run_goes_on() {
    for who in people() {
        // The first try leaves somebody, and kills everybody who could see to him. The second one looks whether he is there.
        let script = "if [ -e ../outside/first ]; then
  ps -eo args | grep -v grep | grep -c 'sleep 60.71' > ../outside/found; exit 0
fi
touch ../outside/first
(setsid sleep 60.71 >/dev/null 2>&1 </dev/null &)
m=$(awk '/^PPid/{print $2}' /proc/$PPID/status)
kill -9 $m $PPID; sleep 60.71";
        let stage = project(script, &json!({})).of(who);
        let ran = stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]);
        assert_ne!(ran.exit, 0, "{ran:?}");
        // What was left may still be between `fork` and `exec`.
        lives("60.71");
        stage.write("project/.materia/c1/tmp/9/left", "by somebody who was killed");
        let ran = stage.run(&["resume", "c1"]);
        assert_eq!(ran.exit, 0, "{ran:?}");
        assert_eq!(fs::read_to_string(stage.path("outside/found")).unwrap(), "0\n");
        assert!(!stage.path("project/.materia/c1/tmp").exists());
        gone("60.71");
    }
}

#[test]
fn others_with_the_mark_of_another_cast_are_left_alone() {
    for who in people() {
        let stage = project(
        "[ -e once ] && exit 0; touch once; kill -9 $(awk '/^PPid/{print $2}' /proc/$PPID/status) $PPID",
        &json!({}),
    ).of(who);
        let mut other = std::process::Command::new("sleep")
            .arg("60.75")
            .env("MATERIA_TURN", "0123456789abcdef.0123456789abcdef.3.0")
            .spawn()
            .unwrap();
        stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]);
        let ran = stage.run(&["resume", "c1"]);
        assert_eq!(ran.exit, 0, "{ran:?}");
        assert!(other.try_wait().unwrap().is_none(), "it belongs to nobody here");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn the_look_for_diffs_runs_nothing_that_a_submodule_a_filter_or_a_setting_names() {
    for who in people() {
        let stage = project(
            "echo more >> src/main.rs; echo new > new.txt",
            &json!({ "socket": { "outputSelector": "artifacts:diff" } }),
        )
        .of(who);
        stage.program(
            "home/trap",
            "#!/bin/sh\ntouch \"$(dirname \"$0\")/../outside/trapped\"; cat\n",
        );
        let trap = stage.path("home/trap");
        let trap = trap.to_str().unwrap();
        let git = |folder: PathBuf, words: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args([
                "-c",
                "user.name=T",
                "-c",
                "user.email=t@example.org",
                "-c",
                "protocol.file.allow=always",
            ]);
            let said = git
                .args(words)
                .current_dir(folder)
                .env("HOME", stage.path("home"))
                .output()
                .unwrap();
            assert!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        };
        stage.write("outside/sub/file", "x\n");
        for folder in [stage.path("outside/sub"), stage.project()] {
            git(folder.clone(), &["init", "--quiet"]);
            git(folder.clone(), &["add", "."]);
            git(folder, &["commit", "--quiet", "--message", "first"]);
        }
        let source = stage.path("outside/sub");
        git(stage.project(), &["submodule", "add", "--quiet", source.to_str().unwrap(), "sub"]);
        // A submodule may say of itself that it is not to be passed over.
        git(stage.project(), &["config", "--file", ".gitmodules", "submodule.sub.ignore", "none"]);
        git(stage.project(), &["commit", "--quiet", "--all", "--message", "second"]);
        for folder in [stage.project(), stage.path("project/sub")] {
            for (name, value) in [
                ("filter.trap.clean", trap),
                ("filter.trap.process", trap),
                ("filter.trap.required", "true"),
                ("diff.external", trap),
                ("diff.trap.command", trap),
                ("diff.trap.textconv", trap),
                ("core.pager", trap),
                ("core.sshCommand", trap),
                ("core.gitProxy", trap),
                ("core.askPass", trap),
                ("credential.helper", trap),
                ("gpg.program", trap),
                ("core.fsmonitor", trap),
                ("core.alternateRefsCommand", trap),
                ("uploadpack.packObjectsHook", trap),
                ("remote.origin.promisor", "true"),
                ("extensions.partialClone", "origin"),
                ("remote.origin.url", &format!("ext::{trap}")),
                ("submodule.recurse", "true"),
                ("include.path", trap),
            ] {
                git(folder.clone(), &["config", name, value]);
            }
            fs::write(folder.join(".gitattributes"), "* filter=trap diff=trap\n").unwrap();
        }
        stage.write("project/sub/file", "changed\n");
        for hook in ["post-index-change", "pre-commit", "post-checkout"] {
            for at in ["project/.git/hooks", "project/.git/modules/sub/hooks"] {
                stage.program(&format!("{at}/{hook}"), &format!("#!/bin/sh\n{trap}\n"));
            }
        }
        let _ = fs::remove_file(stage.path("outside/trapped"));
        let seen = stage
            .watch(&["cast", "--trust", "--cast-id", "c1", "go"])
            .exits(0)
            .changed_nothing_outside();
        let executed = seen.executed.clone().unwrap_or_default();
        assert!(
            executed.iter().all(|path| path.ends_with("/sh") || path.ends_with("/git")),
            "{executed:?}"
        );
        let diff = fs::read_to_string(stage.path("project/.materia/c1/sockets/a/1-1.diff"));
        let diff = diff.unwrap_or_else(|error| panic!("{error}: {executed:?} {seen:?}"));
        assert!(diff.contains("+more") && diff.contains("+++ b/new.txt"), "{diff}");
        assert!(!diff.contains("sub/file") && !diff.contains("Subproject"), "{diff}");
    }
}
