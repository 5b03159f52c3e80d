//! Reads the compared data of a cast, once.

use std::collections::BTreeMap;

use materia_contract::body::{Compared, TurnSide};
use materia_contract::{EdgeId, Event, EventBody, NodeId, RunId, Visit};
use materia_engine::views::{TurnEnd, Visits};
use materia_engine::{Unfolding, blocking, report};
use serde_json::{Map, Value};

use super::normalize::Own;
use super::{Side, compared};
use crate::Result;

/// The most of one text that is kept.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Maximum length of a chain of forks that is followed.
const LINEAGE_MAX: usize = 64;

/// Compared data of a cast.
pub(super) struct Read {
    pub(super) head: Compared,
    pub(super) turns: Vec<TurnRead>,
    pub(super) taken: BTreeMap<EdgeId, u64>,
    pub(super) state: Map<String, Value>,
}

/// A turn.
pub(super) struct TurnRead {
    pub(super) socket: NodeId,
    pub(super) materia: String,
    pub(super) item: Option<String>,
    pub(super) item_label: Option<String>,
    /// Its prompt or its input.
    pub(super) given: Words,
    pub(super) output: Words,
    pub(super) side: TurnSide,
}

/// A text that may be long: compared as a whole, kept in part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    hash: Option<blake3::Hash>,
    /// How it begins.
    pub(super) shown: String,
}

impl Words {
    fn of(text: &str) -> Self {
        let hash = Some(blake3::hash(text.as_bytes()));
        if text.len() <= TEXT_BYTES_MAX {
            return Self { hash, shown: text.to_owned() };
        }
        let shown = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        Self { hash, shown: format!("{shown}\n… {} bytes in all", text.len()) }
    }
}

/// The casts that one has its history from, itself first, each with the last event that it has of it.
pub(super) fn lineage(side: &Side<'_>) -> Result<Vec<(RunId, u64)>> {
    let mut found = vec![(side.id.clone(), u64::MAX)];
    let (mut id, mut upto) = (side.id.clone(), u64::MAX);
    while found.len() < LINEAGE_MAX {
        let Some(record) = blocking(side.journal).records(&id, 0, 1)?.into_iter().next() else {
            break;
        };
        let Ok(Event { body: EventBody::RunCreated(created), .. }) = record.event() else { break };
        let Some(fork) = created.fork.clone() else { break };
        upto = upto.min(fork.seq);
        id = fork.cast_id;
        found.push((id.clone(), upto));
    }
    Ok(found)
}

/// Input and output of a turn, and where its routes led.
#[derive(Default)]
struct Told {
    given: Words,
    output: Words,
    to: Vec<String>,
}

/// Reads what a cast did behind an event.
pub(super) fn cast(side: &Side<'_>, after: u64) -> Result<Read> {
    let report = report(side.journal, side.id, &side.folders)?;
    let mut unfolding = Unfolding::new(side.id.clone());
    let mut visits = Visits::behind(after);
    let mut told: BTreeMap<u64, Told> = BTreeMap::new();
    let mut taken: BTreeMap<EdgeId, u64> = BTreeMap::new();
    let mut forked_from = None;
    let own = Own::of(side);
    for record in blocking(side.journal).behind(side.id, 0) {
        let event = record?.event()?;
        let input = unfolding.see(&event);
        if let EventBody::RunCreated(created) = &event.body {
            forked_from = created.fork.as_ref().map(|fork| fork.cast_id.clone());
        }
        if event.seq <= after {
            continue;
        }
        visits.note(&event);
        if let EventBody::TurnStarted(started) = &event.body {
            let given = match (&started.prompt, input) {
                (Some(prompt), _) => Words::of(&own.left_out(prompt)),
                (None, Some(input)) => Words::of(&own.left_out_of_input(&input)),
                (None, None) => Words::default(),
            };
            told.insert(event.seq, Told { given, ..Told::default() });
        }
        if let Some(TurnEnd { turn, report: Some(report), .. }) = TurnEnd::of(&event.body)
            && let Some(turn) = told.get_mut(&turn)
        {
            turn.output = Words::of(&own.left_out(&report.output));
        }
        if let EventBody::RouteSelected(data) = &event.body {
            if let Some(edge) = &data.edge_id {
                *taken.entry(edge.clone()).or_default() += 1;
            }
            if let Some(turn) = data.turn.and_then(|turn| told.get_mut(&turn)) {
                turn.to.push(data.to.clone());
            }
        }
    }
    let visits = unfolding.run().created().map(|created| visits.into_list(&created.plan));
    let turns = visits.into_iter().flatten().map(|(seq, visit)| {
        let Told { given, output, to } = told.remove(&seq).unwrap_or_default();
        let Visit { socket, item, item_label, materia, .. } = visit;
        let Visit { outcome, satisfied, cost, tokens, duration_ms, .. } = visit;
        let side = TurnSide { seq, outcome, satisfied, to, cost, tokens, duration_ms };
        let materia = materia.unwrap_or_default();
        TurnRead { socket, materia, item, item_label, given, output, side }
    });
    Ok(Read {
        turns: turns.collect(),
        head: compared(&report, forked_from),
        taken,
        state: own.left_out_of(report.state),
    })
}
