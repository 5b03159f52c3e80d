//! Facts that follow from the plan alone, resolved once: indices instead of names.
//!
//! A plan with unknown names is refused here, so that later code need not check again.

use indexmap::IndexMap;
use materia_contract::{
    Behavior, Delivery, DeliveryMode, END, Edge, EdgeId, Exit, FAIL, Node, NodeId, Plan, Routing,
    Trigger,
};

use crate::trail::Coming;

/// The deepest target of an assignment: what is deeper could not be read back as JSON.
const TARGET_STEPS_MAX: usize = 120;

/// A plan with its names resolved.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) plan: Plan,
    pub(crate) entry: usize,
    pub(crate) nodes: Vec<NodeFacts>,
    /// Every edge and every exit of a loop.
    pub(crate) ways: IndexMap<EdgeId, Way>,
    pub(crate) regions: Vec<Region>,
    /// Nodes that run at intervals, in the order of the plan.
    pub(crate) scheduled: Vec<usize>,
    /// Whether some way leads to `fail` (D65).
    pub(crate) may_fail: bool,
    plain: Delivery,
}

/// Facts of a node, by index.
#[derive(Debug, Default)]
pub(crate) struct NodeFacts {
    /// Its edges, as ways, in order.
    pub(crate) ways: Vec<usize>,
    /// The way out of its failed turns.
    pub(crate) on_failure: Option<usize>,
    /// Ways into it on which payloads wait until a turn is put together.
    pub(crate) late: Vec<usize>,
    /// The loops around it, outermost first.
    pub(crate) loops: Vec<usize>,
    pub(crate) depends_on: Vec<usize>,
    /// Whether it is dataflow on a cycle, and therefore watched (D23).
    pub(crate) cyclic: bool,
    /// Whether it is so even without the ways that have a bound.
    pub(crate) unbounded: bool,
}

/// An edge, or an exit of a loop.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) from: usize,
    /// Where it leads; absent means the end.
    pub(crate) to: Option<usize>,
    /// Whether the run fails there (D65).
    pub(crate) fails: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Its place among the edges of its node.
    Edge(usize),
    /// The way out of a failed turn (D61).
    OnFailure,
    /// The exit of a loop.
    Exit(usize),
}

/// Facts of a loop, by index.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) consumes: Option<usize>,
    /// Its exits, as ways, in order.
    pub(crate) exits: Vec<usize>,
    /// The loops around it, outermost first.
    pub(crate) around: Vec<usize>,
}

impl Wiring {
    /// The chart of a plan, or what is wrong with the plan.
    pub(crate) fn of(plan: &Plan) -> Result<Self, String> {
        let place = |id: &NodeId| {
            plan.nodes.get_index_of(id).ok_or_else(|| format!("the plan has no socket `{id}`"))
        };
        let entry = place(&plan.entry)?;
        let mut nodes: Vec<NodeFacts> = Vec::with_capacity(plan.nodes.len());
        let mut ways = IndexMap::new();
        let mut add = |id: &EdgeId, way: Way| match ways.insert_full(id.clone(), way) {
            (at, None) => Ok(at),
            (_, Some(_)) => Err(format!("two ways of the plan are called `{id}`")),
        };
        for (from, node) in plan.nodes.values().enumerate() {
            let mut facts = NodeFacts::default();
            for (at, edge) in node.edges.iter().enumerate() {
                let to = edge.to.as_ref().map(place).transpose()?;
                let way = Way { from, to, fails: edge.fails, kind: Kind::Edge(at) };
                facts.ways.push(add(&edge.id, way)?);
            }
            if let Some(edge) = &node.on_failure {
                let to = edge.to.as_ref().map(place).transpose()?;
                let way = Way { from, to, fails: edge.fails, kind: Kind::OnFailure };
                facts.on_failure = Some(add(&edge.id, way)?);
            }
            for region in &node.loops {
                let at = plan.loops.get_index_of(region);
                facts.loops.push(at.ok_or_else(|| format!("the plan has no loop `{region}`"))?);
            }
            if node.assign.keys().any(|target| target.split('.').count() > TARGET_STEPS_MAX) {
                return Err("a target of the plan's `assign` goes deeper than JSON does".to_owned());
            }
            facts.depends_on = node.depends_on.iter().map(place).collect::<Result<_, _>>()?;
            nodes.push(facts);
        }
        let mut regions = Vec::with_capacity(plan.loops.len());
        for (nth, region) in plan.loops.values().enumerate() {
            let consumes = region.consumes.as_ref().map(place).transpose()?;
            let mut exits = Vec::new();
            for Exit { edge_id, from, to, fails, .. } in &region.exits {
                let (from, to) = (place(from)?, to.as_ref().map(place).transpose()?);
                let way = Way { from, to, fails: *fails, kind: Kind::Exit(nth) };
                exits.push(add(edge_id, way)?);
            }
            regions.push(Region { consumes, exits, around: Vec::new() });
        }
        if ways.values().any(|way: &Way| way.fails && way.to.is_some()) {
            return Err("a way of the plan leads to a socket and to `fail`".to_owned());
        }
        let mut chart = Self {
            may_fail: ways.values().any(|way| way.fails),
            plan: plan.clone(),
            entry,
            nodes,
            ways,
            regions,
            scheduled: Vec::new(),
            plain: Delivery::default(),
        };
        chart.look_around();
        Ok(chart)
    }

    fn look_around(&mut self) {
        for at in 0..self.ways.len() {
            let late =
                matches!(self.delivery(at).mode, DeliveryMode::Latest | DeliveryMode::Debounce);
            if let (true, Some(to)) = (late, self.ways[at].to) {
                self.nodes[to].late.push(at);
            }
        }
        let nodes = self.plan.nodes.values().enumerate();
        let ticks = |node: &Node| {
            let times = node.interval_ms.is_some() || node.cron.is_some();
            node.trigger == Trigger::Scheduled && times
        };
        self.scheduled = nodes.filter(|(_, node)| ticks(node)).map(|(at, _)| at).collect();
        for at in self.on_cycles(false) {
            self.nodes[at].cyclic = self.plan.nodes[at].routing == Routing::All;
        }
        for at in self.on_cycles(true) {
            self.nodes[at].unbounded = self.plan.nodes[at].routing == Routing::All;
        }
        for node in 0..self.nodes.len() {
            let around = self.nodes[node].loops.clone();
            for (depth, region) in around.iter().enumerate() {
                self.regions[*region].around = around[..depth].to_vec();
            }
        }
    }

    /// Nodes that can reach themselves: those whose component, found by two walks, is more than one
    /// node, or that lead to themselves (Kosaraju); where asked for, without the ways that have a bound.
    fn on_cycles(&self, without_bound: bool) -> Vec<usize> {
        let count = self.nodes.len();
        if self.plan.nodes.values().all(|node| node.routing != Routing::All) {
            return Vec::new();
        }
        let (mut next, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut alone = vec![true; count];
        for (at, way) in self.ways.values().enumerate() {
            let bounded = self.edge(at).is_some_and(|edge| edge.max_traversals.is_some());
            if let Some(to) = way.to.filter(|_| !(bounded && without_bound)) {
                next[way.from].push(to);
                before[to].push(way.from);
                alone[to] &= way.from != to;
            }
        }
        let mut seen = vec![false; count];
        let mut finished = Vec::with_capacity(count);
        for start in 0..count {
            walk(start, &next, &mut seen, &mut finished);
        }
        let mut seen = vec![false; count];
        let mut cyclic = Vec::new();
        for start in finished.into_iter().rev() {
            let mut component = Vec::new();
            walk(start, &before, &mut seen, &mut component);
            if component.len() > 1 || component.first().is_some_and(|only| !alone[*only]) {
                cyclic.extend(component);
            }
        }
        cyclic
    }

    pub(crate) fn node(&self, at: usize) -> &Node {
        &self.plan.nodes[at]
    }

    pub(crate) fn name(&self, at: usize) -> &NodeId {
        self.plan.nodes.get_index(at).map_or(&self.plan.entry, |(id, _)| id)
    }

    /// The word for where a way leads.
    pub(crate) fn word(&self, way: usize) -> &str {
        match self.ways[way].to {
            Some(to) => self.name(to).as_str(),
            None if self.ways[way].fails => FAIL,
            None => END,
        }
    }

    pub(crate) fn way_id(&self, at: usize) -> &EdgeId {
        self.ways.get_index(at).expect("ways are named by their place").0
    }

    /// The edge that a way is; an exit is none.
    pub(crate) fn edge(&self, at: usize) -> Option<&Edge> {
        let way = &self.ways[at];
        match way.kind {
            Kind::Edge(place) => self.node(way.from).edges.get(place),
            Kind::OnFailure => self.node(way.from).on_failure.as_ref(),
            Kind::Exit(_) => None,
        }
    }

    /// Whether a way is the one out of a failed turn.
    pub(crate) fn is_on_failure(&self, at: usize) -> bool {
        matches!(self.ways[at].kind, Kind::OnFailure)
    }

    /// The arrival at a node, over an edge or without one.
    pub(crate) fn coming(&self, to: usize, over: Option<usize>) -> Coming<'_> {
        let exit_of = match over.map(|way| &self.ways[way].kind) {
            Some(Kind::Exit(region)) => Some(*region),
            Some(Kind::Edge(_) | Kind::OnFailure) | None => None,
        };
        Coming { to, way: over, loops: &self.nodes[to].loops, exit_of }
    }

    /// How payloads wait on a way; on an exit they wait as on a plain edge.
    pub(crate) fn delivery(&self, at: usize) -> &Delivery {
        self.edge(at).map_or(&self.plain, |edge| &edge.delivery)
    }

    pub(crate) fn is_utility(&self, at: usize) -> bool {
        matches!(self.node(at).behavior, Behavior::Utility { .. })
    }
}

/// Walks everything reachable that was not seen, noting nodes as they are left.
fn walk(start: usize, next: &[Vec<usize>], seen: &mut [bool], left: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((node, place)) = path.pop() {
        match next[node].get(place) {
            None => left.push(node),
            Some(child) => {
                path.push((node, place + 1));
                if !std::mem::replace(&mut seen[*child], true) {
                    path.push((*child, 0));
                }
            }
        }
    }
}
