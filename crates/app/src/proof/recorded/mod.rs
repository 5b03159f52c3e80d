//! A cast that has run, as answers that can be given again: what its turns said and how long they took, and what
//! people did, on a timeline in simulated time.
//!
//! * [`case`]: the same as a conformance case.

mod answers;
pub mod case;
mod clock;
pub(crate) mod config;
mod people;

use std::collections::{BTreeMap, VecDeque};

use materia_contract::script::{Answer, Script};
use materia_contract::{
    Behavior, Decided, ErrorCode, Event, EventBody, InterruptReason, NodeId, RecordedInput,
    RunCreated, RunId,
};
use materia_engine::{Journal, blocking};

use crate::proof::play::Acts;
use crate::{Failure, Result};
use answers::Ending;
pub use answers::Given;
use clock::Clock;
use people::People;

/// How much longer a turn takes that the end of the run interrupted.
const BEYOND_THE_END_MS: u64 = 1_000;

/// A cast as it can be played again.
pub struct Recorded {
    /// How it began.
    pub created: RunCreated,
    /// The turns and their answers, in the order in which the turns started.
    pub turns: Vec<Turn>,
    /// The acts of people and of its timeline.
    pub acts: Acts,
    /// From its beginning to its last event, in simulated time.
    pub span_ms: u64,
    /// Why it cannot be played again as it was, in words.
    pub obstacles: Vec<String>,
}

/// A turn and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its socket.
    pub socket: NodeId,
    /// The key of its work item.
    pub item: Option<String>,
    /// Its answer.
    pub given: Given,
}

/// A turn under way.
struct Open {
    place: usize,
    socket: NodeId,
    began: u64,
    /// It must take longer than this, for an earlier attempt with the same answer was interrupted.
    least: u64,
}

struct Reading {
    created: RunCreated,
    clock: Clock,
    people: People,
    turns: Vec<Option<Turn>>,
    open: BTreeMap<u64, Open>,
    /// Of each socket the attempts that were interrupted and not made again: how long they had taken.
    interrupted: BTreeMap<NodeId, VecDeque<(u64, Option<String>)>>,
    obstacles: Vec<String>,
}

/// Reads a cast.
pub fn read(journal: &dyn Journal, id: &RunId) -> Result<Recorded> {
    let broken = |error: String| Failure::storage(format!("cast `{id}` cannot be read: {error}"));
    let mut reading: Option<Reading> = None;
    let mut decision: Option<(Decided, Vec<Event>)> = None;
    for record in blocking(journal).behind(id, 0) {
        let record = record?;
        let event = record.event().map_err(|error| broken(error.to_string()))?;
        if let Some(input) = &record.input {
            let decided = Decided::read(input).map_err(|error| broken(error.to_string()))?;
            if let Some((decided, events)) = decision.replace((decided, Vec::new())) {
                take(&mut reading, &decided, &events);
            }
        }
        if let Some((_, events)) = &mut decision {
            events.push(event);
        }
    }
    if let Some((decided, events)) = &decision {
        take(&mut reading, decided, events);
    }
    Ok(reading.ok_or_else(|| broken("it has no beginning".to_owned()))?.finish())
}

fn take(reading: &mut Option<Reading>, decided: &Decided, events: &[Event]) {
    if reading.is_none()
        && let Some(EventBody::RunCreated(created)) = events.first().map(|event| &event.body)
    {
        let clock = Clock::new(decided.at, created.virtual_time);
        *reading = Some(Reading {
            created: RunCreated::clone(created),
            clock,
            people: People::default(),
            turns: Vec::new(),
            open: BTreeMap::new(),
            interrupted: BTreeMap::new(),
            obstacles: Vec::new(),
        });
    }
    if let Some(reading) = reading {
        reading.decision(decided, events);
    }
}

impl Reading {
    fn decision(&mut self, decided: &Decided, events: &[Event]) {
        let now = self.clock.take(decided, self.people.at_rest(decided));
        self.people.decision(now, decided, events);
        let first = events.first().map_or(0, |event| event.seq);
        for event in events {
            self.event(now, event, decided, first);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "turns are all that is read here")]
    fn event(&mut self, now: u64, event: &Event, decided: &Decided, first: u64) {
        match &event.body {
            EventBody::TurnStarted(started) => {
                let Some(socket) = event.node.clone() else { return };
                let waiting = self.interrupted.get_mut(&socket).and_then(VecDeque::pop_front);
                let least = waiting.map_or(0, |(least, _)| least);
                let place = self.turns.len();
                let item = started.item.clone();
                self.turns.push(Some(Turn { socket: socket.clone(), item, given: Given::RanOut }));
                self.open.insert(event.seq, Open { place, socket, began: now, least });
            }
            EventBody::TurnCompleted(data) => {
                self.ends(now, data.turn, first, &Ending::Said(&data.report));
            }
            EventBody::TurnFailed(data) => {
                let reports = match &decided.input {
                    RecordedInput::Moment(moment) => moment.reports.as_slice(),
                    RecordedInput::Stopped { reports, .. }
                    | RecordedInput::Withheld { reports, .. } => reports.as_slice(),
                    _ => &[],
                };
                let faulted = reports.iter().any(|one| one.turn == data.turn && one.faulted);
                let ending = if faulted {
                    Ending::Faulted(data.code, &data.message, &data.report)
                } else {
                    Ending::Said(&data.report)
                };
                self.ends(now, data.turn, first, &ending);
            }
            EventBody::TurnInterrupted(data) => self.interrupts(now, data.turn, data.reason),
            _ => {}
        }
    }

    /// A turn has ended. One that began in the same decision was answered by the runtime.
    fn ends(&mut self, now: u64, turn: u64, first: u64, ending: &Ending<'_>) {
        let Some(open) = self.open.remove(&turn) else { return };
        if turn >= first {
            self.turns[open.place] = None;
            return;
        }
        let Some(node) = self.created.plan.nodes.get(&open.socket) else { return };
        let took = now.saturating_sub(open.began).max(open.least);
        match answers::given(node, ending, took) {
            Ok(given) => {
                if let Some(turn) = &mut self.turns[open.place] {
                    turn.given = given;
                }
            }
            Err(why) => self.obstacles.push(format!("socket `{}` {why}", open.socket)),
        }
    }

    /// An interrupted attempt gives its answer back; the next one takes it.
    fn interrupts(&mut self, now: u64, turn: u64, reason: InterruptReason) {
        let Some(open) = self.open.remove(&turn) else { return };
        let took = now.saturating_sub(open.began).max(open.least);
        if reason == InterruptReason::RunFailed {
            self.outlasts(open.place, took);
            return;
        }
        let taken = self.turns[open.place].take();
        let item = taken.and_then(|turn| turn.item);
        self.interrupted.entry(open.socket).or_default().push_back((took + 1, item));
    }

    /// The turn at this place had not ended when the run did.
    fn outlasts(&mut self, place: usize, took: u64) {
        let Some(turn) = &mut self.turns[place] else { return };
        let Some(node) = self.created.plan.nodes.get(&turn.socket) else { return };
        turn.given = Given::silence(node, took + BEYOND_THE_END_MS);
    }

    fn finish(mut self) -> Recorded {
        if !self.open.is_empty() {
            self.obstacles.push("turns of it are still under way".to_owned());
        }
        for (socket, left) in std::mem::take(&mut self.interrupted) {
            for (least, item) in left {
                let (place, socket) = (self.turns.len(), socket.clone());
                self.turns.push(Some(Turn { socket, item, given: Given::RanOut }));
                self.outlasts(place, least);
            }
        }
        let span_ms = self.clock.now();
        let (acts, obstacles) = self.people.finish();
        self.obstacles.extend(obstacles);
        let mut obstacles = Vec::new();
        for obstacle in self.obstacles {
            if !obstacles.contains(&obstacle) {
                obstacles.push(obstacle);
            }
        }
        let turns = self.turns.into_iter().flatten().collect();
        Recorded { created: self.created, turns, acts, span_ms, obstacles }
    }
}

impl Recorded {
    /// The answers as a script. Every utility of the plan is in it, so that no program is started.
    pub fn script(&self) -> Script {
        let mut script = Script {
            run_for_ms: self.acts.run_for_ms,
            timeline: self.acts.timeline.clone(),
            ..Script::default()
        };
        for Turn { socket, given, .. } in &self.turns {
            let key = socket.to_string();
            match given {
                Given::Agent(answer) => {
                    script.turns.entry(key).or_default().push(Answer::clone(answer));
                }
                Given::Utility(answer) => {
                    script.utilities.entry(key).or_default().push(answer.clone());
                }
                Given::RanOut => {}
            }
        }
        for (socket, node) in &self.created.plan.nodes {
            let asked = self.turns.iter().any(|turn| turn.socket == *socket);
            match node.behavior {
                Behavior::Utility { .. } => {
                    script.utilities.entry(socket.to_string()).or_default();
                }
                Behavior::Agent { .. } if asked => {
                    script.turns.entry(socket.to_string()).or_default();
                }
                Behavior::Agent { .. } => {}
            }
        }
        script
    }
}

/// Whether a script can say that a turn of an agent or of a utility ended so.
fn can_be_scripted(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ProviderFailed | ErrorCode::UtilityFailed | ErrorCode::UtilityTimeout)
}
