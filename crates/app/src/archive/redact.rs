//! Texts of a cast replaced by their length. Ids, routes, verdicts, numbers and times stay, so that order, routes,
//! budgets and timers can still be checked.
//!
//! The lists here say what may stay: a text in a field that no list names is replaced.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use materia_contract::{
    EventBody, FULL_STDOUT, Plan, Record, RunId, Test, Uuid, number, path_tokens,
};
use materia_engine::{Journal, blocking};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::lines::EventLine;
use super::write::{Writer, Written, damaged};
use crate::Result;

/// Fields whose whole value stays: ids, words with a fixed meaning, and paths of the plan.
const KEPT: &[&str] = &[
    "advance",
    "approval",
    "as",
    "assign",
    "bound",
    "by",
    "castId",
    "class",
    "code",
    "condition",
    "consume",
    "consumed",
    "consumes",
    "control",
    "cron",
    "cursor",
    "dedupeBy",
    "dependsOn",
    "do",
    "dropped",
    "edge",
    "edgeId",
    "entry",
    "exit",
    "from",
    "fromCastId",
    "globalMode",
    "goOn",
    "id",
    "item",
    "key",
    "keys",
    "kind",
    "loadout",
    "loadoutId",
    "loadoutName",
    "loop",
    "map",
    "materia",
    "members",
    "mode",
    "model",
    "node",
    "of",
    "onInterrupt",
    "outputSelector",
    "overflow",
    "pace",
    "parse",
    "payloadId",
    "payloads",
    "programVersion",
    "provider",
    "reads",
    "requires",
    "routing",
    "schema",
    "session",
    "socket",
    "socketParams",
    "sockets",
    "target",
    "to",
    "tools",
    "trigger",
    "type",
    "value",
    "verdict",
    "when",
    "writtenBy",
];
/// Maps whose names are ids: the names stay, and are no fields.
const BY_ID: &[&str] = &["nodes", "loops", "agents", "setAgents"];
/// Values that people, models and programs made: all texts and unknown names in them go.
const FREE: &[&str] = &["state", "merged", "assigned", "workItems", "structured", "params", "env"];
/// Hashes would let a reader try texts, so they become numbers. Equal hashes get equal numbers.
const HASHES: &[&str] =
    &["hash", "planHash", "sameness", "approved", "body", "tree", "head", "refs", "base", "commit"];
/// Events whose `reason` is one of a few words.
const WORDED: &[&str] = &["turn.interrupted", "run.waiting", "payload.dropped", "mode.changed"];
/// Fields of a utility's input that are ids.
const INPUT_IDS: &[&str] = &["castId", "socketId", "itemKey", "globalMode"];
/// Names of fields that every answer may have.
const WORDS: &[&str] =
    &["satisfied", "context", "workItems", "state", "title", "equals", "notEquals", "exists"];

/// Writes a cast into an archive without its texts.
pub fn write_redacted(journal: &dyn Journal, id: &RunId) -> Result<Written> {
    let mut writer = Writer::new(id, true);
    let mut redaction = Redaction::default();
    for record in blocking(journal).behind(id, 0) {
        writer.event(&redaction.event(id, &record?)?)?;
    }
    Ok(writer.finish())
}

/// Numbers that stand for texts, in the order of their first use.
#[derive(Debug, Default)]
struct Numbers(BTreeMap<String, usize>);

impl Numbers {
    fn of(&mut self, text: &str) -> usize {
        let next = self.0.len() + 1;
        *self.0.entry(text.to_owned()).or_insert(next)
    }
}

#[derive(Debug, Default)]
struct Redaction {
    /// Texts that guards of the plan compare with. Equality with them decides routes, so they become numbers.
    compared: Numbers,
    /// Names of fields that the plan reads or sets. They stay.
    known: BTreeSet<String>,
    names: Numbers,
    hashes: Numbers,
    commands: Numbers,
}

impl Redaction {
    fn event(&mut self, id: &RunId, record: &Record) -> Result<EventLine<'static>> {
        let broken = |what: &dyn std::fmt::Display| damaged(id, record.seq, &what.to_string());
        let event = record.event().map_err(|error| broken(&error))?;
        let whole = record.whole_data().map_err(|fault| broken(&fault))?;
        let mut data: Map<String, Value> =
            serde_json::from_str(whole).map_err(|error| broken(&error))?;
        if let EventBody::RunCreated(created) = &event.body {
            self.learn(&created.plan);
        } else if let EventBody::TurnCompleted(done) = &event.body {
            self.answer(&mut data, done.object_text(), true);
        } else if let EventBody::TurnFailed(failed) = &event.body {
            // The `state` in it counts though the turn failed (D49).
            self.answer(&mut data, Some(failed.report.json_text().trim()), false);
        }
        let word = data.get("reason").filter(|_| WORDED.contains(&record.kind.as_str())).cloned();
        let answer = data.remove("whole");
        let input = data.get_mut("input").map(|input| self.utility_input(input.take()));
        self.fields(&mut data);
        let back = [("reason", word), ("whole", answer), ("input", input)];
        data.extend(back.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        let decided = match &record.input {
            Some(text) => {
                let mut decided: Value =
                    serde_json::from_str(text).map_err(|error| broken(&error))?;
                self.value(&mut decided);
                Some(raw(&decided))
            }
            None => None,
        };
        Ok(EventLine {
            seq: record.seq,
            ts: record.ts,
            wall: record.wall,
            kind: record.kind.clone(),
            node: record.node.clone(),
            data: raw(&Value::Object(data)),
            input: decided,
            hash: None,
        })
    }

    /// Learns from the plan which texts decide routes and which names are fields.
    fn learn(&mut self, plan: &Plan) {
        self.known.extend(WORDS.iter().map(|word| (*word).to_owned()));
        self.known.insert(FULL_STDOUT.to_owned());
        let mut paths = Vec::new();
        for node in plan.nodes.values() {
            self.known.extend(node.artifacts.iter().cloned());
            for target in node.assign.keys() {
                self.known.insert(target.clone());
                self.known.extend(target.split('.').map(str::to_owned));
            }
            self.known.extend(node.foreach.iter().map(|foreach| foreach.alias.clone()));
            paths.extend(node.assign.values().chain(&node.requires).chain(&node.reads));
            paths.extend(node.foreach.iter().map(|foreach| &foreach.items));
            for edge in node.edges.iter().chain(&node.on_failure) {
                let transform = edge.delivery.transform.as_ref();
                paths.extend(transform.iter().flat_map(|it| it.map.values()));
                for guard in edge.guard.iter().chain(transform.and_then(|it| it.guard.as_ref())) {
                    paths.push(&guard.path);
                    if let Test::Equals(value) | Test::NotEquals(value) = &guard.test {
                        self.compare(value);
                    }
                }
            }
        }
        paths.extend(plan.loops.values().filter_map(|region| region.items.as_ref()));
        self.known.extend(paths.into_iter().flat_map(|path| path.steps.iter().cloned()));
    }

    fn compare(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                self.compared.of(text);
            }
            Value::Array(list) => list.iter().for_each(|value| self.compare(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.compare(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The object of an answer stands beside its output, in the form that routes are decided from.
    fn answer(&mut self, data: &mut Map<String, Value>, object: Option<&str>, has_place: bool) {
        data.remove("whole");
        // An object with an integer of more than 64 bits is none (D55).
        let object = object.filter(|text| number::too_wide(text).is_none());
        let object = object.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        let Some(mut object) = object.map(Value::Object) else {
            data.remove("object");
            return;
        };
        self.free(&mut object);
        let text = object.to_string();
        if has_place {
            data.insert("object".to_owned(), Value::from(vec![0, text.len()]));
        }
        data.insert("whole".to_owned(), Value::from(text));
    }

    /// A utility's input names where its parts come from; values of its own lose their texts.
    fn utility_input(&mut self, mut input: Value) -> Value {
        if let Some(hash) = input.get_mut("hash") {
            self.hash(hash);
        }
        let fields = input.get_mut("fields").and_then(Value::as_object_mut);
        for (name, part) in fields.into_iter().flatten() {
            if part.is_array() && !INPUT_IDS.contains(&name.as_str()) {
                self.free(part);
            }
        }
        input
    }

    /// Fields of a known form.
    fn fields(&mut self, fields: &mut Map<String, Value>) {
        for (name, value) in fields {
            match (name.as_str(), value) {
                // The key under which a cast was asked for.
                ("key", Value::Object(key)) => key.values_mut().for_each(|it| self.hash(it)),
                // The id of a command, as its sender wrote it.
                ("command", Value::String(text)) => {
                    *text = format!("command-{}", self.commands.of(text));
                }
                // Ids, a path of the plan, and an input without fields, which is a word.
                ("loops", Value::Array(_)) | ("items" | "input", Value::String(_)) => {}
                ("items", list) => self.free(list),
                ("where", Value::Object(guard)) => {
                    guard.get_mut("test").into_iter().for_each(|test| self.free(test));
                }
                ("layers" | "targets", Value::Array(list)) => {
                    for one in list {
                        self.except(one, "name", |_, _| {});
                    }
                }
                ("artifacts" | "files", Value::Array(list)) => {
                    for one in list {
                        self.except(one, "kind", Self::name);
                    }
                }
                ("fields", Value::Array(list)) => list.iter_mut().for_each(|it| self.name(it)),
                ("cwd" | "runDir", Value::String(text)) if is_token(text) => {}
                (name, Value::Object(map)) if BY_ID.contains(&name) => {
                    map.values_mut().for_each(|value| self.value(value));
                }
                (name, value) if HASHES.contains(&name) && value.is_string() => self.hash(value),
                (name, value) if FREE.contains(&name) => self.free(value),
                (name, _) if KEPT.contains(&name) => {}
                (_, value) => self.value(value),
            }
        }
    }

    /// Redacts an object; one of its fields has a rule of its own. A text without fields is a name.
    fn except(&mut self, one: &mut Value, field: &str, rule: impl Fn(&mut Self, &mut Value)) {
        let mut kept = one.get_mut(field).map(Value::take);
        if one.is_string() {
            return self.name(one);
        }
        self.value(one);
        if let Some(kept) = &mut kept {
            rule(self, kept);
        }
        if let (Some(fields), Some(kept)) = (one.as_object_mut(), kept) {
            fields.insert(field.to_owned(), kept);
        }
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.fields(fields),
            Value::Array(list) => list.iter_mut().for_each(|value| self.value(value)),
            Value::String(text) => *text = self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A value of any form: numbers, lengths of lists and known names of fields stay.
    fn free(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(list) => list.iter_mut().for_each(|value| self.free(value)),
            Value::Object(fields) => {
                for (name, mut value) in std::mem::take(fields) {
                    self.free(&mut value);
                    fields.insert(self.known_or_number(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The length that stands for a text, or the number of a text that guards compare with. Blank texts stay.
    fn text(&self, text: &str) -> String {
        match self.compared.0.get(text) {
            Some(number) => format!("‹text {number}›"),
            None if text.trim().is_empty() => text.to_owned(),
            None => format!("‹{} bytes›", text.len()),
        }
    }

    fn name(&mut self, value: &mut Value) {
        if let Value::String(text) = value {
            *text = self.known_or_number(text);
        }
    }

    fn known_or_number(&mut self, name: &str) -> String {
        if self.known.contains(name) {
            return name.to_owned();
        }
        format!("‹name {}›", self.names.of(name))
    }

    fn hash(&mut self, value: &mut Value) {
        // The id of a payload may stand for its hash.
        if let Value::String(text) = value
            && text.parse::<Uuid>().is_err()
        {
            *text = format!("#{}", self.hashes.of(text));
        }
    }
}

fn is_token(folder: &str) -> bool {
    [path_tokens::WORKSPACE, path_tokens::RUN_DIR].contains(&folder)
}

fn raw(value: &Value) -> Cow<'static, RawValue> {
    Cow::Owned(RawValue::from_string(value.to_string()).expect("a rendered value is JSON"))
}
