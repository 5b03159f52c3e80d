//! Builds one socket: a materia with the socket's settings.

use indexmap::IndexMap;
use materia_contract::{
    Behavior, Condition, Consume, Delivery, END, Edge, EdgeId, FAIL, Foreach, MateriaKind, Node,
    NodeBudgets, NodeId, NodeMode, OnInterrupt, OutputSelector, Parse, Path, Policy, Root, Routing,
    SessionPolicy, Socket, Trigger, UTILITY_TIMEOUT_MS_DEFAULT, VerdictFrom, is_node_id,
    on_failure_edge,
};

use super::Place;
use super::advance::{self, Advance};
use super::built::{Built, Scope};
use super::delivery;
use super::edge::{self, Moves};
use super::materia::{other_kind, timeout};
use super::paths::{Assignment, assignments, path};
use super::prompt_text::{self, OwnWords};
use super::region::Regions;
use super::target::Target;
use super::{agent, program, script};
use crate::fault::{Fault, Faults};
use crate::suggest::did_you_mean;

/// The name of the element of a `foreach` that says none.
const FOREACH_ALIAS_DEFAULT: &str = "item";
/// Output field of a generator, and the variable that it is copied to.
const WORK_ITEMS: &str = "workItems";

/// A socket as far as it could be read.
pub(super) struct Draft<'a> {
    pub(super) id: &'a str,
    pub(super) doc: &'a Socket,
    pub(super) place: Place,
    pub(super) edges: Vec<edge::Draft<'a>>,
    /// Where a failed turn leads.
    pub(super) on_failure: Option<Target>,
    pub(super) advance: Option<Advance<'a>>,
    built: Option<&'a Built<'a>>,
    assign: Vec<Assignment>,
    foreach: Option<Foreach>,
    policy: Option<Policy>,
    words: Option<OwnWords>,
}

/// Reads one socket and reports what is wrong with it by itself.
pub(super) fn draft<'a>(
    scope: &Scope<'a>,
    regions: &Regions<'a>,
    id: &'a str,
    doc: &'a Socket,
    faults: &mut Faults,
) -> Draft<'a> {
    let place = scope.place.child("sockets").child(id);
    check_id(id, &place, faults);
    let built = find_materia(scope, id, doc, &place, faults);
    timeout(doc.timeout_ms, &place, faults);
    let own = assignments(&doc.assign, &place, scope.loaded, faults);
    let foreach = foreach(scope, id, doc, &place, faults);
    for (index, name) in doc.depends_on.iter().enumerate() {
        if !scope.loadout.sockets.contains_key(name) {
            let place = place.child("dependsOn").child(&index.to_string());
            let message = format!("there is no socket `{name}` in loadout `{}`", scope.name);
            let fault = Fault::error("graph::unknown-target", message);
            faults.push_with(place.mark(fault), |fault| {
                fault.help(scope.socket_help(name, Some(id)))
            });
        }
    }
    delivery::check_schedule(scope.loaded, doc, &place, faults);
    let policy = doc.policy.as_ref().map(|doc| delivery::policy(doc, &place, faults));
    let edges = edge::drafts(scope, doc, &place, faults);
    let on_failure = edge::on_failure(scope, doc, &place, faults);
    let advance = advance::read(scope, regions, id, doc, &place, faults);
    let assign = merged(built, own);
    let words = own_words(scope, doc, built, &place, faults);
    let mut draft =
        Draft { id, doc, place, edges, on_failure, advance, built, assign, foreach, policy, words };
    draft.check_program(scope, faults);
    let needs_json = draft.check_parse(scope, faults);
    draft.check_edges(regions, needs_json, faults);
    draft
}

fn check_id(id: &str, place: &Place, faults: &mut Faults) {
    let (message, help) = match id {
        END => ("`end` cannot name a socket: it ends the graph".to_owned(), "choose another name"),
        FAIL => {
            ("`fail` cannot name a socket: the cast fails there".to_owned(), "choose another name")
        }
        _ if is_node_id(id) => return,
        _ => {
            let help = "use 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit";
            (format!("`{id}` cannot name a socket"), help)
        }
    };
    faults.push(place.mark(Fault::error("graph::bad-id", message)).help(help));
}

fn find_materia<'a>(
    scope: &Scope<'a>,
    id: &str,
    doc: &Socket,
    place: &Place,
    faults: &mut Faults,
) -> Option<&'a Built<'a>> {
    let field = place.child("materia");
    let Some(name) = &doc.materia else {
        if let Some(fault) = script::alias(&doc.extra, place) {
            faults.push(fault);
        } else if !field.is_mended(scope.loaded) && !place.is_replaced(scope.loaded) {
            let fault =
                Fault::error("graph::no-materia", format!("socket `{id}` names no materia"));
            faults.push(place.mark(fault).help("add `materia`, the name of what runs here"));
        }
        return None;
    };
    let found = scope.built.get(name.as_str());
    if found.is_none()
        && let Some(fault) = script::obsolete(name)
    {
        faults.push(field.mark(fault));
    } else if found.is_none() {
        let known = scope.loaded.config.materia.keys().map(String::as_str);
        let message = format!("there is no materia `{name}`");
        let fault = field.mark(Fault::error("graph::unknown-materia", message));
        faults.push_with(fault, |fault| fault.help(did_you_mean(name, known, "materia")));
    }
    found
}

/// Merges by target: the generator's implicit assignment (D39), the materia's assignments, then the socket's. Later
/// ones win.
fn merged(built: Option<&Built<'_>>, own: Vec<Assignment>) -> Vec<Assignment> {
    let by_itself = built.filter(|built| built.generator()).map(|built| Assignment {
        target: WORK_ITEMS.to_owned(),
        source: Path { root: Root::Output, steps: vec![WORK_ITEMS.to_owned()] },
        place: built.place.child("generator"),
    });
    let below = built.map(|built| built.assign.clone()).unwrap_or_default();
    let mut merged: IndexMap<String, Assignment> = IndexMap::new();
    for one in by_itself.into_iter().chain(below).chain(own) {
        merged.insert(one.target.clone(), one);
    }
    merged.into_values().collect()
}

/// The socket's own prompt text (D64). Reports settings that its materia cannot use.
fn own_words(
    scope: &Scope<'_>,
    doc: &Socket,
    built: Option<&Built<'_>>,
    place: &Place,
    faults: &mut Faults,
) -> Option<OwnWords> {
    let behavior = built.and_then(|built| built.behavior.as_ref());
    let (kind, useless): (_, &[(&str, bool)]) = match behavior {
        Some(Behavior::Agent { .. }) => {
            ("an agent", &[("params", doc.params.is_some()), ("env", !doc.env.is_empty())])
        }
        Some(Behavior::Utility { .. }) => (
            "a utility",
            &[
                ("prompt", doc.prompt.is_some()),
                ("model", doc.model.is_some()),
                ("tools", doc.tools.is_some()),
            ],
        ),
        None => return None,
    };
    program::environment(&doc.env, &place.child("env"), faults);
    let name = doc.materia.as_deref().unwrap_or_default();
    for (field, _) in useless.iter().filter(|(_, present)| *present) {
        other_kind(name, kind, field, place, faults);
    }
    if let (Some(Behavior::Agent { provider: Some(provider), .. }), Some(tools)) =
        (behavior, &doc.tools)
    {
        agent::socket_tools(scope.loaded, name, provider, tools, place, faults);
    }
    let prompt = doc.prompt.as_ref().filter(|_| matches!(behavior, Some(Behavior::Agent { .. })));
    prompt_text::of_socket(scope.loaded, prompt?, &place.child("prompt"), faults)
}

fn foreach(
    scope: &Scope<'_>,
    id: &str,
    doc: &Socket,
    place: &Place,
    faults: &mut Faults,
) -> Option<Foreach> {
    let each = doc.foreach.as_ref()?;
    let place = place.child("foreach");
    let items = path(&each.items, &place.child("items"), scope.loaded, faults);
    if items.as_ref().is_some_and(|items| items.root == Root::Output) {
        let message = format!("`$` is the output of socket `{id}`, which has not run yet here");
        let fault = Fault::warning("path::no-output", message);
        let help = "name a list that is there before: state.… or lastJson.…";
        faults.push(place.child("items").mark(fault).help(help));
    }
    for (field, name) in [("as", &each.alias), ("cursor", &each.cursor)] {
        if name.as_ref().is_some_and(|name| name.is_empty() || name.contains('.')) {
            let fault =
                Fault::error("path::bad-target", format!("`{field}` must be one plain name"));
            faults.push(place.child(field).mark(fault).help("leave dots out"));
        }
    }
    Some(Foreach {
        items: items?,
        alias: each.alias.clone().unwrap_or_else(|| FOREACH_ALIAS_DEFAULT.to_owned()),
        cursor: each.cursor.clone().unwrap_or_else(|| format!("{id}Index")),
    })
}

impl Draft<'_> {
    /// Where the verdict comes from, if it is not in the output (D48).
    fn verdict(&self) -> Option<VerdictFrom> {
        let doc = self.built.map(|built| built.doc)?;
        doc.verdict.filter(|_| doc.kind == Some(MateriaKind::Utility))
    }

    /// How the output is read; what generators put out is JSON by itself (D39), and so is what an exit
    /// code stands for.
    pub(super) fn parse(&self) -> Parse {
        if self.verdict().is_some() {
            return Parse::Json;
        }
        let default = if self.generator() { Parse::Json } else { Parse::Text };
        self.doc.parse.or(self.built.and_then(|built| built.doc.parse)).unwrap_or(default)
    }

    /// Reports what the socket says about a program that it does not run, or that its program cannot do.
    fn check_program(&self, scope: &Scope<'_>, faults: &mut Faults) {
        let Some(built) = self.built else { return };
        let name = self.doc.materia.as_deref().unwrap_or_default();
        let agent = built.doc.kind.unwrap_or_default() == MateriaKind::Agent;
        if agent && self.doc.retries.is_some() {
            other_kind(name, "an agent", "retries", &self.place, faults);
        }
        if !agent && built.doc.verdict.is_some() && self.doc.parse == Some(Parse::Json) {
            faults.push(program::two_verdicts(name, &self.place.child("parse")));
        }
        program::check_socket_params(scope, built, (self.doc, &self.place), faults);
    }

    fn generator(&self) -> bool {
        self.built.is_some_and(Built::generator)
    }

    /// Reports what reads the output of a socket that does not parse it; says whether any did.
    fn check_parse(&self, scope: &Scope<'_>, faults: &mut Faults) -> bool {
        let Some(built) = self.built else { return false };
        let unclear = self.place.child("parse").is_mended(scope.loaded)
            || built.place.child("parse").is_mended(scope.loaded);
        if self.parse() == Parse::Json || unclear {
            return false;
        }
        if self.generator() {
            let written = if self.doc.parse.is_some() { &self.place } else { &built.place };
            let message = format!("socket `{}` is a generator, whose output is JSON", self.id);
            let fault = written.child("parse").mark(Fault::error("generator::needs-json", message));
            faults.push(fault.help("remove `parse` or write \"json\""));
            return true;
        }
        let mut readers: Vec<(Place, String)> = Vec::new();
        for one in self.assign.iter().filter(|one| one.source.root == Root::Output) {
            readers.push((one.place.clone(), format!("`{}` is copied into state", one.source)));
        }
        readers.extend(self.advance.as_ref().and_then(Advance::reads_output));
        readers.extend(self.edges.iter().filter_map(edge::reads_output));
        let name = self.doc.materia.as_deref().unwrap_or_default();
        for (place, what) in &readers {
            let message =
                format!("{what}, but the output of socket `{}` is not parsed as JSON", self.id);
            let json = format!("add `\"parse\": \"json\"` to the socket or to materia `{name}`");
            let help = match built.behavior {
                Some(Behavior::Utility { .. }) => format!(
                    "{json}; or `\"verdict\": \"exitCode\"` to the materia, if its exit code decides"
                ),
                Some(Behavior::Agent { .. }) | None => json,
            };
            faults.push(place.mark(Fault::error("graph::needs-json", message)).help(help));
        }
        !readers.is_empty()
    }

    /// Reports edges that are in each other's way, where all of them could be read.
    fn check_edges(&mut self, regions: &Regions<'_>, needs_json: bool, faults: &mut Faults) {
        let first = self.doc.routing.unwrap_or(Routing::First) == Routing::First;
        if first && self.edges.iter().all(|edge| edge.whole) {
            edge::find_shadowed(&mut self.edges, faults);
            if !needs_json {
                let moves = self.moves(regions);
                edge::may_not_match(self.id, &self.edges, moves.as_ref(), &self.place, faults);
                if self.verdict().is_some() {
                    let (id, place) = (self.id, &self.place);
                    edge::false_completes(id, &self.edges, moves.as_ref(), place, faults);
                }
            }
        }
    }

    /// Effect on the loop around it, if that loop has a list.
    fn moves<'r>(&self, regions: &'r Regions<'_>) -> Option<Moves<'r>> {
        let (advance, region) = (self.advance.as_ref()?, regions.innermost(self.id)?);
        let listed = region.consumes() || advance.items.is_some();
        listed.then(|| Moves { when: advance.when, first: region.first() })
    }

    /// The variables of its environment: those of the materia, and the socket's own over them.
    fn environment(&self, below: &IndexMap<String, String>) -> IndexMap<String, String> {
        let mut all = below.clone();
        all.extend(self.doc.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        all
    }

    /// Behaviour with the socket's own settings: its text extends or replaces the prompt, parameters merge by name,
    /// everything else is replaced.
    fn with_own_words(&self, behavior: Behavior) -> Behavior {
        match behavior {
            Behavior::Agent { mut prompt, mut origin, tools, model, provider } => {
                match &self.words {
                    Some(OwnWords { words, replace: true }) => {
                        prompt.clone_from(&words.text);
                        origin.clone_from(&words.origin);
                    }
                    Some(OwnWords { words, replace: false }) if prompt.trim().is_empty() => {
                        prompt.clone_from(&words.text);
                        origin.clone_from(&words.origin);
                    }
                    Some(OwnWords { words, replace: false }) => {
                        prompt = format!("{}\n\n{}", prompt.trim_end(), words.text);
                        origin = format!("{origin}, {}", words.origin);
                    }
                    None => {}
                }
                let tools = self.doc.tools.clone().or(tools);
                let model = self.doc.model.clone().or(model);
                Behavior::Agent { prompt, origin, tools, model, provider }
            }
            Behavior::Utility { command, mut params } => {
                for (name, value) in self.doc.params.iter().flatten() {
                    params.insert(name.clone(), value.clone());
                }
                Behavior::Utility { command, params }
            }
        }
    }

    /// The node, with every default written out. `ids` are the ids of its edges, in order.
    pub(super) fn node(&self, regions: &Regions<'_>, ids: &[EdgeId]) -> Option<Node> {
        let built = self.built?;
        let behavior = self.with_own_words(built.behavior.clone()?);
        let limit = self.doc.timeout_ms.or(built.doc.timeout_ms);
        let default = match &behavior {
            Behavior::Utility { .. } => Some(UTILITY_TIMEOUT_MS_DEFAULT),
            Behavior::Agent { .. } => None,
        };
        let edges = self.edges.iter().zip(ids).map(|(edge, id)| built_edge(edge, id.clone()));
        let assign = self.assign.iter().map(|one| (one.target.clone(), one.source.clone()));
        let trigger = self.doc.trigger.unwrap_or(Trigger::OnAnyInput);
        let utility = match &behavior {
            Behavior::Utility { .. } => Some(built.doc),
            Behavior::Agent { .. } => None,
        };
        Some(Node {
            materia: self.doc.materia.clone()?,
            parse: self.parse(),
            verdict: self.verdict(),
            env: utility.map(|doc| self.environment(&doc.env)).unwrap_or_default(),
            cwd: utility.and_then(|doc| doc.cwd.clone()),
            socket_params: utility.map(|doc| doc.socket_params.clone()).unwrap_or_default(),
            assign: assign.collect(),
            timeout_ms: limit.or(default),
            edges: edges.collect::<Option<Vec<_>>>()?,
            on_failure: self.on_failure()?,
            retries: program::retries(self.doc, built).filter(|_| utility.is_some()),
            routing: self.doc.routing.unwrap_or(Routing::First),
            budgets: self.doc.budgets.as_ref().map(|doc| NodeBudgets {
                turns: doc.turns,
                time_ms: doc.time_ms,
                cost: doc.cost,
            }),
            foreach: self.foreach.clone(),
            mode: self.doc.mode.unwrap_or(NodeMode::Auto),
            control: self.doc.control,
            trigger,
            max_in_flight: self.doc.max_in_flight.unwrap_or(1),
            consume: self.doc.consume.unwrap_or(Consume::All),
            output_selector: self.doc.output_selector.unwrap_or(OutputSelector::MessageFinal),
            artifacts: self.doc.artifacts.clone(),
            interval_ms: self.doc.interval_ms.filter(|_| trigger == Trigger::Scheduled),
            cron: delivery::cron(self.doc).filter(|_| trigger == Trigger::Scheduled),
            run_at_start: self.doc.run_at_start == Some(true) && trigger == Trigger::Scheduled,
            approval: self.doc.approval,
            depends_on: self.doc.depends_on.iter().map(NodeId::new).collect(),
            policy: self.policy.clone(),
            on_interrupt: self.doc.on_interrupt.unwrap_or(OnInterrupt::Retry),
            generator: built.generator(),
            advance: self.advance.as_ref().map(|advance| advance.when),
            loops: regions.names(self.id),
            requires: built.requires.clone(),
            reads: built.reads.clone(),
            multi_turn: built.doc.multi_turn.unwrap_or(false),
            color: built.doc.color.clone(),
            session: self.doc.session.or(built.doc.session).unwrap_or(SessionPolicy::Auto),
            behavior,
        })
    }
}

impl Draft<'_> {
    /// The way out of a failed turn, where there is one; `None` if it could not be read.
    #[expect(clippy::option_option, reason = "absent and unreadable are not the same")]
    fn on_failure(&self) -> Option<Option<Edge>> {
        let (Some(to), Some(doc)) = (&self.on_failure, &self.doc.on_failure) else {
            return Some(None);
        };
        let (target, fails) = to.planned()?;
        Some(Some(Edge {
            id: on_failure_edge(self.id),
            when: Condition::Always,
            guard: None,
            to: target,
            fails,
            max_traversals: doc.max_traversals,
            delivery: Delivery::default(),
        }))
    }
}

fn built_edge(edge: &edge::Draft<'_>, id: EdgeId) -> Option<Edge> {
    let (to, fails) = edge.to.planned()?;
    let guard = edge.guard.clone();
    let (when, max_traversals) = (edge.when, edge.doc.max_traversals);
    let delivery = edge.delivery.clone()?;
    Some(Edge { id, when, guard, to, fails, max_traversals, delivery })
}
