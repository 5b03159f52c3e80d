//! Checks over a thousand simulated runs: explanations match the scheduler, and following a suggestion on a fork
//! makes the node run.

mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use materia_contract::body::Suggested;
use materia_contract::{Do, Event, EventBody, NodeId, Pace, Record, RunId, TurnOutput, WaitReason};
use materia_kernel::{Gate, Input, Phase, Run, TurnOutcome, barred, cut, evolve, step};

use super::attempt::is_alive;
use super::conditions::word;
use super::facts::Subject;
use super::past::Settled;
use super::trail::Trail;
use super::{explain, suggested, why};
use crate::{Batch, Epoch, Journal as _, MemoryJournal, fork, load, replay};
use world::{Dice, History, history, turns};

/// Simulated runs in all, over the tests below.
const RUNS: u64 = 1_000;

/// Events of a run at which every node is asked for a suggestion, beside the last one.
const ASKED_AT: u64 = 4;

/// Inputs of a simulated run.
const MOVES: u64 = 14;

/// A simulated run, folded event by event.
struct Simulated {
    seed: u64,
    events: Vec<Event>,
    records: Vec<Record>,
    /// The last event of each decision.
    ends: BTreeSet<u64>,
    /// The state behind each event.
    states: Vec<Run>,
    /// The state of a fork at each event.
    settled: Vec<Settled>,
}

impl Simulated {
    fn of(seed: u64) -> Self {
        let History { events, records, decisions, ends } = history(seed, MOVES);
        let mut run = Run::new(RunId::new("simulated"));
        let mut states = Vec::new();
        for event in &events {
            evolve(&mut run, event);
            states.push(run.clone());
        }
        // The state of a fork at each event: a decision that the fork cuts starts no more turns.
        let mut settled = Vec::new();
        let mut alive: Vec<u64> = Vec::new();
        let mut before = Run::new(RunId::new("simulated"));
        for (decided, events) in &decisions {
            let (first, end) = (events[0].seq, events.last().unwrap().seq);
            let after = &states[usize::try_from(end).unwrap() - 1];
            let back = if is_alive(after) { end } else { end - 1 };
            for at in first..=end {
                let mut run = before.clone();
                if at < end {
                    cut(&mut run, decided, events, at).unwrap();
                } else {
                    run = after.clone();
                }
                let places = alive
                    .iter()
                    .chain([&back].into_iter().filter(|it| **it <= at && **it >= first));
                let newest: Vec<u64> = places.copied().rev().take(24).collect();
                settled.push(Settled { run, alive: newest });
            }
            alive.extend([back].into_iter().filter(|it| *it >= first));
            before = after.clone();
        }
        Self { seed, events, records, ends, states, settled }
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.states[0].created().unwrap().plan.nodes.keys().cloned().collect()
    }

    fn state(&self, seq: u64) -> &Run {
        &self.states[usize::try_from(seq).unwrap() - 1]
    }

    fn settled(&self, seq: u64) -> &Settled {
        &self.settled[usize::try_from(seq).unwrap() - 1]
    }

    /// The run as text, to debug a failure: `MATERIA_WHY_SEED=N` runs one seed alone.
    fn told(&self, name: &NodeId) -> String {
        let node = &self.states[0].created().unwrap().plan.nodes[name];
        let lines = self.events.iter().map(|event| {
            let at = event.node.as_ref().map_or("", NodeId::as_str);
            let data: String = event.body.data_json().chars().take(140).collect();
            format!("{:>3} {} {at} {data}", event.seq, event.body.type_name())
        });
        format!("\n{node:?}\n{}", lines.collect::<Vec<_>>().join("\n"))
    }

    /// The suggestion at an event, for a journal that ends at `last`.
    fn suggested(&self, at: u64, last: u64, index: usize, name: &NodeId) -> Option<Vec<Suggested>> {
        let settled = || Ok(Some(self.settled(at).clone()));
        let states_at = |at: &[u64]| {
            let states = at.iter().map(|at| (*at, self.settled(*at).run.clone()));
            Ok(states.filter(|(_, run)| is_alive(run)).collect())
        };
        suggested(self.state(at), last, (index, name), settled, states_at).unwrap()
    }

    /// Does what is suggested at an event on a fork; says whether the node has started.
    fn done(&self, at: u64, steps: &[Suggested], node: &NodeId) -> bool {
        let (at, interactive, steps) = match steps {
            [Suggested::Fork { at, interactive }, rest @ ..] => (*at, *interactive, rest),
            all => (at, false, all),
        };
        let base = &self.settled(at).run;
        let mut fork = Fork { run: base.clone(), node: node.clone(), started: false };
        if *base.phase() == Phase::Running {
            let pace = if interactive { Pace::Interactive } else { base.pace() };
            fork.take(Input::resume(Some(pace)));
        }
        for step in steps {
            if fork.started {
                break;
            }
            fork.follow(step);
        }
        fork.started
    }
}

/// A run to which the suggested steps are done, in the words of the kernel.
struct Fork {
    run: Run,
    node: NodeId,
    started: bool,
}

impl Fork {
    fn take(&mut self, input: Input) {
        let now = self.run.ts() + 1_000;
        let events = step(&mut self.run, now, input).unwrap_or_default();
        let started = |event: &Event| {
            matches!(event.body, EventBody::TurnStarted(_)) && event.node == Some(self.node.clone())
        };
        self.started |= events.iter().any(started);
    }

    /// A budget is raised; a run that waited for that goes on.
    fn raise(&mut self, input: Input) {
        let waited =
            matches!(self.run.phase(), Phase::Waiting(it) if it.reason == WaitReason::Budget);
        self.take(input);
        if waited {
            self.take(Input::resume(Some(self.run.pace())));
        }
    }

    fn follow(&mut self, doing: &Suggested) {
        let what = match doing {
            Suggested::Fork { .. } => panic!("a fork comes first"),
            Suggested::Wait { node, .. } => return self.end_turn_of(node),
            Suggested::Do(what) => what.clone(),
        };
        if matches!(what, Do::Budget { .. } | Do::NodeBudget { .. }) {
            self.raise(Input::act(what));
        } else if matches!(what, Do::Resume { .. }) {
            self.take(Input::resume(Some(Pace::Auto)));
        } else {
            self.take(Input::act(what));
        }
    }

    /// The oldest turn of a node ends, in a way that the run survives.
    fn end_turn_of(&mut self, node: &NodeId) {
        let at = |turn: &u64| self.run.node_of(self.run.turn(*turn).unwrap()).0 == node;
        let Some(turn) = turns(&self.run).into_iter().find(at) else { return };
        for verdict in [true, false] {
            let output = format!(r#"{{"satisfied": {verdict}, "workItems": []}}"#);
            let output = TurnOutput { output, ..TurnOutput::default() };
            let mut after =
                Self { run: self.run.clone(), node: self.node.clone(), started: self.started };
            after.take(Input::report(turn, TurnOutcome::Ended(output)));
            if after.started || is_alive(&after.run) {
                *self = after;
                return;
            }
        }
    }
}

/// Whether nothing can start a turn of a node: its list is not there, or empty.
fn cannot_run(run: &Run, index: usize) -> bool {
    let foreach = run.created().unwrap().plan.nodes[index].foreach.is_some();
    let list = run.variables().get("list").and_then(|list| list.as_array());
    foreach && list.is_none_or(Vec::is_empty)
}

/// At every event, for every node: what is said is what the scheduler holds.
fn agrees(simulated: &Simulated) -> usize {
    let mut trail = Trail::default();
    let mut asked = 0;
    for (event, run) in simulated.events.iter().zip(&simulated.states) {
        trail.note(event);
        let plan = &run.created().unwrap().plan;
        for (index, name) in plan.nodes.keys().enumerate() {
            let why = explain(Subject { run, plan, trail: &trail, index, name });
            let place = || format!("seed {}, event {}, {name}", simulated.seed, event.seq);
            assert_eq!(why.runnable, barred(run, index).is_none(), "{}", place());
            assert_eq!(why.conditions.len(), Gate::ALL.len());
            for (gate, condition) in Gate::ALL.into_iter().zip(&why.conditions) {
                assert_eq!(condition.name, word(gate));
                assert_eq!(condition.holds, gate.holds(run, index), "{} {gate:?}", place());
                assert!(condition.events.iter().all(|seq| *seq <= event.seq), "{}", place());
            }
            assert_eq!(why.runnable, why.conditions.iter().all(|it| it.holds), "{}", place());
            assert_eq!(why.ran, run_has_started(&simulated.events, event.seq, name), "{}", place());
            asked += 1;
        }
    }
    asked
}

fn run_has_started(events: &[Event], upto: u64, node: &NodeId) -> bool {
    events.iter().take_while(|event| event.seq <= upto).any(|event| {
        matches!(event.body, EventBody::TurnStarted(_)) && event.node.as_ref() == Some(node)
    })
}

/// The scheduler leaves no node unstarted that would be called runnable.
fn nobody_is_left(simulated: &Simulated, seq: u64) {
    let run = simulated.state(seq);
    let left = (0..simulated.nodes().len()).find(|index| barred(run, *index).is_none());
    assert_eq!(left, None, "seed {}: runnable behind the decision at {seq}", simulated.seed);
}

/// At some events, for every node: doing what is suggested makes it run.
fn suggests(simulated: &Simulated, kinds: &mut BTreeMap<String, u64>) -> usize {
    let last = simulated.events.len() as u64;
    let mut dice = Dice::new(simulated.seed ^ 0xfeed);
    let mut asked: Vec<u64> = (0..ASKED_AT).map(|_| 1 + dice.below(last)).collect();
    asked.push(last);
    let mut count = 0;
    for at in asked {
        // The journal may end where a decision does; anywhere else it goes on.
        let between = simulated.ends.contains(&at);
        if between {
            nobody_is_left(simulated, at);
        }
        for (index, name) in simulated.nodes().iter().enumerate() {
            for last in if between { vec![last, at] } else { vec![last] } {
                let steps = simulated.suggested(at, last, index, name);
                let place = format!("seed {}, event {at} of {last}, {name}", simulated.seed);
                let Some(steps) = steps else {
                    let Settled { run, alive } = simulated.settled(at);
                    // A run that is over leaves nowhere to go back to where the node could not have
                    // run before its end either.
                    let nowhere = |at: &u64| {
                        let there = &simulated.settled(*at).run;
                        !is_alive(there) || cannot_run(there, index)
                    };
                    let over = !is_alive(run) && alive.iter().all(nowhere);
                    let told = || simulated.told(name);
                    assert!(over || cannot_run(run, index), "{place}: nothing{}", told());
                    continue;
                };
                *kinds.entry(kind(&steps)).or_default() += 1;
                let told = || simulated.told(name);
                assert!(simulated.done(at, &steps, name), "{place}: {steps:?}{}", told());
                count += 1;
            }
        }
    }
    count
}

fn kind(steps: &[Suggested]) -> String {
    let words = steps.iter().map(|step| {
        let value = serde_json::to_value(step).unwrap();
        value["do"].as_str().unwrap().to_owned()
    });
    words.collect::<Vec<_>>().join(" ")
}

fn check(seeds: impl Iterator<Item = u64>) {
    let only = std::env::var("MATERIA_WHY_SEED").ok();
    let (mut asked, mut done, mut kinds) = (0, 0, BTreeMap::new());
    for seed in seeds {
        if only.as_ref().is_some_and(|only| *only != seed.to_string()) {
            continue;
        }
        let simulated = Simulated::of(seed);
        asked += agrees(&simulated);
        done += suggests(&simulated, &mut kinds);
    }
    let told = format!("{asked} explanations, {done} suggestions followed: {kinds:?}");
    assert!(only.is_some() || asked > 0 && done > 0, "{told}");
    assert!(std::env::var_os("MATERIA_WHY_TELL").is_none(), "{told}");
}

#[test]
fn why_agrees_with_the_scheduler_and_its_suggestions_work_1() {
    check((0..RUNS).filter(|seed| seed % 2 == 0));
}

#[test]
fn why_agrees_with_the_scheduler_and_its_suggestions_work_2() {
    check((0..RUNS).filter(|seed| seed % 2 == 1));
}

/// The explanations from a journal, and real forks, agree with the simulated ones that the checks above use.
#[tokio::test]
async fn a_journal_gives_the_same_answers_and_forks() {
    for seed in 0..25 {
        let simulated = Simulated::of(seed);
        let id = RunId::new("simulated");
        let journal = MemoryJournal::default();
        let records = simulated.records.clone().into();
        let batch = Batch {
            run: id.clone(),
            epoch: Epoch::default(),
            after: 0,
            records,
            receipt: None,
            verdict: None,
        };
        journal.append(batch).await.unwrap();
        replay(&journal, &id, None).unwrap();
        let last = simulated.events.len() as u64;
        for at in [1, 1 + last / 2, last] {
            let copy = RunId::new(format!("fork-{at}"));
            fork(Arc::new(journal.clone()), &id, at, &copy, Epoch::default()).await.unwrap();
            replay(&journal, &copy, None).unwrap();
            let forked = load(&journal, &copy).unwrap().0;
            assert_eq!(forked.seq(), simulated.settled(at).run.seq(), "seed {seed} at {at}");
            assert_eq!(forked.phase(), simulated.settled(at).run.phase());
            for (index, name) in simulated.nodes().iter().enumerate() {
                let why = why(&journal, &id, name.as_str(), Some(at)).unwrap();
                let steps = why.suggestion.map(|said| said.steps);
                let steps = steps.map(|all| all.into_iter().map(|step| step.what).collect());
                assert_eq!(
                    steps,
                    simulated.suggested(at, last, index, name),
                    "seed {seed} at {at}"
                );
            }
        }
    }
}
