//! Reads the compared data of a cast, once.

use std::collections::BTreeMap;

use materia_contract::body::{Compared, TurnSide};
use materia_contract::time::millis_between;
use materia_contract::{EdgeId, Event, EventBody, NodeId, OfTurn, Outcome, RunId};
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
    /// The clock on the wall when it began.
    began: i64,
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

/// Reads what a cast did behind an event.
pub(super) fn cast(side: &Side<'_>, after: u64) -> Result<Read> {
    let told = report(side.journal, side.id, &side.folders)?;
    let mut unfolding = Unfolding::new(side.id.clone());
    let mut turns: Vec<TurnRead> = Vec::new();
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
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
        if let Some(turn) = began(&unfolding, &event, input.as_deref(), &own) {
            places.insert(event.seq, turns.len());
            turns.push(turn);
        }
        noted(&event, &mut turns, &places, &mut taken, &own);
    }
    Ok(Read {
        head: compared(&told, forked_from),
        turns,
        taken,
        state: own.left_out_of(told.state),
    })
}

fn began(
    unfolding: &Unfolding,
    event: &Event,
    input: Option<&Value>,
    own: &Own<'_>,
) -> Option<TurnRead> {
    let (EventBody::TurnStarted(started), Some(socket)) = (&event.body, &event.node) else {
        return None;
    };
    let plan = &unfolding.run().created()?.plan;
    let given = match (&started.prompt, input) {
        (Some(prompt), _) => Words::of(&own.left_out(prompt)),
        (None, Some(input)) => Words::of(&own.left_out_of_input(input)),
        (None, None) => Words::default(),
    };
    Some(TurnRead {
        socket: socket.clone(),
        materia: plan.nodes.get(socket).map(|node| node.materia.clone()).unwrap_or_default(),
        item: started.item.clone(),
        item_label: started.item_label.clone(),
        given,
        output: Words::default(),
        side: TurnSide {
            seq: event.seq,
            outcome: Outcome::Running,
            satisfied: None,
            to: Vec::new(),
            cost: None,
            tokens: None,
            duration_ms: None,
        },
        began: event.wall,
    })
}

/// Notes what an event says of a turn, or which way it took.
fn noted(
    event: &Event,
    turns: &mut [TurnRead],
    places: &BTreeMap<u64, usize>,
    taken: &mut BTreeMap<EdgeId, u64>,
    own: &Own<'_>,
) {
    if let Some(end) = event.body.of_turn().and_then(OfTurn::end) {
        let Some(turn) = places.get(&end.turn).and_then(|place| turns.get_mut(*place)) else {
            return;
        };
        turn.side.outcome = end.outcome;
        turn.side.satisfied = end.satisfied;
        turn.side.duration_ms = Some(millis_between(turn.began, event.wall));
        (turn.side.tokens, turn.side.cost) = (end.tokens(), end.cost());
        if let Some(report) = end.report {
            turn.output = Words::of(&own.left_out(&report.output));
        }
    }
    if let EventBody::RouteSelected(data) = &event.body {
        if let Some(edge) = &data.edge_id {
            *taken.entry(edge.clone()).or_default() += 1;
        }
        let place = data.turn.and_then(|turn| places.get(&turn));
        if let Some(turn) = place.and_then(|place| turns.get_mut(*place)) {
            turn.side.to.push(data.to.clone());
        }
    }
}
