//! The prompt of a turn with the source of every byte: a materia, a person, an earlier turn, or Materia itself.

mod history;
mod text;
mod tile;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use materia_contract::body::{
    BlameBody, BlameKind, BlameSource, BlamedSpan, BlamedTurn, BlamedVariable,
};
use materia_contract::{EventBody, NodeId, PromptLayer, TurnStarted};
use materia_engine::{Unfolding, blocking};
use serde_json::Value;

use crate::project::{Found, Project};
use crate::text::sanitize;
use crate::{Failure, Result};
use history::{History, runtime};
pub use text::told;
use tile::tile;

/// How many turns behind a variable are told.
const TURNS_MAX: usize = 1_000;

/// Traces the prompt of the last attempt at a visit. Without a visit, the last one is meant.
pub fn turn(
    project: &Project,
    found: &Found,
    socket: &NodeId,
    visit: Option<u32>,
) -> Result<BlameBody> {
    let mut last: Option<BlamedTurn> = None;
    let history = read(project, found, |history, seq, node, started, input| {
        if node == socket && visit.is_none_or(|visit| visit == started.visit) {
            last = Some(traced(history, seq, node, started, input));
        }
    })?;
    let plan = history.created.as_ref().map(|created| &created.plan);
    let known = plan.is_some_and(|plan| plan.nodes.contains_key(socket));
    let Some(turn) = last else {
        let name = sanitize::one_line(socket.as_str(), 80);
        return Err(Failure::resolution(match visit {
            _ if !known => format!("cast `{}` has no socket `{name}`", found.id),
            Some(visit) => format!("`{name}` has no visit {visit}"),
            None => format!("`{name}` had no turn"),
        }));
    };
    Ok(BlameBody { cast_id: found.id.clone(), variable: None, turns: vec![turn] })
}

/// Traces a variable to the turn that set it, and that turn to the turns that its prompt comes from.
pub fn variable(project: &Project, found: &Found, path: &str) -> Result<BlameBody> {
    let path = path.strip_prefix("state.").unwrap_or(path);
    let mut turns: BTreeMap<u64, BlamedTurn> = BTreeMap::new();
    let history = read(project, found, |history, seq, node, started, input| {
        let turn = traced(history, seq, node, started, input);
        let short = BlamedTurn { prompt: None, spans: Vec::new(), fields: Vec::new(), ..turn };
        turns.insert(seq, short);
    })?;
    let report = materia_engine::report(
        found.journal(),
        &found.id,
        &project.folders(&found.root, &found.id),
    )?;
    let state = Value::Object(report.state);
    let value = path.split('.').try_fold(&state, |value, step| {
        let element = || value.as_array()?.get(step.parse::<usize>().ok()?);
        value.get(step).or_else(element)
    });
    let set = history.variable(path);
    let (Some(value), Some(first)) = (value, set.first()) else {
        let names: Vec<&str> =
            state.as_object().into_iter().flatten().map(|(it, _)| it.as_str()).collect();
        let has = match &*names {
            [] => "it has none".to_owned(),
            names => format!("it has: {}", sanitize::one_line(&names.join(", "), 400)),
        };
        return Err(Failure::resolution(format!(
            "cast `{}` has no variable `{}`; {has}",
            found.id,
            sanitize::one_line(path, 80),
        )));
    };
    let variable = BlamedVariable {
        path: path.to_owned(),
        value: value.clone(),
        source: first.source.clone(),
    };
    let mut open: BTreeSet<u64> = first.source.turn.into_iter().collect();
    let mut behind = Vec::new();
    // Sources are always older than the turn, so the newest open one is the next.
    while let Some(turn) = open.pop_last().and_then(|turn| turns.remove(&turn)) {
        open.extend(turn.sources.iter().filter_map(|source| source.turn));
        behind.push(turn);
        if behind.len() == TURNS_MAX {
            break;
        }
    }
    Ok(BlameBody { cast_id: found.id.clone(), variable: Some(variable), turns: behind })
}

/// Reads a cast and calls `each` for every turn, with the events before it.
fn read(
    project: &Project,
    found: &Found,
    mut each: impl FnMut(&History, u64, &NodeId, &TurnStarted, Option<&Value>),
) -> Result<History> {
    let (journal, id) = (found.journal(), &found.id);
    let mut unfolding = Unfolding::new(id.clone());
    let mut history = History::default();
    for record in blocking(journal).behind(id, 0) {
        let event = record?.event()?;
        let input = unfolding.see(&event);
        history.see(&event);
        if let EventBody::RunCreated(created) = &event.body {
            let whole = project.folders(&found.root, id).created(created);
            history.created = Some(Arc::new(whole));
        }
        if let (EventBody::TurnStarted(started), Some(node)) = (&event.body, &event.node) {
            each(&history, event.seq, node, started, input.as_deref());
        }
    }
    Ok(history)
}

/// A turn with the sources of its prompt or input.
fn traced(
    history: &History,
    seq: u64,
    socket: &NodeId,
    started: &TurnStarted,
    input: Option<&Value>,
) -> BlamedTurn {
    let prompt = started.prompt.clone();
    let spans = prompt.as_deref().map(|text| spans(history, socket, started, text));
    let spans = spans.unwrap_or_default();
    let fields = input.map(|input| history.of_input(socket, started, input)).unwrap_or_default();
    let mut sources: Vec<BlameSource> = Vec::new();
    let all = spans.iter().map(|span| &span.source).chain(fields.iter().map(|field| &field.source));
    for source in all.filter(|source| source.kind != BlameKind::Runtime) {
        if !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    let (turn, socket) = (seq, socket.clone());
    let (visit, attempt) = (started.visit, started.attempt);
    BlamedTurn { turn, socket, visit, attempt, prompt, spans, fields, sources }
}

/// The spans of a prompt, end to end.
fn spans(
    history: &History,
    socket: &NodeId,
    started: &TurnStarted,
    prompt: &str,
) -> Vec<BlamedSpan> {
    let mut spans = Spans { history, socket, started, prompt, at: 0, found: Vec::new() };
    for layer in &started.layers {
        spans.layer(layer);
    }
    // Old journals have prompts without layers.
    spans.say(prompt.len(), "prompt", &runtime(None));
    spans.found
}

struct Spans<'a> {
    history: &'a History,
    socket: &'a NodeId,
    started: &'a TurnStarted,
    prompt: &'a str,
    at: usize,
    found: Vec<BlamedSpan>,
}

impl Spans<'_> {
    /// Everything up to a byte has this source.
    fn say(&mut self, end: usize, layer: &str, source: &BlameSource) {
        let (start, end) = (self.at, end.min(self.prompt.len()));
        if end <= start {
            return;
        }
        self.at = end;
        match self.found.last_mut() {
            Some(last)
                if last.layer == layer
                    && last.source == *source
                    && source.kind == BlameKind::Runtime =>
            {
                last.end = end;
            }
            _ => {
                let (layer, source) = (layer.to_owned(), source.clone());
                self.found.push(BlamedSpan { start, end, layer, source });
            }
        }
    }

    fn layer(&mut self, layer: &PromptLayer) {
        let frame = self.history.frame(self.socket, &layer.name);
        let whole = self.prompt.get(self.at..layer.end).unwrap_or_default();
        let text = whole.trim_start_matches('\n');
        let mut end = layer.end - text.len();
        if layer.name == "tick" && text.contains("\n{\n") {
            self.say(end, &layer.name, &frame);
            return self.tick(layer);
        }
        if layer.name != "materia" && text.starts_with("# ") {
            let heading = text.find('\n').map_or(text.len(), |at| at + 1);
            // The name of a work item stands in its heading.
            let named = text[..heading].find(": ").filter(|_| layer.name == "item");
            end += named.map_or(heading, |at| at + 2);
        }
        self.say(end, &layer.name, &frame);
        self.part(layer, None, layer.end, &layer.name, false);
    }

    /// Traces up to a byte by the sources of a layer or of a part of a tick.
    fn part(
        &mut self,
        layer: &PromptLayer,
        part: Option<&str>,
        end: usize,
        name: &str,
        escaped: bool,
    ) {
        let mut candidates = self.history.of_layer(self.socket, layer, part, self.started);
        if escaped {
            candidates = candidates.iter().map(tile::Candidate::escaped).collect();
        }
        let frame = self.history.frame(self.socket, name);
        let text = self.prompt.get(self.at..end).unwrap_or_default();
        for (length, whose) in tile(text, &candidates) {
            let source = whose.map_or(&frame, |place| &candidates[place].source).clone();
            self.say(self.at + length, name, &source);
        }
    }

    /// Traces a tick part by part: each of its fields has sources of its own.
    fn tick(&mut self, layer: &PromptLayer) {
        let text = self.prompt.get(self.at..layer.end).unwrap_or_default();
        let mut field = String::new();
        for line in text.split_inclusive('\n') {
            let end = self.at + line.len();
            let trimmed = line.trim_start();
            let (depth, key) = (line.len() - trimmed.len(), trimmed.strip_prefix('"'));
            let key = key.and_then(|rest| rest.split_once("\":")).filter(|_| depth <= 4);
            let inside_status = field == "status" && depth > 4;
            if let Some((key, _)) = key.filter(|_| !inside_status) {
                field = key.to_owned();
                let name = format!("tick.{field}");
                let value = self.at + depth + key.len() + 4;
                let frame = self.history.frame(self.socket, &name);
                self.say(value.min(end), &name, &frame);
            }
            let name = if field.is_empty() { "tick".to_owned() } else { format!("tick.{field}") };
            let part = Some(field.as_str());
            self.part(layer, part, end, &name, field != "status");
        }
    }
}
