//! Sealed events for test journals, with their decisions.

#![allow(clippy::needless_pass_by_value, reason = "literals are handed in")]

use materia_contract::{ChainHash, Event, EventBody, NodeId, RULES_VERSION, Record, RunId};
use materia_engine::journal_contract::sample_records;
use materia_engine::{Batch, Committed, Epoch};
use serde_json::{Value, json};

/// A run that is told event by event.
pub(crate) struct Story {
    pub(crate) run: RunId,
    pub(crate) events: Vec<Event>,
    pub(crate) records: Vec<Record>,
}

impl Story {
    /// A cast with a utility `hello` and an agent `ask`.
    pub(crate) fn begun(run: &str) -> Self {
        let (run, events, records) = (RunId::new(run), Vec::new(), Vec::new());
        let mut story = Self { run, events, records };
        let utility = json!({"type": "utility", "command": ["echo", "hi"], "params": {}});
        let agent = json!({"type": "agent", "prompt": "Ask."});
        story.tell(
            None,
            "run.created",
            json!({
                "request": "greet", "planHash": "0", "cwd": "/p", "runDir": "/p/.materia/r",
                "pace": "AUTO", "globalMode": "IMPLEMENTATION", "journalVersion": 5,
                "plan": {
                    "loadout": "Greeting", "entry": "hello", "docRoot": "docs",
                    "limits": {"maxRepairs": 1, "maxNoAdvanceCycles": 3, "maxConcurrentTurns": 64},
                    "nodes": {"hello": node(&utility), "ask": node(&agent)},
                },
            }),
        );
        story
    }

    /// One event, which is a decision of its own. Gives its place.
    pub(crate) fn tell(&mut self, node: Option<&str>, kind: &str, data: Value) -> u64 {
        self.decide(node, vec![(kind, data)])
    }

    /// Events of one decision. Gives the place of the first.
    pub(crate) fn decide(&mut self, node: Option<&str>, told: Vec<(&str, Value)>) -> u64 {
        let first = self.records.len() as u64 + 1;
        let wall = first.cast_signed() * 1_000;
        let events: Vec<Event> = (first..)
            .zip(wall..)
            .zip(told)
            .map(|((seq, ts), (kind, data))| {
                let body = EventBody::parse(kind, &data.to_string()).unwrap();
                Event { seq, ts, wall, node: node.map(NodeId::new), body }
            })
            .collect();
        let input = json!({"at": wall, "rules": RULES_VERSION, "input": "idle"}).to_string();
        self.records.extend(Record::seal_decision(input, &events, self.last_hash()));
        self.events.extend(events);
        first
    }

    /// A turn of `hello` from start to end, in one decision.
    pub(crate) fn utility_turn(&mut self, visit: u32, extra: Value) {
        let start = json!({
            "visit": visit, "attempt": 1, "item": null, "cause": {"kind": "input"},
            "consumed": [], "input": {"params": {"n": visit}},
        });
        let turn = self.records.len() + 1;
        let mut end = json!({
            "turn": turn, "visit": visit, "attempt": 1, "output": format!("out {visit}\n"),
            "stderr": "note\n", "exitCode": 0, "durationMs": 5,
        });
        end.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        self.decide(Some("hello"), vec![("turn.started", start), ("turn.completed", end)]);
    }

    /// A turn of `ask` from start to end.
    pub(crate) fn agent_turn(&mut self, visit: u32, output: &str) {
        let start = json!({
            "visit": visit, "attempt": 1, "item": "WI-1", "cause": {"kind": "input"},
            "consumed": [], "prompt": "Do it.\n",
        });
        let turn = self.tell(Some("ask"), "turn.started", start);
        let end = json!({
            "turn": turn, "visit": visit, "attempt": 1, "output": output,
            "usage": {"inputTokens": 3},
        });
        self.tell(Some("ask"), "turn.completed", end);
    }

    pub(crate) fn completed(&mut self) {
        self.tell(None, "run.completed", json!({}));
    }

    pub(crate) fn last_hash(&self) -> ChainHash {
        self.records.last().map_or_else(|| ChainHash::origin(&self.run), |record| record.hash)
    }

    /// The events after `after` up to `to`, as one batch.
    pub(crate) fn batch(&self, after: usize, to: usize) -> Batch {
        let records = self.records[after..to].into();
        Batch {
            run: self.run.clone(),
            epoch: Epoch::default(),
            after: after as u64,
            records,
            receipt: None,
            verdict: None,
        }
    }

    /// Batches of about `size` events, each of which ends with a decision.
    pub(crate) fn batches(&self, size: usize) -> Vec<Batch> {
        let mut batches = Vec::new();
        let mut after = 0;
        while after < self.records.len() {
            let mut to = self.records.len().min(after + size);
            while self.records.get(to).is_some_and(|next| next.input.is_none()) {
                to += 1;
            }
            batches.push(self.batch(after, to));
            after = to;
        }
        batches
    }

    /// The same, as those hear of it who listen.
    pub(crate) fn news(&self, after: usize, to: usize) -> Committed {
        let (records, events) = (self.records[after..to].into(), self.events[after..to].into());
        Committed { run: self.run.clone(), records, events }
    }

    /// All events, as one batch.
    pub(crate) fn whole(&self) -> Batch {
        self.batch(0, self.records.len())
    }
}

fn node(behavior: &Value) -> Value {
    json!({
        "materia": "m", "behavior": behavior, "parse": "text", "edges": [], "routing": "first",
        "mode": "auto", "trigger": "on_any_input", "maxInFlight": 1, "consume": "all",
        "outputSelector": "message.final", "onInterrupt": "retry",
    })
}

/// The place of the first record that does not fit behind the one before it.
pub(crate) fn first_misfit(run: &RunId, records: &[Record]) -> Option<u64> {
    let mut previous = ChainHash::origin(run);
    for record in records {
        if record.hash_after(previous) != record.hash {
            return Some(record.seq);
        }
        previous = record.hash;
    }
    None
}

/// The records of `count` decisions of `each` events, one behind the other.
pub(crate) fn decisions(run: &RunId, count: u64, each: u64) -> Vec<Vec<Record>> {
    let mut head = ChainHash::origin(run);
    (0..count)
        .map(|nth| {
            let records = sample_records(run, nth * each, each, head);
            head = records.last().unwrap().hash;
            records
        })
        .collect()
}

/// A batch behind `after`, without anything beside its records.
pub(crate) fn batch(run: &RunId, after: u64, records: Vec<Record>) -> Batch {
    Batch {
        run: run.clone(),
        epoch: Epoch::default(),
        after,
        records: records.into(),
        receipt: None,
        verdict: None,
    }
}
