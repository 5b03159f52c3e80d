//! Two casts side by side: their turns aligned by socket, work item and attempt, the ways they took, what they know and
//! what they have spent. Forks are compared from where they parted.

mod normalize;
mod read;
mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use materia_contract::body::{
    Compared, ComparedAspect, ComparedRoute, ComparedTotals, ComparedTurn, ComparedValue,
    ComparedVerdict, Comparison, TurnSide, Two, TwoTexts,
};
use materia_contract::{Amount, EdgeId, Folders, NodeId, RunId};
use materia_engine::Journal;
use serde_json::{Map, Value};

use crate::Result;
use read::{Read, TurnRead, Words};
pub use text::told;

/// The most of all texts that differ.
const TEXTS_BYTES_MAX: usize = 16 << 20;

/// A cast that is compared: where it is kept, and where the folders are that its events name.
pub struct Side<'a> {
    /// Its journal.
    pub journal: &'a dyn Journal,
    /// Its id.
    pub id: &'a RunId,
    /// Its folders.
    pub folders: Folders,
}

/// Puts two casts side by side.
pub fn compare(a: &Side<'_>, b: &Side<'_>) -> Result<Comparison> {
    let forked_at = parted(a, b)?;
    let after = forked_at.unwrap_or(0);
    let (one, other) = (read::cast(a, after)?, read::cast(b, after)?);
    let totals = ComparedTotals {
        turns: two(&one, &other, |turns| turns.len() as u64),
        tokens: two(&one, &other, |turns| sum(turns, |turn| turn.side.tokens)),
        cost: Two { a: cost(&one.turns), b: cost(&other.turns) },
        duration_ms: two(&one, &other, |turns| sum(turns, |turn| turn.side.duration_ms)),
    };
    let routes = routes(&one.taken, &other.taken);
    let mut variables = Vec::new();
    differing("", &one.state, &other.state, &mut variables);
    let (one_head, other_head) = (one.head, other.head);
    let mut rows = rows(one.turns, other.turns);
    bound_texts(&mut rows);
    Ok(Comparison { a: one_head, b: other_head, forked_at, rows, routes, variables, totals })
}

fn two(one: &Read, other: &Read, of: impl Fn(&[TurnRead]) -> u64) -> Two<u64> {
    Two { a: of(&one.turns), b: of(&other.turns) }
}

fn sum(turns: &[TurnRead], of: impl Fn(&TurnRead) -> Option<u64>) -> u64 {
    turns.iter().filter_map(of).fold(0, u64::saturating_add)
}

fn cost(turns: &[TurnRead]) -> Option<Amount> {
    turns.iter().filter_map(|turn| turn.side.cost).reduce(Amount::saturating_add)
}

/// The last event that two casts share, where both have it from one history.
fn parted(a: &Side<'_>, b: &Side<'_>) -> Result<Option<u64>> {
    if a.id == b.id {
        return Ok(None);
    }
    let (one, other) = (read::lineage(a)?, read::lineage(b)?);
    let shared = one.iter().find_map(|(id, upto)| {
        let (_, also) = other.iter().find(|(known, _)| known == id)?;
        Some((*upto).min(*also))
    });
    Ok(shared)
}

/// Leaves out the texts of further rows once there are very many: the turns themselves have them.
fn bound_texts(rows: &mut [ComparedTurn]) {
    let mut room = TEXTS_BYTES_MAX;
    for row in rows {
        for texts in [&mut row.prompt, &mut row.output] {
            let bytes = texts.as_ref().map_or(0, |texts| texts.a.len() + texts.b.len());
            if bytes > room {
                *texts = None;
            }
            room = room.saturating_sub(bytes);
        }
    }
}

/// Turns of both, aligned. Those of the first stand in their order; what only the second has stands behind what was
/// before it there.
fn rows(one: Vec<TurnRead>, other: Vec<TurnRead>) -> Vec<ComparedTurn> {
    type Key = (NodeId, Option<String>);
    let key = |turn: &TurnRead| -> Key { (turn.socket.clone(), turn.item.clone()) };
    let mut waiting: HashMap<Key, VecDeque<usize>> = HashMap::new();
    for (place, turn) in other.iter().enumerate() {
        waiting.entry(key(turn)).or_default().push_back(place);
    }
    let mut other: Vec<Option<TurnRead>> = other.into_iter().map(Some).collect();
    let mut attempts: HashMap<Key, u32> = HashMap::new();
    let mut partner: HashMap<usize, usize> = HashMap::new();
    let mut rows: Vec<ComparedTurn> = Vec::new();
    for turn in one {
        let key = key(&turn);
        let attempt = attempts.entry(key.clone()).or_default();
        *attempt += 1;
        let place = waiting.get_mut(&key).and_then(VecDeque::pop_front);
        if let Some(place) = place {
            partner.insert(place, rows.len());
        }
        let partner_turn = place.and_then(|place| other[place].take());
        rows.push(row(*attempt, Some(&turn), partner_turn.as_ref()));
    }
    // Only the second has these: each goes behind the row that was before it there.
    let mut behind: BTreeMap<usize, Vec<ComparedTurn>> = BTreeMap::new();
    let mut before = 0;
    for (place, turn) in other.into_iter().enumerate() {
        match turn {
            None => before = partner.get(&place).map_or(before, |row| row + 1),
            Some(turn) => {
                let attempt = attempts.entry(key(&turn)).or_default();
                *attempt += 1;
                behind.entry(before).or_default().push(row(*attempt, None, Some(&turn)));
            }
        }
    }
    let mut merged = behind.remove(&0).unwrap_or_default();
    for (place, row) in rows.into_iter().enumerate() {
        merged.push(row);
        merged.extend(behind.remove(&(place + 1)).unwrap_or_default());
    }
    merged
}

fn row(attempt: u32, a: Option<&TurnRead>, b: Option<&TurnRead>) -> ComparedTurn {
    let (verdict, differs, prompt, output) = match (a, b) {
        (Some(a), Some(b)) => {
            let differs = aspects(a, b);
            let verdict =
                if differs.is_empty() { ComparedVerdict::Same } else { ComparedVerdict::Differs };
            let texts = |aspect, a: &Words, b: &Words| {
                let differ = differs.contains(&aspect);
                differ.then(|| TwoTexts { a: a.shown.clone(), b: b.shown.clone() })
            };
            let prompt = texts(ComparedAspect::Prompt, &a.given, &b.given);
            let output = texts(ComparedAspect::Output, &a.output, &b.output);
            (verdict, differs, prompt, output)
        }
        (Some(_), None) => (ComparedVerdict::OnlyA, Vec::new(), None, None),
        (None, _) => (ComparedVerdict::OnlyB, Vec::new(), None, None),
    };
    let named = a.or(b);
    let side = |turn: Option<&TurnRead>| turn.map(|turn| turn.side.clone());
    ComparedTurn {
        socket: named.map_or_else(|| NodeId::new("?"), |turn| turn.socket.clone()),
        materia: named.map(|turn| turn.materia.clone()).unwrap_or_default(),
        item: named.and_then(|turn| turn.item.clone()),
        item_label: named.and_then(|turn| turn.item_label.clone()),
        attempt,
        verdict,
        differs,
        a: side(a),
        b: side(b),
        prompt,
        output,
    }
}

/// In what two turns differ. How long they took says nothing.
fn aspects(a: &TurnRead, b: &TurnRead) -> Vec<ComparedAspect> {
    let TurnSide { outcome, satisfied, to, cost, tokens, .. } = &a.side;
    let all = [
        (ComparedAspect::Outcome, *outcome != b.side.outcome || *satisfied != b.side.satisfied),
        (ComparedAspect::Prompt, a.given != b.given),
        (ComparedAspect::Output, a.output != b.output),
        (ComparedAspect::Route, *to != b.side.to),
        (ComparedAspect::Cost, *cost != b.side.cost || *tokens != b.side.tokens),
    ];
    all.into_iter().filter(|(_, differs)| *differs).map(|(aspect, _)| aspect).collect()
}

fn routes(a: &BTreeMap<EdgeId, u64>, b: &BTreeMap<EdgeId, u64>) -> Vec<ComparedRoute> {
    let edges: BTreeSet<&EdgeId> = a.keys().chain(b.keys()).collect();
    let counted = edges.into_iter().map(|edge| ComparedRoute {
        edge: edge.clone(),
        a: a.get(edge).copied().unwrap_or(0),
        b: b.get(edge).copied().unwrap_or(0),
    });
    counted.filter(|route| route.a != route.b).collect()
}

/// Values that differ, as deep inside as they do. Lists are one value each.
fn differing(
    above: &str,
    a: &Map<String, Value>,
    b: &Map<String, Value>,
    found: &mut Vec<ComparedValue>,
) {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        match (a.get(name), b.get(name)) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => differing(&path, a, b, found),
            (a, b) if a != b => {
                found.push(ComparedValue { path, a: a.cloned(), b: b.cloned() });
            }
            _ => {}
        }
    }
}

/// Who one of the casts is, from its report.
fn compared(report: &materia_contract::CastReport, forked_from: Option<RunId>) -> Compared {
    Compared {
        cast_id: report.cast_id.clone(),
        loadout: report.loadout.clone(),
        request: report.request.clone(),
        status: report.status,
        forked_from,
        usage: report.usage,
    }
}
