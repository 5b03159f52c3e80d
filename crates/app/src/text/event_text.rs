//! Text for events, times and verdicts.

use materia_contract::time::Micros;
use materia_contract::{
    Budget, BudgetBound, BudgetChanged, CastReport, CastStatus, DropReason, Event, EventBody,
    GlobalMode, InterruptReason, Mode, ModeChanged, NodeBudgets, Pace, StorageMeasured, Timer,
    TurnCompleted, TurnStarted, end_of,
};

use crate::text::narrator::Narrator;
use crate::text::sanitize::one_line;

/// How much of a text is shown on a line of its own.
const TEXT_CHARS_MAX: usize = 100;

/// A span of time for people.
pub fn duration(micros: Micros) -> String {
    let millis = micros.max(0) / 1_000;
    let (seconds, minutes) = (millis / 1_000, millis / 60_000);
    match minutes {
        0 if seconds < 10 => format!("{}.{:03} s", seconds, millis % 1_000),
        0 => format!("{}.{} s", seconds, millis % 1_000 / 100),
        1..60 => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// One line of text for an event, without its node. The narrator must have read all events up to this one.
#[expect(clippy::too_many_lines, reason = "one line for each kind of event")]
pub fn event(event: &Event, story: &Narrator) -> String {
    let node = event.node.as_ref();
    match &event.body {
        EventBody::RunCreated(data) => {
            format!("`{}` begins: {}", one(&data.plan.loadout), one(&data.request))
        }
        EventBody::RunResumed(data) if data.recast => {
            "goes on, trying again what failed".to_owned()
        }
        EventBody::RunResumed(_) => "goes on".to_owned(),
        EventBody::RunWaiting(data) => format!("waits: {}", one(&data.message)),
        EventBody::RunCompleted(_) => CastStatus::Completed.words(story.verdict()).to_owned(),
        EventBody::RunFailed(data) => {
            format!("failed: {}: {}", data.code.word(), one(&data.message))
        }
        EventBody::RunAborted(data) => format!("aborted: {}", one(&data.reason)),
        EventBody::TurnStarted(data) => started(story.item_of(node, data), data),
        EventBody::TurnCompleted(data) => match data.satisfied {
            Some(true) => "completed, satisfied: true".to_owned(),
            Some(false) => match reason(data) {
                Some(reason) => format!("completed, satisfied: false ({})", one(&reason)),
                None => "completed, satisfied: false".to_owned(),
            },
            None => "completed".to_owned(),
        },
        EventBody::TurnFailed(data) => {
            format!("failed: {}: {}", data.code.word(), one(&data.message))
        }
        EventBody::TurnInterrupted(data) => format!("interrupted: {}", interrupted(data.reason)),
        EventBody::RouteSelected(data) => match &data.edge_id {
            Some(edge) => format!("takes `{}` to {}", one(edge.as_str()), one(&data.to)),
            None => format!("matches no edge, to {}", one(&data.to)),
        },
        EventBody::HandoffSent(data) => {
            format!("sends to {}: {}", one(data.to.as_str()), one(&data.preview))
        }
        EventBody::PayloadDelivered(data) => match &data.edge_id {
            Some(edge) => format!("gets a payload over `{}`", one(edge.as_str())),
            None => "gets what a person said".to_owned(),
        },
        EventBody::PayloadConsumed(data) => format!("takes payload {}", data.payload_id),
        EventBody::StatePatched(data) => {
            let names: Vec<_> =
                data.merged.keys().chain(data.assigned.keys()).map(String::as_str).collect();
            format!("sets {}", one(&names.join(", ")))
        }
        EventBody::OutputFieldsIgnored(data) => {
            format!("ignores {}: {}", one(&data.fields.join(", ")), one(&data.reason))
        }
        EventBody::CursorAdvanced(data) => {
            format!("moves `{}` to {} of {}", one(&data.cursor), data.index, data.count)
        }
        EventBody::LoopEntered(data) => {
            let again =
                if data.entry > 1 { format!(", entry {}", data.entry) } else { String::new() };
            let count = data.count.map(|count| format!(": {}", items(count))).unwrap_or_default();
            format!("loop `{}` begins{again}{count}", one(&data.region))
        }
        EventBody::LoopExhausted(data) => {
            let count = story.count(&data.region);
            let count = count.map(|count| format!(" after {}", items(count))).unwrap_or_default();
            format!("loop `{}` is done{count}, to {}", one(&data.region), one(&data.to))
        }
        EventBody::FollowUpCaptured(data) => {
            let item = data.item.as_deref().map(|key| format!("{} ", story.item(node, key)));
            let item = item.unwrap_or_default();
            let back = if story.has_run(&data.target) { "back " } else { "" };
            let reason = one(&data.reason);
            let gap = if reason.is_empty() { "" } else { ": " };
            format!("sends {item}{back}to {}{gap}{reason}", data.target)
        }
        EventBody::BudgetWarned(data) => {
            format!("has spent {} of {} {}", data.spent, data.limit, bound(data.bound))
        }
        EventBody::BudgetChanged(data) => budget_changed(data),
        EventBody::NodeBlocked(data) => format!("is blocked: {}", one(&data.reason)),
        EventBody::ModeChanged(data) => mode_changed(data),
        EventBody::RunRevived(data) => match &data.edge_id {
            Some(edge) => format!("is revived: `{}` may be taken further", one(edge.as_str())),
            None => "is revived".to_owned(),
        },
        EventBody::MessageReceived(data) => format!("is told: {}", one(&data.text)),
        EventBody::SocketFinished(_) => "is finished by a person".to_owned(),
        EventBody::WorkspacePublishing(_) => "publishes its branch".to_owned(),
        EventBody::WorkspacePublished(data) => {
            format!(
                "published branch `{}` at {}",
                one(&data.branch),
                one(&data.commit.chars().take(12).collect::<String>())
            )
        }
        EventBody::StorageMeasured(data) => {
            let StorageMeasured { used_mb, free_mb, .. } = data;
            // On servers nobody knows of a disk.
            if *free_mb == u64::MAX >> 20 {
                return format!("keeps {used_mb} MB");
            }
            format!("keeps {used_mb} MB; {free_mb} MB are free on its disk")
        }
        EventBody::AgentsChosen(data) => {
            let mut names: Vec<&str> = Vec::new();
            for answerer in data.agents.values() {
                if !names.contains(&answerer.provider.as_str()) {
                    names.push(&answerer.provider);
                }
            }
            format!("is answered by {}", one(&names.join(", ")))
        }
        EventBody::PayloadSuperseded(_)
        | EventBody::PayloadDropped(_)
        | EventBody::PayloadDeduplicated(_)
        | EventBody::PayloadFiltered(_)
        | EventBody::TimerSet(_)
        | EventBody::TimerFired(_) => delivery(event),
        EventBody::TurnRequested(data) => {
            let message = data.message.as_deref().map(|message| format!(": {}", one(message)));
            format!("is asked for a turn{}", message.unwrap_or_default())
        }
        EventBody::ApprovalRequested(_) => "waits for approval".to_owned(),
        EventBody::ApprovalGiven(_) => "is approved".to_owned(),
        EventBody::ApprovalDenied(data) => {
            let reason = data.reason.as_deref().map(|reason| format!(": {}", one(reason)));
            let leads_on =
                if data.route { "; it does not run and counts as not satisfied" } else { "" };
            format!("is refused by a person{}{leads_on}", reason.unwrap_or_default())
        }
        EventBody::ItemSkipped(data) => {
            let reason = data.reason.as_deref().map(|reason| format!(": {}", one(reason)));
            let (item, label) = (&data.item, one(&data.item_label));
            format!("{item} {label} is skipped by a person{}", reason.unwrap_or_default())
        }
        EventBody::TimelineReached(data) => format!("reaches entry {} of the timeline", data.index),
    }
}

/// Why a turn was not content, as it says itself.
fn reason(data: &TurnCompleted) -> Option<String> {
    if let Some(context) = &data.context {
        // A command says last what went wrong (D69).
        return Some(end_of(context.trim(), TEXT_CHARS_MAX)).filter(|end| !end.is_empty());
    }
    let object = data.object_text().unwrap_or(data.report.json_text());
    let object: serde_json::Value = serde_json::from_str(object).ok()?;
    let context = object.get("context")?.as_str().filter(|context| !context.trim().is_empty());
    context.map(str::to_owned)
}

fn started(item: Option<String>, data: &TurnStarted) -> String {
    let item = item.map(|item| format!(", {item}")).unwrap_or_default();
    let tried =
        if data.attempt > 1 { format!(", attempt {}", data.attempt) } else { String::new() };
    format!("started (visit {}{tried}{item})", data.visit)
}

fn budget_changed(data: &BudgetChanged) -> String {
    match (&data.budget, &data.node_budgets) {
        (Some(given), _) => format!("may now spend {}", budget(given)),
        (None, Some(given)) => format!("may now spend {}", node_budgets(given)),
        (None, None) => "keeps its budget".to_owned(),
    }
}

fn mode_changed(data: &ModeChanged) -> String {
    let mode = match data.value {
        Mode::Pace(Pace::Auto) => "AUTO",
        Mode::Pace(Pace::Interactive) => "INTERACTIVE",
        Mode::Global(GlobalMode::Planning) => "PLANNING",
        Mode::Global(GlobalMode::Implementation) => "IMPLEMENTATION",
    };
    let what = data.message.as_deref().map(|what| format!(": {}", one(what)));
    format!("switches to {mode} ({}{})", one(&data.reason), what.unwrap_or_default())
}

/// Text for deliveries of payloads and for timers.
fn delivery(event: &Event) -> String {
    if let EventBody::PayloadSuperseded(data) = &event.body {
        return format!("gets a newer payload over {} instead", data.edge_id);
    }
    if let EventBody::PayloadDropped(data) = &event.body {
        return match data.reason {
            DropReason::Overflow => format!("loses a payload: {} is full", data.edge_id),
            DropReason::Busy => format!("is busy and loses a payload of {}", data.edge_id),
        };
    }
    if let EventBody::PayloadDeduplicated(data) = &event.body {
        return format!("has had the same payload over {} before", data.edge_id);
    }
    if let EventBody::PayloadFiltered(data) = &event.body {
        return format!("does not get a payload that {} keeps out", data.edge_id);
    }
    if let EventBody::TimerSet(data) = &event.body {
        return match &data.timer {
            Timer::Debounce { edge_id } => format!("waits until {edge_id} is quiet"),
            Timer::Tick => "waits for its next tick".to_owned(),
            Timer::Retry { .. } => "will be tried again".to_owned(),
        };
    }
    let EventBody::TimerFired(data) = &event.body else { return String::new() };
    match &data.timer {
        Timer::Debounce { edge_id } => format!("finds {edge_id} quiet"),
        Timer::Tick => "has a tick due".to_owned(),
        Timer::Retry { .. } => "is due to be tried again".to_owned(),
    }
}

fn node_budgets(budgets: &NodeBudgets) -> String {
    let turns = budgets.turns.map(|most| format!("{most} turns"));
    let time = budgets.time_ms.map(|most| format!("{most} ms"));
    let cost = budgets.cost.map(|most| format!("cost {most}"));
    let bounds: Vec<String> = [turns, time, cost].into_iter().flatten().collect();
    if bounds.is_empty() { "without bound".to_owned() } else { bounds.join(", ") }
}

fn items(count: u32) -> String {
    match count {
        1 => "1 item".to_owned(),
        count => format!("{count} items"),
    }
}

fn bound(bound: BudgetBound) -> &'static str {
    match bound {
        BudgetBound::Tokens => "tokens",
        BudgetBound::Cost => "cost",
        BudgetBound::Turns => "turns",
    }
}

/// Text for the limits of a budget.
fn budget(budget: &Budget) -> String {
    let bounds = [
        budget.max_turns.map(|most| format!("{most} turns")),
        budget.max_tokens.map(|most| format!("{most} tokens")),
        budget.max_cost.map(|most| format!("cost {most}")),
        budget.max_storage_mb.map(|most| format!("{most} MB of storage")),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    if bounds.is_empty() { "without bound".to_owned() } else { bounds.join(", ") }
}

fn one(text: &str) -> String {
    one_line(text, TEXT_CHARS_MAX)
}

fn interrupted(reason: InterruptReason) -> &'static str {
    match reason {
        InterruptReason::Crash => "its process went away",
        InterruptReason::Stopped => "the cast was stopped",
        InterruptReason::Aborted => "the cast was aborted",
        InterruptReason::RunFailed => "another turn made the cast fail",
        InterruptReason::RunFor => "the simulation ended",
        InterruptReason::Workspace => "somebody changed the files of the workspace",
        InterruptReason::Trust => "something that would have run is not as it was approved",
    }
}

/// Text for the usage of a cast: time, turns, tokens, cost.
pub fn spent(report: &CastReport) -> String {
    let usage = report.usage;
    let time = report.elapsed_ms.and_then(|ms| Micros::try_from(ms).ok());
    let parts = [
        time.map(|ms| duration(ms.saturating_mul(1_000))),
        Some(if usage.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", usage.turns) }),
        (usage.tokens > 0).then(|| format!("{} tokens", usage.tokens)),
        usage.cost.map(|cost| format!("cost {cost}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The driver of a cast that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrivenBy {
    /// A process.
    Process,
    /// The next worker with a free slot.
    NextWorker,
    /// Nothing.
    Nobody,
}

/// The status of a cast in words. `driven` matters only while the cast runs.
pub fn status(status: CastStatus, verdict: Option<bool>, driven: DrivenBy) -> &'static str {
    match driven {
        DrivenBy::NextWorker if status == CastStatus::Running => "waits for a worker",
        DrivenBy::Nobody if status == CastStatus::Running => "interrupted: no process drives it",
        DrivenBy::Process | DrivenBy::NextWorker | DrivenBy::Nobody => status.words(verdict),
    }
}

/// How a cast stands, in one line, and what can be done about it.
pub fn summary(report: &CastReport) -> String {
    let id = &report.cast_id;
    let turns = spent(report);
    match report.status {
        CastStatus::Completed => {
            format!("{id} {} ({turns})", report.status.words(report.verdict))
        }
        CastStatus::Failed => match &report.error {
            Some(error) => format!(
                "{id} failed{}: {}: {}",
                error.socket.as_ref().map(|node| format!(" at {node}")).unwrap_or_default(),
                error.code.word(),
                crate::text::sanitize::clean(&error.message)
            ),
            None => format!("{id} failed"),
        },
        CastStatus::Waiting => match &report.waiting {
            Some(waiting) => format!("{id} waits: {}", one_line(&waiting.message, 400)),
            None => format!("{id} waits"),
        },
        CastStatus::Aborted => format!("{id} was aborted ({turns})"),
        CastStatus::Running => format!("{id} is under way ({turns})"),
    }
}
