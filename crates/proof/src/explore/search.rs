//! Breadth-first search over states, merged by their canonical form. The first history to a state is a shortest one.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use materia_contract::script::Script;
use materia_contract::{EdgeId, Event, EventBody, NodeId, Path, Plan, Root, Test};
use materia_kernel::{Phase, Run, loops};
use serde_json::{Map, Value};

use super::answers::Answers;
use super::forward::{first_step, key, visits};
use super::history;
use super::property::Property;
use super::race::Races;
use super::step::{self, Manner, Step};

/// Options and limits of an exploration.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Debug, Clone)]
pub struct Options {
    /// The lengths of lists.
    pub items: Vec<usize>,
    /// Answers that replace those of the sockets it names; each list means any of these.
    pub answers: Option<Script>,
    /// The most states.
    pub max_states: usize,
    /// The longest time.
    pub time: Option<Duration>,
    /// Whether all turns in flight may also end at once.
    pub together: bool,
    /// How often a scheduled socket ticks.
    pub ticks: u32,
    /// The properties to prove.
    pub properties: Vec<Property>,
    /// Whether states that go on alike are looked at once.
    pub merge: bool,
    /// The most steps of a history.
    pub depth: Option<u32>,
    /// Whether orders of two turns are compared.
    pub races: bool,
    /// Whether the steps between states are kept.
    pub keep_steps: bool,
    /// Becomes true when nobody wants the result any more.
    pub cancelled: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            items: vec![0, 1, 2],
            answers: None,
            max_states: 1_000_000,
            time: None,
            together: false,
            ticks: 2,
            properties: Vec::new(),
            merge: true,
            depth: None,
            races: true,
            keep_steps: false,
            cancelled: Arc::default(),
        }
    }
}

/// Kinds of findings, with their subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A history ends so: failed, or waiting.
    Ends(String),
    /// A payload of an edge is dropped.
    Drops(EdgeId),
    /// A loop is left with items while the run completes.
    ItemsLeft(String),
    /// A variable is read before anything has set it.
    Unset(String, NodeId),
    /// Two turns lead to different results in different orders.
    Race(NodeId, NodeId),
    /// A property does not hold.
    Refutes(usize),
}

/// A state that was found.
struct Entry {
    parent: u32,
    step: Option<Step>,
    depth: u32,
}

/// A place in the search: a state, and a step that leads on from there.
#[derive(Clone)]
pub(crate) struct Place {
    state: u32,
    step: Option<Step>,
    cut: bool,
}

/// A step between two states, with the nodes at which turns began.
#[derive(Debug, Clone)]
pub struct Link {
    /// From.
    pub from: u32,
    /// To.
    pub to: u32,
    /// Where first attempts began.
    pub visits: Vec<usize>,
}

/// A search through the histories of a plan.
pub(crate) struct Search<'a> {
    pub(crate) plan: &'a Plan,
    options: &'a Options,
    answers: Answers,
    manner: Manner,
    entries: Vec<Entry>,
    known: HashMap<[u8; 16], u32>,
    queue: VecDeque<(u32, Run, Vec<u32>)>,
    pub(crate) found: BTreeMap<Kind, Place>,
    /// Ends, with how many states stand for each.
    pub(crate) ends: BTreeMap<String, u64>,
    pub(crate) sockets: BTreeSet<NodeId>,
    pub(crate) edges: BTreeSet<EdgeId>,
    pub(crate) stopped: Option<String>,
    pub(crate) races: Races,
    pub(crate) links: Vec<Link>,
    /// Visits where the first histories begin.
    pub(crate) first: Vec<usize>,
    pub(crate) cut: u64,
}

impl<'a> Search<'a> {
    pub(crate) fn new(plan: &'a Plan, options: &'a Options) -> Self {
        Self {
            plan,
            options,
            answers: Answers::new(plan, &options.items, options.answers.as_ref()),
            manner: Manner { together: options.together, ticks: options.ticks },
            entries: Vec::new(),
            known: HashMap::new(),
            queue: VecDeque::new(),
            found: BTreeMap::new(),
            ends: BTreeMap::new(),
            sockets: BTreeSet::new(),
            edges: BTreeSet::new(),
            stopped: None,
            races: Races::default(),
            links: Vec::new(),
            first: Vec::new(),
            cut: 0,
        }
    }

    pub(crate) fn states(&self) -> usize {
        self.entries.len()
    }

    /// Looks at every state there is, or at as many as may be.
    pub(crate) fn run(&mut self, mut progress: impl FnMut(usize, usize)) {
        let began = Instant::now();
        let Some((run, events)) = step::begin(self.plan) else {
            self.stopped = Some("the kernel does not take this plan".to_owned());
            return;
        };
        self.first = visits(self.plan, &events);
        let place = Place { state: 0, step: None, cut: false };
        let kept = vec![0; self.options.properties.len()];
        let kept = self.observe(&place, &kept, &events, &run);
        self.add(Entry { parent: 0, step: None, depth: 0 }, run, kept);
        while let Some((state, run, kept)) = self.queue.pop_front() {
            if state % 64 == 0 {
                progress(self.entries.len(), self.queue.len());
                if self.options.time.is_some_and(|most| began.elapsed() > most) {
                    self.stopped = Some("the time was over".to_owned());
                    return;
                }
                if self.options.cancelled.load(Ordering::Relaxed) {
                    self.stopped = Some("it was cancelled".to_owned());
                    return;
                }
            }
            self.expand(state, &run, &kept);
            if self.entries.len() > self.options.max_states {
                self.stopped =
                    Some(format!("there are more than {} states", self.options.max_states));
                return;
            }
        }
    }

    fn expand(&mut self, state: u32, run: &Run, kept: &[u32]) {
        let steps = step::steps(run, self.plan, &self.answers, self.manner);
        if self.options.races {
            self.race(state, run);
        }
        let mut went_on = false;
        let depth = self.entries[state as usize].depth + 1;
        let deep = self.options.depth.is_some_and(|most| depth > most);
        for step in steps {
            if deep {
                return;
            }
            let mut next = run.clone();
            let Some(events) = step::apply(&mut next, self.plan, &step, None) else { continue };
            went_on = true;
            let place = Place { state, step: Some(step.clone()), cut: false };
            let kept = self.observe(&place, kept, &events, &next);
            let to = self.add(Entry { parent: state, step: Some(step), depth }, next, kept);
            if self.options.keep_steps {
                let visits = visits(self.plan, &events);
                self.links.push(Link { from: state, to, visits });
            }
        }
        if !went_on {
            self.end(state, run);
        }
    }

    /// Notes a state; says its number.
    fn add(&mut self, entry: Entry, run: Run, kept: Vec<u32>) -> u32 {
        let number = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        if self.options.merge {
            let key = key(&run, &kept);
            if let Some(known) = self.known.get(&key) {
                return *known;
            }
            self.known.insert(key, number);
        }
        self.entries.push(entry);
        self.queue.push_back((number, run, kept));
        number
    }

    fn end(&mut self, state: u32, run: &Run) {
        let cut = step::is_cut(run, self.manner);
        let place = Place { state, step: None, cut };
        if cut {
            self.cut += 1;
            *self.ends.entry("still ticking".to_owned()).or_default() += 1;
            return;
        }
        let status = history::status(run);
        *self.ends.entry(status.clone()).or_default() += 1;
        let completed = *run.phase() == Phase::Completed;
        if !completed {
            self.note(Kind::Ends(status), &place);
            let refuted = self.options.properties.iter().position(|it| *it == Property::Completes);
            if let Some(property) = refuted {
                self.note(Kind::Refutes(property), &place);
            }
            return;
        }
        for standing in loops(run) {
            if (standing.index as usize) < standing.items.len() {
                self.note(Kind::ItemsLeft(standing.id.to_owned()), &place);
            }
        }
    }

    fn note(&mut self, kind: Kind, place: &Place) {
        self.found.entry(kind).or_insert_with(|| place.clone());
    }

    /// Takes notice of what happened in a step; says what the properties remember of it.
    fn observe(&mut self, place: &Place, kept: &[u32], events: &[Event], run: &Run) -> Vec<u32> {
        for event in events {
            match (&event.body, &event.node) {
                (EventBody::TurnStarted(_), Some(node)) => {
                    self.sockets.insert(node.clone());
                    self.reads(place, node, run);
                }
                (EventBody::TurnCompleted(_), Some(node)) => self.compares(place, node, run),
                (EventBody::RouteSelected(data), _) => self.edges.extend(data.edge_id.clone()),
                (EventBody::PayloadDropped(data), _) => {
                    self.note(Kind::Drops(data.edge_id.clone()), place);
                }
                (_, _) => {}
            }
        }
        let properties = self.options.properties.iter().zip(kept).enumerate();
        let after = properties.map(|(number, (property, kept))| {
            // Where a property is broken, that is found once; its watch begins anew.
            (number, property.after(*kept, events, run))
        });
        let after: Vec<(usize, Option<u32>)> = after.collect();
        for (number, _) in after.iter().filter(|(_, kept)| kept.is_none()) {
            self.note(Kind::Refutes(*number), place);
        }
        after.into_iter().map(|(_, kept)| kept.unwrap_or(0)).collect()
    }

    /// Checks the variables that a turn reads when it starts.
    fn reads(&mut self, place: &Place, node: &NodeId, run: &Run) {
        let plan = &self.plan.nodes[node];
        let paths: Vec<&Path> = plan.requires.iter().chain(&plan.reads).collect();
        for path in paths {
            self.read(place, node, path, run.variables());
        }
    }

    /// Checks the variables that the guards of a node read.
    fn compares(&mut self, place: &Place, node: &NodeId, run: &Run) {
        let guards = self.plan.nodes[node].edges.iter().filter_map(|edge| edge.guard.as_ref());
        let guards = guards.filter(|guard| !matches!(guard.test, Test::Exists(_)));
        for guard in guards {
            self.read(place, node, &guard.path, run.variables());
        }
    }

    fn read(&mut self, place: &Place, node: &NodeId, path: &Path, variables: &Map<String, Value>) {
        let Some((first, _)) = path.steps.split_first() else { return };
        if path.root == Root::State && !variables.contains_key(first) {
            self.note(Kind::Unset(path.to_string(), node.clone()), place);
        }
    }

    /// The steps to a place.
    pub(crate) fn history(&self, place: &Place) -> Vec<Step> {
        let mut steps: Vec<Step> = place.step.iter().cloned().collect();
        let mut state = place.state;
        while let Some(step) = &self.entries[state as usize].step {
            steps.push(step.clone());
            state = self.entries[state as usize].parent;
        }
        steps.reverse();
        steps
    }

    /// The history to a place, led on with first answers until it ends.
    pub(crate) fn whole(&self, place: &Place, more: Vec<Step>) -> (Vec<Step>, bool) {
        let mut steps = self.history(place);
        steps.extend(more);
        if place.cut {
            return (steps, true);
        }
        let Some((mut run, _)) = step::begin(self.plan) else { return (steps, false) };
        let mut taken = 0;
        for step in &steps {
            if step::apply(&mut run, self.plan, step, None).is_none() {
                break;
            }
            taken += 1;
        }
        // A run may end before all of it has happened.
        steps.truncate(taken);
        while let Some((step, _)) = first_step(&mut run, self.plan, &self.answers, self.manner) {
            steps.push(step);
            if steps.len() > super::race::STEPS_MAX {
                break;
            }
        }
        (steps, step::is_cut(&run, self.manner))
    }

    fn race(&mut self, state: u32, run: &Run) {
        let found = self.races.look(run, self.plan, &self.answers, self.manner);
        for (one, other, steps) in found {
            // The later of the two orders is reported; the first is the usual one.
            let place = Place { state, step: None, cut: false };
            self.races.steps.insert((one.clone(), other.clone()), steps);
            self.note(Kind::Race(one, other), &place);
        }
    }
}
