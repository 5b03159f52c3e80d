//! Starts and ends of programs, recorded in a file that `materia` does not know.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::log::Log;

/// How often a program began and ended, for each socket and item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ledger(BTreeMap<(String, String), Times>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Times {
    began: usize,
    ended: usize,
}

impl Ledger {
    pub(crate) fn read(path: &Path) -> Self {
        let mut times: BTreeMap<_, Times> = BTreeMap::new();
        for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap().to_owned();
            let (what, socket, item) = (word(), word(), word());
            let times = times.entry((socket, item)).or_default();
            match what.as_str() {
                "begin" => times.began += 1,
                "end" => times.ended += 1,
                other => panic!("{other} in the ledger"),
            }
        }
        Self(times)
    }

    fn of(&self, completed: &Value) -> (String, String, Times) {
        let (socket, item) = key(completed);
        let times = self.0.get(&(socket.clone(), item.clone())).copied().unwrap_or_default();
        (socket, item, times)
    }

    /// Panics unless what was recorded as completed did happen, and has not happened since.
    pub(crate) fn agrees(&self, log: &Log, before: &Self, known: &Log, what: &str) {
        for started in log.of("turn.started") {
            let (socket, item, times) = self.of(started);
            let attempts = log.count("turn.started", &socket, &started["data"]["visit"]);
            assert!(
                times.began <= attempts,
                "{what}: `{socket}` {item} began {} times in {attempts} attempts",
                times.began
            );
        }
        for completed in log.of("turn.completed") {
            let (socket, item, times) = self.of(&start_of(log, completed));
            assert!(times.ended >= 1, "{what}: `{socket}` {item} is recorded and never ended");
            let ends = log.count("turn.completed", &socket, &completed["data"]["visit"]);
            assert_eq!(ends, 1, "{what}: `{socket}` {item} completed {ends} times");
        }
        for completed in known.of("turn.completed") {
            let start = start_of(known, completed);
            let (socket, item, now) = self.of(&start);
            let (_, _, then) = before.of(&start);
            assert_eq!(now, then, "{what}: `{socket}` {item} had completed and ran again");
        }
    }
}

fn key(started: &Value) -> (String, String) {
    let item = started["data"]["item"].as_str().unwrap_or("-");
    (started["nodeId"].as_str().unwrap().to_owned(), item.to_owned())
}

/// The start that an end belongs to.
fn start_of(log: &Log, ended: &Value) -> Value {
    let seq = ended["data"]["turn"].as_u64().unwrap();
    log.events[usize::try_from(seq).unwrap() - 1].clone()
}
