//! State for the texts of events: titles of work items, and the number of items of each loop.
//!
//! A fold over events. It knows a title if a generator produced it or a utility got it as input; otherwise it uses the
//! item's key.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::{Event, EventBody, NodeId, Plan, RunId, StatePatched, TurnStarted};
use materia_engine::{Journal, blocking};
use materia_kernel::Verdict;
use serde_json::Value;

use crate::Result;
use crate::text::sanitize::one_line;

/// How much of a title is kept.
const TITLE_CHARS_MAX: usize = 80;

/// State of a cast for the texts of its events.
#[derive(Debug, Default)]
pub struct Narrator {
    /// The loops around each node, outermost first; a `foreach` has items of its own.
    around: BTreeMap<NodeId, Vec<String>>,
    /// The generator that each loop consumes.
    consumes: BTreeMap<String, NodeId>,
    /// The titles that each generator last produced.
    produced: BTreeMap<NodeId, Vec<String>>,
    /// Items of each loop, since it was entered.
    lists: BTreeMap<String, List>,
    /// Nodes that have had a turn.
    visited: BTreeSet<NodeId>,
    /// The name of what runs at each node.
    materia: BTreeMap<NodeId, String>,
    verdict: Verdict,
}

#[derive(Debug, Default)]
struct List {
    titles: Vec<String>,
    count: Option<u32>,
}

impl Narrator {
    /// The story of a cast up to now.
    pub fn so_far(journal: &dyn Journal, id: &RunId) -> Result<Self> {
        Self::walk(journal, id, |_, _| {})
    }

    /// Walks through a cast; `tell` is called with each event and the state up to it.
    pub fn walk(
        journal: &dyn Journal,
        id: &RunId,
        mut tell: impl FnMut(&Self, &Event),
    ) -> Result<Self> {
        let mut story = Self::default();
        for record in blocking(journal).behind(id, 0) {
            // Loading the cast reports a damaged event; here it is skipped.
            if let Ok(event) = record?.event() {
                story.note(&event);
                tell(&story, &event);
            }
        }
        Ok(story)
    }

    /// Takes notice of an event.
    pub fn note(&mut self, event: &Event) {
        self.verdict.note(event);
        match (&event.body, &event.node) {
            (EventBody::RunCreated(data), _) => self.begin(&data.plan),
            (EventBody::TurnStarted(_), Some(node)) if !self.visited.contains(node) => {
                self.visited.insert(node.clone());
            }
            (EventBody::StatePatched(data), Some(node)) => self.patched(node, data),
            (EventBody::LoopEntered(data), _) => {
                let from = self.consumes.get(&data.region);
                let titles = from.and_then(|from| self.produced.get(from));
                let list = List { titles: titles.cloned().unwrap_or_default(), count: data.count };
                self.lists.insert(data.region.clone(), list);
            }
            (_, _) => {}
        }
    }

    /// A node for people: its id, and the name of what runs there.
    pub fn who(&self, node: &NodeId) -> String {
        match self.materia.get(node).filter(|name| name.as_str() != node.as_str()) {
            Some(name) => format!("{node} {name}"),
            None => node.to_string(),
        }
    }

    fn begin(&mut self, plan: &Plan) {
        let named = plan.nodes.iter();
        self.materia = named.map(|(id, node)| (id.clone(), short(&node.materia))).collect();
        let nodes = plan.nodes.iter().filter(|(_, node)| node.foreach.is_none());
        self.around = nodes.map(|(id, node)| (id.clone(), node.loops.clone())).collect();
        let loops = plan.loops.iter();
        self.consumes =
            loops.filter_map(|(id, region)| Some((id.clone(), region.consumes.clone()?))).collect();
    }

    /// A generator's list lands in `workItems`, whatever else it assigns.
    fn patched(&mut self, node: &NodeId, data: &StatePatched) {
        if !self.consumes.values().any(|generator| generator == node) {
            return;
        }
        if let Some(Value::Array(items)) = data.assigned.get("workItems") {
            let title = |item: &Value| item.get("title").and_then(Value::as_str).map(short);
            let titles = items.iter().map(|item| title(item).unwrap_or_default()).collect();
            self.produced.insert(node.clone(), titles);
        }
    }

    /// The verdict so far (D65).
    pub fn verdict(&self) -> Option<bool> {
        self.verdict.of_run()
    }

    /// How many items a loop has, if it iterates a list.
    pub fn count(&self, region: &str) -> Option<u32> {
        self.lists.get(region)?.count
    }

    /// Whether a node has had a turn, so that what goes there goes back.
    pub fn has_run(&self, node: &NodeId) -> bool {
        self.visited.contains(node)
    }

    /// An item for people: its key and, where it is known, its title.
    pub fn item(&self, node: Option<&NodeId>, key: &str) -> String {
        let title = node.and_then(|node| self.title(node, key));
        labelled(key, title)
    }

    /// The item of a turn, for people.
    pub fn item_of(&self, node: Option<&NodeId>, turn: &TurnStarted) -> Option<String> {
        let key = turn.item.as_deref()?;
        let given = turn.input.as_ref().and_then(|input| input.field("itemLabel")?.as_str());
        Some(match given {
            Some(label) => labelled(key, Some(&short(label))),
            None => self.item(node, key),
        })
    }

    fn title(&self, node: &NodeId, key: &str) -> Option<&str> {
        let place = key.strip_prefix("WI-")?.parse::<usize>().ok()?.checked_sub(1)?;
        let regions = self.around.get(node)?.iter().rev();
        let list = regions.filter_map(|region| self.lists.get(region)).find(|l| l.count.is_some());
        list?.titles.get(place).map(String::as_str)
    }
}

fn short(title: &str) -> String {
    one_line(title, TITLE_CHARS_MAX)
}

fn labelled(key: &str, title: Option<&str>) -> String {
    let key = short(key);
    match title.filter(|title| !title.is_empty() && *title != key) {
        Some(title) => format!("{key} {title}"),
        None => key,
    }
}

#[cfg(test)]
mod tests {
    use materia_contract::{Behavior, Budget, Limits, Loop, LoopEntered, Node};
    use serde_json::json;

    use super::*;

    fn story() -> Narrator {
        let agent = || Behavior::Agent {
            prompt: String::new(),
            origin: String::new(),
            tools: None,
            model: None,
            provider: None,
        };
        let node = |loops: &[&str]| Node {
            loops: loops.iter().map(|id| (*id).to_owned()).collect(),
            ..Node::new("M", agent())
        };
        let region = |from: &str| Loop {
            members: Vec::new(),
            consumes: Some(NodeId::new(from)),
            items: None,
            cursor: "workItemIndex".into(),
            exits: Vec::new(),
        };
        let nodes =
            [("plan", node(&[])), ("split", node(&["outer"])), ("do", node(&["outer", "inner"]))];
        let plan = Plan {
            loadout: "L".into(),
            entry: NodeId::new("plan"),
            nodes: nodes.into_iter().map(|(id, node)| (NodeId::new(id), node)).collect(),
            loops: [("outer", "plan"), ("inner", "split")]
                .map(|(id, from)| (id.to_owned(), region(from)))
                .into_iter()
                .collect(),
            limits: Limits::default(),
            budget: Budget::default(),
            doc_root: "docs".into(),
        };
        let mut story = Narrator::default();
        story.begin(&plan);
        story
    }

    fn tell(story: &mut Narrator, node: Option<&str>, body: impl Into<EventBody>) {
        let node = node.map(NodeId::new);
        story.note(&Event { seq: 1, ts: 1, wall: 1, node, body: body.into() });
    }

    fn produces(story: &mut Narrator, node: &str, titles: &[&str]) {
        let items: Vec<_> = titles.iter().map(|title| json!({ "title": title })).collect();
        let assigned = [("workItems".to_owned(), json!(items))].into_iter().collect();
        tell(story, Some(node), StatePatched { turn: 1, assigned, ..StatePatched::default() });
    }

    fn enters(story: &mut Narrator, region: &str, count: u32) {
        let region = region.to_owned();
        tell(story, None, LoopEntered { region, entry: 1, count: Some(count), items: None });
    }

    #[test]
    fn the_innermost_loop_names_the_item_and_a_loop_keeps_the_list_it_was_entered_with() {
        let mut story = story();
        let (split, work) = (NodeId::new("split"), NodeId::new("do"));
        assert_eq!(story.item(Some(&split), "WI-1"), "WI-1", "nothing is known yet");
        produces(&mut story, "plan", &["walls", "roof\u{1b}[2J"]);
        enters(&mut story, "outer", 2);
        assert_eq!(story.item(Some(&split), "WI-2"), "WI-2 roof␛[2J");
        produces(&mut story, "split", &["bricks"]);
        assert_eq!(story.item(Some(&work), "WI-1"), "WI-1 walls", "the inner one is not entered");
        enters(&mut story, "inner", 1);
        assert_eq!(story.item(Some(&work), "WI-1"), "WI-1 bricks");
        assert_eq!(story.count("inner"), Some(1));
        produces(&mut story, "plan", &["other"]);
        assert_eq!(story.item(Some(&split), "WI-1"), "WI-1 walls");
        assert_eq!(story.item(Some(&split), "WI-9"), "WI-9");
    }
}
