//! Races: two turns in flight whose order decides how the run ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use materia_contract::{CastStatus, NodeId, Plan};
use materia_kernel::Run;

use super::answers::{Answers, Given};
use super::forward::{first_step, key, visits};
use super::step::{self, Manner, Step};

/// The longest history that is led on with first answers.
pub(crate) const STEPS_MAX: usize = 10_000;

/// The most orders that are compared.
const LOOKS_MAX: u64 = 100_000;

/// How a state ends if it is led on with first answers, and which nodes have turns until then.
#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    status: CastStatus,
    variables: Arc<str>,
    visits: BTreeMap<usize, u32>,
}

/// Two turns, and the steps of the order that ends otherwise.
type Found = (NodeId, NodeId, Vec<Step>);

/// Results of the orders that were tried so far.
#[derive(Default)]
pub(crate) struct Races {
    known: HashMap<[u8; 16], Outcome>,
    found: BTreeSet<(NodeId, NodeId)>,
    looks: u64,
    /// The steps from the state of each race to the end of its second order.
    pub(crate) steps: BTreeMap<(NodeId, NodeId), Vec<Step>>,
}

impl Races {
    /// Whether not all orders were compared.
    pub(crate) fn is_cut(&self) -> bool {
        self.looks >= LOOKS_MAX
    }

    /// The races of two turns that are in flight in a state and were not found before.
    pub(crate) fn look(
        &mut self,
        run: &Run,
        plan: &Plan,
        answers: &Answers,
        manner: Manner,
    ) -> Vec<Found> {
        let turns = step::in_flight(run);
        let mut found = Vec::new();
        for (place, one) in turns.iter().enumerate() {
            for other in &turns[place + 1..] {
                let (Some(first), Some(second)) = (run.turn(*one), run.turn(*other)) else {
                    continue;
                };
                let pair = (run.node_of(first).0.clone(), run.node_of(second).0.clone());
                if self.found.contains(&pair) || self.is_cut() {
                    continue;
                }
                let all = (answers.of(run, first, plan), answers.of(run, second, plan));
                let racing = all.0.iter().flat_map(|a| all.1.iter().map(move |b| (a, b))).find_map(
                    |(a, b)| self.differ(run, plan, answers, manner, [(*one, a), (*other, b)]),
                );
                if let Some(steps) = racing {
                    self.found.insert(pair.clone());
                    found.push((pair.0, pair.1, steps));
                }
            }
        }
        found
    }

    /// The steps of the second order, where the two end differently.
    fn differ(
        &mut self,
        run: &Run,
        plan: &Plan,
        answers: &Answers,
        manner: Manner,
        both: [(u64, &Arc<Given>); 2],
    ) -> Option<Vec<Step>> {
        self.looks += 1;
        let order = |pair: [(u64, &Arc<Given>); 2]| {
            pair.map(|(turn, given)| Step::End(vec![(turn, Arc::clone(given))])).to_vec()
        };
        let forward = order(both);
        let backward = order([both[1], both[0]]);
        let ends = [&forward, &backward].map(|steps| self.after(run, plan, answers, manner, steps));
        let [Some(one), Some(other)] = ends else { return None };
        (one != other).then_some(backward)
    }

    /// How a run ends after these steps.
    fn after(
        &mut self,
        run: &Run,
        plan: &Plan,
        answers: &Answers,
        manner: Manner,
        steps: &[Step],
    ) -> Option<Outcome> {
        let mut run = run.clone();
        let mut counted = BTreeMap::new();
        for step in steps {
            // The other turn may have ended with the run, or may not be there any more.
            if let Step::End(ended) = step
                && ended.iter().any(|(turn, _)| run.turn(*turn).is_none())
            {
                break;
            }
            let events = step::apply(&mut run, plan, step, None)?;
            count(&mut counted, &visits(plan, &events));
        }
        let outcome = self.led_on(run, plan, answers, manner)?;
        for (node, more) in &outcome.visits {
            *counted.entry(*node).or_default() += more;
        }
        Some(Outcome { visits: counted, ..outcome })
    }

    /// How a run ends that is led on with first answers in the order in which turns started.
    fn led_on(
        &mut self,
        mut run: Run,
        plan: &Plan,
        answers: &Answers,
        manner: Manner,
    ) -> Option<Outcome> {
        let mut passed: Vec<([u8; 16], Vec<usize>)> = Vec::new();
        let mut outcome = loop {
            let at = key(&run, &[]);
            if let Some(known) = self.known.get(&at) {
                break known.clone();
            }
            if passed.len() > STEPS_MAX {
                return None;
            }
            let Some((_, events)) = first_step(&mut run, plan, answers, manner) else {
                let variables = serde_json::to_string(run.variables()).unwrap_or_default();
                let (status, visits) = (run.phase().status(), BTreeMap::new());
                break Outcome { status, variables: variables.into(), visits };
            };
            passed.push((at, visits(plan, &events)));
        };
        for (at, began) in passed.into_iter().rev() {
            count(&mut outcome.visits, &began);
            self.known.insert(at, outcome.clone());
        }
        Some(outcome)
    }
}

fn count(into: &mut BTreeMap<usize, u32>, nodes: &[usize]) {
    for node in nodes {
        *into.entry(*node).or_default() += 1;
    }
}
