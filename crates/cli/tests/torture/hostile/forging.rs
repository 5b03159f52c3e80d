//! Ways to forge a journal: with SQL, byte by byte, or with hashes that hold.

use std::fs;
use std::path::PathBuf;

use materia_contract::{ChainHash, Record, RunId};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Stage;
use super::people::Who;

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
    pub(crate) fn shipped(who: Who) -> Self {
        let stage = Self::new().of(who);
        fs::create_dir(stage.path("elsewhere")).unwrap();
        who.own([stage.path("elsewhere")]);
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
        let mut command = self.command(&[]);
        command.args(args).env("MATERIA_STATE_DIR", self.path("elsewhere"));
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
        self.rewrite(cast, |record| {
            record.input = record.input.as_deref().map(&replace);
            record.data = replace(&record.data);
            record.kind = unquoted(&replace(&json!(record.kind).to_string()));
            record.node = record.node.as_ref().map(|it| unquoted(&replace(&json!(it).to_string())));
        });
    }

    /// Changes the records of a cast one by one, and makes all hashes hold again.
    pub(crate) fn rewrite(&self, cast: &str, mut change: impl FnMut(&mut Record)) {
        let connection = rusqlite::Connection::open(self.journal()).unwrap();
        let key = key(&connection, cast);
        let mut head = ChainHash::origin(&RunId::new(cast));
        let mut last = 0;
        for mut decision in decisions(&connection, key) {
            let place = (key << 40) | decision[0].seq.cast_signed();
            let (mut hashes, mut events) = (Vec::new(), Vec::new());
            let others = decision.len() - 1;
            for (nth, record) in decision.iter_mut().enumerate() {
                change(record);
                record.hash = record.hash_after(head);
                head = record.hash;
                last = record.seq;
                hashes.extend(&head.0[..if nth == others { 32 } else { 4 }]);
                let (kind, node) = (json!(record.kind), json!(record.node));
                events.push(format!("[{kind},{node},{}]", record.data));
            }
            let (first, events) = (&decision[0], format!("[{}]", events.join(",")));
            let changed = connection.execute(
                "UPDATE decisions SET ts = ?2, lag = ?3, input = ?4, events = ?5, hashes = ?6 WHERE place = ?1",
                rusqlite::params![place, first.ts, first.ts - first.wall, first.input, events, hashes],
            );
            assert_eq!(changed.unwrap(), 1);
        }
        note_head(&connection, key, last, head);
    }
}

/// A word without its quotes, whatever it holds.
fn unquoted(text: &str) -> String {
    serde_json::from_str(text).unwrap()
}

fn key(connection: &rusqlite::Connection, cast: &str) -> i64 {
    connection.query_row("SELECT run FROM runs WHERE id = ?1", [cast], |row| row.get(0)).unwrap()
}

fn note_head(connection: &rusqlite::Connection, key: i64, last: u64, head: ChainHash) {
    connection
        .execute(
            "UPDATE heads SET seq = ?2, hash = ?3 WHERE run = ?1",
            rusqlite::params![key, last.cast_signed(), head.0],
        )
        .unwrap();
}

/// The decisions of a cast, event by event.
fn decisions(connection: &rusqlite::Connection, key: i64) -> Vec<Vec<Record>> {
    let mut statement = connection
        .prepare("SELECT place, ts, lag, input, events FROM decisions WHERE place >> 40 = ?1 ORDER BY place")
        .unwrap();
    let decision = |row: &rusqlite::Row<'_>| {
        let (place, ts, lag): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (input, events): (String, String) = (row.get(3)?, row.get(4)?);
        let all: Vec<(String, Option<String>, Box<RawValue>)> =
            serde_json::from_str(&events).unwrap();
        let first = (place & ((1 << 40) - 1)).unsigned_abs();
        let record =
            |(nth, (kind, node, data)): (usize, (String, Option<String>, Box<RawValue>))| Record {
                seq: first + nth as u64,
                ts: ts + i64::try_from(nth).unwrap(),
                wall: ts - lag,
                kind,
                node,
                data: data.get().to_owned(),
                whole: None,
                input: (nth == 0).then(|| input.clone()),
                hash: ChainHash([0; 32]),
            };
        Ok(all.into_iter().enumerate().map(record).collect())
    };
    statement.query_map([key], decision).unwrap().map(Result::unwrap).collect()
}
