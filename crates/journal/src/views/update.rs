//! Data for the views, taken from committed events in one pass.

use std::collections::HashMap;
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Behavior, CastStatus, ChainHash, ErrorCode, Event, EventBody, Folders, NodeId, Outcome, Record,
    RunCreated, TurnOutput,
};
use materia_engine::status_after;
use materia_engine::views::TurnEnd;
use serde_json::Value;

use super::line;

/// Events of one run that follow one another.
#[derive(Debug)]
pub(super) struct ViewUpdate {
    /// The place of the first.
    pub(super) first: u64,
    /// The place and hash of the last.
    pub(super) last: (u64, ChainHash),
    /// Further steps for these events, in order.
    pub(super) steps: Vec<Step>,
}

/// Effect of one event on the files of a cast.
#[derive(Debug)]
pub(super) enum Step {
    /// The cast is this.
    Created(Box<About>),
    /// It stands so.
    Status(CastStatus),
    /// A turn got this.
    Started { turn: TurnName, given: Given },
    /// The result of a turn.
    Ended(Box<Ended>),
}

/// Identity of a cast.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) loadout: String,
    pub(super) request: String,
    pub(super) started: Micros,
    pub(super) from_cast: Option<String>,
    /// The command of each utility.
    pub(super) commands: HashMap<NodeId, Vec<String>>,
}

/// Which files a turn has.
#[derive(Debug)]
pub(super) struct TurnName {
    pub(super) node: NodeId,
    pub(super) visit: u32,
    pub(super) attempt: u32,
}

/// Input of a turn.
#[derive(Debug)]
pub(super) enum Given {
    /// An agent's prompt.
    Prompt(String),
    /// A utility's input, ready to be written.
    Input(Vec<u8>),
}

/// How a turn ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) turn: TurnName,
    /// The place of its `turn.started`.
    pub(super) started: u64,
    /// The place of this event.
    pub(super) seq: u64,
    pub(super) outcome: Outcome,
    /// Why it failed.
    pub(super) code: Option<ErrorCode>,
    /// The message of a turn without a result.
    pub(super) message: Option<String>,
    /// The runner's report; absent where the turn was interrupted.
    pub(super) report: Option<TurnOutput>,
}

/// One event as it comes here.
pub(super) struct Item<'a> {
    pub(super) record: &'a Record,
    /// The parsed event, if this version can read it.
    pub(super) event: Option<&'a Event>,
    /// The whole input of a utility's turn that starts, where the event itself has it not at hand.
    pub(super) input: Option<Arc<Value>>,
}

impl ViewUpdate {
    /// Adds the lines of the events to `lines`. `None` if there are none. An event that this version cannot read has a
    /// line and no files.
    pub(super) fn new<'a>(
        lines: &mut Vec<u8>,
        folders: &Folders,
        items: impl Iterator<Item = Item<'a>>,
    ) -> Option<Self> {
        let mut news: Option<Self> = None;
        for Item { record, event, input } in items {
            let news = news.get_or_insert_with(|| Self {
                first: record.seq,
                last: (record.seq, record.hash),
                steps: Vec::new(),
            });
            news.last = (record.seq, record.hash);
            line::push(lines, record, event);
            news.steps.extend(event.and_then(|event| step(event, input, folders)));
            news.steps.extend(status_after(&record.kind).map(Step::Status));
        }
        news
    }
}

fn step(event: &Event, input: Option<Arc<Value>>, folders: &Folders) -> Option<Step> {
    let name = |visit, attempt| Some(TurnName { node: event.node.clone()?, visit, attempt });
    if let EventBody::RunCreated(created) = &event.body {
        return Some(Step::Created(Box::new(About::new(created, event.wall, folders))));
    }
    if let EventBody::TurnStarted(data) = &event.body {
        let given = match (&data.prompt, &data.input) {
            (Some(prompt), _) => Given::Prompt(prompt.clone()),
            (None, Some(kept)) => {
                let input = input.or(kept.at_hand().cloned())?;
                let found = folders.input(&input);
                Given::Input(pretty(found.as_ref().unwrap_or(&*input)))
            }
            (None, None) => return None,
        };
        return Some(Step::Started { turn: name(data.visit, data.attempt)?, given });
    }
    let end = TurnEnd::of(&event.body)?;
    let word = |reason| serde_json::to_value(reason).expect("a word always renders");
    let reason = end.interrupted.map(|data| word(data.reason));
    let said = end.failure.map(|(_, message)| message);
    let message = said.or(reason.as_ref().and_then(Value::as_str)).map(str::to_owned);
    Some(Step::Ended(Box::new(Ended {
        turn: name(end.visit, end.attempt)?,
        started: end.turn,
        seq: event.seq,
        outcome: end.outcome,
        code: end.failure.map(|(code, _)| code),
        message,
        report: end.report.cloned(),
    })))
}

impl About {
    pub(super) fn new(created: &RunCreated, wall: Micros, folders: &Folders) -> Self {
        let created = folders.created(created);
        let utility = |(id, node): (&NodeId, &materia_contract::Node)| match &node.behavior {
            Behavior::Utility { command, .. } => Some((id.clone(), command.clone())),
            Behavior::Agent { .. } => None,
        };
        Self {
            loadout: created.plan.loadout.clone(),
            request: created.request.clone(),
            started: wall,
            from_cast: created.from_cast_id.clone(),
            commands: created.plan.nodes.iter().filter_map(utility).collect(),
        }
    }
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("a value always renders");
    text.push(b'\n');
    text
}
