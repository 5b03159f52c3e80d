//! Summaries of the turns of a run, kept up to date beside it, so that a report needs no reading of the events.

use std::collections::BTreeMap;

use materia_contract::time::{Micros, millis_between};
use materia_contract::{
    Amount, Event, EventBody, NodeId, Outcome, Plan, TurnCompleted, TurnStarted, Visit, end_of,
};
use serde::{Deserialize, Serialize};

use super::TurnEnd;
use crate::{Chapter, Snapshot};

/// How much of a reason is kept, in characters.
const REASON_CHARS_MAX: usize = 300;

/// Turns that started behind a place, and ends of earlier ones.
#[derive(Debug, Clone, Default)]
pub struct Visits {
    /// The place after which this begins: the place of a snapshot, or 0.
    after: u64,
    list: Vec<Started>,
    /// Places in the list of turns that have not ended.
    open: BTreeMap<u64, usize>,
    /// Ends of turns that started before.
    ends: Vec<(u64, End)>,
    /// The wall times of the first event of the run and of the newest.
    span: Option<(Micros, Micros)>,
    /// The newest result of each node, by the event that has it.
    answers: BTreeMap<NodeId, u64>,
    /// The turn that a person refused and that counts as not satisfied: its node, then its number.
    refused: Refused,
}

/// A refusal that leads on is an event before the turn that it answers, in the same decision.
#[derive(Debug, Clone, Default, PartialEq)]
enum Refused {
    #[default]
    None,
    Next(NodeId),
    Turn(u64),
}

#[derive(Debug, Clone)]
struct Started {
    seq: u64,
    /// When it started, by the wall.
    wall: Micros,
    socket: NodeId,
    visit: u32,
    attempt: u32,
    /// The work item with its label. Boxed, because many turns have none.
    item: Option<Box<Item>>,
    end: Option<End>,
}

/// The key of a work item, and its name for people.
type Item = (String, Option<String>);

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct End {
    #[serde(rename = "o")]
    outcome: Outcome,
    #[serde(rename = "w")]
    wall: Micros,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    satisfied: Option<bool>,
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    cost: Option<Amount>,
    #[serde(rename = "n", default, skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
}

impl End {
    /// Stands for the end of a turn that still runs.
    fn running(wall: Micros) -> Self {
        let (satisfied, reason, tokens, cost) = (None, None, None, None);
        let (outcome, refused) = (Outcome::Running, false);
        Self { outcome, wall, satisfied, reason, tokens, cost, refused }
    }

    fn new(end: &TurnEnd<'_>, wall: Micros, reason: Option<String>, refused: bool) -> Self {
        let (outcome, satisfied) = (end.outcome, end.satisfied);
        let (tokens, cost) = (end.tokens(), end.cost());
        Self { outcome, wall, satisfied, reason, tokens, cost, refused }
    }
}

impl Visits {
    /// Begins behind a place.
    #[must_use]
    pub fn behind(after: u64) -> Self {
        Self { after, ..Self::default() }
    }

    /// Notes the next event.
    pub fn note(&mut self, event: &Event) {
        let began = match (&event.body, self.span) {
            // Events that a fork shares with another run happened before the fork began.
            (EventBody::RunCreated(created), _) => {
                created.fork.as_ref().and_then(|fork| fork.started).unwrap_or(event.wall)
            }
            (_, None) => event.wall,
            (_, Some((began, _))) => began,
        };
        self.span = Some((began, event.wall));
        if let (EventBody::ApprovalDenied(data), Some(node)) = (&event.body, &event.node)
            && data.route
        {
            self.refused = Refused::Next(node.clone());
        }
        if let (EventBody::TurnStarted(data), Some(socket)) = (&event.body, &event.node) {
            if self.refused == Refused::Next(socket.clone()) {
                self.refused = Refused::Turn(event.seq);
            }
            let item = data.item.clone().map(|item| Box::new((item, data.item_label.clone())));
            let (seq, wall, socket) = (event.seq, event.wall, socket.clone());
            let TurnStarted { visit, attempt, .. } = **data;
            self.start(Started { seq, wall, socket, visit, attempt, item, end: None });
        }
        let Some(end) = TurnEnd::of(&event.body) else { return };
        let (mut reason, mut refused) = (end.failure.map(|(_, message)| cut(message)), false);
        if let EventBody::TurnCompleted(data) = &event.body {
            self.answers.extend(event.node.clone().map(|node| (node, event.seq)));
            (reason, refused) = (why_not(data), self.refused == Refused::Turn(end.turn));
        }
        self.end(end.turn, End::new(&end, event.wall, reason, refused));
    }

    fn start(&mut self, started: Started) {
        if started.end.is_none() {
            self.open.insert(started.seq, self.list.len());
        }
        self.list.push(started);
    }

    fn end(&mut self, turn: u64, end: End) {
        match self.open.remove(&turn) {
            Some(place) => self.list[place].end = Some(end),
            None => self.ends.push((turn, end)),
        }
    }

    /// Every attempt with the event that started it, in the order they started.
    pub fn into_list(self, plan: &Plan) -> impl Iterator<Item = (u64, Visit)> {
        self.list.into_iter().map(|started| {
            let materia = plan.nodes.get(&started.socket).map(|node| node.materia.clone());
            (started.seq, started.shown(materia))
        })
    }

    /// When the run began, and its newest event, by the wall.
    pub(crate) fn span(&self) -> Option<(Micros, Micros)> {
        self.span
    }

    /// The event that has the newest result of a node, or of any.
    pub(crate) fn answer_of(&self, node: Option<&NodeId>) -> Option<u64> {
        match node {
            Some(node) => self.answers.get(node).copied(),
            None => self.answers.values().max().copied(),
        }
    }

    /// The summary for a snapshot at `seq`; later turns belong to the next one.
    pub(crate) fn close(&mut self, seq: u64, plan: &Plan) -> Vec<u8> {
        let (span, answers) = (self.span, self.answers.clone());
        let next = Self { span, answers, ..Self::behind(seq) };
        let closed = std::mem::replace(self, next);
        let row = |started: Started| -> Option<Row> {
            let Started { seq, wall, socket, visit, attempt, item, end } = started;
            let node = plan.nodes.get_index_of(&socket)?;
            Some(Row(seq, wall, node, visit, attempt, item.map(|item| *item), end))
        };
        let rows = closed.list.into_iter().filter_map(row).collect();
        let answers = closed.answers.iter();
        let answers = answers
            .filter_map(|(node, seq)| Some((plan.nodes.get_index_of(node)?, *seq)))
            .collect();
        let (after, ends, span) = (closed.after, closed.ends, closed.span);
        let written = Written { after, rows, ends, span, answers };
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
        for Written { rows, ends, span, answers, .. } in found.into_iter().rev() {
            for (turn, end) in ends {
                visits.end(turn, end);
            }
            for Row(seq, wall, node, visit, attempt, item, end) in rows {
                let (socket, _) = plan.nodes.get_index(node)?;
                let (socket, item) = (socket.clone(), item.map(Box::new));
                visits.start(Started { seq, wall, socket, visit, attempt, item, end });
            }
            for (node, seq) in answers {
                visits.answers.insert(plan.nodes.get_index(node)?.0.clone(), seq);
            }
            visits.span = match (visits.span, span) {
                (Some((began, _)), Some((_, newest))) => Some((began, newest)),
                (known, told) => told.or(known),
            };
        }
        Some(visits)
    }
}

impl Started {
    fn shown(self, materia: Option<String>) -> Visit {
        let Self { wall, socket, visit, attempt, item, end, .. } = self;
        let (item, item_label) = item.map_or((None, None), |item| (Some(item.0), item.1));
        let duration_ms = end.as_ref().map(|end| millis_between(wall, end.wall));
        let end = end.unwrap_or_else(|| End::running(wall));
        let End { outcome, satisfied, reason, tokens, cost, refused, .. } = end;
        Visit {
            socket,
            visit,
            attempt,
            item,
            item_label,
            outcome,
            materia,
            satisfied,
            reason,
            duration_ms,
            tokens,
            cost,
            refused,
        }
    }
}

/// Why a turn was not content: what its answer gives as its context.
fn why_not(data: &TurnCompleted) -> Option<String> {
    if data.satisfied != Some(false) {
        return None;
    }
    if let Some(context) = &data.context {
        // A command says last what went wrong (D69).
        return Some(end_of(context.trim(), REASON_CHARS_MAX));
    }
    let object = data.object_text().unwrap_or(data.report.json_text());
    let object: serde_json::Value = serde_json::from_str(object).ok()?;
    object.get("context")?.as_str().map(cut)
}

fn cut(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(REASON_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A chapter as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    after: u64,
    rows: Vec<Row>,
    ends: Vec<(u64, End)>,
    span: Option<(Micros, Micros)>,
    answers: Vec<(usize, u64)>,
}

/// One turn: where it started and when, its node's place in the plan, visit, attempt, item with its label, how
/// it ended.
#[derive(Serialize, Deserialize)]
struct Row(u64, Micros, usize, u32, u32, Option<Item>, Option<End>);
