//! A plan as a graph: the edges out of a node for each verdict, and the loops around it.

use std::collections::BTreeMap;

use materia_contract::{
    Behavior, Condition, Control, Edge, EdgeId, Node, NodeMode, Parse, Plan, Routing, Trigger,
};
use materia_kernel::{matching, needs_verdict};

use super::poly::{Poly, Symbol};

/// A way out of a node.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    /// Its number among all edges and exits.
    pub(crate) edge: usize,
    /// Where it leads; the end of the run where absent.
    pub(crate) to: Option<usize>,
    pub(crate) bound: Option<u32>,
}

/// Possible results of a completed or failed turn.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// The loop around the node moves to its next item, and then this way leads on.
    Moves(Option<Way>),
    /// A way is taken.
    Takes(Way),
    /// No way is taken, or the run fails.
    Ends,
}

/// How a loop is counted.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    /// How many items it has.
    pub(crate) items: Poly,
    /// One where it has items, else nothing.
    pub(crate) any: Poly,
    /// Whether it is moved by `advance` always (a list is there), sometimes, or never.
    moved: Moved,
    /// The loops around it and itself, outermost first.
    pub(crate) chain: Vec<usize>,
    pub(crate) exits: Vec<Way>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    Always,
    Perhaps,
    Never,
}

/// A plan as a graph.
pub(crate) struct Graph<'a> {
    pub(crate) plan: &'a Plan,
    /// The loops around each node, outermost first.
    pub(crate) loops: Vec<Vec<usize>>,
    /// The possible results of a turn of each node; none where only a person starts it.
    pub(crate) steps: Vec<Vec<Step>>,
    pub(crate) regions: Vec<Region>,
    numbers: BTreeMap<EdgeId, usize>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let names = Names::of(plan);
        let edges = plan.nodes.values().flat_map(|node| node.edges.iter().chain(&node.on_failure));
        let exits = plan.loops.values().flat_map(|region| &region.exits);
        let ids = edges.map(|edge| &edge.id).chain(exits.map(|exit| &exit.edge_id));
        let numbers: BTreeMap<EdgeId, usize> =
            ids.enumerate().map(|(number, id)| (id.clone(), number)).collect();
        let at = |name: &String| plan.loops.get_index_of(name);
        let loops: Vec<Vec<usize>> =
            plan.nodes.values().map(|node| node.loops.iter().filter_map(at).collect()).collect();
        let mut regions: Vec<Region> = plan
            .loops
            .values()
            .map(|region| {
                let exits = region.exits.iter().map(|exit| Way {
                    edge: numbers[&exit.edge_id],
                    to: exit.to.as_ref().and_then(|to| plan.nodes.get_index_of(to)),
                    bound: None,
                });
                // The entry of a plan is inside before there can be a list.
                let inside = region.members.contains(&plan.entry);
                let (items, any, moved) = match (&region.consumes, &region.items) {
                    (Some(generator), _) if !inside => {
                        let list = names.items(generator.as_str());
                        let any = Poly::symbol(Symbol::Any(list.clone()));
                        (Poly::symbol(Symbol::Length(list)), any, Moved::Always)
                    }
                    (Some(generator), _) => {
                        let list = names.items(generator.as_str());
                        (Poly::symbol(Symbol::Least(list)), Poly::number(1), Moved::Always)
                    }
                    (None, Some(path)) => {
                        let list = format!("|{path}|");
                        (Poly::symbol(Symbol::Least(list)), Poly::number(1), Moved::Perhaps)
                    }
                    (None, None) => (Poly::number(1), Poly::number(1), Moved::Never),
                };
                Region { items, any, moved, chain: Vec::new(), exits: exits.collect() }
            })
            .collect();
        for around in &loops {
            for (depth, region) in around.iter().enumerate() {
                regions[*region].chain = around[..=depth].to_vec();
            }
        }
        let mut graph = Self { plan, loops, steps: Vec::new(), regions, numbers };
        let steps = (0..plan.nodes.len()).map(|index| graph.steps_of(index));
        graph.steps = steps.collect();
        graph
    }

    fn way(&self, edge: &Edge) -> Way {
        let to = edge.to.as_ref().and_then(|to| self.plan.nodes.get_index_of(to));
        Way { edge: self.numbers[&edge.id], to, bound: edge.max_traversals }
    }

    /// The possible results of a turn of a node that takes the first matching edge. A `where` may hold or not.
    fn steps_of(&self, index: usize) -> Vec<Step> {
        let node = &self.plan.nodes[index];
        if !starts_by_itself(node) {
            return Vec::new();
        }
        let mut steps = Vec::new();
        let moved = match (node.advance, self.loops[index].last()) {
            (Some(_), Some(region)) => self.regions[*region].moved,
            (_, _) => Moved::Never,
        };
        for verdict in verdicts(node) {
            let ways = self.first_ways(node, verdict);
            let advances =
                moved != Moved::Never && node.advance.is_some_and(|when| matching(when, verdict));
            for way in &ways {
                if advances {
                    steps.push(Step::Moves(way.clone()));
                }
                if !advances || moved == Moved::Perhaps {
                    steps.push(way.clone().map_or(Step::Ends, Step::Takes));
                }
            }
        }
        match &node.on_failure {
            Some(edge) => steps.push(Step::Takes(self.way(edge))),
            None => steps.push(Step::Ends),
        }
        steps
    }

    /// The edges of which the first that matches a verdict can be; none is one of the possibilities, unless an edge
    /// always matches.
    fn first_ways(&self, node: &Node, verdict: Option<bool>) -> Vec<Option<Way>> {
        let mut ways = Vec::new();
        for edge in node.edges.iter().filter(|edge| matching(edge.when, verdict)) {
            ways.push(Some(self.way(edge)));
            if edge.guard.is_none() {
                return ways;
            }
        }
        ways.push(None);
        ways
    }

    /// All ways out of a node, whatever its verdict is.
    pub(crate) fn ways(&self, index: usize) -> impl Iterator<Item = Way> {
        let node = &self.plan.nodes[index];
        let runs = starts_by_itself(node);
        node.edges.iter().chain(&node.on_failure).filter(move |_| runs).map(|edge| self.way(edge))
    }

    /// The ways that lead out of a loop, by an edge of a member or by an exit of it or of a loop in it.
    pub(crate) fn ways_out(&self, region: usize) -> Vec<Way> {
        let inside = |index: usize| self.loops[index].contains(&region);
        let members = (0..self.plan.nodes.len()).filter(|index| inside(*index));
        let edges = members.flat_map(|index| self.ways(index));
        let edges = edges.filter(|way| way.to.is_none_or(|to| !inside(to)));
        let exits = self.regions.iter().enumerate().filter(|(_, of)| of.chain.contains(&region));
        let exits = exits.flat_map(|(index, of)| {
            let own = index == region;
            of.exits.iter().filter(move |way| own || way.to.is_none_or(|to| !inside(to)))
        });
        edges.chain(exits.cloned()).collect()
    }

    /// How many turns a node has each time it is entered: one, or one for each element of its list.
    pub(crate) fn turns_each(&self, index: usize) -> Poly {
        let node = &self.plan.nodes[index];
        match &node.foreach {
            None => Poly::number(1),
            // Who refuses it has the runtime answer once.
            Some(foreach) if node.approval.is_some() => {
                Poly::symbol(Symbol::Least(format!("|{}|", foreach.items)))
            }
            Some(foreach) => Poly::symbol(Symbol::Length(format!("|{}|", foreach.items))),
        }
    }

    /// How many attempts a turn of a node can have: each repair, each retry, and one for a lost session.
    pub(crate) fn attempts(&self, index: usize) -> u64 {
        let node = &self.plan.nodes[index];
        let limits = self.plan.limits;
        match node.behavior {
            Behavior::Agent { .. } => {
                2 + u64::from(limits.max_repairs) + u64::from(limits.max_retries)
            }
            Behavior::Utility { .. } => {
                1 + node.retries.map_or(0, |retries| u64::from(retries.max))
            }
        }
    }

    pub(crate) fn budget(&self, index: usize) -> Option<u64> {
        self.plan.nodes[index].budgets.and_then(|budgets| budgets.turns)
    }

    pub(crate) fn takes_all(&self, index: usize) -> bool {
        self.plan.nodes[index].routing == Routing::All
    }

    /// The nodes that start by ticks.
    pub(crate) fn scheduled(&self) -> impl Iterator<Item = usize> {
        let nodes = self.plan.nodes.values().enumerate();
        let ticks = |node: &Node| {
            node.trigger == Trigger::Scheduled
                && starts_by_itself(node)
                && (node.interval_ms.is_some() || node.cron.is_some())
        };
        nodes.filter(move |(_, node)| ticks(node)).map(|(index, _)| index)
    }
}

/// Whether the scheduler starts it without a person (D17).
pub(crate) fn starts_by_itself(node: &Node) -> bool {
    let auto = match node.control {
        Some(Control::Manual) => false,
        Some(Control::Automatic) => true,
        None => node.mode == NodeMode::Auto,
    };
    auto && node.trigger != Trigger::ManualOnly
}

/// The possible verdicts of a turn of a node.
fn verdicts(node: &Node) -> Vec<Option<bool>> {
    let mut verdicts = match (node.verdict, node.parse) {
        (Some(_), _) => vec![Some(true), Some(false)],
        (None, Parse::Text) => vec![None],
        (None, Parse::Json) if needs_verdict(node) => vec![Some(true), Some(false)],
        (None, Parse::Json) => vec![Some(true), Some(false), None],
    };
    // The runtime answers where something is missing (D41) and where a person refuses (D56).
    let refusable = node.approval.is_some()
        && node.edges.iter().any(|edge| edge.when == Condition::NotSatisfied);
    if (refusable || !node.requires.is_empty()) && !verdicts.contains(&Some(false)) {
        verdicts.push(Some(false));
    }
    verdicts
}

/// The names of lists in formulas: a generator by its materia, where no other node has it.
struct Names(BTreeMap<String, String>);

impl Names {
    fn of(plan: &Plan) -> Self {
        let alone = |materia: &str| {
            plan.nodes.values().filter(|other| other.materia == materia).count() == 1
        };
        let name = |id: &str, node: &Node| {
            if alone(&node.materia) { node.materia.clone() } else { id.to_owned() }
        };
        Self(
            plan.nodes.iter().map(|(id, node)| (id.to_string(), name(id.as_str(), node))).collect(),
        )
    }

    fn items(&self, generator: &str) -> String {
        format!("n({})", self.0.get(generator).map_or(generator, String::as_str))
    }
}
