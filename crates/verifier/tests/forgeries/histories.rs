//! Valid histories, made by the kernel.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Decided, Do, ErrorCode, Event, EventBody, FailureClass, NodeId, Offered, RunCreated, RunId,
    TurnOutput,
};
use materia_kernel::{
    Acting, Decision, Effect, Input, Moment, Report, Run, TurnOutcome, outstanding, take,
};
use materia_verifier::{Objection, Verifier};
use serde_json::{Value, json};

use crate::plans;

/// The decisions of a run.
#[derive(Clone)]
pub(crate) struct History {
    pub(crate) name: &'static str,
    pub(crate) decisions: Vec<(Decided, Vec<Event>)>,
}

impl History {
    pub(crate) fn judged(&self) -> Result<(), Objection> {
        let mut opinion = Verifier::new(RunId::new("r"));
        for (decided, events) in &self.decisions {
            events.iter().try_for_each(|event| opinion.see(event))?;
            opinion.decided(decided)?;
        }
        Ok(())
    }

    pub(crate) fn event(&mut self, seq: u64) -> &mut Event {
        let mut events = self.decisions.iter_mut().flat_map(|(_, events)| events);
        events.find(|event| event.seq == seq).expect("there is one")
    }

    /// The place of the nth event of a type.
    pub(crate) fn find(&self, kind: &str, nth: usize) -> u64 {
        let events = self.decisions.iter().flat_map(|(_, events)| events);
        let mut found = events.filter(|event| event.body.type_name() == kind);
        found.nth(nth).unwrap_or_else(|| panic!("{} has no `{kind}` {nth}", self.name)).seq
    }

    /// Changes a field of the nth event of a type; gives its place.
    pub(crate) fn edit(&mut self, kind: &str, nth: usize, field: &str, value: Value) -> u64 {
        let seq = self.find(kind, nth);
        let event = self.event(seq);
        let mut data: Value = serde_json::from_str(&event.body.data_json()).unwrap();
        let (parent, name) = field.rsplit_once('/').unwrap();
        data.pointer_mut(parent).unwrap()[name] = value;
        event.body = EventBody::parse(kind, &data.to_string()).unwrap();
        seq
    }

    /// Gives the plan the hash that it has now.
    pub(crate) fn name_plan(&mut self) {
        if let EventBody::RunCreated(created) = &mut self.event(1).body {
            let hash = created.plan.hash();
            Arc::make_mut(created).plan_hash = hash;
        }
    }

    /// Puts an event behind the last one; gives its place.
    pub(crate) fn add(&mut self, node: Option<&str>, body: EventBody) -> u64 {
        let (_, events) = self.decisions.last_mut().unwrap();
        let last = events.last().unwrap();
        let (seq, ts, wall) = (last.seq + 1, last.ts + 1, last.wall);
        events.push(Event { seq, ts, wall, node: node.map(NodeId::new), body });
        seq
    }
}

/// A run that is being played.
struct Play {
    run: Run,
    now: Micros,
    history: History,
}

impl Play {
    fn begin(name: &'static str, created: RunCreated) -> Self {
        let history = History { name, decisions: Vec::new() };
        let mut play = Self { run: Run::new(RunId::new("r")), now: 1_000, history };
        play.take(Input::Create(created.into()));
        play
    }

    fn take(&mut self, input: Input) {
        let Decision { input, ticks, events } = take(&mut self.run, self.now, input).unwrap();
        let decided = Decided { ticks, ..Decided::now(self.now, input) };
        self.history.decisions.push((decided, events));
    }

    fn turns(&self) -> Vec<u64> {
        let owed = outstanding(&self.run);
        let turns = owed.filter_map(|effect| match effect {
            Effect::StartTurn(turn) => Some(turn),
            Effect::WakeAt(_) | Effect::Publish => None,
        });
        turns.collect()
    }

    /// All turns in flight answer so, a while later.
    fn answer(&mut self, answer: &Value) {
        self.now += 1_000;
        let output = answer.to_string();
        let outcome =
            |_| TurnOutcome::Ended(TurnOutput { output: output.clone(), ..TurnOutput::default() });
        let reports = self.turns().into_iter();
        let reports = reports.map(|turn| Report { turn, outcome: outcome(turn) }).collect();
        self.take(Input::reports(reports));
    }

    fn wake(&mut self) {
        let at = outstanding(&self.run).find_map(|effect| match effect {
            Effect::WakeAt(at) => Some(at),
            Effect::StartTurn(_) | Effect::Publish => None,
        });
        self.now = self.now.max(at.unwrap());
        self.take(Input::tick());
    }
}

pub(crate) fn sent_back() -> History {
    let mut play = Play::begin("sent back", plans::sent_back());
    let built = json!({"sum": 3, "state": {"vcs": "git"}});
    play.answer(&built);
    play.answer(&json!({"satisfied": false, "context": "too small", "extra": 1}));
    play.answer(&built);
    play.answer(&json!({"satisfied": false, "context": "still too small"}));
    play.answer(&built);
    play.answer(&json!({"satisfied": true}));
    play.history
}

pub(crate) fn over_a_list() -> History {
    let mut play = Play::begin("over a list", plans::over_a_list());
    let item = |title: &str| json!({"title": title, "context": "c"});
    play.answer(&json!({"workItems": [item("a"), item("b")]}));
    play.answer(&json!({"context": "one"}));
    play.answer(&json!({"context": "two"}));
    play.answer(&json!({}));
    play.history
}

/// The same over a list of that length.
pub(crate) fn over_many(count: usize) -> History {
    let mut play = Play::begin("over many", plans::over_a_list());
    let items: Vec<Value> =
        (0..count).map(|item| json!({"title": item.to_string(), "context": "c"})).collect();
    play.answer(&json!({ "workItems": items }));
    for _ in 0..count {
        play.answer(&json!({"context": "one more of them is done"}));
    }
    play.answer(&json!({}));
    play.history
}

/// Work that is sent on and on between two sockets.
pub(crate) fn back_and_forth(count: usize) -> History {
    let mut created = plans::sent_back();
    created.plan.budget.max_turns = None;
    created.plan.nodes["judge"].edges[0].max_traversals = Some(u32::MAX);
    created.plan_hash = created.plan.hash();
    let mut play = Play::begin("back and forth", created);
    for _ in 0..count {
        play.answer(&json!({"sum": 3, "state": {"vcs": "git"}}));
        play.answer(&json!({"satisfied": false, "context": "too small"}));
    }
    play.history
}

pub(crate) fn flowing() -> History {
    let mut play = Play::begin("flowing", plans::flowing());
    play.answer(&json!({"satisfied": true}));
    let offer = |message: &str| {
        let payload = Offered { message: Some(message.into()), ..Offered::default() };
        Acting::person(Do::Offer { edge: "source->slow".into(), payload })
    };
    let acts = vec![offer("one"), offer("two")];
    play.take(Input::Moment(Moment { reports: Vec::new(), acts }));
    play.wake();
    // A turn ends and something arrives at one instant.
    play.now += 100;
    let turn = play.turns()[0];
    let outcome = TurnOutcome::Ended(TurnOutput { output: "{}".into(), ..TurnOutput::default() });
    let reports = vec![Report { turn, outcome }];
    play.take(Input::Moment(Moment { reports, acts: vec![offer("three")] }));
    play.wake();
    play.answer(&json!({}));
    play.history
}

pub(crate) fn with_people() -> History {
    let mut play = Play::begin("with people", plans::with_people());
    play.take(Input::act(Do::approve(NodeId::new("first"))));
    play.now += 10;
    let (turn, message) = (play.turns()[0], "busy".to_owned());
    let class = Some(FailureClass::Transient);
    let report = TurnOutput { class, ..TurnOutput::default() };
    let code = ErrorCode::ProviderFailed;
    play.take(Input::report(turn, TurnOutcome::Faulted { code, message, report }));
    play.wake();
    play.answer(&json!({"context": "for you"}));
    let message = Some("go".to_owned());
    play.take(Input::act(Do::trigger(NodeId::new("second"), message)));
    play.history
}

/// A turn that was not started, because something was not approved; then somebody carries the run on.
pub(crate) fn withheld() -> History {
    let mut play = Play::begin("withheld", plans::sent_back());
    play.now += 10;
    let (turn, message) = (play.turns()[0], "it changed".to_owned());
    play.take(Input::Withheld { reports: Vec::new(), turn, message, files: None });
    play.now += 10;
    play.take(Input::resume(None));
    play.answer(&json!({"sum": 3, "state": {"vcs": "git"}}));
    play.answer(&json!({"satisfied": true}));
    play.history
}

/// An agent that answers nonsense, and is asked once more.
pub(crate) fn asked_again() -> History {
    let mut play = Play::begin("asked again", plans::sent_back());
    play.answer(&json!({"sum": 3, "state": {"vcs": "git"}}));
    play.answer(&json!("nonsense"));
    play.answer(&json!({"satisfied": true}));
    play.history
}

pub(crate) fn all() -> [History; 4] {
    [sent_back(), over_a_list(), flowing(), with_people()]
}
