//! Work items, and the payloads that wait at a node.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{Consume, CursorAdvanced, Event, EventBody, Path, Uuid};
use serde_json::Value;

use crate::lookup::Scope;
use crate::owed::{Obligation, Paid, Starting};
use crate::parts::{ItemId, ListId, Waiting};
use crate::state::{Iteration, Verifier};
use crate::trail::Trail;
use crate::wiring::Wiring;
use crate::{Checked, hold};

impl Verifier {
    /// The scope of paths between turns.
    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope {
            output: None,
            pending: None,
            state: &self.variables,
            item: None,
            last_output: self.last.text.as_deref(),
            last_json: self.last.json.as_deref(),
        }
    }

    /// The list at a path.
    pub(crate) fn list_at(&self, path: &Path) -> Option<Vec<Value>> {
        let value = self.scope().get(path)?;
        value.as_array().cloned()
    }

    /// The item that a node works on: its own element, otherwise the item of the innermost loop.
    pub(crate) fn item(&self, node: usize) -> Option<(ItemId, &Value)> {
        let chart = self.chart.as_deref()?;
        self.element(node).or_else(|| self.loop_item(chart, node))
    }

    pub(crate) fn element(&self, node: usize) -> Option<(ItemId, &Value)> {
        let at = &self.nodes[node];
        let iteration = at.foreach.as_ref()?;
        let value = iteration.items.get(iteration.index as usize)?;
        let list = ListId::Foreach(node);
        Some((ItemId { list, entry: at.iterations, index: iteration.index }, value))
    }

    pub(crate) fn loop_item(&self, chart: &Wiring, node: usize) -> Option<(ItemId, &Value)> {
        chart.nodes[node].loops.iter().rev().find_map(|region| {
            let at = &self.loops[*region];
            let value = at.items.as_ref()?.get(at.index as usize)?;
            let list = ListId::Loop(*region);
            Some((ItemId { list, entry: at.entry, index: at.index }, value))
        })
    }

    /// Everything that waits at a node and could be taken, oldest first (X22).
    pub(crate) fn eligible(&self, chart: &Wiring, node: usize) -> Vec<&Waiting> {
        let late = chart.nodes[node].late.iter().map(|way| &self.ways[*way]);
        let quiet = late.filter(|way| way.quiet_until.is_none());
        let attached = self.nodes[node].attached.iter();
        let mut found: Vec<&Waiting> = attached.chain(quiet.flat_map(|way| &way.waiting)).collect();
        found.sort_by_key(|one| (one.ts, one.id));
        found
    }

    /// The inputs that a turn of a node would take now. A tick is taken in addition.
    pub(crate) fn takes(&self, chart: &Wiring, node: usize) -> Vec<&Waiting> {
        let mut found = self.eligible(chart, node);
        if chart.node(node).consume == Consume::One {
            let mut first = true;
            found.retain(|one| one.tick || std::mem::take(&mut first));
        }
        found
    }

    /// The oldest payload that a turn of a node could take now.
    pub(crate) fn oldest_input(&self, chart: &Wiring, node: usize) -> Option<(Micros, Uuid)> {
        let late = chart.nodes[node].late.iter().map(|way| &self.ways[*way]);
        let quiet = late.filter(|way| way.quiet_until.is_none());
        let fronts = quiet.filter_map(|way| way.waiting.front());
        let all = self.nodes[node].attached.front().into_iter().chain(fronts);
        all.map(|one| (one.ts, one.id)).min()
    }

    /// Notes whether anything waits at a node.
    pub(crate) fn looks_at(&mut self, chart: &Wiring, node: usize) {
        let mut late = chart.nodes[node].late.iter();
        let waits = !self.nodes[node].attached.is_empty()
            || late.any(|way| !self.ways[*way].waiting.is_empty());
        if waits {
            self.ready.insert(node);
        } else {
            self.ready.remove(&node);
        }
    }

    /// A payload that crossed no edge is attached.
    pub(crate) fn attached(
        &mut self,
        chart: &Wiring,
        node: usize,
        payload: Waiting,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let what = "the delivery of what has just arrived";
        let Some(event) = event else { return Err(self.due(what, None)) };
        let EventBody::PayloadDelivered(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        let way = data.edge_id.as_ref();
        let right = self.here(chart, event)? == node
            && data.payload_id == payload.id
            && way == payload.way.map(|way| chart.way_id(way));
        hold!(self, right, "another payload, or another socket, is due to be delivered");
        self.attach(chart, node, payload);
        Ok(Paid::Yes)
    }

    pub(crate) fn attach(&mut self, chart: &Wiring, node: usize, payload: Waiting) {
        self.nodes[node].attached.push_back(payload);
        self.looks_at(chart, node);
    }

    /// A payload that waited on its edge is attached because a turn takes it.
    pub(crate) fn attach_late(
        &mut self,
        chart: &Wiring,
        node: usize,
        way: usize,
        id: Uuid,
        starting: &Starting,
    ) -> Checked {
        let on = &mut self.ways[way];
        let place = on.waiting.iter().position(|one| one.id == id);
        let quiet = on.quiet_until.is_none();
        let payload = place.filter(|_| quiet).and_then(|place| on.waiting.remove(place));
        let Some(payload) = payload else {
            return Err(self.objection("that payload does not wait there, or not yet quietly"));
        };
        let takes = starting.takes.iter().any(|(_, takes)| *takes == id);
        hold!(self, takes, "a payload is attached that the turn does not take");
        self.attach(chart, node, payload);
        Ok(())
    }

    /// A turn takes an attached payload.
    pub(crate) fn consume(&mut self, node: usize, id: Uuid) -> Checked<Waiting> {
        let attached = &mut self.nodes[node].attached;
        let place = attached.iter().position(|one| one.id == id);
        let Some(payload) = place.and_then(|place| attached.remove(place)) else {
            return Err(self.objection("it is consumed without having been delivered"));
        };
        self.nodes[node].tick_owed &= !payload.tick;
        if let Some(way) = payload.way {
            self.ways[way].pending = self.ways[way].pending.saturating_sub(1);
        }
        let chart = self.chart()?;
        self.looks_at(&chart, node);
        Ok(payload)
    }

    /// A `foreach` freezes its list and stands at its first element.
    pub(crate) fn enters_list(
        &mut self,
        chart: &Wiring,
        node: usize,
        event: &Event,
        data: &CursorAdvanced,
        manual: bool,
    ) -> Checked {
        let Some(foreach) = &chart.node(node).foreach else {
            return Err(self.objection("the socket has no `foreach`"));
        };
        hold!(self, self.here(chart, event)? == node, "the cursor is one of another socket");
        let list = self.list_at(&foreach.items);
        let right = list.is_some()
            && data.items.as_deref() == list.as_ref()
            && data.cursor == foreach.cursor
            && data.region.is_none();
        hold!(self, right, "it is not the list that `{}` names", foreach.items);
        let count = list.map_or(0, |list| list.len());
        let stands =
            data.index == 0 && data.count as usize == count && data.exhausted == (count == 0);
        hold!(self, stands, "a `foreach` over {count} elements begins at its first");
        if manual {
            let place = self.requests.iter().position(|(asked, _)| *asked == node);
            place.and_then(|place| self.requests.remove(place));
        }
        let at = &mut self.nodes[node];
        at.iterations = at.iterations.saturating_add(1);
        if count == 0 {
            self.crossing = Trail::default();
            self.passed = Some(node);
            self.owed.push(Obligation::Leave { node, turn: None, verdict: None, element: false });
            return Ok(());
        }
        let (items, consumed) = (data.items.clone().unwrap_or_default(), Vec::new());
        let trail = Trail::default();
        at.foreach =
            Some(Iteration { items: Arc::clone(&items), index: 0, consumed, trail, manual });
        self.iterating.insert(node);
        Ok(())
    }
}
