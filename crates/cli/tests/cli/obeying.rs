//! Commands to a cast that another process runs, while that process is killed repeatedly (D57).

use std::collections::BTreeMap;
use std::process::Child;

use materia_contract::{Answer, Command, CommandId, Do, NodeId, Receipt, RunId};
use materia_engine::blocking;
use materia_journal::{JOURNAL_FILE, SqliteJournal};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::bench::{Bench, finish, until};

/// How many commands are sent in all, and how often the process is killed meanwhile.
const COMMANDS: usize = 1_000;
const KILLS: usize = 10;

/// Every tenth command is unreadable, every seventh impossible.
const UNREADABLE_EVERY: usize = 10;
const IMPOSSIBLE_EVERY: usize = 7;

/// A socket that is under way until it is told, and one that only people start.
fn patient() -> Bench {
    let program = "
import os, time
open('began.txt', 'a').write('x')
while not os.path.exists('go.txt'):
    time.sleep(0.05)
";
    Bench::with(&json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "A", "edges": [{ "to": "b" }] },
            "b": { "materia": "B", "trigger": "manual_only", "edges": [{ "to": "end" }] },
        } } },
        "materia": {
            "A": { "type": "utility", "command": ["python3", "-c", program] },
            "B": { "type": "utility", "command": ["true"] },
        },
    }))
}

fn begun(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.project().join("began.txt")).map_or(0, |text| text.len())
}

fn kill(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Kind of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fits,
    Impossible,
    Unreadable,
}

impl Kind {
    fn of(nth: usize) -> Self {
        if nth.is_multiple_of(UNREADABLE_EVERY) {
            Self::Unreadable
        } else if nth.is_multiple_of(IMPOSSIBLE_EVERY) {
            Self::Impossible
        } else {
            Self::Fits
        }
    }
}

/// Those who send commands, and what they were told to ask for.
struct Senders {
    journal: SqliteJournal,
    raw: rusqlite::Connection,
    run: RunId,
    sent: Vec<(CommandId, Kind)>,
}

impl Senders {
    fn to(bench: &Bench) -> Self {
        let root = bench.project().join(".materia");
        let journal = SqliteJournal::open_existing(&root).unwrap().unwrap();
        let raw = rusqlite::Connection::open(root.join(JOURNAL_FILE)).unwrap();
        raw.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        Self { journal, raw, run: RunId::new("c1"), sent: Vec::new() }
    }

    fn command(nth: usize, kind: Kind) -> Command {
        let node = Some(NodeId::new(if kind == Kind::Fits { "b" } else { "nobody" }));
        // Every other sender gives his command an id, and sends it twice.
        let id = (nth % 2 == 1).then(|| CommandId::parse(&format!("k-{nth}")).unwrap());
        Command { id, ..Command::person(Do::Say { node, text: format!("text {nth}") }) }
    }

    fn send(&mut self, nth: usize) {
        let kind = Kind::of(nth);
        let id = if kind == Kind::Unreadable {
            let text = ["not JSON", r#"{"do":"fly"}"#, r#"{"do":"say"}"#][nth % 3];
            let insert = "INSERT INTO inbox (run_id, command) VALUES ('c1', ?1)";
            self.raw.execute(insert, [text]).unwrap();
            CommandId::numbered(self.raw.last_insert_rowid().unsigned_abs())
        } else {
            let command = Self::command(nth, kind);
            let posting = blocking(&self.journal).post(&self.run, &command).unwrap();
            if command.id.is_some() {
                let again = blocking(&self.journal).post(&self.run, &command).unwrap();
                assert_eq!(again.id, posting.id);
            }
            posting.id
        };
        self.sent.push((id, kind));
    }

    fn receipt(&self, id: &CommandId) -> Option<Receipt> {
        blocking(&self.journal).receipt(&self.run, id).unwrap()
    }

    fn answered(&self) -> usize {
        self.sent.iter().filter(|(id, _)| self.receipt(id).is_some()).count()
    }
}

#[test]
fn a_thousand_commands_take_effect_once_while_their_cast_is_killed_ten_times() {
    let bench = patient();
    let mut child = bench.start(&["cast", "--trust", "--cast-id", "c1", "go"]);
    bench.wait_for("began.txt");
    let mut senders = Senders::to(&bench);
    for round in 0..KILLS {
        let (from, to) = (round * COMMANDS / KILLS, (round + 1) * COMMANDS / KILLS);
        for nth in from..to {
            senders.send(nth);
        }
        // In the midst of it, at another place each time.
        let some = from + 1 + 9 * round;
        until("some of them are answered", || senders.answered() >= some);
        kill(&child);
        finish(child).exits(-1);
        let before = begun(&bench);
        child = bench.start(&["resume", "c1"]);
        until("it is under way again", || begun(&bench) > before);
    }
    until("all of them are answered", || senders.answered() == COMMANDS);

    // Each refusal reaches its sender; what was done names its events.
    let events = bench.run(&["events", "c1", "--json"]).exits(0).lines();
    let mut heard: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["type"] == "message.received") {
        let text = event["data"]["text"].as_str().unwrap().to_owned();
        heard.entry(text).or_default().push(event["seq"].as_u64().unwrap());
    }
    for (nth, (id, kind)) in senders.sent.iter().enumerate() {
        let receipt = senders.receipt(id).unwrap();
        let text = format!("text {nth}");
        match (kind, receipt.answer) {
            (Kind::Fits, Answer::Done { first, last }) => {
                let [seq] = heard[&text][..] else { panic!("{text}: {:?}", heard[&text]) };
                assert!((first..=last).contains(&seq), "{text} at {seq}, {first} to {last}");
            }
            (Kind::Impossible, Answer::Refused { reason }) => {
                assert!(reason.contains("`nobody`"), "{reason}");
                assert!(!heard.contains_key(&text), "{text}");
            }
            (Kind::Unreadable, Answer::Refused { reason }) => {
                assert!(reason.contains("cannot be read"), "{reason}");
            }
            (kind, answer) => panic!("{nth}: {kind:?}, {answer:?}"),
        }
    }
    let fitting = senders.sent.iter().filter(|(_, kind)| *kind == Kind::Fits).count();
    assert_eq!(heard.len(), fitting, "nothing was heard that nobody said");

    // Whoever asks again hears the same; whoever uses the id for something else is refused.
    for nth in (1..COMMANDS).step_by(98) {
        let (id, kind) = &senders.sent[nth];
        let command = Senders::command(nth, *kind);
        let again = blocking(&senders.journal).post(&senders.run, &command).unwrap();
        assert_eq!(again.receipt, senders.receipt(id));
        let other = Command { expected_seq: Some(1), ..command };
        blocking(&senders.journal).post(&senders.run, &other).unwrap_err();
    }
    let stop = Command::person(Do::Stop { message: None });
    let stop = blocking(&senders.journal).post(&senders.run, &stop).unwrap();
    finish(child).exits(3);
    assert!(matches!(senders.receipt(&stop.id).unwrap().answer, Answer::Done { .. }));
    bench.run(&["replay", "c1"]).exits(0);
}
