//! The possible answers of a turn: every verdict, lists of every length, every value that a guard compares, a broken
//! contract, a failure.

use std::collections::BTreeSet;
use std::sync::Arc;

use materia_contract::script::{Answer, Script, UtilityAnswer};
use materia_contract::{
    Behavior, DedupeBy, ErrorCode, Guard, Node, NodeId, Parse, Path, Plan, Root, Test, TurnOutput,
};
use materia_kernel::{Run, Turn, TurnOutcome, needs_verdict};
use serde_json::{Map, Value, json};

/// An answer, as a script would give it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    Agent(Box<Answer>),
    Utility(UtilityAnswer),
}

impl Given {
    /// The runner's report with this answer.
    pub(crate) fn outcome(&self, node: &Node) -> TurnOutcome {
        match self {
            Self::Agent(answer) => {
                let output = match (&answer.text, &answer.json) {
                    (Some(text), _) => text.clone(),
                    (None, Some(json)) => json.to_string(),
                    (None, None) => String::new(),
                };
                let report = TurnOutput { output, ..TurnOutput::default() };
                match &answer.error {
                    None => TurnOutcome::Ended(report),
                    Some(message) => faulted(ErrorCode::ProviderFailed, message, report),
                }
            }
            Self::Utility(answer) => {
                let code = answer.exit_code.unwrap_or(0);
                let report = TurnOutput {
                    output: answer.stdout.clone().unwrap_or_default(),
                    stderr: answer.stderr.clone().unwrap_or_default(),
                    exit_code: answer.error.is_none().then_some(code),
                    ..TurnOutput::default()
                };
                match &answer.error {
                    Some(message) => faulted(ErrorCode::UtilityFailed, message, report),
                    None if code != 0 && node.verdict.is_none() => {
                        faulted(ErrorCode::UtilityFailed, "it failed", report)
                    }
                    None => TurnOutcome::Ended(report),
                }
            }
        }
    }

    /// Whether it says that the turn failed, or breaks the contract of a socket that answers with an object.
    pub(crate) fn is_failure(&self) -> bool {
        let (error, text) = match self {
            Self::Agent(answer) => (&answer.error, &answer.text),
            Self::Utility(answer) => (&answer.error, &answer.stdout),
        };
        error.is_some() || text.as_deref() == Some(NO_OBJECT)
    }

    /// The same answer after some time.
    pub(crate) fn after(&self, delay: u64) -> Self {
        let delay_ms = (delay > 0).then_some(delay);
        match self {
            Self::Agent(answer) => Self::Agent(Box::new(Answer { delay_ms, ..(**answer).clone() })),
            Self::Utility(answer) => Self::Utility(UtilityAnswer { delay_ms, ..answer.clone() }),
        }
    }
}

fn spoken(answer: Answer) -> Given {
    Given::Agent(Box::new(answer))
}

fn faulted(code: ErrorCode, message: &str, report: TurnOutput) -> TurnOutcome {
    TurnOutcome::Faulted { code, message: message.to_owned(), report }
}

/// The answers of every node of a plan.
pub(crate) struct Answers {
    /// By node; those with a new text each time are made when they are needed.
    nodes: Vec<Of>,
}

struct Of {
    plain: Vec<Arc<Given>>,
    /// Whether the same answers are also given with a text that was not there before.
    fresh: bool,
}

/// Output where the text does not matter.
const TEXT: &str = "made up";
/// An answer that breaks the contract of a socket that answers with an object.
const NO_OBJECT: &str = "this is no object";

impl Answers {
    /// The answers for lists of these lengths; `said` replaces those of the sockets it names.
    pub(crate) fn new(plan: &Plan, items: &[usize], said: Option<&Script>) -> Self {
        let values = Values::of(plan, items);
        let nodes = plan.nodes.iter().map(|(id, node)| {
            if let Some(plain) = said.and_then(|script| told(script, id, node)) {
                return Of { plain, fresh: false };
            }
            let deduped = |by| by == DedupeBy::ContentHash;
            let fresh = node.edges.iter().any(|edge| deduped(edge.delivery.dedupe_by));
            Of { plain: values.answers(node).into_iter().map(Arc::new).collect(), fresh }
        });
        Self { nodes: nodes.collect() }
    }

    /// The answers that a turn can be given now, those that lead on first.
    pub(crate) fn of(&self, run: &Run, turn: &Turn, plan: &Plan) -> Vec<Arc<Given>> {
        let (id, _) = run.node_of(turn);
        let Some(of) = plan.nodes.get_index_of(id).and_then(|index| self.nodes.get(index)) else {
            return Vec::new();
        };
        let mut all = of.plain.clone();
        if of.fresh || run.watches(turn) {
            let text = format!("made up in visit {}", turn.visit);
            all.extend(of.plain.iter().filter_map(|given| renewed(given, &text)).map(Arc::new));
        }
        all
    }
}

/// The same answer with another text.
fn renewed(given: &Given, text: &str) -> Option<Given> {
    let replaced = |said: &str| said.contains(TEXT).then(|| said.replace(TEXT, text));
    match given {
        Given::Agent(answer) => {
            let words = answer.text.as_deref().and_then(replaced);
            let json = answer.json.as_ref().and_then(|json| replaced(&json.to_string()));
            let json = json.and_then(|json| serde_json::from_str(&json).ok());
            (answer.error.is_none() && (words.is_some() || json.is_some()))
                .then(|| spoken(Answer { text: words, json, ..Answer::default() }))
        }
        Given::Utility(answer) => {
            let stdout = answer.stdout.as_deref().and_then(replaced)?;
            let stdout = Some(stdout).filter(|_| answer.error.is_none())?;
            Some(Given::Utility(UtilityAnswer { stdout: Some(stdout), ..answer.clone() }))
        }
    }
}

/// The answers of a script for a node: any of these.
fn told(script: &Script, id: &NodeId, node: &Node) -> Option<Vec<Arc<Given>>> {
    match node.behavior {
        Behavior::Agent { .. } => {
            let said = script.turns.get(id.as_str()).or_else(|| script.turns.get(&node.materia))?;
            let plain = |answer: &Answer| Answer { delay_ms: None, ..answer.clone() };
            Some(said.iter().map(|answer| Arc::new(spoken(plain(answer)))).collect())
        }
        Behavior::Utility { .. } => {
            let said = &script.utilities;
            let said = said.get(id.as_str()).or_else(|| said.get(&node.materia))?;
            let plain = |answer: &UtilityAnswer| UtilityAnswer { delay_ms: None, ..answer.clone() };
            Some(said.iter().map(|answer| Arc::new(Given::Utility(plain(answer)))).collect())
        }
    }
}

/// Which values matter, by path.
struct Values {
    items: Vec<usize>,
    /// Paths of variables that are lists.
    lists: BTreeSet<Vec<String>>,
    /// Comparisons with variables, with what they compare.
    compared: Vec<(Vec<String>, Vec<Value>)>,
    /// Lists that no `assign` sets: utilities set them in their `state`.
    unset: BTreeSet<Vec<String>>,
}

impl Values {
    fn of(plan: &Plan, items: &[usize]) -> Self {
        let foreach = plan.nodes.values().filter_map(|node| Some(&node.foreach.as_ref()?.items));
        let loops = plan.loops.values().filter_map(|region| region.items.as_ref());
        let of_state = |path: &&Path| path.root == Root::State;
        let lists: BTreeSet<Vec<String>> =
            foreach.chain(loops).filter(of_state).map(|path| path.steps.clone()).collect();
        let guards = plan.nodes.values().flat_map(|node| &node.edges);
        let guards: Vec<&Guard> = guards.filter_map(|edge| edge.guard.as_ref()).collect();
        let compared = grouped(guards.into_iter().filter(|guard| guard.path.root == Root::State));
        let targets: BTreeSet<String> =
            plan.nodes.values().flat_map(|node| node.assign.keys().cloned()).collect();
        let set = |path: &Vec<String>| {
            (1..=path.len()).any(|end| targets.contains(&path[..end].join(".")))
        };
        let unset = lists.iter().filter(|path| !set(path)).cloned().collect();
        Self { items: items.to_vec(), lists, compared, unset }
    }

    /// The objects and texts that a turn of a node can put out.
    fn answers(&self, node: &Node) -> Vec<Given> {
        let agent = matches!(node.behavior, Behavior::Agent { .. });
        let mut all: Vec<Given> = Vec::new();
        if node.verdict.is_some() {
            for code in [0, 1] {
                let answer = UtilityAnswer {
                    stdout: Some(TEXT.to_owned()),
                    exit_code: (code != 0).then_some(code),
                    ..UtilityAnswer::default()
                };
                all.push(Given::Utility(answer));
            }
        } else {
            let outputs: Vec<Value> = match node.parse {
                Parse::Text => vec![TEXT.into()],
                Parse::Json => self.objects(node),
            };
            all.extend(outputs.into_iter().map(|output| ended(agent, output)));
            let breaks = node.parse == Parse::Json;
            all.extend(breaks.then(|| ended(agent, NO_OBJECT.into())));
        }
        let error = Some("a made-up failure".to_owned());
        all.push(if agent {
            spoken(Answer { error, ..Answer::default() })
        } else {
            Given::Utility(UtilityAnswer { error, ..UtilityAnswer::default() })
        });
        all
    }

    fn objects(&self, node: &Node) -> Vec<Value> {
        let context = json!({ "context": TEXT });
        let mut objects: Vec<Value> = vec![context];
        let verdicts = [Some(Value::Bool(true)), Some(Value::Bool(false)), None];
        let verdicts = verdicts.into_iter().filter(|it| it.is_some() || !needs_verdict(node));
        let decides = needs_verdict(node)
            || node.advance.is_some()
            || node.edges.iter().any(|edge| edge.when != materia_contract::Condition::Always);
        if decides {
            objects = product(&objects, &["satisfied".to_owned()], &verdicts.collect::<Vec<_>>());
        }
        if node.generator {
            objects = product(&objects, &["workItems".to_owned()], &self.list());
        }
        for (target, path) in &node.assign {
            if path.root == Root::Output && !path.steps.is_empty() {
                let known = ["workItems", "satisfied", "context"];
                let own = path.steps.len() == 1 && known.contains(&path.steps[0].as_str());
                let target: Vec<String> = target.split('.').map(ToOwned::to_owned).collect();
                let values = if own && !self.matters(&target) {
                    continue;
                } else {
                    self.assigned(node, &target)
                };
                objects = product(&objects, &path.steps, &values);
            }
        }
        let guards = node.edges.iter().filter_map(|edge| edge.guard.as_ref());
        for (path, constants) in grouped(guards.filter(|guard| guard.path.root == Root::Output)) {
            objects = product(&objects, &path, &alternatives(&constants));
        }
        if matches!(node.behavior, Behavior::Utility { .. }) {
            for path in &self.unset {
                let place: Vec<String> =
                    std::iter::once("state".to_owned()).chain(path.iter().cloned()).collect();
                objects = product(&objects, &place, &self.list());
            }
        }
        objects
    }

    fn matters(&self, target: &[String]) -> bool {
        self.lists.contains(target)
            || self.compared.iter().any(|(path, _)| path.starts_with(target))
    }

    /// The values that an `assign` to a variable can copy.
    fn assigned(&self, node: &Node, target: &[String]) -> Vec<Option<Value>> {
        if self.lists.contains(target) {
            return self.list();
        }
        let utility = matches!(node.behavior, Behavior::Utility { .. });
        let mut values: Vec<Option<Value>> = Vec::new();
        let mut whole = false;
        for (path, constants) in self.compared.iter().filter(|(path, _)| path.starts_with(target)) {
            whole = whole || path.len() == target.len();
            // Utilities change no variable that is compared.
            if utility {
                continue;
            }
            let rest = &path[target.len()..];
            for value in alternatives(constants) {
                match (rest.is_empty(), value) {
                    (true, value) => values.push(value.or(Some(Value::Null))),
                    (false, value) => {
                        values.extend(product(&[json!({})], rest, &[value]).into_iter().map(Some));
                    }
                }
            }
        }
        let nested = self
            .compared
            .iter()
            .any(|(path, _)| path.len() > target.len() && path.starts_with(target));
        if values.is_empty() {
            values.push(Some(if nested {
                json!({})
            } else if whole {
                Value::Null
            } else {
                TEXT.into()
            }));
        }
        values
    }

    fn list(&self) -> Vec<Option<Value>> {
        let item = |number: usize| json!({ "title": format!("Item {number}"), "context": TEXT });
        let list = |count: &usize| Some((1..=*count).map(item).collect());
        // The longest first: with it a history goes furthest.
        self.items.iter().rev().map(list).collect()
    }
}

fn ended(agent: bool, output: Value) -> Given {
    match (agent, output) {
        (true, Value::String(text)) => spoken(Answer { text: Some(text), ..Answer::default() }),
        (true, json) => spoken(Answer { json: Some(json), ..Answer::default() }),
        (false, Value::String(text)) => {
            Given::Utility(UtilityAnswer { stdout: Some(text), ..UtilityAnswer::default() })
        }
        (false, json) => Given::Utility(UtilityAnswer {
            stdout: Some(json.to_string()),
            ..UtilityAnswer::default()
        }),
    }
}

/// Comparisons by path, with every constant that a path is compared with.
fn grouped<'a>(guards: impl Iterator<Item = &'a Guard>) -> Vec<(Vec<String>, Vec<Value>)> {
    let mut all: Vec<(Vec<String>, Vec<Value>)> = Vec::new();
    for guard in guards {
        let place = all.iter().position(|(path, _)| *path == guard.path.steps);
        let place = place.unwrap_or_else(|| {
            all.push((guard.path.steps.clone(), Vec::new()));
            all.len() - 1
        });
        let constant = match &guard.test {
            Test::Equals(value) | Test::NotEquals(value) => Some(value.clone()),
            Test::Exists(_) => None,
        };
        let known = &mut all[place].1;
        known.extend(constant.filter(|value| !known.contains(value)));
    }
    all
}

/// Each constant, one other value, and none.
fn alternatives(constants: &[Value]) -> Vec<Option<Value>> {
    let mut values: Vec<Option<Value>> = constants.iter().cloned().map(Some).collect();
    values.push(Some("another value".into()));
    values.push(None);
    values
}

/// Every object with every value at a path; none leaves it out.
fn product(objects: &[Value], path: &[String], values: &[Option<Value>]) -> Vec<Value> {
    let with = |object: &Value, value: &Option<Value>| {
        let mut object = object.clone();
        if let Some(value) = value {
            put(&mut object, path, value.clone());
        }
        object
    };
    values.iter().flat_map(|value| objects.iter().map(move |object| with(object, value))).collect()
}

fn put(object: &mut Value, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *object = value;
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    if let Some(map) = object.as_object_mut() {
        put(map.entry(first.clone()).or_insert(Value::Null), rest, value);
    }
}
