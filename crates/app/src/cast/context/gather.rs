//! Walks through a cast and keeps its newest handoffs and texts.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use materia_contract::{Behavior, Event, EventBody, Node, NodeId, TurnCompleted, TurnStarted};
use materia_engine::views::TurnEnd;
use serde_json::{Map, Value};

use super::files;
use crate::Result;
use crate::project::Found;
use crate::text::narrator::Narrator;

/// How many handoffs and texts are kept on the way; more never fit.
const KEPT_MAX: usize = 64;

/// Context of a cast for the next one, oldest entry first.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) handoffs: VecDeque<Handoff>,
    pub(super) handoff_count: usize,
    pub(super) texts: VecDeque<Text>,
    pub(super) text_count: usize,
    /// Output of its last completed turn.
    pub(super) summary: String,
}

/// Handoff of one turn.
pub(super) struct Handoff {
    pub(super) socket: NodeId,
    pub(super) materia: String,
    pub(super) visit: u32,
    pub(super) item: Option<String>,
    pub(super) satisfied: Option<bool>,
    pub(super) context: Option<String>,
    pub(super) work_items: Option<Vec<Value>>,
}

/// A text that a turn left, under the path of its file in the cast's folder.
pub(super) struct Text {
    pub(super) path: String,
    pub(super) socket: NodeId,
    pub(super) content: String,
}

/// Gathers the results of a cast; `folder` is the folder of the cast.
pub(super) fn gather(found: &Found, folder: &Path) -> Result<Gathered> {
    let mut walk = Walk::new(folder);
    Narrator::walk(found.journal(), &found.id, |story, event| walk.note(story, event))?;
    Ok(walk.gathered)
}

struct Walk<'a> {
    folder: &'a Path,
    nodes: HashMap<NodeId, Node>,
    /// The item of each turn under way.
    items: HashMap<u64, String>,
    gathered: Gathered,
}

impl<'a> Walk<'a> {
    fn new(folder: &'a Path) -> Self {
        Self { folder, nodes: HashMap::new(), items: HashMap::new(), gathered: Gathered::default() }
    }

    fn note(&mut self, story: &Narrator, event: &Event) {
        match (&event.body, &event.node) {
            (EventBody::RunCreated(created), _) => {
                let nodes = created.plan.nodes.iter();
                self.nodes = nodes.map(|(id, node)| (id.clone(), node.clone())).collect();
            }
            (EventBody::TurnStarted(data), Some(node)) => self.started(story, event, node, data),
            (EventBody::TurnCompleted(data), Some(node)) => self.completed(node, data),
            (body, _) => {
                if let Some(end) = TurnEnd::of(body) {
                    self.items.remove(&end.turn);
                }
            }
        }
    }

    fn started(&mut self, story: &Narrator, event: &Event, node: &NodeId, data: &TurnStarted) {
        if let Some(item) = story.item_of(Some(node), data) {
            self.items.insert(event.seq, item);
        }
    }

    fn completed(&mut self, id: &NodeId, data: &TurnCompleted) {
        let item = self.items.remove(&data.turn);
        let Some(node) = self.nodes.get(id) else { return };
        let output = data.report.output.as_str();
        let stem = format!("sockets/{id}/{}-{}", data.visit, data.attempt);
        if let Some(object) = object(node, data.report.json_text()) {
            let handoff = Handoff::of(id, node, data, item, &object);
            handoff.context.as_deref().unwrap_or(output).clone_into(&mut self.gathered.summary);
            self.gathered.handoff(handoff);
        } else {
            output.clone_into(&mut self.gathered.summary);
            let kind = match node.behavior {
                Behavior::Agent { .. } => "output.txt",
                Behavior::Utility { .. } => "stdout",
            };
            let (path, socket) = (format!("{stem}.{kind}"), id.clone());
            self.gathered.text(Text { path, socket, content: output.to_owned() });
        }
        for (path, content) in files::beside(self.folder, &stem) {
            self.gathered.text(Text { path, socket: id.clone(), content });
        }
    }
}

impl Handoff {
    fn of(
        id: &NodeId,
        node: &Node,
        data: &TurnCompleted,
        item: Option<String>,
        object: &Map<String, Value>,
    ) -> Self {
        Self {
            socket: id.clone(),
            materia: node.materia.clone(),
            visit: data.visit,
            item,
            satisfied: data.satisfied,
            context: object.get("context").and_then(Value::as_str).map(str::to_owned),
            work_items: object.get("workItems").and_then(Value::as_array).cloned(),
        }
    }

    fn says_something(&self) -> bool {
        self.satisfied.is_some() || self.context.is_some() || self.work_items.is_some()
    }
}

impl Gathered {
    fn handoff(&mut self, handoff: Handoff) {
        if handoff.says_something() {
            self.handoff_count += 1;
            push(&mut self.handoffs, handoff);
        }
    }

    fn text(&mut self, text: Text) {
        if !text.content.trim().is_empty() {
            self.text_count += 1;
            push(&mut self.texts, text);
        }
    }
}

fn push<T>(list: &mut VecDeque<T>, one: T) {
    if list.len() == KEPT_MAX {
        list.pop_front();
    }
    list.push_back(one);
}

/// The object that a turn put out, where its node reads one; found by the rule for its kind.
fn object(node: &Node, output: &str) -> Option<Map<String, Value>> {
    let (start, end) = materia_kernel::object_place(node, output)?;
    serde_json::from_str(output[start..end].trim()).ok()
}
