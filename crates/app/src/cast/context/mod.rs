//! Context that a new cast gets from an earlier one: `state.previousCastContext` (L9).
//!
//! A bounded object with the request, the status of the cast, the newest handoffs first, its variables and the newest
//! texts. It is ordinary state: a socket reads it if its prompt asks for it, and no prompt gets it automatically
//! (L10). `truncated` and `truncations` in the object report every cut.
//!
//! All of it comes from the journal, except artifacts that a provider left as files. Deliberately absent: the context
//! that the earlier cast itself got. Lineage is a chain of ids.

mod files;
mod gather;
mod limits;

use materia_contract::NodeId;
use materia_kernel::Phase;
use serde_json::{Map, Value, json};

use crate::Result;
use crate::project::Found;
use gather::{Gathered, Handoff, Text};
use limits::{TextLimits, Truncations, encoded_len};

/// The variable that holds it.
pub const VARIABLE: &str = "previousCastContext";

/// How large it may be as JSON.
const TOTAL_BYTES_MAX: usize = 64 * 1024;
const REQUEST_BYTES_MAX: usize = 4 * 1024;
const SUMMARY_BYTES_MAX: usize = 4 * 1024;
const HANDOFFS_BYTES_MAX: usize = 22 * 1024;
const STATE_BYTES_MAX: usize = 14 * 1024;
const ARTIFACTS_BYTES_MAX: usize = 14 * 1024;
/// How much of one handoff's `context`, of one item's text and of one variable is kept.
const CONTEXT_BYTES_MAX: usize = 2 * 1024;
const ITEM_BYTES_MAX: usize = 512;
const VARIABLE_BYTES_MAX: usize = 4 * 1024;
const ARTIFACT_BYTES_MAX: usize = 3 * 1024;
/// How much of a value that is too large stands for it.
const PREVIEW_BYTES_MAX: usize = 256;
/// How much of a name is kept, and of the sentence that says why a cast stopped.
const NAME_BYTES_MAX: usize = 160;
const REASON_BYTES_MAX: usize = 1024;
/// Size reserved for field names, ids and notices about cuts.
const REST_BYTES_MAX: usize = 6 * 1024;

const _: () = assert!(
    REQUEST_BYTES_MAX
        + SUMMARY_BYTES_MAX
        + HANDOFFS_BYTES_MAX
        + STATE_BYTES_MAX
        + ARTIFACTS_BYTES_MAX
        + REST_BYTES_MAX
        <= TOTAL_BYTES_MAX
);

/// The context of a cast that is there.
pub fn context(found: &Found) -> Result<Value> {
    // The fold checks the chain; the walk then only reads what was checked.
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let folder = found.root.join(found.id.as_str());
    let gathered = gather::gather(found, &folder)?;
    let mut cut = Truncations::default();
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("castId", found.id.as_str().into());
    put("status", run.phase().status().word().into());
    if let Some(created) = run.created() {
        let name = cut.text("loadout", &created.plan.loadout, NAME_BYTES_MAX);
        put("loadout", name.into());
        put("request", cut.text("request", &created.request, REQUEST_BYTES_MAX).into());
        if let Some(from) = &created.from_cast_id {
            put("fromCastId", cut.text("fromCastId", from, NAME_BYTES_MAX).into());
        }
    }
    put("summary", cut.text("summary", &gathered.summary, SUMMARY_BYTES_MAX).into());
    match run.phase() {
        Phase::Failed(error) => {
            let message = cut.text("error.message", &error.message, REASON_BYTES_MAX);
            let socket = error.socket.as_ref().map(NodeId::as_str);
            put("error", json!({"code": error.code, "message": message, "socket": socket}));
        }
        Phase::Waiting(waiting) => {
            let message = cut.text("waiting.message", &waiting.message, REASON_BYTES_MAX);
            put("waiting", json!({"reason": waiting.reason, "message": message}));
        }
        Phase::New | Phase::Running | Phase::Completed | Phase::Aborted => {}
    }
    // Truncations come before the long parts, so that a reader of the beginning sees them.
    put("truncated", false.into());
    put("truncations", Value::Null);
    put("handoffs", handoffs(&gathered, &mut cut));
    put("utilityState", variables(run.variables(), &mut cut));
    put("artifacts", artifacts(&gathered, &mut cut));
    put("truncated", cut.any().into());
    put("truncations", cut.into_value());
    Ok(Value::Object(object))
}

/// The newest first, as many as there is room for.
fn handoffs(gathered: &Gathered, cut: &mut Truncations) -> Value {
    let mut room = TextLimits::new(HANDOFFS_BYTES_MAX);
    let mut kept = Vec::new();
    for (place, handoff) in gathered.handoffs.iter().rev().enumerate() {
        let Some(object) = fitted(place, handoff, &mut room, cut) else { break };
        kept.push(object);
    }
    let left_out = gathered.handoff_count - kept.len();
    cut.part("handoffs", left_out, "older");
    Value::Array(kept)
}

fn fitted(
    place: usize,
    handoff: &Handoff,
    room: &mut TextLimits,
    cut: &mut Truncations,
) -> Option<Value> {
    let name = |field: &str| format!("handoffs.{place}.{field}");
    let mut notes = Truncations::default();
    let mut object = json!({
        "socket": handoff.socket.as_str(),
        "materia": notes.text(&name("materia"), &handoff.materia, NAME_BYTES_MAX),
        "visit": handoff.visit,
    });
    if let Some(item) = &handoff.item {
        object["item"] = notes.text(&name("item"), item, NAME_BYTES_MAX).into();
    }
    if let Some(satisfied) = handoff.satisfied {
        object["satisfied"] = satisfied.into();
    }
    if let Some(context) = &handoff.context {
        object["context"] = notes.text(&name("context"), context, CONTEXT_BYTES_MAX).into();
    }
    if handoff.work_items.is_some() {
        object["workItems"] = json!([]);
    }
    if !room.take(&object) {
        return None;
    }
    cut.extend(notes);
    if let Some(items) = &handoff.work_items {
        object["workItems"] = work_items(&name("workItems"), items, room, cut);
    }
    Some(object)
}

fn work_items(name: &str, items: &[Value], room: &mut TextLimits, cut: &mut Truncations) -> Value {
    let mut kept = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let mut notes = Truncations::default();
        let mut field = |field: &str| {
            let text = item.get(field).and_then(Value::as_str).unwrap_or_default();
            notes.text(&format!("{name}.{place}.{field}"), text, ITEM_BYTES_MAX)
        };
        let item = json!({"title": field("title"), "context": field("context")});
        if !room.take(&item) {
            break;
        }
        cut.extend(notes);
        kept.push(item);
    }
    cut.left_out(name, items.len() - kept.len());
    Value::Array(kept)
}

/// The variables; one that is too large is stood for by its size and its beginning.
fn variables(variables: &Map<String, Value>, cut: &mut Truncations) -> Value {
    let mut room = TextLimits::new(STATE_BYTES_MAX);
    let mut kept = Map::new();
    let mut left_out = 0;
    for (name, value) in variables.iter().filter(|(name, _)| *name != VARIABLE) {
        let text = value.to_string();
        if text.len() <= VARIABLE_BYTES_MAX && room.take_named(name, text.len()) {
            kept.insert(name.clone(), value.clone());
            continue;
        }
        let preview = limits::cut(&text, PREVIEW_BYTES_MAX);
        let stand_in = json!({"truncated": true, "bytes": text.len(), "preview": preview});
        if name.len() <= NAME_BYTES_MAX && room.take_named(name, encoded_len(&stand_in)) {
            cut.note(&format!("utilityState.{name}: {} bytes, only the beginning", text.len()));
            kept.insert(name.clone(), stand_in);
        } else {
            left_out += 1;
        }
    }
    cut.part("utilityState", left_out, "further");
    Value::Object(kept)
}

/// Texts that turns left, the newest first.
fn artifacts(gathered: &Gathered, cut: &mut Truncations) -> Value {
    let mut room = TextLimits::new(ARTIFACTS_BYTES_MAX);
    let mut kept = Vec::new();
    for Text { path, socket, content } in gathered.texts.iter().rev() {
        let mut notes = Truncations::default();
        let text = notes.text(path, content, ARTIFACT_BYTES_MAX);
        let object = json!({"path": path, "socket": socket.as_str(), "text": text});
        if !room.take(&object) {
            break;
        }
        cut.extend(notes);
        kept.push(object);
    }
    cut.part("artifacts", gathered.text_count - kept.len(), "older");
    Value::Array(kept)
}
