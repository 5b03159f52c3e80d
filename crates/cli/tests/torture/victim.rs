//! The project under test: six sockets of shell programs, one of them for each of three.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::bench::Bench;
use crate::tree::Mark;

/// Notes that it begins, does something, notes that it ends, and counts one up in the state.
/// Only a turn that runs once too often, or not at all, brings the count off.
const PROGRAM: &str = r#"
read -r given
case "$given" in
  *'"itemKey":"'*) item=${given#*'"itemKey":"'}; item=${item%%'"'*} ;;
  *) item=- ;;
esac
case "$given" in
  *'"total":'*) total=${given#*'"total":'}; total=${total%%[,\}]*} ;;
  *) total=0 ;;
esac
echo "begin $MATERIA_SOCKET_ID $item" >>"$LEDGER"
BODY
echo "end $MATERIA_SOCKET_ID $item" >>"$LEDGER"
printf '{"state":{"total":%d,"%s":"%s","list":["x","y","z"]}}' "$((total + 1))" "$MATERIA_SOCKET_ID" "$item"
"#;

/// Commands of the programs. Two leave a process behind: one in its own session, one that holds the pipe open.
const BODIES: [(&str, &str); 6] = [
    ("a", ""),
    ("b", "sleep 0.01"),
    ("each", "sleep 0.004"),
    ("c", "setsid sleep 60 >/dev/null 2>&1 &"),
    ("d", "(sleep 60 &)"),
    ("e", "sleep 0.006"),
];

/// Turns of one cast: one a socket, three of `each`.
pub(crate) const TURNS: usize = 8;

/// A project of its own for each victim, so that even the journal does not exist at first.
pub(crate) struct Victim {
    pub(crate) bench: Bench,
    pub(crate) mark: Mark,
    beside: tempfile::TempDir,
}

impl Victim {
    pub(crate) fn new(name: impl std::fmt::Display) -> Self {
        Self {
            bench: Bench::with(&config()),
            mark: Mark::new(name),
            beside: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.beside.path().join("ledger")
    }

    fn said(&self) -> PathBuf {
        self.beside.path().join("stderr")
    }

    /// Messages of the last command.
    pub(crate) fn what_it_said(&self) -> String {
        std::fs::read_to_string(self.said()).unwrap()
    }

    /// Starts in a process group of its own. Standard error goes to a file: it outlives all.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.bench.command(args);
        self.mark.on(&mut command).env("LEDGER", self.ledger()).process_group(0);
        command.stdout(Stdio::null()).stderr(File::create(self.said()).unwrap());
        command.spawn().unwrap()
    }

    /// Waits for the end of a command, which must be a good one.
    pub(crate) fn complete(&self, child: Child, what: &str) {
        let exit = wait(child, what);
        assert_eq!(exit, Some(0), "{what}: {}", self.what_it_said());
    }
}

/// Waits for the end; ends it if it does not come. `None` for a signal.
pub(crate) fn wait(mut child: Child, what: &str) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("{what}: it did not end");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn config() -> Value {
    let mut sockets = Map::new();
    let mut materia = Map::new();
    for (index, (name, body)) in BODIES.iter().enumerate() {
        let to = BODIES.get(index + 1).map_or("end", |(next, _)| next);
        let mut socket = json!({ "materia": format!("M-{name}"), "edges": [{ "to": to }] });
        if *name == "each" {
            socket["foreach"] = json!({ "items": "state.list", "as": "entry", "cursor": "n" });
        }
        sockets.insert((*name).to_owned(), socket);
        let program = PROGRAM.replace("BODY", body);
        let utility =
            json!({ "type": "utility", "command": ["sh", "-c", program], "parse": "json" });
        materia.insert(format!("M-{name}"), utility);
    }
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": sockets } },
        "materia": materia,
    })
}
