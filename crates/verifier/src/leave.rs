//! End of a node's turn: its list moves on, then the loop around it, then its edges are taken (G12).

use materia_contract::{
    Condition, CursorAdvanced, END, ErrorCode, Event, EventBody, FollowUpCaptured, Routing,
};
use serde_json::Value;

use crate::lookup::Scope;
use crate::owed::{Exit, Obligation, Outcome, Paid};
use crate::shorten::{is_reason_of, item_key};
use crate::state::{Traversed, Verifier};
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// Whether a verdict meets a condition (G4).
pub(crate) fn meets(when: Condition, verdict: Option<bool>) -> bool {
    match when {
        Condition::Always => true,
        Condition::Satisfied => verdict == Some(true),
        Condition::NotSatisfied => verdict == Some(false),
    }
}

impl Verifier {
    /// The list of a node moves on, then the loop around it.
    pub(crate) fn leaves(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        element: bool,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let node = result.node;
        if element && self.nodes[node].foreach.is_some() {
            return self.next_element(chart, result, event);
        }
        let moves = chart.node(node).advance.is_some_and(|when| meets(when, result.verdict));
        let region = chart.nodes[node].loops.last().copied().filter(|_| moves);
        if let Some(region) = region {
            let late = self.loops[region].items.is_none().then(|| self.list_of(chart, region));
            let late = late.flatten();
            let known = self.loops[region].items.as_ref().map(|items| items.len());
            if let Some(count) = known.or(late.as_ref().map(Vec::len)) {
                return self.next_item(chart, result, region, count, late.as_ref(), event);
            }
        }
        self.owed.push(Obligation::Routes { result, ways: None, from: None });
        Ok(Paid::Void)
    }

    fn next_element(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let node = result.node;
        let cursor = chart.node(node).foreach.as_ref().map_or("", |it| it.cursor.as_str());
        let (index, count) = self.nodes[node]
            .foreach
            .as_ref()
            .map_or((0, 0), |it| (it.index.saturating_add(1), it.items.len()));
        let exhausted = index as usize >= count;
        let data = self.cursor(chart, node, event)?;
        let right = data.cursor == cursor
            && data.region.is_none()
            && data.items.is_none()
            && (data.index, data.count as usize, data.exhausted) == (index, count, exhausted);
        hold!(self, right, "the `foreach` stands at element {index} of {count} now");
        if exhausted {
            self.nodes[node].foreach = None;
            self.iterating.remove(&node);
            let Outcome { turn, verdict, .. } = result;
            self.owed.push(Obligation::Leave { node, turn, verdict, element: false });
        } else {
            if let Some(iteration) = &mut self.nodes[node].foreach {
                iteration.index = index;
            }
            self.iterating.insert(node);
        }
        Ok(Paid::Yes)
    }

    pub(crate) fn next_item(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        region: usize,
        count: usize,
        late: Option<&Vec<Value>>,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let (name, plan) = chart.plan.loops.get_index(region).expect("loops go by place");
        let index = self.loops[region].index.saturating_add(1);
        let exhausted = index as usize >= count;
        let data = self.cursor(chart, result.node, event)?;
        let right = data.cursor == plan.cursor
            && data.region.as_ref() == Some(name)
            && data.items.as_deref() == late
            && (data.index, data.count as usize, data.exhausted) == (index, count, exhausted);
        hold!(self, right, "the cursor of loop `{name}` stands at {index} of {count} now");
        let items = data.items.clone();
        let at = &mut self.loops[region];
        at.items = at.items.take().or(items);
        at.index = index;
        self.crossing.moved(region);
        if exhausted {
            let (by, exited) = (Some(result.node), vec![region]);
            let exit = Exit { region, by, via: None, result, exited };
            self.owed.push(Obligation::Exit { exit, said: false });
        } else {
            self.owed.push(Obligation::Routes { result, ways: None, from: None });
        }
        Ok(Paid::Yes)
    }

    fn cursor<'a>(
        &self,
        chart: &Wiring,
        node: usize,
        event: Option<&'a Event>,
    ) -> Checked<&'a CursorAdvanced> {
        let what = "a cursor that moves on";
        let Some(event) = event else { return Err(self.due(what, None)) };
        let EventBody::CursorAdvanced(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        hold!(self, self.here(chart, event)? == node, "the cursor is one of another socket");
        Ok(data)
    }

    /// The ways out are taken in order: the first that matches, or every one (G3).
    pub(crate) fn routes(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        ways: Option<Vec<usize>>,
        from: Option<usize>,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let Outcome { node, turn, verdict } = result;
        let first = ways.is_none();
        // Last one first, so that the next is popped.
        let mut ways = ways.unwrap_or_else(|| self.matching(chart, result, from));
        let Some(way) = ways.pop() else {
            if !first || chart.node(node).routing == Routing::All {
                return Ok(Paid::Void);
            }
            self.selects(chart, result, None, END, event)?;
            return Ok(Paid::Yes);
        };
        if let Some(code) = self.forbidden(chart, way, result) {
            self.owed.push(Obligation::Failing { code, socket: node, way: Some(way) });
            return Ok(Paid::Void);
        }
        let to = chart.ways[way].to;
        self.selects(chart, result, Some(way), chart.word(way), event)?;
        if chart.ways[way].fails {
            self.leads_to_fail(result);
            return Ok(Paid::Yes);
        }
        self.owed.push(Obligation::Routes { result, ways: Some(ways), from: None });
        let Some(to) = to else { return Ok(Paid::Yes) };
        self.owed.push(Obligation::Arrive { result, way, to, exited: Vec::new(), enters: None });
        let when = chart.edge(way).map(|edge| edge.when);
        if (when, verdict, turn.is_some()) == (Some(Condition::NotSatisfied), Some(false), true) {
            self.owed.push(Obligation::FollowUp { result, way });
        }
        Ok(Paid::Yes)
    }

    /// The ways that match, the last one first.
    fn matching(&self, chart: &Wiring, result: Outcome, from: Option<usize>) -> Vec<usize> {
        let own = result.turn.is_some() && self.last.own_json;
        let output = self.last.json.as_deref().filter(|_| own);
        let item = self.item(result.node).map(|(_, value)| value);
        let scope = Scope { output, item, ..self.scope() };
        let takes = |way: &&usize| {
            chart.edge(**way).is_some_and(|edge| {
                meets(edge.when, result.verdict)
                    && edge.guard.as_ref().is_none_or(|guard| scope.holds(guard))
            })
        };
        let matching = chart.nodes[result.node].ways.iter().filter(takes).copied();
        let most = match chart.node(result.node).routing {
            Routing::First => 1,
            Routing::All => usize::MAX,
        };
        let matching = matching.take(most);
        let mut ways: Vec<usize> =
            matching.skip_while(|way| from.is_some_and(|from| *way != from)).collect();
        ways.reverse();
        ways
    }

    /// Why a way may not be taken once more: its own bound (D21), or circles (D22).
    fn forbidden(&self, chart: &Wiring, way: usize, result: Outcome) -> Option<ErrorCode> {
        let bound = chart.edge(way).and_then(|edge| edge.max_traversals);
        if let Some(bound) = bound {
            let Traversed { item, count, allowance } = &self.ways[way].traversed;
            let spent = *item == self.last.item && *count >= bound.saturating_add(*allowance);
            // A bound of nothing is spent at once.
            if spent || bound == 0 {
                return Some(ErrorCode::EdgeExhausted);
            }
        }
        if bound.is_none() && !counts(chart, way, result) {
            return None;
        }
        self.circles(chart, way).then_some(ErrorCode::NoAdvance)
    }

    /// Whether a way leads to a node that may not be entered once more without progress.
    pub(crate) fn circles(&self, chart: &Wiring, way: usize) -> bool {
        let Some(to) = chart.ways[way].to else { return false };
        let step = chart.coming(to, Some(way));
        let bound = chart.edge(way).and_then(|edge| edge.max_traversals);
        self.crossing.is_spent(step, bound, chart.plan.limits.max_no_advance_cycles)
    }

    /// A turn that failed for good leads on (D61).
    pub(crate) fn leads_on(
        &mut self,
        chart: &Wiring,
        node: usize,
        turn: u64,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let result = Outcome { node, turn: Some(turn), verdict: None };
        let Some(way) = chart.nodes[node].on_failure else { return Ok(Paid::Void) };
        if let Some(code) = self.forbidden(chart, way, result) {
            self.owed.push(Obligation::Failing { code, socket: node, way: Some(way) });
            return Ok(Paid::Void);
        }
        self.selects(chart, result, Some(way), chart.word(way), event)?;
        if chart.ways[way].fails {
            self.owed.push(Obligation::GivesUp { result });
            return Ok(Paid::Yes);
        }
        if let Some(place) = self.held.iter().position(|held| held.started == turn) {
            self.held.remove(place);
            self.nodes[node].held = self.nodes[node].held.saturating_sub(1);
        }
        // A `foreach` is left with it.
        self.nodes[node].foreach = None;
        self.iterating.remove(&node);
        let Some(to) = chart.ways[way].to else { return Ok(Paid::Yes) };
        self.owed.push(Obligation::Arrive { result, way, to, exited: Vec::new(), enters: None });
        self.owed.push(Obligation::FollowUp { result, way });
        Ok(Paid::Yes)
    }

    /// A way is chosen: the one that is due, leading where the plan says.
    pub(crate) fn selects(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        way: Option<usize>,
        to: &str,
        event: Option<&Event>,
    ) -> Checked {
        let id = way.map(|way| chart.way_id(way));
        let named = || id.map_or_else(|| "no edge".to_owned(), |id| format!("edge `{id}`"));
        let Some(event) = event else { return Err(self.due(&format!("taking {}", named()), None)) };
        let EventBody::RouteSelected(data) = &event.body else {
            return Err(self.due(&format!("taking {}", named()), Some(event)));
        };
        hold!(self, self.here(chart, event)? == result.node, "another socket is being left");
        hold!(self, data.edge_id.as_ref() == id, "what matches is {}", named());
        hold!(self, data.to == to, "{} leads to `{to}`", named());
        hold!(self, data.turn == result.turn, "another turn is being routed");
        hold!(self, data.satisfied == result.verdict, "the verdict was another");
        self.crossed(chart, result, way);
        Ok(())
    }

    /// Counts a way that was taken.
    fn crossed(&mut self, chart: &Wiring, result: Outcome, way: Option<usize>) {
        let Some(way) = way else { return };
        let bound = chart.edge(way).and_then(|edge| edge.max_traversals);
        if bound.is_some() {
            let item = self.last.item;
            let traversed = &mut self.ways[way].traversed;
            if traversed.item != item {
                *traversed = Traversed { item, ..Traversed::default() };
            }
            traversed.count = traversed.count.saturating_add(1);
        }
        if let (true, Some(to)) = (counts(chart, way, result), chart.ways[way].to) {
            self.crossing.enter(chart.coming(to, Some(way)), bound);
        }
    }

    /// Why work is sent back: the `context`, or the beginning of the output (H13).
    pub(crate) fn follow_up(
        &self,
        chart: &Wiring,
        result: Outcome,
        way: usize,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let what = "the reason for which work is sent back";
        let Some(event) = event else { return Err(self.due(what, None)) };
        let EventBody::FollowUpCaptured(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        let FollowUpCaptured { turn, target, item, reason } = data;
        let to = chart.ways[way].to.map(|to| chart.name(to));
        let key = chart.ways[way].to.and_then(|to| self.item_there(chart, result.node, to));
        let right = self.here(chart, event)? == result.node
            && Some(*turn) == result.turn
            && Some(target) == to
            && *item == key;
        hold!(
            self,
            right,
            "work is sent back by another turn, to another socket or for another item"
        );
        let json = self.last.json.as_ref();
        let context = json.and_then(|json| json.get("context")).and_then(Value::as_str);
        let context = context.filter(|context| !context.trim().is_empty());
        let failed = self.caught.as_ref().filter(|caught| Some(caught.turn) == result.turn);
        let said = match failed {
            Some(caught) => caught.message.as_str(),
            None => context.or(self.last.text.as_deref()).unwrap_or_default(),
        };
        let by_exit_code = failed.is_none() && chart.node(result.node).verdict.is_some();
        let right = is_reason_of(reason, said, by_exit_code);
        hold!(self, self.redacted || right, "the turn gave another reason");
        Ok(Paid::Yes)
    }

    /// The key of the item of a node that will receive work (D25): the current item of a loop that both nodes are
    /// in, or the first item of a loop that is entered on the way.
    fn item_there(&self, chart: &Wiring, from: usize, to: usize) -> Option<String> {
        let inside = &chart.nodes[from].loops;
        chart.nodes[to].loops.iter().rev().find_map(|region| {
            let at = &self.loops[*region];
            if !inside.contains(region) {
                let generated = chart.regions[*region].consumes.map(|generator| {
                    self.nodes[generator].produced.as_ref().map_or(0, |items| items.len())
                });
                let listed = || self.list_of(chart, *region).map(|items| items.len());
                let count = generated.or_else(listed).unwrap_or(0);
                return (count > 0).then(|| item_key(0));
            }
            let items = at.items.as_ref()?;
            (items.len() > at.index as usize).then(|| item_key(at.index))
        })
    }
}

/// Whether a way counts for circles: dataflow is watched otherwise (D23), but where nothing ran, or a turn
/// failed, nothing else would notice.
fn counts(chart: &Wiring, way: usize, result: Outcome) -> bool {
    chart.node(result.node).routing == Routing::First
        || result.turn.is_none()
        || chart.is_on_failure(way)
}
