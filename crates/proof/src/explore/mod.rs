//! Every history that the kernel can take with a plan, for every answer of its turns.
//!
//! It uses the real kernel, not a model: each step is an input, and the events are those of a real cast.

pub(crate) mod answers;
mod forward;
pub(crate) mod history;
mod property;
mod race;
mod search;
pub(crate) mod step;

use materia_contract::body::{
    ExploreBody, ExploreFinding, ExploreKind, ExploredHistory, Proof, PropertyAnswer,
};
use materia_contract::{NodeId, Plan};

pub use history::{status, turn_ends};
pub use property::{Property, broken};
pub use search::{Link, Options};
pub use step::{Take, created};

use search::{Kind, Place, Search};
use step::Step;

/// The result of an exploration.
pub struct Explored<'a> {
    search: Search<'a>,
    options: &'a Options,
}

/// Explores every history of a plan. `progress` gets the number of known states and how many of them are still to
/// be explored.
pub fn explore<'a>(
    plan: &'a Plan,
    options: &'a Options,
    progress: impl FnMut(usize, usize),
) -> Explored<'a> {
    let mut search = Search::new(plan, options);
    search.run(progress);
    Explored { search, options }
}

impl Explored<'_> {
    /// Whether every state was looked at.
    pub fn is_complete(&self) -> bool {
        self.search.stopped.is_none()
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.search.states()
    }

    /// How histories end, in words.
    pub fn ends(&self) -> impl Iterator<Item = &str> {
        self.search.ends.keys().map(String::as_str)
    }

    /// The steps between states, where they were kept, and the visits with which every history begins.
    pub fn links(&self) -> (&[usize], &[Link]) {
        (&self.search.first, &self.search.links)
    }

    /// The whole result as it is reported.
    pub fn body(&self) -> ExploreBody {
        let (search, plan) = (&self.search, self.search.plan);
        let items = self.options.items.iter().filter_map(|count| u64::try_from(*count).ok());
        let sockets = plan.nodes.keys().filter(|id| !search.sockets.contains(*id));
        let edges = plan.nodes.values().flat_map(|node| node.edges.iter().chain(&node.on_failure));
        let exits = plan.loops.values().flat_map(|region| &region.exits);
        let edges = edges.map(|edge| &edge.id).chain(exits.map(|exit| &exit.edge_id));
        let edges = edges.filter(|id| !search.edges.contains(*id));
        let findings = search.found.iter().filter_map(|(kind, place)| self.finding(kind, place));
        ExploreBody {
            loadout: plan.loadout.clone(),
            items: items.collect(),
            complete: self.is_complete(),
            stopped: search.stopped.clone(),
            states: u64::try_from(search.states()).unwrap_or(u64::MAX),
            ends: search.ends.iter().map(|(end, count)| (end.trim().to_owned(), *count)).collect(),
            unreached_sockets: sockets.cloned().collect(),
            unreached_edges: edges.cloned().collect(),
            findings: findings.collect(),
            properties: self.properties(),
            notes: self.notes(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "tokens and cost are 0 in every history; what a budget of tokens or cost would stop is not seen".to_owned(),
            "what utilities read and which variables their `state` sets is unknown; they change no variable that a guard compares".to_owned(),
            "people approve, refuse and continue; they do nothing else".to_owned(),
        ];
        if self.search.cut > 0 {
            notes.push(format!(
                "a scheduled socket ticks {} times; what later ticks do is not seen",
                self.options.ticks
            ));
        }
        if self.search.races.is_cut() {
            notes.push(
                "there are too many orders of turns: not all of them were compared for races"
                    .to_owned(),
            );
        }
        notes
    }

    fn properties(&self) -> Vec<PropertyAnswer> {
        let answer = |(number, property): (usize, &Property)| {
            let broken = self.search.found.get(&Kind::Refutes(number));
            let counterexample =
                broken.and_then(|place| self.told(place, Vec::new()).map(Box::new));
            let answer = match (broken, self.is_complete() && self.search.cut == 0) {
                (Some(_), _) => Proof::Refuted,
                (None, true) => Proof::Proved,
                (None, false) => Proof::Undecided,
            };
            PropertyAnswer { property: property.to_string(), answer, counterexample }
        };
        self.options.properties.iter().enumerate().map(answer).collect()
    }

    fn finding(&self, kind: &Kind, place: &Place) -> Option<ExploreFinding> {
        let of = |kind, message: String, more: Vec<Step>| {
            let history = self.told(place, more)?;
            let (socket, other, edge, region) = (None, None, None, None);
            Some(ExploreFinding { kind, message, socket, other, edge, region, history })
        };
        match kind {
            Kind::Ends(status) => {
                let mut words = status.split(' ');
                let (state, reason) = (words.next()?, words.next().unwrap_or_default());
                let node = words.next().filter(|node| !node.is_empty()).map(NodeId::new);
                let at = node.as_ref().map_or(String::new(), |node| format!(" at `{node}`"));
                let (kind, message) = match (state, reason) {
                    ("failed", code) => {
                        (ExploreKind::Fails, format!("a history fails{at}: {code}"))
                    }
                    (_, "manual") => (
                        ExploreKind::Stuck,
                        format!("a history rests with input{at} that nothing starts"),
                    ),
                    (_, reason) => (ExploreKind::Waits, format!("a history waits{at}: {reason}")),
                };
                Some(ExploreFinding { socket: node, ..of(kind, message, Vec::new())? })
            }
            Kind::Drops(edge) => {
                let message = format!("a payload of `{edge}` can be dropped");
                let found = of(ExploreKind::Drops, message, Vec::new())?;
                Some(ExploreFinding { edge: Some(edge.clone()), ..found })
            }
            Kind::ItemsLeft(region) => {
                let message =
                    format!("loop `{region}` can be left with items while the cast completes");
                let found = of(ExploreKind::ItemsLeft, message, Vec::new())?;
                Some(ExploreFinding { region: Some(region.clone()), ..found })
            }
            Kind::Unset(path, node) => {
                let message = format!("`{node}` can read {path} before anything has set it");
                let found = of(ExploreKind::Unset, message, Vec::new())?;
                Some(ExploreFinding { socket: Some(node.clone()), ..found })
            }
            Kind::Race(one, other) => {
                let message = format!(
                    "turns of `{one}` and `{other}` end the cast differently in different orders"
                );
                let more = self.search.races.steps.get(&(one.clone(), other.clone())).cloned();
                let found = of(ExploreKind::Race, message, more.unwrap_or_default())?;
                let (socket, other) = (Some(other.clone()), Some(one.clone()));
                Some(ExploreFinding { socket, other, ..found })
            }
            Kind::Refutes(_) => None,
        }
    }

    /// The history to a place, further steps, and on to its end.
    fn told(&self, place: &Place, more: Vec<Step>) -> Option<ExploredHistory> {
        let (steps, cut) = self.search.whole(place, more);
        let (script, end) = history::script(self.search.plan, &steps, cut)?;
        let plays = history::play(self.search.plan, &script).is_some_and(|played| played == end);
        Some(ExploredHistory {
            steps: u64::try_from(steps.len()).unwrap_or(u64::MAX),
            end: end.status.trim().to_owned(),
            visits: end.visits,
            script,
            plays,
        })
    }
}
