//! A hostile world around one run: it produces every kind of input and fault.

use materia_contract::time::Micros;
use materia_contract::{
    Decided, Do, Event, EventBody, NextTick, NodeId, Pace, Plan, RunId, RunPlace,
};
use materia_kernel::{
    Decision, Effect, Input, Now, Rejection, Run, due_schedules, evolve, outstanding, take_with,
};
use materia_verifier::Verifier;

use crate::dice::Dice;
use crate::files;
use crate::graph;
use crate::notes::Notes;
use crate::sometimes::Sometimes;

/// When every simulated run begins.
const BEGINNING: Micros = 1_000_000_000;

/// Message of a person who stops a run.
pub(crate) const STOPPED: &str = "stopped by hand";

/// The id of every simulated run.
pub(crate) fn run_id() -> RunId {
    RunId::new("sim")
}

/// One run and its surroundings.
pub(crate) struct World<'a> {
    pub(crate) id: RunId,
    pub(crate) dice: Dice,
    pub(crate) run: Run,
    /// The same run, folded from its events.
    pub(crate) folded: Run,
    pub(crate) journal: Vec<Event>,
    /// Every recorded input, with the length of the journal after its decision.
    pub(crate) decisions: Vec<(Decided, usize)>,
    /// The verifier's view of the run, from the events alone.
    pub(crate) opinion: Verifier,
    /// Turns that came to an end.
    pub(crate) ended: Vec<u64>,
    notes: Notes,
    /// The run's time, which never goes back: whoever drives a run sees to that.
    pub(crate) now: Micros,
    /// How far the clock on the wall is behind it.
    pub(crate) behind: Micros,
    /// The newest snapshot, with its place in the journal.
    pub(crate) snapshot: Option<(usize, Vec<u8>)>,
    pub(crate) seen: &'a mut Sometimes,
    /// Whether every event is printed as it comes.
    tells: bool,
}

impl<'a> World<'a> {
    /// A run that has just been created.
    pub(crate) fn begin(seed: u64, seen: &'a mut Sometimes, tells: bool) -> Self {
        let mut dice = Dice::new(seed);
        let mut created = graph::created(&mut dice);
        created.timeline = if dice.percent(25) { dice.within(1, 3) } else { 0 };
        if seed % 4 == 3 {
            files::own(&mut created);
        }
        let mut world = World::empty(run_id(), dice, BEGINNING, seen, tells);
        assert!(world.take(Input::Create(created.into())));
        world
    }

    fn empty(id: RunId, dice: Dice, now: Micros, seen: &'a mut Sometimes, tells: bool) -> Self {
        Self {
            dice,
            run: Run::new(id.clone()),
            folded: Run::new(id.clone()),
            journal: Vec::new(),
            decisions: Vec::new(),
            opinion: Verifier::new(id.clone()),
            ended: Vec::new(),
            notes: Notes::default(),
            now,
            behind: 0,
            snapshot: None,
            seen,
            tells,
            id,
        }
    }

    /// Another run, to which just this has happened.
    pub(crate) fn beginning_with(
        &mut self,
        id: RunId,
        events: Vec<Event>,
        decisions: &[(Decided, usize)],
    ) -> World<'_> {
        let dice = Dice::new(events.len() as u64);
        let mut world = World::empty(id, dice, self.now, self.seen, self.tells);
        for event in events {
            evolve(&mut world.run, &event);
            world.hears(event);
            let end = world.journal.len();
            for (decided, _) in decisions.iter().filter(|(_, at)| *at == end) {
                world.agrees(decided);
            }
        }
        world.decisions = decisions.to_vec();
        world
    }

    pub(crate) fn plan(&self) -> &Plan {
        self.opinion.plan().expect("it was created")
    }

    /// Hands an input to the run and holds what follows to every rule. Says whether it was taken.
    pub(crate) fn take(&mut self, input: Input) -> bool {
        if self.tells {
            println!("-- {} {input:?}", self.now);
        }
        let input = files::found(&self.run, self.journal.len(), input);
        let ticks = self.ticks(&input);
        let wall = self.now - self.behind;
        let now = Now { at: self.now, wall, until: None };
        let taken = take_with(&mut self.run, now, &ticks, input);
        let Decision { input, ticks, events } = match taken {
            Ok(decision) => decision,
            Err(rejection) => {
                assert_eq!(self.run, self.folded, "what is refused changes nothing");
                self.seen.note(refusal(&rejection));
                return false;
            }
        };
        for event in events {
            assert_eq!(event.wall, wall, "an event knows its instant");
            self.hears(event);
        }
        assert_eq!(self.run, self.folded, "folding the events gives the run");
        let decided = Decided { ticks, ..Decided::now(self.now, input) };
        self.agrees(&decided);
        self.decisions.push((decided, self.journal.len()));
        true
    }

    /// When schedules come round next: whenever whoever is asked says. Mostly that is soon.
    fn ticks(&mut self, input: &Input) -> Vec<NextTick> {
        let due = due_schedules(&self.run, self.now, input);
        let nodes: Vec<NodeId> = due.into_iter().map(|(node, _)| node.clone()).collect();
        let at = |world: &mut Self| world.now + i64::from(world.dice.within(1, 20_000));
        let next = nodes.into_iter().map(|node| NextTick { node, at: at(self) });
        next.collect()
    }

    /// An event is kept, folded, and held to the rules.
    fn hears(&mut self, event: Event) {
        if self.tells {
            let (kind, data) = (event.body.type_name(), event.body.data_json());
            let node = event.node.as_ref().map_or("", NodeId::as_str);
            println!("{:>4} {} {kind} {node} {data}", event.seq, event.ts);
        }
        evolve(&mut self.folded, &event);
        self.notes.note(&event, &self.opinion, self.seen);
        if let Err(objection) = self.opinion.see(&event) {
            panic!("{objection}: {event:?}");
        }
        match &event.body {
            EventBody::TurnCompleted(data) => self.ended.push(data.turn),
            EventBody::TurnFailed(data) => self.ended.push(data.turn),
            EventBody::TurnInterrupted(data) => self.ended.push(data.turn),
            _ => {}
        }
        self.look_back(&event);
        self.journal.push(event);
    }

    /// A decision has ended: nothing is left that no decision may leave, and just what is outstanding is
    /// asked for.
    fn agrees(&mut self, decided: &Decided) {
        if let Err(objection) = self.opinion.decided(decided) {
            panic!("{objection}: {decided:?}");
        }
        let first = self.opinion.timers().next().map(Effect::WakeAt);
        let turns = self.opinion.turns().map(|(turn, _)| Effect::StartTurn(turn));
        let publish = self.opinion.is_publishing().then_some(Effect::Publish);
        let expected: Vec<Effect> = turns.chain(publish).chain(first).collect();
        assert_eq!(outstanding(&self.folded).collect::<Vec<_>>(), expected, "what is outstanding");
    }

    /// Notes states that only several events together show.
    fn look_back(&mut self, event: &Event) {
        match &event.body {
            EventBody::ApprovalRequested(_) => {
                let before = self.journal.iter().rev().find(|one| {
                    one.node == event.node
                        && matches!(
                            one.body,
                            EventBody::ApprovalGiven(_) | EventBody::TurnStarted(_)
                        )
                });
                if before.is_some_and(|one| matches!(one.body, EventBody::ApprovalGiven(_))) {
                    self.seen.note("approval voided by a new payload");
                }
            }
            EventBody::TurnStarted(data) => {
                if data.approved.is_some() {
                    self.seen.note("approved turn ran");
                }
                if self.opinion.in_flight(event.node.as_ref().unwrap()) == 2 {
                    self.seen.note("two turns of a node in flight");
                }
            }
            EventBody::LoopEntered(data) if data.count == Some(0) => {
                self.seen.note("loop over nothing");
            }
            _ => {}
        }
    }
}

pub(crate) fn resume(pace: Option<Pace>) -> Input {
    Input::taken_up(Do::Resume { pace }, RunPlace::named())
}

fn refusal(rejection: &Rejection) -> &'static str {
    match rejection {
        Rejection::StaleTurn { .. } => "rejected: late report",
        Rejection::Ended(_) => "rejected: the run has ended",
        Rejection::NothingToApprove(_) => "rejected: nothing to approve",
        Rejection::NoNextTick(_) => panic!("every schedule was told of"),
        _ => "rejected: something else",
    }
}
