//! The answers of a cast, given again by socket, work item and attempt. No program is started.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use materia_contract::script::Script;
use materia_contract::{ErrorCode, Event, EventBody, NodeId, ScriptEntry, TurnOutput};
use materia_engine::{
    BoxFuture, Committed, Observer, Runner, TurnFault, TurnJob, TurnOrder, TurnReport, Work,
};
use materia_runners::ScriptedRunner;

use crate::proof::recorded::{Given, Recorded};

type Key = (NodeId, Option<String>);

/// Gives the answers of a cast. It listens to the events as well, because they say which work item a turn is for.
pub(super) struct Answers {
    recorded: HashMap<Key, Vec<Given>>,
    /// How long a turn without an answer stays open: until everything else has ended.
    open_for: Duration,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    /// Of each turn: its key and its number among the turns of that key, from 0.
    turns: BTreeMap<u64, (Key, usize)>,
    next: HashMap<Key, usize>,
    /// Numbers that interrupted turns gave back.
    free: HashMap<Key, BTreeSet<usize>>,
    unanswered: BTreeSet<u64>,
    /// A turn without an answer has ended: nothing that follows counts.
    over: bool,
}

impl Answers {
    pub(super) fn new(recorded: &Recorded, beyond: Duration) -> Self {
        let mut answers: HashMap<Key, Vec<Given>> = HashMap::new();
        for turn in &recorded.turns {
            let key = (turn.socket.clone(), turn.item.clone());
            answers.entry(key).or_default().push(turn.given.clone());
        }
        let open_for = Duration::from_millis(recorded.span_ms) + beyond;
        Self { recorded: answers, open_for, asked: Mutex::default() }
    }

    /// The turns that were asked and had no answer, by their `turn.started`.
    pub(super) fn unanswered(&self) -> BTreeSet<u64> {
        self.asked().unanswered.clone()
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recorded answer of a turn, if there is one for what it asks: an agent or a program.
    fn of(&self, order: &TurnOrder) -> Option<&Given> {
        let (key, number) = self.asked().turns.get(&order.turn).cloned()?;
        let given = self.recorded.get(&key)?.get(number)?;
        let fits = matches!(
            (given, &order.work),
            (Given::Agent(_), Work::Agent { .. })
                | (Given::Utility(_), Work::Utility { .. })
                | (Given::RanOut, _)
        );
        fits.then_some(given)
    }
}

impl Runner for Answers {
    fn run(&self, mut job: TurnJob) -> BoxFuture<'static, TurnReport> {
        if let Some(given) = self.of(&job) {
            return match alone(given, &mut job.order) {
                Some(scripted) => scripted.run(job),
                None => Box::pin(std::future::ready(exhausted(Duration::ZERO, false))),
            };
        }
        let mut asked = self.asked();
        let over = asked.over;
        if !over {
            asked.unanswered.insert(job.turn);
        }
        Box::pin(std::future::ready(exhausted(self.open_for, over)))
    }

    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        let mut order = order.clone();
        let Some(given) = self.of(&order) else {
            self.asked().over = true;
            return report;
        };
        match alone(given, &mut order) {
            Some(scripted) => scripted.land(&order, report),
            None => report,
        }
    }
}

/// A script that has this answer alone; the turn is told to take it.
fn alone(given: &Given, order: &mut TurnOrder) -> Option<ScriptedRunner> {
    let key = order.node.to_string();
    let mut only = Script::default();
    match given {
        Given::Agent(answer) => {
            only.turns.insert(key.clone(), vec![(**answer).clone()]);
        }
        Given::Utility(answer) => {
            only.utilities.insert(key.clone(), vec![answer.clone()]);
        }
        Given::RanOut => return None,
    }
    let (Work::Agent { script, .. } | Work::Utility { script, .. }) = &mut order.work;
    *script = Some(ScriptEntry { key, index: 0 });
    Some(ScriptedRunner::new(only))
}

fn exhausted(after: Duration, withheld: bool) -> TurnReport {
    let message = "the cast has no answer for this turn".to_owned();
    let (code, report) = (ErrorCode::ScriptExhausted, Box::new(TurnOutput::default()));
    TurnReport { outcome: Err(TurnFault { code, message, report, withheld }), after }
}

impl Observer for Answers {
    fn committed(&self, news: &Committed) {
        let mut asked = self.asked();
        let first = news.events.first().map_or(0, |event| event.seq);
        for event in news.events.iter() {
            asked.see(event, first);
        }
    }
}

impl Asked {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only starts and ends of turns are counted")]
    fn see(&mut self, event: &Event, first: u64) {
        match &event.body {
            EventBody::TurnStarted(started) => {
                let Some(socket) = event.node.clone() else { return };
                let key = (socket, started.item.clone());
                let freed = self.free.get_mut(&key).and_then(BTreeSet::pop_first);
                let number = freed.unwrap_or_else(|| {
                    let next = self.next.entry(key.clone()).or_default();
                    *next += 1;
                    *next - 1
                });
                self.turns.insert(event.seq, (key, number));
            }
            EventBody::TurnInterrupted(data) => self.give_back(data.turn),
            // A turn that ends in the decision that began it was answered by the runtime.
            EventBody::TurnCompleted(data) if data.turn >= first => self.give_back(data.turn),
            EventBody::TurnFailed(data) if data.turn >= first => self.give_back(data.turn),
            _ => {}
        }
    }

    fn give_back(&mut self, turn: u64) {
        if let Some((key, number)) = self.turns.remove(&turn) {
            self.free.entry(key).or_default().insert(number);
        }
        self.unanswered.remove(&turn);
    }
}

/// The answers as the two parts of a play.
pub(super) fn parts(answers: &Arc<Answers>) -> (Arc<dyn Runner>, Arc<dyn Observer>) {
    (Arc::clone(answers) as _, Arc::clone(answers) as _)
}
