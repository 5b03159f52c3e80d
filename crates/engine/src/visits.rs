//! The turns of a run in short, kept up beside it, so that telling its story costs no reading of it.

use std::collections::BTreeMap;

use materia_contract::{ErrorCode, Event, NodeId, OfTurn, Outcome, Plan, Visit};
use serde::{Deserialize, Serialize};

use crate::{Chapter, Snapshot};

/// Turns that started behind a place, and ends of earlier ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visits {
    /// The place behind which this begins: that of a snapshot, or 0.
    after: u64,
    list: Vec<Started>,
    /// Places in the list of turns that have not ended.
    open: BTreeMap<u64, usize>,
    /// Ends of turns that started before.
    ends: Vec<(u64, Outcome)>,
}

#[derive(Debug, Clone)]
struct Started {
    seq: u64,
    visit: Visit,
}

impl Visits {
    /// Begins behind a place.
    pub(crate) fn behind(after: u64) -> Self {
        Self { after, ..Self::default() }
    }

    pub(crate) fn note(&mut self, event: &Event) {
        let Some(step) = event.body.of_turn() else { return };
        match step {
            OfTurn::Started(data) => {
                let Some(socket) = event.node.clone() else { return };
                let visit = Visit {
                    socket,
                    visit: data.visit,
                    attempt: data.attempt,
                    item: data.item.clone(),
                    item_label: data.item_label.clone(),
                    outcome: Outcome::Running,
                };
                self.start(Started { seq: event.seq, visit });
            }
            OfTurn::Completed(data) => self.end(data.turn, Outcome::Completed),
            OfTurn::Failed(data) if data.code == ErrorCode::ContractError => {
                self.end(data.turn, Outcome::Rejected);
            }
            OfTurn::Failed(data) => self.end(data.turn, Outcome::Failed),
            OfTurn::Interrupted(data) => self.end(data.turn, Outcome::Interrupted),
        }
    }

    fn start(&mut self, started: Started) {
        if started.visit.outcome == Outcome::Running {
            self.open.insert(started.seq, self.list.len());
        }
        self.list.push(started);
    }

    fn end(&mut self, turn: u64, outcome: Outcome) {
        match self.open.remove(&turn) {
            Some(place) => self.list[place].visit.outcome = outcome,
            None => self.ends.push((turn, outcome)),
        }
    }

    /// Every attempt, in the order they started.
    pub(crate) fn into_list(self) -> Vec<Visit> {
        self.list.into_iter().map(|started| started.visit).collect()
    }

    /// What is kept with a snapshot at `seq`; what happens from now on belongs to the next.
    pub(crate) fn close(&mut self, seq: u64, plan: &Plan) -> Vec<u8> {
        let closed = std::mem::replace(self, Self::behind(seq));
        let row = |started: &Started| -> Option<Row> {
            let Visit { socket, visit, attempt, item, item_label, outcome } = &started.visit;
            let node = plan.nodes.get_index_of(socket)?;
            let item = item.clone().map(|item| (item, item_label.clone()));
            Some(Row(started.seq, node, *visit, *attempt, item, *outcome))
        };
        let rows = closed.list.iter().filter_map(row).collect();
        let written = Written { after: closed.after, rows, ends: closed.ends };
        serde_json::to_vec(&written).unwrap_or_default()
    }

    /// All turns up to a snapshot, from the chapters that lead to it; `None` where one is missing.
    pub(crate) fn up_to(snapshot: &Snapshot, chapters: &[Chapter], plan: &Plan) -> Option<Self> {
        let mut found: Vec<Written> = Vec::new();
        let mut seq = snapshot.seq;
        while seq > 0 {
            let fits = |one: &&Chapter| one.seq == seq && one.version == snapshot.version;
            let chapter = chapters.iter().rev().find(fits)?;
            let written: Written = serde_json::from_slice(&chapter.bytes).ok()?;
            if written.after >= seq {
                return None;
            }
            seq = written.after;
            found.push(written);
        }
        let mut visits = Self::default();
        for Written { rows, ends, .. } in found.into_iter().rev() {
            for (turn, outcome) in ends {
                visits.end(turn, outcome);
            }
            for Row(seq, node, visit, attempt, item, outcome) in rows {
                let socket: NodeId = plan.nodes.get_index(node)?.0.clone();
                let (item, item_label) =
                    item.map_or((None, None), |(key, label)| (Some(key), label));
                let visit = Visit { socket, visit, attempt, item, item_label, outcome };
                visits.start(Started { seq, visit });
            }
        }
        Some(visits)
    }
}

/// A chapter as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    after: u64,
    rows: Vec<Row>,
    ends: Vec<(u64, Outcome)>,
}

/// One turn: where it started, its node's place in the plan, visit, attempt, item with its label, outcome.
#[derive(Serialize, Deserialize)]
struct Row(u64, usize, u32, u32, Option<(String, Option<String>)>, Outcome);
