//! The most turns of a plan, by the rules that bound every run: `maxTraversals` (D21), cycles without progress (D22),
//! cycles of dataflow (D23), lists and budgets (D24). Acts of people and crashes are not counted.

mod exact;
mod flow;
mod graph;
mod level;
mod poly;
mod steps;

use std::collections::BTreeSet;

use materia_contract::body::{BoundOf, BoundsBody, CastBound, NoBound, SocketBound};
use materia_contract::{NodeId, Plan};

pub use exact::longest;
pub use poly::{Poly, Symbol};

use flow::Flow;
use graph::Graph;
use steps::Steps;

/// A bound of something that a run does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Most {
    /// It is at most this.
    Known(Poly),
    /// There is a bound, but none of a useful form.
    Huge,
    /// There is none.
    None,
}

impl Most {
    /// The number, where all lists have so many items.
    pub fn value(&self, items: u64) -> Option<u64> {
        match self {
            Self::Known(poly) => Some(poly.value(items)),
            Self::Huge | Self::None => None,
        }
    }

    fn body(&self, items: Option<u64>) -> BoundOf {
        let Self::Known(poly) = self else { return BoundOf::default() };
        let most = items.map(|items| poly.value(items)).or(poly.constant());
        BoundOf { formula: Some(poly.to_string()), most }
    }

    fn times(&self, factor: u64) -> Self {
        match self {
            Self::Known(poly) => Self::Known(poly.by(factor)),
            Self::Huge | Self::None => self.clone(),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Huge, _) | (_, Self::Huge) => Self::Huge,
            (Self::Known(one), Self::Known(other)) => Self::Known(one.plus(other)),
        }
    }

    fn at_most(&self, number: Option<u64>) -> Self {
        match (self, number.map(Poly::number)) {
            (_, None) => self.clone(),
            (Self::Known(poly), Some(number)) => Self::Known(poly.smaller(&number).clone()),
            (Self::Huge | Self::None, Some(number)) => Self::Known(number),
        }
    }
}

/// The bounds of a plan.
#[derive(Debug, Clone)]
pub struct Bounds<'a> {
    plan: &'a Plan,
    /// The visits of each node, in the order of the plan.
    pub visits: Vec<Most>,
    /// How many attempts a turn of each can have.
    pub attempts: Vec<u64>,
    by_default: BTreeSet<usize>,
    /// Scheduled nodes that nothing bounds.
    pub unbounded: Vec<NodeId>,
}

impl<'a> Bounds<'a> {
    /// The bounds of a plan.
    pub fn of(plan: &'a Plan) -> Self {
        let graph = Graph::new(plan);
        let count = plan.nodes.len();
        let free: Vec<usize> = graph
            .scheduled()
            .filter(|node| graph.budget(*node).is_none() && plan.budget.max_turns.is_none())
            .collect();
        let unbounded = free.iter().filter_map(|node| plan.nodes.get_index(*node));
        let unbounded = unbounded.map(|(id, _)| id.clone()).collect();
        let (entered, by_default) = entered(&graph);
        let endless = behind(&graph, &free);
        let visits = (0..count).map(|node| {
            let most = match &entered[node] {
                _ if endless.contains(&node) => Most::None,
                Some(entered) => Most::Known(entered.times(&graph.turns_each(node))),
                None => Most::Huge,
            };
            most.at_most(graph.budget(node)).at_most(plan.budget.max_turns)
        });
        let (visits, attempts) = (visits.collect(), (0..count).map(|node| graph.attempts(node)));
        Self { plan, visits, attempts: attempts.collect(), by_default, unbounded }
    }

    /// Whether every node has a bound.
    pub fn is_bounded(&self) -> bool {
        self.unbounded.is_empty()
    }

    /// The visits of all nodes together.
    pub fn cast_visits(&self) -> Most {
        let sum = self.visits.iter().fold(Most::Known(Poly::default()), |sum, one| sum.plus(one));
        sum.at_most(self.plan.budget.max_turns)
    }

    /// The turns of all nodes together, attempts included.
    pub fn cast_turns(&self) -> Most {
        let turns = self.visits.iter().zip(&self.attempts);
        let sum = turns.fold(Most::Known(Poly::default()), |sum, (visits, attempts)| {
            sum.plus(&visits.times(*attempts))
        });
        sum.at_most(self.plan.budget.max_turns)
    }

    /// The visits of each node and of all together where all lists have so many items. Where one piece of work goes
    /// from node to node, all together are less than the sum: not every node can have its most in the same run.
    pub fn numbers(&self, items: u64) -> (Vec<Option<u64>>, Option<u64>) {
        let each: Vec<Option<u64>> = self.visits.iter().map(|most| most.value(items)).collect();
        let all = self.cast_visits_with(items);
        let Some((visits, total)) = exact::exact(self.plan, items) else { return (each, all) };
        let least = |one: Option<u64>, other: u64| Some(one.map_or(other, |one| one.min(other)));
        let each = each.into_iter().zip(visits).map(|(one, other)| least(one, other));
        (each.collect(), least(all, total))
    }

    fn cast_visits_with(&self, items: u64) -> Option<u64> {
        let graph = Graph::new(self.plan);
        let sum = self.cast_visits().value(items);
        let alone = (0..self.plan.nodes.len()).all(|node| !graph.takes_all(node))
            && graph.scheduled().next().is_none();
        let entry = self.plan.nodes.get_index_of(&self.plan.entry).filter(|_| alone);
        let Some(entry) = entry else { return sum };
        let within = (0..self.plan.nodes.len()).collect();
        let most_cycles = self.plan.limits.max_no_advance_cycles;
        let turns = Steps { graph: &graph, within: &within, most_cycles }.turns(entry, items);
        Some(sum.map_or(turns, |sum| sum.min(turns)))
    }

    /// The bounds as they are reported. The caller adds costs, which need data of past runs.
    pub fn body(&self, items: Option<u64>) -> BoundsBody {
        let numbers = items.map(|items| self.numbers(items));
        let sockets = self.plan.nodes.iter().enumerate().map(|(index, (id, node))| {
            let attempts = self.attempts[index];
            let turns = self.visits[index].times(attempts).at_most(self.plan.budget.max_turns);
            let (mut visits, mut turns) = (self.visits[index].body(items), turns.body(items));
            if let Some(most) = numbers.as_ref().and_then(|(each, _)| each[index]) {
                visits.most = Some(most);
                let all = most.saturating_mul(attempts);
                turns.most = Some(turns.most.map_or(all, |turns| turns.min(all)));
            }
            SocketBound {
                socket: id.clone(),
                materia: node.materia.clone(),
                visits,
                attempts,
                turns,
                by_default: self.by_default.contains(&index),
                past: None,
                cost: None,
            }
        });
        let mut visits = self.cast_visits().body(items);
        if let Some((_, all)) = &numbers {
            visits.most = *all;
        }
        let sockets: Vec<SocketBound> = sockets.collect();
        let mut turns = self.cast_turns().body(items);
        let sum = sockets.iter().map(|socket| socket.turns.most).sum::<Option<u64>>();
        turns.most = turns.most.zip(sum).map(|(turns, sum)| turns.min(sum)).or(turns.most);
        let cast = CastBound { visits, turns, max_turns: self.plan.budget.max_turns, cost: None };
        let unbounded = self.unbounded.iter().map(|socket| NoBound {
            socket: socket.clone(),
            field: format!("`budgets.turns` of `{socket}`, or `budget.maxTurns`"),
        });
        BoundsBody {
            loadout: self.plan.loadout.clone(),
            items,
            bounded: self.is_bounded(),
            sockets,
            cast,
            unbounded: unbounded.collect(),
        }
    }
}

/// How often each node is entered, and which of these bounds hold by default.
fn entered(graph: &Graph<'_>) -> (Vec<Option<Poly>>, BTreeSet<usize>) {
    let plan = graph.plan;
    let mut sources: Vec<(usize, u64)> = Vec::new();
    // The request waits at a scheduled entry for its first tick.
    let entry = plan.nodes.get_index_of(&plan.entry);
    let entry = entry.filter(|entry| !graph.scheduled().any(|node| node == *entry));
    sources.extend(entry.map(|entry| (entry, 1)));
    // A tick is work that comes by itself, as often as the budget says.
    let ticks = |node| Some((node, graph.budget(node).or(plan.budget.max_turns)?));
    sources.extend(graph.scheduled().filter_map(ticks));
    if (0..plan.nodes.len()).any(|node| graph.takes_all(node)) {
        let flow = Flow::new(graph, &sources);
        return (flow.entered, flow.by_default);
    }
    let within: BTreeSet<usize> = (0..plan.nodes.len()).collect();
    let most_cycles = plan.limits.max_no_advance_cycles;
    let mut all = vec![Poly::default(); plan.nodes.len()];
    let mut by_default = BTreeSet::new();
    for (start, tokens) in sources {
        let counted = Steps { graph, within: &within, most_cycles }.entries(start);
        let without = Steps { graph, within: &within, most_cycles: 0 }.entries(start);
        for (node, each) in counted {
            if without.get(&node) != Some(&each) {
                by_default.insert(node);
            }
            all[node] = all[node].plus(&each.by(tokens));
        }
    }
    (all.into_iter().map(Some).collect(), by_default)
}

/// These nodes and all that they lead to.
fn behind(graph: &Graph<'_>, nodes: &[usize]) -> BTreeSet<usize> {
    let all: BTreeSet<usize> = (0..graph.plan.nodes.len()).collect();
    let links: Vec<Vec<usize>> = (0..graph.plan.nodes.len())
        .map(|node| {
            let exits = graph.loops[node].iter().flat_map(|region| &graph.regions[*region].exits);
            let exits = exits.filter_map(|way| way.to);
            graph.ways(node).filter_map(|way| way.to).chain(exits).collect()
        })
        .collect();
    let mut found: BTreeSet<usize> = nodes.iter().copied().collect();
    for node in nodes {
        found.extend(flow::reach(&links, *node, &all));
    }
    found
}
