//! The events of a cast up to a turn, as the sources of its prompt.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use materia_contract::body::{BlameKind, BlameSource, BlamedField};
use materia_contract::{
    Behavior, Event, EventBody, Mode, NodeId, Path, PromptLayer, Root, RunCreated, TurnCompleted,
    TurnStarted, Uuid,
};
use serde_json::{Value, json};

use super::tile::{Candidate, texts_of_value};

/// Everything that a prompt can be made of, as of the last event that was seen.
#[derive(Default)]
pub(super) struct History {
    pub(super) created: Option<Arc<RunCreated>>,
    turns: BTreeMap<u64, Seen>,
    payloads: HashMap<Uuid, Payload>,
    follow_ups: BTreeMap<u64, (u64, String)>,
    /// Messages of `turn.failed`.
    faults: BTreeMap<u64, String>,
    patches: Vec<Patch>,
    /// Loops that were entered: the name, and the last turn of the generator then.
    entered: BTreeMap<u64, (String, Option<u64>)>,
    /// The last turn that completed.
    last: Option<u64>,
    /// The event that set the global mode; the first one where none did.
    mode: Option<u64>,
}

/// A turn as far as it was seen.
struct Seen {
    socket: NodeId,
    visit: u32,
    /// The event with which it ended, and its output.
    ended: Option<(u64, Box<TurnCompleted>)>,
}

struct Payload {
    /// The event that sent it.
    event: u64,
    /// The turn whose output it carries.
    turn: Option<u64>,
    /// Its own text, where that is not the output of a turn.
    texts: Vec<String>,
    person: bool,
}

struct Patch {
    event: u64,
    turn: u64,
    target: String,
    value: Value,
}

/// Words of Materia itself.
pub(super) fn runtime(event: Option<u64>) -> BlameSource {
    source(BlameKind::Runtime, event)
}

fn source(kind: BlameKind, event: Option<u64>) -> BlameSource {
    let (turn, socket, visit, materia, file) = (None, None, None, None, None);
    BlameSource { kind, event, turn, socket, visit, materia, file }
}

impl History {
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is part of a prompt")]
    pub(super) fn see(&mut self, event: &Event) {
        let seq = event.seq;
        match &event.body {
            EventBody::RunCreated(created) => self.created = Some(Arc::clone(created)),
            EventBody::TurnStarted(started) => {
                let Some(socket) = event.node.clone() else { return };
                self.turns.insert(seq, Seen { socket, visit: started.visit, ended: None });
            }
            EventBody::TurnCompleted(data) => {
                self.last = Some(data.turn);
                if let Some(turn) = self.turns.get_mut(&data.turn) {
                    turn.ended = Some((seq, Box::new(TurnCompleted::clone(data))));
                }
            }
            EventBody::TurnFailed(data) => {
                self.faults.insert(seq, data.message.clone());
            }
            EventBody::HandoffSent(data) => {
                let mut texts = Vec::new();
                if let Some(offered) = &data.offered {
                    texts.extend(texts_of_value(&json!(offered)));
                }
                if let Some(mapped) = &data.mapped {
                    texts.extend(texts_of_value(&json!(**mapped)));
                }
                let person = data.offered.is_some() && data.turn.is_none();
                let payload = Payload { event: seq, turn: data.turn, texts, person };
                self.payloads.insert(data.payload_id, payload);
            }
            EventBody::MessageReceived(data) => self.said(data.payload_id, seq, &data.text),
            EventBody::TurnRequested(data) => {
                if let (Some(payload), Some(text)) = (data.payload_id, &data.message) {
                    self.said(payload, seq, text);
                }
            }
            EventBody::FollowUpCaptured(data) => {
                self.follow_ups.insert(seq, (data.turn, data.reason.clone()));
            }
            EventBody::StatePatched(data) => {
                let (event, turn) = (seq, data.turn);
                for (target, value) in data.merged.iter().chain(&data.assigned) {
                    let (target, value) = (target.clone(), value.clone());
                    self.patches.push(Patch { event, turn, target, value });
                }
            }
            EventBody::LoopEntered(data) => {
                let generator = self.generator(&data.region);
                self.entered.insert(seq, (data.region.clone(), generator));
            }
            EventBody::ModeChanged(data) if matches!(data.value, Mode::Global(_)) => {
                self.mode = Some(seq);
            }
            _ => {}
        }
    }

    fn said(&mut self, id: Uuid, event: u64, text: &str) {
        let texts = vec![text.to_owned()];
        self.payloads.insert(id, Payload { event, turn: None, texts, person: true });
    }

    /// The last completed turn of the generator of a loop.
    fn generator(&self, region: &str) -> Option<u64> {
        let plan = &self.created.as_ref()?.plan;
        let socket = plan.loops.get(region)?.consumes.as_ref()?;
        let made = |seen: &Seen| seen.socket == *socket && seen.ended.is_some();
        self.turns.iter().rev().find(|(_, seen)| made(seen)).map(|(turn, _)| *turn)
    }

    /// A turn with what it put out.
    fn turn(&self, turn: u64) -> Option<Candidate> {
        let seen = self.turns.get(&turn)?;
        let event = seen.ended.as_ref().map(|(event, _)| *event);
        let source = BlameSource {
            turn: Some(turn),
            socket: Some(seen.socket.clone()),
            visit: Some(seen.visit),
            ..source(BlameKind::Turn, event)
        };
        let mut candidate = Candidate { source, texts: Vec::new() };
        if let Some((_, ended)) = &seen.ended {
            candidate.texts =
                Candidate::new(candidate.source.clone(), ended.report.json_text()).texts;
            candidate.texts.push(ended.report.output.clone());
            if let Some(object) = ended.object_text() {
                let more = Candidate::new(candidate.source.clone(), object).texts;
                candidate.texts.extend(more);
            }
            candidate.texts.extend(ended.context.clone());
            candidate
                .texts
                .extend(ended.satisfied.map(|verdict| format!("\"satisfied\": {verdict}")));
            if let Some(items) = &ended.work_items {
                candidate.texts.extend(items.iter().flat_map(texts_of_value));
            }
            for one in &ended.report.artifacts {
                candidate.texts.push(one.content.clone());
                candidate.texts.push(format!("artifact://{}/{}", one.kind, one.name));
            }
        }
        Some(candidate)
    }

    fn payload(&self, id: Uuid) -> Vec<Candidate> {
        let Some(payload) = self.payloads.get(&id) else { return Vec::new() };
        let own = |kind, event| Candidate {
            source: source(kind, Some(event)),
            texts: payload.texts.clone(),
        };
        if payload.person {
            return vec![own(BlameKind::Person, payload.event)];
        }
        let mut found: Vec<Candidate> =
            payload.turn.and_then(|turn| self.turn(turn)).into_iter().collect();
        // A transform of the edge made these words of the output.
        if !payload.texts.is_empty() {
            found.push(own(BlameKind::Runtime, payload.event));
        }
        found
    }

    fn request(&self) -> Vec<Candidate> {
        let request = self.created.as_ref().map(|created| created.request.as_str());
        let one = |text| Candidate::new(source(BlameKind::Person, Some(1)), text);
        request.map(one).into_iter().collect()
    }

    fn materia(&self, socket: &NodeId) -> Vec<Candidate> {
        let node = self.created.as_ref().and_then(|created| created.plan.nodes.get(socket));
        let Some(node) = node else { return Vec::new() };
        let (file, text) = match &node.behavior {
            Behavior::Agent { prompt, origin, .. } => {
                (Some(origin.clone()).filter(|origin| !origin.is_empty()), prompt.clone())
            }
            Behavior::Utility { .. } => (None, String::new()),
        };
        let source = BlameSource {
            socket: Some(socket.clone()),
            materia: Some(node.materia.clone()),
            file,
            ..source(BlameKind::Materia, Some(1))
        };
        vec![Candidate { source, texts: vec![text] }]
    }

    /// The events that set a variable or a part of it, newest first.
    pub(super) fn variable(&self, path: &str) -> Vec<Candidate> {
        let touches = |patch: &&Patch| {
            let inside = |outer: &str, inner: &str| {
                inner
                    .strip_prefix(outer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            inside(&patch.target, path) || inside(path, &patch.target)
        };
        let set = |patch: &Patch| {
            let mut found = self.turn(patch.turn)?;
            found.source.event = Some(patch.event);
            found.texts = texts_of_value(&patch.value);
            Some(found)
        };
        let mut found: Vec<Candidate> =
            self.patches.iter().rev().filter(touches).filter_map(set).collect();
        let name = path.split('.').next().unwrap_or(path);
        let begun = self.created.as_ref().and_then(|created| created.state.get(name));
        let first = begun.map(|value| Candidate {
            source: source(BlameKind::Cast, Some(1)),
            texts: texts_of_value(value),
        });
        found.extend(first);
        found
    }

    fn path(&self, socket: &NodeId, path: &str) -> Vec<Candidate> {
        let Ok(path) = path.parse::<Path>() else { return Vec::new() };
        match path.root {
            Root::State => self.variable(&path.steps.join(".")),
            Root::Item => self.item(socket, ""),
            Root::LastJson | Root::LastOutput | Root::Output => {
                self.last.and_then(|turn| self.turn(turn)).into_iter().collect()
            }
        }
    }

    /// The list that an item is in. `origin` is that of its layer: the event that entered its loop, or a path.
    fn item(&self, socket: &NodeId, origin: &str) -> Vec<Candidate> {
        let node = self.created.as_ref().and_then(|created| created.plan.nodes.get(socket));
        let each = node.and_then(|node| node.foreach.as_ref()).map(|each| each.items.to_string());
        let entry = match events(origin).first() {
            Some(event) => self.entered.get(event),
            None if origin.is_empty() && each.is_none() => {
                let inside = |name: &String| node.is_some_and(|node| node.loops.contains(name));
                self.entered.values().rev().find(|(name, _)| inside(name))
            }
            None => None,
        };
        if let Some((region, generator)) = entry {
            if let Some(turn) = generator.and_then(|turn| self.turn(turn)) {
                return vec![turn];
            }
            let plan = self.created.as_ref().map(|created| &created.plan);
            let items = plan.and_then(|plan| plan.loops.get(region)?.items.as_ref());
            return items.map(|path| self.path(socket, &path.to_string())).unwrap_or_default();
        }
        let path = if origin.is_empty() { each.as_deref() } else { Some(origin) };
        // A list of the item around it has no event of its own.
        path.filter(|path| !path.starts_with("item"))
            .map(|path| self.path(socket, path))
            .unwrap_or_default()
    }

    fn follow_ups(&self, origin: &str) -> Vec<Candidate> {
        let one = |event: &u64| {
            let (turn, reason) = self.follow_ups.get(event)?;
            let mut found = self.turn(*turn)?;
            found.source.event = Some(*event);
            found.texts = vec![reason.clone()];
            Some(found)
        };
        events(origin).iter().filter_map(one).collect()
    }

    /// The sources that a layer of a prompt can have words of, likeliest first.
    pub(super) fn of_layer(
        &self,
        socket: &NodeId,
        layer: &PromptLayer,
        part: Option<&str>,
        started: &TurnStarted,
    ) -> Vec<Candidate> {
        let consumed = || started.consumed.iter().flat_map(|id| self.payload(*id)).collect();
        let own = |mut found: Vec<Candidate>, more: Vec<Candidate>| {
            found.extend(more);
            found
        };
        match (&*layer.name, part) {
            ("materia", _) => self.materia(socket),
            ("request", _) => self.request(),
            ("incoming" | "instruction", _) => {
                let id = layer.origin.strip_prefix("payload ");
                let id = id.and_then(|id| id.parse().ok());
                id.map(|id| self.payload(id)).unwrap_or_default()
            }
            ("item", _) => self.item(socket, &layer.origin),
            ("followUp", _) | ("tick", Some("openItems")) => self.follow_ups(&layer.origin),
            ("required", _) => self.path(socket, &layer.origin),
            ("repair", _) => {
                let event = events(&layer.origin).first().copied();
                let text = event.and_then(|event| self.faults.get(&event));
                let texts = text.map(|text| vec![text.clone()]).unwrap_or_default();
                vec![Candidate { source: runtime(event), texts }]
            }
            ("tick", Some("objective")) => {
                own(own(self.materia(socket), self.request()), self.item(socket, ""))
            }
            ("tick", Some("newArtifacts" | "status")) => consumed(),
            _ => Vec::new(),
        }
    }

    /// Who says the words of a layer that no source has.
    pub(super) fn frame(&self, socket: &NodeId, layer: &str) -> BlameSource {
        match layer {
            "mode" | "tick.mode" => runtime(Some(self.mode.unwrap_or(1))),
            "output" => BlameSource { socket: Some(socket.clone()), ..runtime(Some(1)) },
            _ => runtime(None),
        }
    }

    /// The fields of a utility's input with their sources.
    pub(super) fn of_input(
        &self,
        socket: &NodeId,
        started: &TurnStarted,
        input: &Value,
    ) -> Vec<BlamedField> {
        let mut fields = Vec::new();
        let mut add = |pointer: String, found: Vec<Candidate>| {
            let source = found.into_iter().next().map_or_else(|| runtime(None), |one| one.source);
            fields.push(BlamedField { pointer, source });
        };
        let node = self.created.as_ref().and_then(|created| created.plan.nodes.get(socket));
        let alias = node.and_then(|node| node.foreach.as_ref()).map(|each| each.alias.as_str());
        for (name, value) in input.as_object().into_iter().flatten() {
            let pointer = format!("/{}", step(name));
            match (name.as_str(), value) {
                ("request", _) => add(pointer, self.request()),
                ("params", _) => add(pointer, self.materia(socket)),
                ("item" | "itemLabel", value) if !value.is_null() => {
                    add(pointer, self.item(socket, ""));
                }
                ("state", Value::Object(variables)) if !variables.is_empty() => {
                    for name in variables.keys() {
                        let is_item =
                            alias.unwrap_or("workItem") == name && !input["item"].is_null();
                        let found =
                            if is_item { self.item(socket, "") } else { self.variable(name) };
                        add(format!("{pointer}/{}", step(name)), found);
                    }
                }
                ("inputs", Value::Array(inputs)) if !inputs.is_empty() => {
                    for (place, _) in inputs.iter().enumerate() {
                        let id = started.consumed.get(place);
                        let found = id.map(|id| self.of_payload(*id)).unwrap_or_default();
                        add(format!("{pointer}/{place}"), found);
                    }
                }
                _ => add(pointer, Vec::new()),
            }
        }
        fields
    }

    /// The sources of a payload; the request is one that no event sent.
    fn of_payload(&self, id: Uuid) -> Vec<Candidate> {
        let found = self.payload(id);
        if found.is_empty() && !self.payloads.contains_key(&id) { self.request() } else { found }
    }
}

/// The events that an origin names.
fn events(origin: &str) -> Vec<u64> {
    let parts = origin.split(", ").filter_map(|part| part.strip_prefix("event "));
    parts.filter_map(|number| number.parse().ok()).collect()
}

fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
