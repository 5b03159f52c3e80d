//! Changes one field of a history and recomputes the hashes: recomputation or the verifier must notice.
//!
//! The field is drawn evenly over the fields that the recorded inputs and events of the history have, of all types.
//! The fields that can be changed unnoticed are listed here, each with a reason; no other may be.

use materia_contract::{Decided, Event, EventBody};
use materia_kernel::Recomputation;
use materia_verifier::Verifier;
use serde_json::{Map, Value, json};

use crate::again::{judged, read_back};
use crate::world::World;

/// Fields that nothing can find, by the beginning of their name, and why.
const UNFINDABLE: &[(&str, &str)] = &[
    ("input.by", "who asked is only told; it decides nothing"),
    ("input.command", "under which number it was asked decides nothing"),
    ("input.at", "an instant behind the last event may be any, as long as no timer is due"),
    (
        "input.input.moment.acts",
        "what a person did that had no effect, such as offering to the end",
    ),
    (
        "input.input.resume",
        "where a run was not resumed after all, nothing was done with its folders",
    ),
    ("input.ticks", "where a run failed before its timers fired, nothing came of what it was told"),
    ("event.wall", "the clock on the wall is noted for people"),
    (
        "turn.completed.output",
        "what a turn said is an input: nobody knows what it should have said",
    ),
    ("turn.completed.artifacts", "what a turn left is an input likewise"),
    ("turn.completed.usage", "what a turn cost is an input; it shows only at a bound"),
    (
        "turn.completed.exitCode",
        "an input likewise: it shows where it is the verdict and becomes 0, or was it",
    ),
    ("turn.failed.output", "an input likewise"),
    ("turn.failed.artifacts", "an input likewise"),
    ("turn.failed.usage", "an input likewise"),
    (
        "turn.failed.class",
        "an input: it shows only where it changes whether the turn is tried again",
    ),
    ("turn.failed.retryAfterMs", "an input: it shows only where it changes when"),
    ("turn.failed.message", "what a runner said of a failure is an input"),
    (
        "run.created.request",
        "what was asked for is an input; it shows where something was given it",
    ),
    ("run.created.agents", "who answers is an input; it shows where an agent is asked"),
    ("run.created.cwd", "where it was to run is an input likewise"),
    ("run.created.runDir", "an input likewise"),
    ("run.created.pace", "an input; it shows as soon as anything could start"),
    ("run.created.timeline", "an input; it shows when nothing else is left to happen"),
    ("run.created.virtualTime", "whether the clock was simulated decides nothing"),
    ("run.created.state", "an input; it shows where a variable is read"),
    ("run.created.key", "the name under which somebody asked for it"),
    ("run.created.fork", "where a fork comes from is told by another journal"),
    (
        "run.created.workspace",
        "the files that it began with are an input; they show where a turn starts",
    ),
    ("turn.completed.tree", "the files that a turn left; they show where another starts"),
    ("turn.completed.head", "likewise"),
    ("turn.completed.refs", "likewise"),
    ("turn.completed.offBase", "likewise"),
    ("turn.failed.tree", "likewise"),
    ("turn.failed.head", "likewise"),
    ("turn.failed.refs", "likewise"),
    ("turn.failed.offBase", "likewise"),
    (
        "workspace.published",
        "what became of a branch is an input, and the event is where it stands",
    ),
    ("input.input.published", "likewise"),
    ("input.input.withheld.files", "where a run failed meanwhile, nothing came of it"),
    ("input.input.unpublished", "why a branch was not published"),
];

/// The check that noticed the change.
#[derive(Debug)]
pub(crate) enum Found {
    /// The text can no longer be read.
    Reading,
    /// Whoever decides again notices, and whoever knows the rules.
    Both,
    /// Only whoever decides again.
    Deciding,
    /// Only whoever knows the rules.
    Verifier,
    /// Nobody, and it is known why.
    Unfindable(&'static str),
}

/// A decision as a journal shows it.
struct Shown {
    input: Value,
    events: Vec<Value>,
}

/// Where a field is.
#[derive(Clone)]
struct Place {
    decision: usize,
    /// The event; none for the input.
    event: Option<usize>,
    /// The way to it.
    path: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Name(String),
    Nth(usize),
}

/// Changes one field of a history; says who noticed.
pub(crate) fn one(world: &mut World<'_>) -> Found {
    let decisions = read_back(world);
    let shown: Vec<Shown> = decisions.iter().map(shown).collect();
    let fields = fields(&shown);
    let names: Vec<&String> = fields.iter().map(|(name, _)| name).collect();
    let mut classes = names.clone();
    classes.dedup();
    let class = (*world.dice.pick(&classes)).clone();
    let instances: Vec<&Place> =
        fields.iter().filter(|(name, _)| *name == class).map(|(_, place)| place).collect();
    let place = (*world.dice.pick(&instances)).clone();
    let Some(altered) = altered(&shown, &place, world) else { return Found::Reading };
    let mut again = Recomputation::new(world.id.clone());
    let mut opinion = Verifier::new(world.id.clone());
    let (mut diverges, mut objected) = (false, false);
    for (nth, (decided, events)) in decisions.iter().enumerate() {
        let (decided, events) =
            if nth == place.decision { (&altered.0, &altered.1) } else { (decided, events) };
        diverges = diverges || again.next(decided, events).is_err();
        objected = objected || judged(&mut opinion, decided, events).is_err();
    }
    match (diverges, objected) {
        (true, true) => Found::Both,
        (true, false) => Found::Deciding,
        (false, true) => Found::Verifier,
        (false, false) => {
            let known = UNFINDABLE.iter().find(|(name, _)| class.starts_with(name));
            let Some((name, _)) = known else {
                panic!("nobody noticed that {class} was changed: {altered:?}")
            };
            Found::Unfindable(name)
        }
    }
}

fn shown((decided, events): &(Decided, Vec<Event>)) -> Shown {
    let event = |event: &Event| {
        let data: Value = serde_json::from_str(&event.body.data_json()).unwrap();
        json!({
            "ts": event.ts,
            "wall": event.wall,
            "type": event.body.type_name(),
            "node": event.node,
            "data": data,
        })
    };
    Shown { input: json!(decided), events: events.iter().map(event).collect() }
}

/// Every field, by its name; names are sorted.
fn fields(shown: &[Shown]) -> Vec<(String, Place)> {
    let mut found = Vec::new();
    for (decision, Shown { input, events }) in shown.iter().enumerate() {
        let place = Place { decision, event: None, path: Vec::new() };
        leaves(input, "input", &place, &mut found);
        for (nth, event) in events.iter().enumerate() {
            let place = Place { decision, event: Some(nth), path: Vec::new() };
            let kind = event["type"].as_str().unwrap();
            for field in ["ts", "wall", "type", "node"] {
                let path = vec![Step::Name(field.to_owned())];
                found.push((format!("event.{field}"), Place { path, ..place.clone() }));
            }
            let path = vec![Step::Name("data".to_owned())];
            leaves(&event["data"], kind, &Place { path, ..place }, &mut found);
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// Maps whose names are an author's or a run's: they are no fields.
const MAPS: [&str; 6] = ["nodes", "loops", "merged", "assigned", "assign", "state"];

fn leaves(value: &Value, name: &str, place: &Place, found: &mut Vec<(String, Place)>) {
    let deeper = |step: Step| {
        let path = place.path.iter().cloned().chain([step]).collect();
        Place { path, ..place.clone() }
    };
    match value {
        Value::Object(object) if !object.is_empty() => {
            let map = MAPS.iter().any(|map| name.ends_with(&format!(".{map}")));
            for (field, value) in object {
                let name = format!("{name}.{}", if map { "*" } else { field });
                leaves(value, &name, &deeper(Step::Name(field.clone())), found);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (nth, value) in list.iter().enumerate() {
                leaves(value, &format!("{name}[]"), &deeper(Step::Nth(nth)), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push((name.to_owned(), place.clone()));
        }
        // Nothing is in it that could be changed.
        Value::Object(_) | Value::Array(_) => {}
    }
}

/// The decision with the field changed; `None` where it can no longer be read.
fn altered(shown: &[Shown], place: &Place, world: &mut World<'_>) -> Option<(Decided, Vec<Event>)> {
    let Shown { input, events } = &shown[place.decision];
    let (mut input, mut events) = (input.clone(), events.clone());
    let root = match place.event {
        None => &mut input,
        Some(nth) => &mut events[nth],
    };
    let field = place.path.iter().fold(root, |value, step| match step {
        Step::Name(name) => &mut value[name.as_str()],
        Step::Nth(nth) => &mut value[*nth],
    });
    *field = another(field, world);
    let decided = Decided::read(&input.to_string()).ok()?;
    let first = world.decisions[..place.decision].last().map_or(0, |(_, end)| *end);
    let read = |(nth, event): (usize, &Value)| -> Option<Event> {
        let data = event["data"].to_string();
        Some(Event {
            seq: (first + nth) as u64 + 1,
            ts: event["ts"].as_i64()?,
            wall: event["wall"].as_i64()?,
            node: serde_json::from_value(event["node"].clone()).ok()?,
            body: EventBody::parse(event["type"].as_str()?, &data).ok()?,
        })
    };
    let events = events.iter().enumerate().map(read).collect::<Option<Vec<Event>>>()?;
    Some((decided, events))
}

/// Another value of the same kind.
fn another(value: &Value, world: &mut World<'_>) -> Value {
    match value {
        Value::Null => json!("x"),
        Value::Bool(yes) => json!(!yes),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(count), _) if count > 0 && world.dice.percent(40) => json!(count - 1),
            (Some(count), _) => json!(count + 1),
            (None, Some(count)) => json!(count - 1),
            (None, None) => json!(number.as_f64().unwrap() * 2.0 + 1.0),
        },
        Value::String(text) if text == "AUTO" => json!("INTERACTIVE"),
        Value::String(text) if text == "INTERACTIVE" => json!("AUTO"),
        Value::String(text) if world.plan().nodes.contains_key(text.as_str()) => {
            let names: Vec<String> = world.plan().nodes.keys().map(ToString::to_string).collect();
            let other = world.dice.pick(&names).clone();
            if other == *text { json!("nowhere") } else { json!(other) }
        }
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(_) | Value::Object(_) => Value::Object(Map::new()),
    }
}
