//! A person at a terminal: the live view, questions and a conversation, in a pseudo-terminal.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::Bench;

/// Runs `materia` in a pseudo-terminal of 80 columns. Each step is a text to wait for and what is typed then;
/// prints what was on the screen, and the exit status on the last line.
const PERSON: &str = r#"
import fcntl, json, os, pty, re, select, signal, struct, sys, termios, time
steps, args = json.loads(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(args[0], args)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
seen, end = b"", time.time() + 60
while time.time() < end:
    ready, _, _ = select.select([fd], [], [], 0.1)
    if ready:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    if steps and steps[0][0].encode() in seen:
        at = seen.index(steps[0][0].encode()) + len(steps[0][0].encode())
        rest, seen = seen[at:], seen[:at]
        text = steps.pop(0)[1]
        os.write(fd, text.encode())
        sys.stdout.buffer.write(seen)
        seen = rest
else:
    os.kill(pid, signal.SIGKILL)
sys.stdout.buffer.write(seen)
_, status = os.waitpid(pid, 0)
print("\nEXIT", os.waitstatus_to_exitcode(status), "LEFT", len(steps))
"#;

/// What a person saw, and how it ended.
struct Seen {
    screen: String,
    exit: i32,
}

fn person(bench: &Bench, steps: &Value, args: &[&str]) -> Seen {
    let ran = Command::new("python3")
        .args(["-c", PERSON, &steps.to_string(), env!("CARGO_BIN_EXE_materia")])
        .args(args)
        .current_dir(bench.project())
        .env("MATERIA_PROFILE_DIR", bench.profile())
        .env("MATERIA_STATE_DIR", bench.state())
        .env("TERM", "xterm")
        .env_remove("MATERIA_CONFIG")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let (screen, end) = text.rsplit_once("\nEXIT ").unwrap_or_else(|| panic!("{ran:?}"));
    let words: Vec<&str> = end.split_whitespace().collect();
    assert_eq!(words[2], "0", "not everything was asked: {text}");
    Seen { screen: screen.to_owned(), exit: words[0].parse().unwrap() }
}

/// A plan that is talked over, then a deployment that asks first.
fn bench() -> Bench {
    let bench = Bench::with(&json!({
        "loadouts": { "L": { "entry": "plan", "sockets": {
            "plan": { "materia": "Plan", "edges": [{ "to": "deploy" }] },
            "deploy": { "materia": "Deploy", "approval": "before", "edges": [
                { "when": "satisfied", "to": "end" },
                { "when": "not_satisfied", "to": "explain" },
            ] },
            "explain": { "materia": "Explain" },
        } } },
        "materia": {
            "Plan": { "prompt": "Plan.", "multiTurn": true },
            "Deploy": { "type": "utility", "command": ["sh", "-c", "echo deployed"], "verdict": "exitCode" },
            "Explain": { "prompt": "Explain." },
        },
    }));
    let script = json!({ "turns": {
        "plan": [{ "text": "In which colour?", "usage": { "inputTokens": 7 } }, { "text": "Blue it is." }],
        "explain": [{ "text": "It was refused." }],
    } });
    bench.write("s.json", &script.to_string());
    bench
}

const CAST: [&str; 7] = ["cast", "--trust", "--script", "s.json", "--cast-id", "c1", "go"];

#[test]
fn a_conversation_and_an_approval_on_the_terminal() {
    let bench = bench();
    let steps = json!([["> ", "blue\n"], ["> ", "/continue\n"], ["Run it?", "y\n"],]);
    let seen = person(&bench, &steps, &CAST);
    assert_eq!(seen.exit, 0, "{}", seen.screen);
    for part in ["In which colour?", "Blue it is.", "sh -c echo deployed", "writes", "needs you"] {
        assert!(seen.screen.contains(part), "{part}: {}", seen.screen);
    }
    assert!(seen.screen.contains("tokens"), "the total: {}", seen.screen);
    let report = bench.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["visits"].as_array().unwrap().len(), 3);
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_refusal_with_a_reason_keeps_it_waiting_and_one_that_leads_on_goes_on() {
    let bench = bench();
    let steps = json!([["> ", "/continue\n"], ["Run it?", "n\n"], ["Why?", "not today\n"]]);
    let seen = person(&bench, &steps, &CAST);
    assert_eq!(seen.exit, 3, "{}", seen.screen);
    let report = bench.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(report["questions"][0]["reason"], "not today");
    let again = bench.run(&["approve", "c1", "--json"]).exits(0).json();
    assert_eq!(again["status"], "completed");
    let other = self::bench();
    let steps = json!([["> ", "/continue\n"], ["Run it?", "b\n"], ["Why?", "no tests\n"]]);
    assert_eq!(person(&other, &steps, &CAST).exit, 0);
    let report = other.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(report["visits"][2]["socket"], "explain");
    assert_eq!(report["visits"][1]["reason"], "no tests");
}

#[test]
fn scripts_are_asked_nothing_and_the_bell_rings() {
    let bench = bench();
    let seen = person(&bench, &json!([]), &[&CAST[..], &["--no-input"]].concat());
    assert_eq!(seen.exit, 3, "{}", seen.screen);
    assert!(seen.screen.contains('\u{7}'), "{:?}", seen.screen);
    // What had happened before is there right after `resume`.
    let seen = person(&bench, &json!([["> ", "/later\n"]]), &["resume", "c1"]);
    assert_eq!(seen.exit, 3, "{}", seen.screen);
    // Whoever is named in the profile is called instead; a project's own word for that is never run.
    std::fs::create_dir_all(bench.profile()).unwrap();
    let notify = json!({ "notify": ["sh", "-c", "printf %s \"$0\" > called.txt"] });
    std::fs::write(bench.profile().join("config.json"), notify.to_string()).unwrap();
    let mut config: Value = serde_json::from_str(&bench.read("materia.json")).unwrap();
    config["notify"] = json!(["touch", "by-the-project.txt"]);
    bench.write("materia.json", &config.to_string());
    let again = ["cast", "--trust", "--script", "s.json", "--cast-id", "c2", "--no-input", "go"];
    let seen = person(&bench, &json!([]), &again);
    assert!(!seen.screen.contains('\u{7}'), "{:?}", seen.screen);
    bench.wait_for("called.txt");
    crate::bench::until("it is told", || bench.read("called.txt").starts_with("c2 waits"));
    assert!(!bench.has("by-the-project.txt"));
}

#[test]
fn no_row_looks_as_if_it_ran_after_ctrl_c() {
    let bench = Bench::with(&json!({
        "loadouts": { "L": { "entry": "slow", "sockets": { "slow": { "materia": "Slow" }, "never": { "materia": "Slow", "trigger": "manual_only" } } } },
        "materia": { "Slow": { "type": "utility", "command": ["sh", "-c", "touch began; sleep 30"], "timeoutMs": 60000 } },
    }));
    let steps = json!([["running", "\u{3}"]]);
    let seen = person(&bench, &steps, &["cast", "--trust", "--cast-id", "c1"]);
    assert_eq!(seen.exit, 130, "{}", seen.screen);
    let end = seen.screen.rsplit("stopping in good order").next().unwrap();
    let last = end.lines().rev().find(|line| line.contains("slow Slow")).unwrap_or_default();
    assert!(last.contains("stopped"), "{last:?} in {end:?}");
    assert_eq!(end.matches("materia resume c1").count(), 1, "said once: {end}");
}
