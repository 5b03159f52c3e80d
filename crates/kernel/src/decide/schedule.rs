//! The scheduler: picks the next turn to start, and settles a run at rest.

use materia_contract::{
    Behavior, Cause, ErrorCode, GlobalMode, Node, NodeId, Pace, Path, PayloadConsumed,
    PayloadDelivered, RunCompleted, RunWaiting, ScriptEntry, TurnStarted, WaitReason,
    WorkspacePublishing,
};

use crate::ask::agent_request::{self, Asked};
use crate::ask::gates::{self, Gate, Start};
use crate::ask::scope::Scope;
use crate::ask::taking::Takeable;
use crate::ask::work::{self, ContextPack};
use crate::ask::{approval, budget, items, repeats, taking, waits};
use crate::decide::agenda::Due;
use crate::decide::draft::Draft;
use crate::decide::{consent, elements, ending, spending, stall};
use crate::state::{Branch, Checkout, Held, Iteration, Payload, Phase, Run, Why};
use crate::tally::{Look, look};

/// Starts the next runnable turn, if there is one. If nothing is left to do, the run rests.
pub(crate) fn start(draft: &mut Draft<'_>) {
    if draft.run().phase != Phase::Running || draft.is_cut() {
        return;
    }
    let next = next_start(draft.run());
    if let Some(next) = next.filter(|_| budget::exhausted(draft.run()).is_none()) {
        match next {
            Next::Asked(index) => start_asked(draft, index),
            Next::Again(ended) => restart(draft, ended),
            Next::Element(index) => begin_element(draft, index),
            Next::Enter(index) if repeats::is_endless(draft.run(), index) => {
                stall::endless(draft, index);
            }
            Next::Enter(index) => enter(draft, index),
        }
        draft.then(Due::Start);
        return;
    }
    spending::warn(draft);
    spending::block(draft);
    consent::request(draft);
    let run = draft.run();
    let at_rest = run.turns.is_empty() && run.timers.is_empty() && !run.timeline_left();
    if at_rest && !run.is_publishing() {
        rest(draft);
    }
}

/// Whether nothing is under way and nothing more would happen by itself.
pub(crate) fn is_done(run: &Run) -> bool {
    run.turns.is_empty()
        && run.timers.is_empty()
        && !run.timeline_left()
        && next_start(run).is_none()
}

/// Candidates for the next start.
enum Next {
    /// A turn of a node that a person asked for.
    Asked(usize),
    /// A further attempt at a held turn, by the event that ended the last one.
    Again(u64),
    /// The next element of a `foreach`.
    Element(usize),
    /// A node that has inputs.
    Enter(usize),
}

fn next_start(run: &Run) -> Option<Next> {
    if gates::is_full(run) {
        return None;
    }
    let may = |index: usize, start: Start| {
        look(Look::Start);
        // The caller checks the budget of the run.
        start.barred(run, index, &[Gate::RunBudget]).is_none()
    };
    // Manual turns come first (D7).
    let asked = run.requests.nodes().find(|index| may(*index, Start::Asked));
    let again = || {
        let start = |held: &Held| {
            let asks = budget::asks(run, held);
            Start::Again { by_hand: held.turn.manual, asks }
        };
        let mut released = run.held.released();
        released.find(|(_, held)| may(held.turn.node, start(held))).map(|(ended, _)| ended)
    };
    let element = || {
        let by_hand = |it: &Iteration| Start::Element { by_hand: it.manual };
        let goes_on = |index: &usize| run.nodes[*index].foreach.as_ref().map(by_hand);
        let mut nodes = run.iterating.iter().copied();
        nodes.find(|index| goes_on(index).is_some_and(|start| may(*index, start)))
    };
    let enter = || {
        // At no other pace does anything start by itself, however much waits.
        let nodes = (run.pace == Pace::Auto).then_some(&run.ready.by_itself);
        let mut nodes = nodes.into_iter().flatten().map(|(_, _, index)| *index);
        nodes.find(|index| may(*index, Start::Input))
    };
    asked
        .map(Next::Asked)
        .or_else(|| again().map(Next::Again))
        .or_else(|| element().map(Next::Element))
        .or_else(|| enter().map(Next::Enter))
}

/// A node takes its inputs and begins.
fn enter(draft: &mut Draft<'_>, index: usize) {
    let inputs = Inputs::of(&taking::takeable(draft.run(), index));
    begin(draft, index, Cause::Input, &inputs);
}

/// Starts the turn of the current element.
fn begin_element(draft: &mut Draft<'_>, index: usize) {
    let iteration = draft.run().nodes[index].foreach.as_ref().expect("it was entered");
    let cause = Cause::Foreach { index: iteration.index };
    let payloads = iteration.payloads.clone();
    start_turn(draft, index, cause, &payloads);
}

/// Inputs of a turn; `late` are those that still have to be attached.
struct Inputs {
    payloads: Vec<Payload>,
    late: Vec<PayloadDelivered>,
}

impl Inputs {
    fn of(found: &[Takeable<'_>]) -> Self {
        let late = found.iter().filter(|one| !one.attached).map(|one| PayloadDelivered {
            payload_id: one.payload.id,
            edge_id: one.payload.edge.clone(),
        });
        let payloads = found.iter().map(|one| one.payload.clone());
        Self { late: late.collect(), payloads: payloads.collect() }
    }
}

/// A turn that a person asked for takes its inputs and begins.
fn start_asked(draft: &mut Draft<'_>, index: usize) {
    let run = draft.run();
    let message = run.requests.first(index).and_then(|request| request.message);
    let inputs = Inputs::of(&taking::asked(run, index, message));
    begin(draft, index, Cause::Manual, &inputs);
}

/// Attaches what still waits on its edge, takes all of it, and starts.
fn begin(draft: &mut Draft<'_>, index: usize, cause: Cause, inputs: &Inputs) {
    let id = draft.run().node(index).0.clone();
    for delivered in &inputs.late {
        draft.emit_at(&id, delivered.clone());
    }
    let payloads = inputs.payloads.as_slice();
    if draft.run().node(index).1.foreach.is_some() {
        elements::enter(draft, index, payloads);
        return;
    }
    for payload in payloads {
        draft.emit_at(&id, PayloadConsumed { payload_id: payload.id });
    }
    start_turn(draft, index, cause, payloads);
}

/// A turn that a person refused takes its inputs all the same, and the runtime answers it (D56). Where it would have
/// run for each element of a list, the question was about all of them, and so is the answer.
pub(crate) fn refuse(draft: &mut Draft<'_>, index: usize, context: String) {
    let Inputs { payloads, late } = Inputs::of(&taking::takeable(draft.run(), index));
    let id = draft.run().node(index).0.clone();
    for delivered in late {
        draft.emit_at(&id, delivered);
    }
    for payload in &payloads {
        draft.emit_at(&id, PayloadConsumed { payload_id: payload.id });
    }
    let turn = note_start(draft, index, Cause::Input, &payloads, true);
    draft.then(Due::Answer { turn, context });
}

/// Starts a new turn of a node.
fn start_turn(draft: &mut Draft<'_>, index: usize, cause: Cause, payloads: &[Payload]) {
    let run = draft.run();
    let missing = missing_path(run, run.node(index).1, index);
    let turn = note_start(draft, index, cause, payloads, missing.is_some());
    if let Some(missing) = missing {
        // Without a required value, the runtime answers the turn itself.
        let context = format!("{missing} is not available, so this socket was not asked.");
        draft.then(Due::Answer { turn, context });
        draft.then(Due::Unasked { node: index, missing });
    }
}

/// The runtime has answered a turn itself, and what followed is settled. So many times in one decision is a circle.
pub(crate) fn unasked(draft: &mut Draft<'_>, index: usize, missing: &Path) {
    if draft.answers() && draft.run().phase == Phase::Running {
        let id = draft.run().node(index).0.clone();
        let message = format!(
            "the cast goes in circles: `{id}` was not asked for want of {missing}, and comes round again at once"
        );
        ending::fail(draft, ErrorCode::NoAdvance, message, Some(id), Vec::new(), None);
    }
}

/// Writes down that a new turn of a node begins; where the runtime answers it, no script does.
fn note_start(
    draft: &mut Draft<'_>,
    index: usize,
    cause: Cause,
    payloads: &[Payload],
    is_answered: bool,
) -> u64 {
    let run = draft.run();
    let id = run.node(index).0.clone();
    let seq = draft.next_seq();
    let by_hand = cause == Cause::Manual
        || run.nodes[index].foreach.as_ref().is_some_and(|iteration| iteration.manual);
    let approved = approval::of_turn(run, index).filter(|_| !by_hand);
    let session = work::session(run, index, seq);
    let given = work::assemble(run, index, seq, payloads, session.as_ref());
    let starts = starting_with(run, index, given);
    let started = TurnStarted {
        visit: run.nodes[index].visits + 1,
        attempt: 1,
        item: items::current(run, index).map(|item| item.key),
        item_label: items::current(run, index).map(|item| item.label),
        cause,
        consumed: payloads.iter().map(|payload| payload.id).collect(),
        session,
        script: if is_answered { None } else { script_entry(run, index) },
        global_mode: told_mode(run, index),
        approved,
        put_back: !is_answered && starts.put_back,
        ..starts
    };
    draft.emit_at(&id, started);
    seq
}

/// A path that must be present and is not (D41).
fn missing_path(run: &Run, node: &Node, index: usize) -> Option<Path> {
    let item = items::current(run, index).map(|item| item.value);
    let scope = Scope { item, ..Scope::of(run) };
    node.requires.iter().find(|path| scope.get(path).is_none()).cloned()
}

/// Starts a held turn again: with the same inputs, and after a broken contract with the reasons.
fn restart(draft: &mut Draft<'_>, ended: u64) {
    let run = draft.run();
    let Held { started, turn, why } = run.held.get(ended).clone();
    let id = run.node(turn.node).0.clone();
    let script = script_entry(run, turn.node);
    let given = work::again(run, &turn, started, &why);
    let session = match why {
        Why::Lost => turn.session.map(|_| work::fresh_session(run, draft.next_seq())),
        Why::Interrupted | Why::Rejected(..) | Why::Passing | Why::Failed => turn.session,
    };
    let cause = match why {
        Why::Interrupted | Why::Passing | Why::Lost => Cause::Retry { turn: started },
        Why::Failed => Cause::Recast { turn: started },
        Why::Rejected(..) => Cause::Repair { turn: started },
    };
    let again = TurnStarted {
        visit: turn.visit,
        attempt: turn.attempt + 1,
        item: turn.item,
        item_label: turn.item_label,
        cause,
        consumed: turn.consumed,
        session,
        script,
        global_mode: told_mode(run, turn.node),
        ..starting_with(run, turn.node, given)
    };
    draft.emit_at(&id, again);
}

/// The part of `turn.started` that says what the runner gets and who it is; the rest is to be filled in.
fn starting_with(run: &Run, index: usize, given: ContextPack) -> TurnStarted {
    let Asked { provider, program_version, model, tools, schema } = agent_request::of(run, index);
    let (prompt, layers, input) = match given {
        ContextPack::Prompt(prompt, layers) => (Some(prompt), layers, None),
        ContextPack::Input(input) => (None, Vec::new(), Some(input)),
    };
    let files = run.files.as_deref();
    TurnStarted {
        visit: 0,
        attempt: 0,
        item: None,
        item_label: None,
        cause: Cause::Input,
        consumed: Vec::new(),
        prompt,
        input,
        layers,
        session: None,
        script: None,
        global_mode: None,
        provider,
        program_version,
        model,
        tools,
        schema,
        approved: None,
        tree: files.map(|files| files.last.tree.clone()),
        head: files.map(|files| files.last.head.clone()),
        refs: files.map(|files| files.last.refs.clone()),
        put_back: files.is_some_and(|files| files.checkout == Checkout::PutBack),
    }
}

/// The mode to record in `turn.started`. A utility reads the mode in its input, so it is recorded only where it has
/// changed since the start of the run.
fn told_mode(run: &Run, index: usize) -> Option<GlobalMode> {
    let began = run.created().map(|created| created.global_mode);
    let agent = matches!(run.node(index).1.behavior, Behavior::Agent { .. });
    (agent || began != Some(run.global)).then_some(run.global)
}

/// The scripted answer that a turn of this node would take now.
fn script_entry(run: &Run, index: usize) -> Option<ScriptEntry> {
    let binding = run.created()?.script.as_ref()?;
    let key = binding.keys.get(run.node(index).0)?;
    let index = run.script.get(key).map_or(0, crate::state::ScriptPosition::upcoming);
    Some(ScriptEntry { key: key.clone(), index })
}

/// Nothing is in flight and nothing can start (D38).
pub(crate) fn rest(draft: &mut Draft<'_>) {
    if let Some(waiting) = rests_for(draft.run()) {
        draft.emit(waiting);
    } else {
        // A held turn waits for a timer, for room, for a person or for a budget.
        debug_assert!(
            draft.run().held.iter().next().is_none(),
            "a turn to be tried again is work left"
        );
        match draft.run().files.as_ref().map(|files| files.branch) {
            Some(Branch::Own | Branch::Publishing) => draft.emit(WorkspacePublishing {}),
            Some(Branch::Published) | None => draft.emit(RunCompleted {}),
        }
    }
}

/// The reason why a run at rest waits; `None` where it is complete.
fn rests_for(run: &Run) -> Option<RunWaiting> {
    let waits = |reason, node: Option<NodeId>, message| Some(RunWaiting { reason, node, message });
    let oldest = run.ready.first();
    let named = |index: usize| run.node(index).0.clone();
    if run.files.as_ref().is_some_and(|files| files.off_base) {
        let message =
            "HEAD of the workspace no longer contains the commit that the cast began at".to_owned();
        return waits(WaitReason::Workspace, oldest.map(named), message);
    }
    if let Some(bound) = budget::exhausted(run).filter(|_| next_start(run).is_some()) {
        let message = format!("the cast has spent its budget: {bound}");
        return waits(WaitReason::Budget, oldest.map(named), message);
    }
    if let Some(node) = run.paused.keys().next().map(|index| named(*index)) {
        let message = format!("`{node}` waits for a further instruction, or to be finished");
        return waits(WaitReason::MultiTurn, Some(node), message);
    }
    if let Some(stall) = &run.stalled {
        return waits(WaitReason::Stall, Some(stall.node.clone()), stall.message.clone());
    }
    if run.pace == Pace::Interactive {
        let message = "the pace is INTERACTIVE: nothing starts by itself".to_owned();
        return waits(WaitReason::Interactive, oldest.map(named), message);
    }
    if let Some((node, consent)) = waits::waiting(run) {
        let node = node.clone();
        let message = match (consent.answer, &consent.reason) {
            (Some(false), Some(reason)) => {
                let reason = work::reason_of(reason);
                format!("a turn of `{node}` was refused ({reason}); its inputs are kept")
            }
            (Some(false), None) => format!("a turn of `{node}` was refused; its inputs are kept"),
            (Some(true) | None, _) => format!("a turn of `{node}` waits for approval"),
        };
        return waits(WaitReason::Approval, Some(node), message);
    }
    if let Some(node) = waits::blocked(run) {
        let message = format!("`{node}` has spent its budget; its inputs are kept");
        return waits(WaitReason::Budget, Some(node), message);
    }
    let index = oldest?;
    let node = named(index);
    let message = match gates::unmet(run, index) {
        Some(needed) => format!("input waits at `{node}`, which depends on `{needed}`"),
        None => format!("input waits at `{node}`, which only a person starts"),
    };
    waits(WaitReason::Manual, Some(node), message)
}
