//! Validates a document against the schema that is generated from its types.
//!
//! It supports only the schemas that schemars generates for those types. An invalid value is reported and replaced by
//! the smallest valid one, so that the rest of the document can still be built; the caller gets the replaced places.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::fault::{Fault, Faults};
use crate::fields;
use crate::locate::push_step;
use crate::schemas::schema;
use crate::shape::{
    Root, describe, description, fits, is_huge, kind, minimal, nullable, resolve, words,
};
use crate::suggest::{did_you_mean, nearest};

/// The field that holds the graphs of a configuration.
const LOADOUTS: &str = "loadouts";

/// Whether an unknown field is a slip for the one that holds the graphs, which is not there.
fn is_loadouts(name: &str, value: &Value, has_loadouts: bool) -> bool {
    !has_loadouts && value.is_object() && nearest(name, [LOADOUTS]).is_some()
}

/// The JSON Pointers of the values that were replaced.
pub(crate) type Mended = BTreeSet<String>;

/// The schema of a configuration.
pub(crate) struct Shape(Root);

impl Shape {
    /// It is the same each time, and not cheap to make.
    pub(crate) fn get() -> &'static Self {
        static SHAPE: LazyLock<Shape> = LazyLock::new(|| Shape(config_schema()));
        &SHAPE
    }

    /// Checks a document and mends it.
    pub(crate) fn check(
        &self,
        document: Map<String, Value>,
        layer: usize,
        faults: &mut Faults,
    ) -> (Map<String, Value>, Mended) {
        let mut checker = Checker {
            root: &self.0,
            layer,
            faults,
            pointer: String::new(),
            mended: Mended::new(),
            mentioned: BTreeSet::new(),
        };
        let mut document = document;
        checker.object(&mut document, self.0.top(), "Config");
        (document, checker.mended)
    }
}

/// The published schema of a configuration.
fn config_schema() -> Root {
    let text = schema("config.schema.json").unwrap_or_default();
    Root::read(text).expect("a test compares the committed schema with the types")
}

struct Checker<'a> {
    root: &'a Root,
    layer: usize,
    faults: &'a mut Faults,
    pointer: String,
    mended: Mended,
    mentioned: BTreeSet<String>,
}

impl<'a> Checker<'a> {
    fn value(&mut self, value: &mut Value, schema: &'a Value) {
        let (schema, of) = resolve(self.root, schema);
        if value.is_null() && nullable(schema) {
            return;
        }
        if let Some(words) = words(self.root, schema) {
            self.word(value, schema, &words);
        } else if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
            self.any_of(value, schema, alternatives);
        } else if !fits(self.root, value, schema) {
            self.wrong_type(value, schema);
        } else {
            match value {
                Value::Object(map) => self.object(map, schema, of),
                Value::Array(list) => self.array(list, schema),
                Value::Number(_) => self.range(value, schema),
                Value::String(_) | Value::Bool(_) | Value::Null => {}
            }
        }
    }

    /// Picks the alternative that can hold a value of this kind.
    fn any_of(&mut self, value: &mut Value, schema: &'a Value, alternatives: &'a [Value]) {
        let mut fitting = alternatives.iter().filter(|one| fits(self.root, value, one));
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => self.value(value, one),
            (None, _) if alternatives.iter().filter(|one| !nullable(one)).count() == 1 => {
                if let Some(one) = alternatives.iter().find(|one| !nullable(one)) {
                    self.value(value, one);
                    // The replacement of an optional value is to leave it out.
                    if self.mended.contains(&self.pointer) {
                        *value = minimal(self.root, schema);
                    }
                }
            }
            (Some(_), Some(_)) | (None, _) => self.wrong_type(value, schema),
        }
    }

    fn word(&mut self, value: &mut Value, schema: &'a Value, words: &[&'a str]) {
        let list = words.join(", ");
        let fault = match value.as_str() {
            Some(word) if words.contains(&word) => return,
            Some(word) => {
                let message = format!("{} must be one of {list}, not `{word}`", self.name());
                // The word that people write for the opposite of `satisfied`.
                let meant = if word == "unsatisfied" { "not_satisfied" } else { word };
                let help = did_you_mean(meant, words.iter().copied(), "words");
                Fault::error("document::unknown-word", message).help(help)
            }
            None => {
                let message = format!("{} must be one of {list}, not {}", self.name(), kind(value));
                Fault::error("document::wrong-type", message)
                    .help("write one of the words in double quotes")
            }
        };
        self.mend(fault, value, schema);
    }

    fn wrong_type(&mut self, value: &mut Value, schema: &'a Value) {
        let wanted = describe(self.root, schema);
        let too_large = wanted == "a whole number" && value.as_f64().is_some_and(is_huge);
        let fault = if too_large {
            Fault::error("document::out-of-range", format!("{} is too large", self.name()))
                .help("write a smaller number")
        } else {
            let message = format!("{} must be {wanted}, not {}", self.name(), kind(value));
            let fault = Fault::error("document::wrong-type", message);
            let last = self.pointer.rsplit('/').next().unwrap_or_default();
            let of_socket = self.pointer.starts_with("/loadouts/") && last == "materia";
            let example = if of_socket { Some(fields::OF_SOCKET) } else { fields::example(last) };
            match (example, description(schema)) {
                (Some(example), _) => fault.help(format!("write it like this: {example}")),
                (None, Some(text)) => fault.help(text),
                (None, None) => fault.help(format!("write {wanted} here")),
            }
        };
        self.mend(fault, value, schema);
    }

    fn range(&mut self, value: &mut Value, schema: &'a Value) {
        let Some(number) = value.as_f64() else { return };
        let ceiling = match schema.get("format").and_then(Value::as_str) {
            Some("uint32") => Some(f64::from(u32::MAX)),
            _ => None,
        };
        let least = schema.get("minimum").and_then(Value::as_f64);
        let most = schema.get("maximum").and_then(Value::as_f64).or(ceiling);
        let fault = match (least, most) {
            (Some(least), _) if number < least => {
                format!("{} must be at least {least}, not {value}", self.name())
            }
            (_, Some(most)) if number > most => {
                format!("{} must be at most {most}, not {value}", self.name())
            }
            _ => return,
        };
        let fault = Fault::error("document::out-of-range", fault);
        let help = description(schema).unwrap_or("write a number within the bounds");
        self.mend(fault.help(help), value, schema);
    }

    fn object(&mut self, map: &mut Map<String, Value>, schema: &'a Value, of: &'a str) {
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        let has_loadouts = map.contains_key(LOADOUTS);
        for (name, value) in map.iter_mut() {
            let length = self.pointer.len();
            push_step(&mut self.pointer, name);
            match (known.and_then(|known| known.get(name)), known, others) {
                (Some(schema), _, _) | (None, None, Some(schema)) => self.value(value, schema),
                (None, Some(_), _) if of == "Config" && is_loadouts(name, value, has_loadouts) => {
                    self.no_loadouts(name);
                }
                (None, Some(known), _) => self.unknown(of, name, known),
                (None, None, None) => {}
            }
            self.pointer.truncate(length);
        }
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !map.contains_key(name) {
                self.missing(map, of, name, known.and_then(|known| known.get(name)));
            }
        }
    }

    fn array(&mut self, list: &mut [Value], schema: &'a Value) {
        let Some(items) = schema.get("items") else { return };
        for (index, value) in list.iter_mut().enumerate() {
            let length = self.pointer.len();
            push_step(&mut self.pointer, &index.to_string());
            self.value(value, items);
            self.pointer.truncate(length);
        }
    }

    fn missing(
        &mut self,
        map: &mut Map<String, Value>,
        of: &str,
        name: &str,
        schema: Option<&'a Value>,
    ) {
        let message = format!("{} needs `{name}`", fields::thing(of));
        let help = schema.and_then(description).map(|text| format!("`{name}`: {text}"));
        let fault = Fault::error("document::missing-field", message)
            .help(help.unwrap_or_else(|| format!("add `{name}`")));
        self.faults.push(fault.at(self.layer, &self.pointer));
        let length = self.pointer.len();
        push_step(&mut self.pointer, name);
        self.mended.insert(self.pointer.clone());
        self.pointer.truncate(length);
        let value = schema.map_or(Value::Null, |schema| minimal(self.root, schema));
        map.insert(name.to_owned(), value);
    }

    /// The graphs stand under a name that nothing reads: the file would mean nothing.
    fn no_loadouts(&mut self, name: &str) {
        let message =
            format!("`{name}` is not read: the graphs of a configuration are its `{LOADOUTS}`");
        let fault = Fault::error("config::no-loadouts", message);
        let help = format!("write `{LOADOUTS}`, an object of names and graphs");
        self.faults.push(fault.at_key(self.layer, &self.pointer).help(help));
    }

    fn unknown(&mut self, of: &str, name: &str, known: &Map<String, Value>) {
        if fields::is_drawing(of, name) {
            return;
        }
        if fields::without_effect(of, name) {
            if self.mentioned.insert(name.to_owned()) {
                let message =
                    format!("`{name}` belongs to the original system and has no effect here");
                let fault = Fault::info("document::no-effect", message)
                    .help("it is kept; it may also be removed");
                self.faults.push(fault.at_key(self.layer, &self.pointer));
            }
            return;
        }
        let message = format!("`{name}` is not a field of {}", fields::thing(of));
        let fault = Fault::warning("document::unknown-field", message);
        self.faults.push_with(fault.at_key(self.layer, &self.pointer), |fault| {
            match nearest(name, known.keys().map(String::as_str)) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault.help("it is kept, but nothing reads it"),
            }
        });
    }

    fn mend(&mut self, fault: Fault, value: &mut Value, schema: &Value) {
        self.faults.push(fault.at(self.layer, &self.pointer));
        self.mended.insert(self.pointer.clone());
        *value = minimal(self.root, schema);
    }

    /// Name of the present value in a message: its key, or its index.
    fn name(&self) -> String {
        let (before, last) = self.pointer.rsplit_once('/').unwrap_or(("", &self.pointer));
        let last = last.replace("~1", "/").replace("~0", "~");
        if last.parse::<usize>().is_ok() {
            let owner = before.rsplit('/').next().unwrap_or_default();
            format!("`{owner}[{last}]`")
        } else {
            format!("`{last}`")
        }
    }
}
