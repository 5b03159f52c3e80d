//! Ways to forge a journal: with SQL, byte by byte, or with hashes that hold.

use std::fs;
use std::path::PathBuf;

use materia_contract::{ChainHash, Record, RunId};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Stage;

/// The loadout of the shipped journal: a program that would harm, and a socket that asks.
fn config() -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "hello", "sockets": {
            "hello": { "materia": "Ask", "edges": [{ "to": "harm" }] },
            "harm": { "materia": "Harm", "edges": [{ "to": "end" }] },
        } } },
        "materia": {
            "Ask": { "prompt": "say something" },
            "Harm": { "type": "utility", "command": ["./harm.sh"] },
        },
    })
}

/// The program; nothing may ever run it unasked.
const HARM: &str = "#!/bin/sh\necho owned > ../outside/owned\n";

impl Stage {
    /// A project as it comes with a clone: somebody else's cast `c1` waits in its journal, `c0` has ended.
    pub(crate) fn shipped() -> Self {
        let stage = Self::new();
        stage.write("project/materia.json", config().to_string());
        stage.program("project/harm.sh", HARM);
        stage.write(
            "project/answers.json",
            r#"{"turns":{"hello":[{"text":"hi"}]},"repeatLast":true}"#,
        );
        let script = ["--trust", "--script", "answers.json", "--virtual-time"];
        for (id, more, exit) in [("c0", &["go"][..], 0), ("c1", &["--interactive", "go"], 3)] {
            let args = [&["cast", "--cast-id", id], &script[..], more].concat();
            assert_eq!(stage.run_elsewhere(&args).exit, exit);
        }
        let _ = fs::remove_file(stage.path("outside/owned"));
        stage
    }

    /// Runs `materia` as somebody else would, whose notes nobody has here.
    pub(crate) fn run_elsewhere(&self, args: &[&str]) -> crate::bench::Ran {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_materia"));
        self.dress(command.args(args));
        command.env("MATERIA_STATE_DIR", self.path("elsewhere"));
        command.env("MATERIA_PROFILE_DIR", self.path("elsewhere"));
        command.output().unwrap().into()
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path("project/.materia/journal.db")
    }

    /// Changes the journal with SQL, definitions included.
    pub(crate) fn sql(&self, text: &str) {
        let connection = rusqlite::Connection::open(self.journal()).unwrap();
        connection.execute_batch(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    }

    /// Replaces text in the events of a cast, and makes all hashes hold again: what an attacker would do.
    pub(crate) fn forge(&self, cast: &str, replace: impl Fn(&str) -> String) {
        let connection = rusqlite::Connection::open(self.journal()).unwrap();
        let key: i64 = connection
            .query_row("SELECT run FROM runs WHERE id = ?1", [cast], |row| row.get(0))
            .unwrap();
        let mut head = ChainHash::origin(&RunId::new(cast));
        let mut rows: Vec<(i64, i64, i64, String, String)> = Vec::new();
        {
            let mut statement = connection
                .prepare("SELECT place, ts, lag, input, events FROM decisions WHERE place >> 40 = ?1 ORDER BY place")
                .unwrap();
            let found = statement
                .query_map([key], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
                .unwrap();
            rows.extend(found.map(Result::unwrap));
        }
        let mut last = 0;
        for (place, ts, lag, input, events) in rows {
            let (input, events) = (replace(&input), replace(&events));
            let first = (place & ((1 << 40) - 1)).unsigned_abs();
            let all: Vec<(String, Option<String>, Box<RawValue>)> =
                serde_json::from_str(&events).unwrap();
            let mut hashes = Vec::new();
            for (nth, (kind, node, data)) in all.into_iter().enumerate() {
                let mut record = Record {
                    seq: first + nth as u64,
                    ts: ts + i64::try_from(nth).unwrap(),
                    wall: ts - lag,
                    kind,
                    node,
                    data: data.get().to_owned(),
                    whole: None,
                    input: (nth == 0).then(|| input.clone()),
                    hash: head,
                };
                record.hash = record.hash_after(head);
                head = record.hash;
                last = record.seq;
                hashes.extend(head.0);
            }
            connection
                .execute(
                    "UPDATE decisions SET input = ?2, events = ?3, hashes = ?4 WHERE place = ?1",
                    rusqlite::params![place, input, events, hashes],
                )
                .unwrap();
        }
        connection
            .execute(
                "UPDATE heads SET seq = ?2, hash = ?3 WHERE run = ?1",
                rusqlite::params![key, last.cast_signed(), head.0],
            )
            .unwrap();
    }
}
