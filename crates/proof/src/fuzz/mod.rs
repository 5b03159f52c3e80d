//! Histories by chance: answers of every sort, delays, orders, and people. One seed is one history.
//!
//! The kernel takes every step, so that only acts are in a history that a run takes at that instant. A history is kept as
//! choices, not as steps: where one is left out, those behind it still mean something, so a history can be shrunk.

mod chance;
mod shrink;

use std::panic::{AssertUnwindSafe, catch_unwind};

use materia_contract::script::{Answer, Script, UtilityAnswer};
use materia_contract::time::Micros;
use materia_contract::{Behavior, Do, Event, NodeId, Offered, Pace, Plan};
use materia_kernel::{Phase, Run, evolve, paused, questions, timers};

use crate::dice::Dice;
use crate::explore::answers::{Answers, Given};
use crate::explore::history::Recorder;
use crate::explore::step::{self, Manner, Step, Take};
use chance::{odd, wait};

/// The most choices of a history.
const CHOICES_MAX: usize = 60;
/// The most steps with which a history is led to its rest.
const CALM_STEPS_MAX: usize = 400;
/// How often a scheduled node ticks.
const TICKS: u32 = 3;
/// How many answers of a hundred are odd or fail, of which each history takes one number. An odd answer mostly ends a
/// history soon, so in most histories there are few.
const ODD_PERCENTS: [u64; 4] = [0, 2, 5, 20];

/// A choice of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// Turns end, named by their place among those in flight, after some time.
    End(Vec<(usize, Given)>, u64),
    /// The earliest timers fire.
    Fire,
    /// A person does something, after some time.
    Act(Do, u64),
}

/// A history, and the script that plays it.
#[derive(Debug, Clone)]
pub struct History {
    /// Its choices.
    pub choices: Vec<Choice>,
    /// `cast --virtual-time --script` plays it.
    pub script: Script,
    /// Whether people did more than to approve, to refuse and to continue.
    pub meddled: bool,
    /// Whether it was cut off before it came to rest.
    pub cut: bool,
    /// A law of the kernel that it broke.
    pub fault: Option<String>,
}

/// The rules that decide a history. Tests put faults into them.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Decides on an input and applies its events.
    pub take: Take,
    /// Applies an event to the run that is folded from the events.
    pub evolve: fn(&mut Run, &Event),
}

impl Default for Kernel {
    fn default() -> Self {
        Self { take: materia_kernel::take_with, evolve }
    }
}

/// Makes histories of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Fuzzer<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The rules that decide.
    pub kernel: Kernel,
}

impl Fuzzer<'_> {
    /// The history of a seed; `None` where the kernel does not take the plan.
    pub fn history(self, seed: u64) -> Option<History> {
        let mut dice = Dice::new(seed);
        let mut walk = Walk::begin(self)?;
        let meddles = dice.percent(40);
        walk.odd_percent = *dice.pick(&ODD_PERCENTS);
        let most = 3 + dice.below(CHOICES_MAX);
        for _ in 0..most {
            let Some(choice) = walk.choose(&mut dice, meddles) else { break };
            walk.take(choice);
        }
        Some(walk.finish())
    }

    /// The history that follows these choices as far as they can be followed.
    pub fn follow(self, choices: &[Choice]) -> Option<History> {
        let mut walk = Walk::begin(self)?;
        for choice in choices {
            walk.take(choice.clone());
        }
        Some(walk.finish())
    }
}

/// A history under way.
struct Walk<'a> {
    plan: &'a Plan,
    kernel: Kernel,
    /// How many answers of a hundred are odd ones.
    odd_percent: u64,
    answers: Answers,
    run: Run,
    /// The same run, folded from its events.
    folded: Run,
    recorder: Recorder,
    choices: Vec<Choice>,
    meddled: bool,
    fault: Option<String>,
    /// Whether the kernel panicked. The history ends there.
    panicked: bool,
}

const MANNER: Manner = Manner { together: false, ticks: TICKS };

impl<'a> Walk<'a> {
    fn begin(Fuzzer { plan, kernel }: Fuzzer<'a>) -> Option<Self> {
        // With entries ahead the run does not come to rest before the last act.
        let (run, events) = step::begin_with(kernel.take, plan, u32::MAX)?;
        let folded = Run::new(run.id().clone());
        let mut walk = Self {
            plan,
            kernel,
            odd_percent: 0,
            answers: Answers::new(plan, &[0, 1, 2, 5], None),
            run,
            folded,
            recorder: Recorder::default(),
            choices: Vec::new(),
            meddled: false,
            fault: None,
            panicked: false,
        };
        walk.hear(&events);
        Some(walk)
    }

    fn hear(&mut self, events: &[Event]) {
        if self.panicked {
            return;
        }
        let fold = || {
            for event in events {
                (self.kernel.evolve)(&mut self.folded, event);
            }
        };
        if catch_unwind(AssertUnwindSafe(fold)).is_err() {
            self.panics();
        } else if self.folded != self.run && self.fault.is_none() {
            self.fault = Some("the events do not give the state that the kernel has".to_owned());
        }
        self.recorder.note(&self.run, events);
    }

    fn panics(&mut self) {
        self.panicked = true;
        self.fault.get_or_insert_with(|| "the kernel panicked".to_owned());
    }

    fn goes_on(&self) -> bool {
        !self.panicked && matches!(self.run.phase(), Phase::Running | Phase::Waiting(_))
    }

    /// Something that can happen now.
    fn choose(&self, dice: &mut Dice, meddles: bool) -> Option<Choice> {
        if !self.goes_on() {
            return None;
        }
        let wait = wait(dice);
        if meddles && dice.percent(15) {
            return Some(Choice(Kind::Act(self.meddling(dice), wait)));
        }
        if let Some(node) = paused(&self.run).next() {
            return Some(Choice(Kind::Act(Do::Continue { node: Some(node.clone()) }, wait)));
        }
        let turns = step::in_flight(&self.run);
        let asked: Vec<NodeId> =
            questions(&self.run).filter(|it| !it.denied).map(|it| it.node.clone()).collect();
        if !asked.is_empty() && (turns.is_empty() || dice.percent(40)) {
            let node = dice.pick(&asked).clone();
            let act = match dice.below(5) {
                0 => Do::deny(node),
                1 => Do::Deny { node, hash: None, reason: None, route: true },
                _ => Do::approve(node),
            };
            return Some(Choice(Kind::Act(act, wait)));
        }
        let fires = *self.run.phase() == Phase::Running
            && timers(&self.run).next().is_some()
            && !step::is_cut(&self.run, MANNER);
        if fires && (turns.is_empty() || dice.percent(20)) {
            return Some(Choice(Kind::Fire));
        }
        if turns.is_empty() {
            return None;
        }
        let many = if dice.percent(20) { turns.len() } else { 1 };
        let first = dice.below(turns.len());
        let ends = (0..many).filter_map(|more| {
            let place = (first + more) % turns.len();
            Some((place, self.answer(turns[place], dice)?))
        });
        Some(Choice(Kind::End(ends.collect(), wait)))
    }

    /// An answer of a turn: mostly one that means something, sometimes an odd one.
    fn answer(&self, turn: u64, dice: &mut Dice) -> Option<Given> {
        let turn = self.run.turn(turn)?;
        let (_, node) = self.run.node_of(turn);
        let mut known = self.answers.of(&self.run, turn, self.plan);
        // Failures and odd answers mostly end a history; most histories should go further.
        if !dice.percent(self.odd_percent) {
            known.retain(|given| !given.is_failure());
        }
        if !known.is_empty() && !dice.percent(self.odd_percent) {
            return Some((**dice.pick(&known)).clone());
        }
        let text = odd(dice);
        Some(match node.behavior {
            Behavior::Agent { .. } => {
                let error = dice.percent(10).then(|| "it broke".to_owned());
                Given::Agent(Box::new(Answer { text: Some(text), error, ..Answer::default() }))
            }
            Behavior::Utility { .. } => Given::Utility(UtilityAnswer {
                stdout: Some(text),
                stderr: dice.percent(20).then(|| odd(dice)),
                exit_code: dice.percent(20).then_some(3),
                ..UtilityAnswer::default()
            }),
        })
    }

    /// Something that a person does unasked.
    fn meddling(&self, dice: &mut Dice) -> Do {
        let nodes: Vec<&NodeId> = self.plan.nodes.keys().collect();
        let node = (*dice.pick(&nodes)).clone();
        let edges: Vec<&str> = self
            .plan
            .nodes
            .values()
            .flat_map(|node| node.edges.iter().map(|edge| edge.id.as_str()))
            .collect();
        match dice.below(8) {
            0 | 1 if !edges.is_empty() => {
                let payload = Offered { message: Some(odd(dice)), ..Offered::default() };
                Do::Offer { edge: (*dice.pick(&edges)).to_owned(), payload }
            }
            2 => Do::Trigger { node, message: Some(odd(dice)), approve: true, hash: None },
            3 => Do::Mode { value: *dice.pick(&[Pace::Auto, Pace::Interactive]) },
            4 => Do::Pause,
            5 => Do::Say { node: Some(node), text: "hear".to_owned() },
            6 => Do::Skip { region: None, reason: None },
            _ => Do::trigger(node, None),
        }
    }

    /// Takes a choice, where it can be taken.
    fn take(&mut self, choice: Choice) {
        let taken = match &choice.0 {
            Kind::End(turns, wait) => self.end(turns, *wait),
            Kind::Fire => self.fire(None),
            Kind::Act(act, wait) => self.act(act, *wait),
        };
        if taken.is_some() {
            self.choices.push(choice);
        }
    }

    fn end(&mut self, turns: &[(usize, Given)], wait: u64) -> Option<()> {
        let flight = step::in_flight(&self.run);
        let named = |place: &usize| flight.get(place % flight.len().max(1)).copied();
        let mut chosen: Vec<(u64, Given)> = turns
            .iter()
            .filter_map(|(place, given)| Some((named(place)?, given.clone())))
            .collect();
        chosen.sort_by_key(|(turn, _)| *turn);
        chosen.dedup_by_key(|(turn, _)| *turn);
        let at_once = chosen.len() == flight.len()
            && chosen.iter().all(|(turn, _)| self.recorder.just_started(*turn));
        self.pass(wait.max(u64::from(!at_once)));
        chosen.retain(|(turn, _)| self.run.turn(*turn).is_some());
        if chosen.is_empty() {
            return None;
        }
        let step = Step::End(chosen.iter().map(|(turn, it)| (*turn, it.clone().into())).collect());
        let events = self.apply(&step)?;
        for (turn, given) in &chosen {
            self.recorder.ends(*turn, given)?;
        }
        self.hear(&events);
        Some(())
    }

    fn act(&mut self, act: &Do, wait: u64) -> Option<()> {
        self.pass(wait.max(1));
        if self.recorder.acted_now() {
            return None;
        }
        let events = self.apply(&Step::Act(act.clone()))?;
        self.recorder.acts(act);
        let asked = matches!(act, Do::Approve { .. } | Do::Deny { .. } | Do::Continue { .. });
        self.meddled |= !asked;
        self.hear(&events);
        Some(())
    }

    /// Fires the earliest timers, where they are due by then.
    fn fire(&mut self, by: Option<u64>) -> Option<()> {
        let due = timers(&self.run).next()?.0;
        let due = u64::try_from(due).unwrap_or(0).div_ceil(1_000).max(self.recorder.now);
        let late = by.or_else(|| self.limit()).is_some_and(|by| due > by);
        if late || *self.run.phase() != Phase::Running || step::is_cut(&self.run, MANNER) {
            return None;
        }
        self.recorder.now = due;
        let events = self.apply(&Step::Fire)?;
        self.hear(&events);
        Some(())
    }

    /// Lets time pass. Timers that come due on the way fire; no turn comes to its time limit.
    fn pass(&mut self, wait: u64) {
        let until = self.recorder.now.saturating_add(wait);
        let until = self.limit().map_or(until, |limit| until.min(limit)).max(self.recorder.now);
        for _ in 0..CHOICES_MAX {
            if self.fire(Some(until)).is_none() {
                break;
            }
        }
        let next = timers(&self.run).next().map(|(at, ..)| u64::try_from(at).unwrap_or(0) / 1_000);
        // A tick too many is not waited for.
        let until = next.map_or(until, |next| until.min(next.saturating_sub(1)));
        self.recorder.now = until.max(self.recorder.now);
    }

    /// The instant by which a turn in flight must have ended.
    fn limit(&self) -> Option<u64> {
        let limit = |turn: u64| {
            let (_, node) = self.run.node_of(self.run.turn(turn)?);
            Some(self.recorder.since(turn)?.saturating_add(node.timeout_ms?))
        };
        step::in_flight(&self.run).into_iter().filter_map(limit).min()
    }

    /// Has the kernel take a step; where it refuses, nothing has changed.
    fn apply(&mut self, step: &Step) -> Option<Vec<Event>> {
        let mut next = self.run.clone();
        let at = Micros::try_from(self.recorder.now).ok()?.saturating_mul(1_000);
        let taken = catch_unwind(AssertUnwindSafe(|| {
            step::apply_by(self.kernel.take, &mut next, self.plan, step, Some(at))
        }));
        let Ok(events) = taken else {
            self.panics();
            // The step is part of the history, so that its script ends in the panic.
            return Some(Vec::new());
        };
        if events.is_some() {
            self.run = next;
        } else if next != self.run && self.fault.is_none() {
            self.fault = Some("an input that was refused changed the state".to_owned());
        }
        events
    }

    /// Leads the history to its rest with first answers, and writes it down.
    fn finish(mut self) -> History {
        let choices = self.choices.clone();
        for _ in 0..CALM_STEPS_MAX {
            let Some(choice) = self.calm() else { break };
            let before = self.choices.len();
            self.take(choice);
            if self.choices.len() == before {
                break;
            }
        }
        let ended =
            matches!(self.run.phase(), Phase::Completed | Phase::Failed(_) | Phase::Aborted);
        let cut =
            !ended && (!step::in_flight(&self.run).is_empty() || step::is_cut(&self.run, MANNER));
        let mut script = self.recorder.finish(self.plan, cut).0;
        // Every utility is in it, so that no program is started.
        for (id, node) in &self.plan.nodes {
            if matches!(node.behavior, Behavior::Utility { .. }) {
                script.utilities.entry(id.to_string()).or_default();
            }
        }
        History { choices, script, meddled: self.meddled, cut, fault: self.fault }
    }

    /// The choice that leads on most plainly.
    fn calm(&self) -> Option<Choice> {
        if !self.goes_on() {
            return None;
        }
        if let Some(node) = paused(&self.run).next() {
            return Some(Choice(Kind::Act(Do::Continue { node: Some(node.clone()) }, 0)));
        }
        if let Some(turn) = step::in_flight(&self.run).first() {
            let known = self.answers.of(&self.run, self.run.turn(*turn)?, self.plan);
            let first = Given::clone(known.first()?);
            return Some(Choice(Kind::End(vec![(0, first)], 0)));
        }
        if let Some(question) = questions(&self.run).find(|it| !it.denied) {
            return Some(Choice(Kind::Act(Do::approve(question.node.clone()), 0)));
        }
        timers(&self.run).next().map(|_| Choice(Kind::Fire))
    }
}
