//! Interactive use in a pseudo-terminal: the live view, questions and a conversation.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::Bench;

/// Runs `materia` in a pseudo-terminal of 80 columns and as many rows as are asked for. Each step is a text to wait for and what is typed then;
/// prints what was on the screen, and the exit status on the last line.
const PERSON: &str = r#"
import fcntl, json, os, pty, re, select, signal, struct, sys, termios, time
rows, steps, args = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    os.execvp(args[0], args)
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

/// Screen content and exit status.
struct Seen {
    screen: String,
    exit: i32,
}

fn person(bench: &Bench, steps: &Value, args: &[&str]) -> Seen {
    person_at(24, bench, steps, args)
}

fn person_at(rows: usize, bench: &Bench, steps: &Value, args: &[&str]) -> Seen {
    let rows = rows.to_string();
    let ran = Command::new("python3")
        .args(["-c", PERSON, &rows, &steps.to_string(), env!("CARGO_BIN_EXE_materia")])
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

/// How wide the picture in a test is.
const COLUMNS: usize = 80;

/// Emulated terminal: the visible rows, and those that have scrolled off the top.
struct Drawn {
    rows: Vec<Vec<char>>,
    gone: Vec<String>,
    at: (usize, usize),
}

impl Drawn {
    fn new(rows: usize) -> Self {
        Self { rows: vec![vec![' '; COLUMNS]; rows], gone: Vec::new(), at: (0, 0) }
    }

    fn text(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
    }

    fn down(&mut self) {
        if self.at.0 + 1 < self.rows.len() {
            self.at.0 += 1;
            return;
        }
        let first = self.rows.remove(0);
        self.gone.push(first.into_iter().collect::<String>().trim_end().to_owned());
        self.rows.push(vec![' '; COLUMNS]);
    }

    /// Takes in a part; `watch` looks at each state in which a whole picture may stand there.
    fn take(&mut self, text: &str, mut watch: impl FnMut(&Self)) {
        let mut signs = text.chars().peekable();
        while let Some(sign) = signs.next() {
            match sign {
                '\r' => {
                    watch(self);
                    self.at.1 = 0;
                }
                '\n' => self.down(),
                '\u{1b}' if signs.peek() == Some(&'[') => {
                    signs.next();
                    let mut number = String::new();
                    let end = loop {
                        match signs.next() {
                            Some(sign) if sign.is_ascii_digit() || "?;".contains(sign) => {
                                number.push(sign);
                            }
                            other => break other.unwrap(),
                        }
                    };
                    let count = number.parse().unwrap_or(0_usize);
                    match end {
                        'A' => {
                            watch(self);
                            self.at.0 = self.at.0.saturating_sub(count.max(1));
                        }
                        'B' => self.at.0 = (self.at.0 + count.max(1)).min(self.rows.len() - 1),
                        'C' => self.at.1 = (self.at.1 + count.max(1)).min(COLUMNS - 1),
                        'D' => self.at.1 = self.at.1.saturating_sub(count.max(1)),
                        'G' => self.at.1 = count.saturating_sub(1),
                        'K' => {
                            let from = if count == 2 { 0 } else { self.at.1.min(COLUMNS) };
                            self.rows[self.at.0][from..].fill(' ');
                        }
                        'J' => {
                            let (row, column) = self.at;
                            self.rows[row][column.min(COLUMNS)..].fill(' ');
                            self.rows[row + 1..].iter_mut().for_each(|row| row.fill(' '));
                        }
                        'm' | 'h' | 'l' => {}
                        other => panic!("what is {number}{other}?"),
                    }
                }
                sign if sign.is_control() => {}
                sign => {
                    if self.at.1 == COLUMNS {
                        self.at.1 = 0;
                        self.down();
                    }
                    self.rows[self.at.0][self.at.1] = sign;
                    self.at.1 += 1;
                }
            }
        }
    }
}

/// One that starts many at once, which are at work until all of them are.
fn many(count: usize) -> Bench {
    let names: Vec<String> = (1..=count).map(|n| format!("s{n:02}")).collect();
    let edges: Vec<Value> = names.iter().map(|name| json!({ "to": name })).collect();
    let mut sockets = json!({ "go": { "materia": "Go", "routing": "all", "edges": edges } });
    for name in &names {
        sockets[name] = json!({ "materia": "Meet", "routing": "all" });
    }
    let meet = format!(
        "mkdir -p met; : > met/$$; until [ $(ls met | wc -l) -ge {count} ]; do sleep 0.1; done; sleep 1"
    );
    Bench::with(&json!({
        "loadouts": { "L": { "entry": "go", "sockets": sockets } },
        "materia": {
            "Go": { "type": "utility", "command": ["true"] },
            "Meet": { "type": "utility", "command": ["sh", "-c", meet], "timeoutMs": 60000 },
        },
    }))
}

#[test]
fn the_view_is_never_taller_than_the_terminal() {
    for (rows, count) in [(16, 20), (4, 6), (2, 3)] {
        let bench = many(count);
        let args = ["cast", "--trust", "--cast-id", "c1", "--no-request"];
        let seen = person_at(rows, &bench, &json!([]), &args);
        assert_eq!(seen.exit, 0, "{}", seen.screen);
        let mut drawn = Drawn::new(rows);
        let mut fullest = 0;
        let mut told_of_more = false;
        drawn.take(&seen.screen, |drawn| {
            let text = drawn.text();
            let running = text.iter().filter(|row| row.contains(" running ")).count();
            fullest = fullest.max(running);
            told_of_more |= text.iter().any(|row| row.contains("more at work"));
            let lost: Vec<_> = drawn.gone.iter().filter(|row| row.contains(" running ")).collect();
            assert!(lost.is_empty(), "rows went out at the top: {lost:?}");
        });
        assert_eq!(fullest, rows - 2, "as many as there is room for: {}", seen.screen);
        assert!(told_of_more, "the others are counted: {}", seen.screen);
        let whole = [drawn.gone.clone(), drawn.text()].concat();
        let stale: Vec<_> = whole.iter().filter(|row| row.contains(" running ")).collect();
        assert!(stale.is_empty(), "no row looks as if it ran: {stale:?}");
        let done =
            whole.iter().filter(|row| row.contains(" Meet") && row.contains(" done ")).count();
        assert_eq!(done, count, "the table ends whole: {whole:#?}");
    }
}
