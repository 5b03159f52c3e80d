//! Sealed events to put into journals.

#![allow(clippy::needless_pass_by_value, reason = "literals are handed in")]

use materia_contract::{ChainHash, Event, EventBody, NodeId, Record, RunId};
use materia_engine::{Batch, Committed};
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
        let mut story = Self { run: RunId::new(run), events: Vec::new(), records: Vec::new() };
        let utility = json!({"type": "utility", "command": ["echo", "hi"], "params": {}});
        let agent = json!({"type": "agent", "prompt": "Ask."});
        story.tell(
            None,
            "run.created",
            json!({
                "request": "greet", "planHash": "0", "cwd": "/p", "runDir": "/p/.materia/r",
                "pace": "AUTO", "globalMode": "IMPLEMENTATION", "journalVersion": 1,
                "plan": {
                    "loadout": "Greeting", "entry": "hello", "docRoot": "docs",
                    "limits": {"maxRepairs": 1, "maxNoAdvanceCycles": 3, "maxConcurrentTurns": 64},
                    "nodes": {"hello": node(&utility), "ask": node(&agent)},
                },
            }),
        );
        story
    }

    pub(crate) fn tell(&mut self, node: Option<&str>, kind: &str, data: Value) -> u64 {
        let seq = self.records.len() as u64 + 1;
        let ts = seq.cast_signed() * 1_000;
        let body = EventBody::parse(kind, &data.to_string()).unwrap();
        let event = Event { seq, ts, wall: ts, node: node.map(NodeId::new), body };
        let record = Record::seal(&event, self.last_hash());
        self.events.push(event);
        self.records.push(record);
        seq
    }

    /// A turn of `hello` from start to end.
    pub(crate) fn utility_turn(&mut self, visit: u32, extra: Value) {
        let start = json!({
            "visit": visit, "attempt": 1, "item": null, "cause": {"kind": "input"},
            "consumed": [], "input": {"params": {"n": visit}},
        });
        let turn = self.tell(Some("hello"), "turn.started", start);
        let mut end = json!({
            "turn": turn, "visit": visit, "attempt": 1, "output": format!("out {visit}\n"),
            "stderr": "note\n", "exitCode": 0, "durationMs": 5,
        });
        end.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        self.tell(Some("hello"), "turn.completed", end);
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
        Batch { run: self.run.clone(), after: after as u64, records, snapshot: None }
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
