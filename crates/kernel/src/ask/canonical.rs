//! Canonical form of a run: two runs of one plan with the same form behave the same from here on.
//!
//! Ids and event numbers are left out or replaced by positions, and times are relative to the present one. Data that
//! only prompts, reports or people read is left out: texts of payloads, sessions, counts that no budget reads.

use materia_contract::time::Micros;
use materia_contract::{Guard, Node, Path, Root, Timer};
use serde::Serialize;

use crate::ask::approval;
use crate::state::{
    DeliveryQueue, Held, ItemId, Iteration, NodeState, Payload, Phase, Region, Rounds, Run, Trail,
    Turn, Why,
};

/// The canonical form of a run that has been created.
#[must_use]
pub fn canonical(run: &Run) -> Vec<u8> {
    let mut form = Form { run, bytes: Vec::with_capacity(512) };
    form.whole();
    form.bytes
}

struct Form<'run> {
    run: &'run Run,
    bytes: Vec<u8>,
}

impl Form<'_> {
    fn number(&mut self, number: impl Into<i128>) {
        self.bytes.extend_from_slice(&number.into().to_le_bytes()[..9]);
    }

    fn place(&mut self, place: usize) {
        self.number(place as u64);
    }

    fn flag(&mut self, flag: bool) {
        self.bytes.push(u8::from(flag));
    }

    fn mark(&mut self, mark: u8) {
        self.bytes.push(mark);
    }

    fn text(&mut self, text: &str) {
        self.place(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn data(&mut self, data: &impl Serialize) {
        let text = serde_json::to_string(data).unwrap_or_default();
        self.text(&text);
    }

    /// An instant, in milliseconds from now.
    fn instant(&mut self, at: Micros) {
        self.number((at - self.run.instant).div_euclid(1_000));
    }

    fn whole(&mut self) {
        let run = self.run;
        self.phase();
        self.data(&run.pace);
        self.data(&run.variables);
        self.last();
        if run.budget.max_turns.is_some() {
            self.number(run.usage.turns);
        }
        for index in 0..run.nodes.len() {
            self.node(index, &run.nodes[index]);
        }
        for (edge, queue) in &run.queues {
            self.text(edge.as_str());
            self.queue(queue);
        }
        self.mark(b'o');
        for ready in [&run.ready.by_itself, &run.ready.by_hand] {
            self.mark(b'r');
            for (_, _, node) in ready {
                self.place(*node);
            }
        }
        for turn in run.turns.values() {
            self.mark(b't');
            self.turn(turn);
        }
        for held in run.held.iter() {
            self.mark(b'h');
            self.held(held);
        }
        for (ended, _) in run.held.released() {
            let place =
                run.held.iter().position(|held| held.started == run.held.get(ended).started);
            self.place(place.unwrap_or(0));
        }
        for (at, node, timer) in &run.timers {
            self.mark(b'w');
            self.instant(*at);
            self.place(*node);
            self.timer(timer);
        }
        for node in &run.iterating {
            self.mark(b'i');
            self.place(*node);
        }
        for node in run.paused.keys() {
            self.mark(b'm');
            self.place(*node);
        }
        self.loops();
    }

    fn phase(&mut self) {
        match &self.run.phase {
            Phase::New => self.mark(0),
            Phase::Running => self.mark(1),
            Phase::Waiting(waiting) => {
                self.mark(2);
                self.data(&waiting.reason);
                self.data(&waiting.node);
            }
            Phase::Completed => self.mark(3),
            Phase::Failed(failed) => {
                self.mark(4);
                self.data(&failed.code);
                self.data(&failed.socket);
                self.data(&failed.edge_id);
            }
            Phase::Aborted => self.mark(5),
        }
    }

    /// The last output, as far as a path of the plan reads it.
    fn last(&mut self) {
        let (run, plan) = (self.run, self.run.plan());
        if plan.nodes.values().any(|node| node.foreach.is_some()) || !run.paused.is_empty() {
            self.item(run.last.item.as_ref());
            self.data(&run.last.verdict);
        }
        if plan.nodes.values().flat_map(paths).any(|path| path.root == Root::LastOutput) {
            self.data(&run.last.text.as_deref());
        }
        if plan.nodes.values().flat_map(paths).any(|path| path.root == Root::LastJson) {
            self.data(&run.last.json.as_deref());
        }
    }

    fn node(&mut self, index: usize, state: &NodeState) {
        let (run, (id, plan)) = (self.run, self.run.node(index));
        self.mark(b'n');
        if run.plan().nodes.values().any(|other| other.depends_on.contains(id)) {
            self.flag(state.completed > 0);
        }
        self.place(state.in_flight.0.len());
        for payload in state.arriving.iter().chain(&state.inputs.attached) {
            self.payload(payload);
        }
        for (_, _, edge) in &state.inputs.fronts {
            self.text(edge.as_str());
        }
        self.flag(state.tick_owed);
        self.number(state.ticks);
        if let Some(consent) = &state.consent {
            self.mark(b'c');
            self.data(&consent.answer);
            self.flag(consent.hash == approval::wanted(run, index).hash);
        }
        if let Some(Iteration { items, index, payloads, trail, manual }) = &state.foreach {
            self.mark(b'f');
            self.data(items);
            self.number(*index);
            self.place(payloads.len());
            self.trail(trail);
            self.flag(*manual);
        }
        if let Some(budgets) = state.budgets.or(plan.budgets) {
            if budgets.turns.is_some() {
                self.number(state.spent.turns);
            }
            if budgets.time_ms.is_some() {
                self.number(state.spent.micros / 1_000);
            }
        }
        if run.wiring().unbounded.contains(&index) {
            self.rounds(state.rounds);
        }
        if run.wiring().cyclic.contains(&index) {
            self.item(state.traces.item.as_ref());
            for traces in [&state.traces.outputs, &state.traces.diffs, &state.traces.failures] {
                self.mark(b'a');
                for (_, hash) in traces {
                    self.number(*hash);
                }
            }
        }
        if run
            .plan()
            .loops
            .values()
            .any(|region| region.consumes.as_ref().is_some_and(|id| run.index_of(id) == index))
        {
            self.data(&state.produced);
        }
    }

    fn payload(&mut self, payload: &Payload) {
        self.mark(b'p');
        self.data(&payload.kind);
        self.data(&payload.edge);
        self.trail(&payload.trail);
    }

    fn queue(&mut self, queue: &DeliveryQueue) {
        self.mark(b'q');
        for payload in &queue.waiting {
            self.payload(payload);
        }
        self.number(queue.pending);
        if let Some(quiet) = queue.quiet_until {
            self.instant(quiet);
        }
        for accepted in &queue.accepted {
            self.text(&accepted.key);
            self.instant(accepted.ts);
        }
    }

    fn turn(&mut self, turn: &Turn) {
        self.place(turn.node);
        self.number(turn.repairs);
        self.number(turn.retries);
        self.flag(turn.manual);
        self.item(turn.about.as_ref());
        self.trail(&turn.trail);
        let timed = self.run.node(turn.node).1.budgets.is_some_and(|it| it.time_ms.is_some());
        if timed {
            self.instant(turn.since);
        }
    }

    fn held(&mut self, held: &Held) {
        self.turn(&held.turn);
        self.mark(match held.why {
            Why::Interrupted => 0,
            Why::Rejected(..) => 1,
            Why::Passing => 2,
            Why::Lost => 3,
            Why::Failed => 4,
        });
    }

    fn timer(&mut self, timer: &Timer) {
        match timer {
            Timer::Tick => self.mark(0),
            Timer::Debounce { edge_id } => {
                self.mark(1);
                self.text(edge_id.as_str());
            }
            Timer::Retry { turn } => {
                self.mark(2);
                let place = self.run.held.iter().position(|held| held.started == *turn);
                self.place(place.unwrap_or(0));
            }
        }
    }

    fn loops(&mut self) {
        let run = self.run;
        for state in &run.loops {
            self.mark(b'l');
            self.flag(state.entry > 0);
            self.data(&state.items);
            self.number(state.index);
            if !run.wiring().unbounded.is_empty() {
                self.rounds(state.rounds);
            }
        }
        for (edge, taken) in &run.traversals {
            if self.is_past(taken.item.as_ref()) {
                continue;
            }
            self.text(edge.as_str());
            self.item(taken.item.as_ref());
            self.number(taken.count);
            self.number(taken.allowance);
        }
    }

    /// Whether no turn can be about this item any more.
    fn is_past(&self, item: Option<&ItemId>) -> bool {
        let Some(item) = item else { return false };
        let Region::Loop(place) = item.region else { return false };
        let state = &self.run.loops[place];
        let behind = (item.entry, item.index) < (state.entry, state.index);
        let about = |turn: &Turn| turn.about.as_ref() == Some(item);
        behind
            && self.run.last.item.as_ref() != Some(item)
            && !self.run.turns.values().any(|turn| about(turn))
            && !self.run.held.iter().any(|held| about(&held.turn))
    }

    /// A work item, by how many entries of its loop are behind it.
    fn item(&mut self, item: Option<&ItemId>) {
        let Some(ItemId { region, entry, index }) = item else { return self.mark(b'-') };
        let (word, place, entries) = match region {
            Region::Loop(place) => (b'L', place, self.run.loops[*place].entry),
            Region::Foreach(node) => (b'F', node, self.run.nodes[*node].iterations),
        };
        self.mark(word);
        self.place(*place);
        self.number(i64::from(entries) - i64::from(*entry));
        self.number(*index);
    }

    fn rounds(&mut self, Rounds { item, count }: Rounds) {
        self.item(item.as_ref());
        self.number(count);
    }

    fn trail(&mut self, trail: &Trail) {
        self.data(trail);
    }
}

/// The paths that a node reads.
fn paths(node: &Node) -> impl Iterator<Item = &Path> {
    let guards = node.edges.iter().filter_map(|edge| edge.guard.as_ref());
    let guards = guards.map(|Guard { path, .. }| path);
    let lists = node.foreach.iter().map(|foreach| &foreach.items);
    guards.chain(lists).chain(&node.requires).chain(node.assign.values())
}
