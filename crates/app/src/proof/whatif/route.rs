//! The route of a cast: its turns in the order in which they started, how each ended, and where that led.

use std::collections::{BTreeMap, HashMap};

use materia_contract::body::{MovedCursor, Parting, PartingKind, TakenEdge, TurnName, Way};
use materia_contract::{Cause, Event, EventBody, NodeId, Outcome};
use materia_engine::views::TurnEnd;

/// A turn of a route.
pub(super) struct Step {
    /// The event with which it began.
    pub(super) seq: u64,
    pub(super) name: TurnName,
    pub(super) way: Way,
    /// The `turn.started` of the turn that led to it.
    pub(super) after: Option<u64>,
}

/// Reads a route from events.
#[derive(Default)]
pub(super) struct Reader {
    steps: BTreeMap<u64, Step>,
    /// Of each socket the last turn that led to it.
    led: HashMap<String, u64>,
    ended: Option<u64>,
}

impl Reader {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only turns and ways are read")]
    pub(super) fn see(&mut self, event: &Event) {
        match &event.body {
            EventBody::TurnStarted(started) => {
                let Some(socket) = event.node.clone() else { return };
                let after = match started.cause {
                    Cause::Retry { turn } | Cause::Repair { turn } | Cause::Recast { turn } => {
                        Some(turn)
                    }
                    Cause::Input | Cause::Foreach { .. } | Cause::Manual => {
                        self.led.get(socket.as_str()).copied().or(self.ended)
                    }
                };
                let name = TurnName { socket, item: started.item.clone(), attempt: 0 };
                let way = Way {
                    outcome: Outcome::Running,
                    satisfied: None,
                    edges: Vec::new(),
                    moved: Vec::new(),
                };
                self.steps.insert(event.seq, Step { seq: event.seq, name, way, after });
            }
            body @ (EventBody::TurnCompleted(_) | EventBody::TurnFailed(_)) => {
                let Some(end) = TurnEnd::of(body) else { return };
                self.ended = Some(end.turn);
                if let Some(step) = self.steps.get_mut(&end.turn) {
                    (step.way.outcome, step.way.satisfied) = (end.outcome, end.satisfied);
                }
            }
            EventBody::TurnInterrupted(data) => {
                self.steps.remove(&data.turn);
            }
            EventBody::RouteSelected(data) => {
                let Some(turn) = data.turn else { return };
                self.led.insert(data.to.clone(), turn);
                if let Some(step) = self.steps.get_mut(&turn) {
                    let (edge_id, to) = (data.edge_id.clone(), data.to.clone());
                    step.way.edges.push(TakenEdge { edge_id, to });
                }
            }
            EventBody::CursorAdvanced(data) => {
                let step = self.ended.and_then(|turn| self.steps.get_mut(&turn));
                let Some(step) = step.filter(|it| Some(&it.name.socket) == event.node.as_ref())
                else {
                    return;
                };
                let (cursor, index) = (data.cursor.clone(), data.index);
                step.way.moved.push(MovedCursor { cursor, index });
            }
            _ => {}
        }
    }

    pub(super) fn finish(self) -> Vec<Step> {
        let mut counts: HashMap<(NodeId, Option<String>), u32> = HashMap::new();
        let mut steps: Vec<Step> = self.steps.into_values().collect();
        for step in &mut steps {
            let key = (step.name.socket.clone(), step.name.item.clone());
            let count = counts.entry(key).or_default();
            *count += 1;
            step.name.attempt = *count;
        }
        steps
    }
}

/// Two routes side by side.
pub(super) struct Compared {
    /// How many turns ended the same way and led the same way.
    pub(super) matched: usize,
    /// The first difference, if a turn differs.
    pub(super) parting: Option<Parting>,
    /// The turns of the first that the second does not have.
    pub(super) unreached: Vec<TurnName>,
}

/// Puts two routes side by side, by the names of their turns. The order of turns in flight together does not count.
pub(super) fn compare(recorded: &[Step], today: &[Step]) -> Compared {
    let by_name: HashMap<&TurnName, &Step> = today.iter().map(|step| (&step.name, step)).collect();
    let known: HashMap<&TurnName, usize> =
        recorded.iter().enumerate().map(|(place, step)| (&step.name, place)).collect();
    // The place in the recorded route, and the kind: a turn that leads elsewhere is the reason for others.
    let mut found: Vec<(usize, u8, Parting)> = Vec::new();
    let mut unreached = Vec::new();
    let mut matched = 0;
    for (place, step) in recorded.iter().enumerate() {
        let (turn, seq) = (Some(step.name.clone()), Some(step.seq));
        let was = Some(step.way.clone());
        match by_name.get(&step.name) {
            Some(other) if agree(&step.way, &other.way) => matched += 1,
            Some(other) => {
                let now = Some(other.way.clone()).filter(|way| way.outcome != Outcome::Running);
                let kind = PartingKind::Route;
                found.push((place, 0, Parting { kind, turn, seq, recorded: was, today: now }));
            }
            None => {
                unreached.push(step.name.clone());
                let kind = PartingKind::NotAsked;
                found.push((place, 2, Parting { kind, turn, seq, recorded: was, today: None }));
            }
        }
    }
    let mut before = 0;
    for step in today {
        if known.contains_key(&step.name) {
            before += 1;
            continue;
        }
        let now = Some(step.way.clone()).filter(|way| way.outcome != Outcome::Running);
        let (kind, turn) = (PartingKind::Asked, Some(step.name.clone()));
        found.push((before, 1, Parting { kind, turn, seq: None, recorded: None, today: now }));
    }
    found.sort_by_key(|(place, kind, _)| (*place, *kind));
    let parting = found.into_iter().next().map(|(_, _, parting)| parting);
    Compared { matched, parting, unreached }
}

/// Whether two turns ended in the same way and took the same edges.
fn agree(recorded: &Way, today: &Way) -> bool {
    let was = (recorded.outcome, &recorded.edges, &recorded.moved);
    was == (today.outcome, &today.edges, &today.moved)
}
