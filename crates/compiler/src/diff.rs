//! Differences between two documents, in the terms of the document: sockets, edges, loops, materia.
//!
//! Deliberately absent: lines and characters. Comments and the order of names do not count.

use materia_contract::body::{Change, ChangedKind, Difference};
use serde_json::{Map, Value};

use crate::fault::Faults;
use crate::read;

/// Why two documents cannot be compared.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{which} is no object of JSON, so nothing in it can be compared")]
pub struct NoDocument {
    /// Which of the two.
    pub which: &'static str,
}

/// Differences between two texts. An empty text is an empty document.
pub fn diff(from: &str, to: &str) -> Result<Difference, NoDocument> {
    let from = object(from, "the first document")?;
    let to = object(to, "the second document")?;
    let mut found = Found::default();
    let root = Spot { path: String::new(), name: String::new() };
    for (name, was, is) in pairs(&from, &to) {
        let spot = root.child(name, "", name);
        match (name, was.and_then(Value::as_object), is.and_then(Value::as_object)) {
            ("materia", was, is) => {
                found.entries(&spot, ("materia", ChangedKind::Materia), was, is);
            }
            ("loadouts", was, is) => loadouts(&mut found, &spot, was, is),
            ("layout", ..) => found.one(ChangedKind::Layout, &spot, was, is),
            _ => found.one(ChangedKind::Setting, &spot, was, is),
        }
    }
    Ok(found.0)
}

fn object(text: &str, which: &'static str) -> Result<Map<String, Value>, NoDocument> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    // What is wrong with it otherwise is the matter of `check`.
    read::document(text, 0, &mut Faults::default()).ok_or(NoDocument { which })
}

/// A place in the document: for programs, and for people.
#[derive(Clone)]
struct Spot {
    path: String,
    name: String,
}

impl Spot {
    /// Place of a named child.
    fn child(&self, key: &str, word: &str, name: &str) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        let told = if word.is_empty() { name.to_owned() } else { format!("{word} {name}") };
        let name = if self.name.is_empty() { told } else { format!("{} › {told}", self.name) };
        Self { path: format!("{}/{key}", self.path), name }
    }

    /// Place of a child without a name.
    fn within(&self, key: &str) -> Self {
        Self { path: format!("{}/{key}", self.path), name: self.name.clone() }
    }
}

/// The entries of an object, where it is there and is one.
type Entries<'a> = Option<&'a Map<String, Value>>;

/// Every name of both, those of the first in their order, then the new ones.
fn pairs<'a>(
    from: &'a Map<String, Value>,
    to: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let was = from.iter().map(|(name, value)| (name.as_str(), Some(value), to.get(name)));
    let new = to.iter().filter(|(name, _)| !from.contains_key(*name));
    was.chain(new.map(|(name, value)| (name.as_str(), None, Some(value))))
}

#[derive(Default)]
struct Found(Difference);

impl Found {
    /// Records whether one thing was added, removed or changed.
    fn one(&mut self, kind: ChangedKind, spot: &Spot, was: Option<&Value>, is: Option<&Value>) {
        if was == is {
            return;
        }
        let list = match (was, is) {
            (None, _) => &mut self.0.added,
            (_, None) => &mut self.0.removed,
            (Some(_), Some(_)) => &mut self.0.changed,
        };
        let Spot { path, name } = spot.clone();
        list.push(Change { kind, path, name, from: was.cloned(), to: is.cloned() });
    }

    /// Records the added, removed and changed entries of an object.
    fn entries(
        &mut self,
        spot: &Spot,
        (word, kind): (&str, ChangedKind),
        was: Entries<'_>,
        is: Entries<'_>,
    ) {
        let none = Map::new();
        let spot = Spot { path: spot.path.clone(), name: String::new() };
        for (name, was, is) in pairs(was.unwrap_or(&none), is.unwrap_or(&none)) {
            self.one(kind, &spot.child(name, word, name), was, is);
        }
    }
}

fn loadouts(found: &mut Found, spot: &Spot, was: Entries<'_>, is: Entries<'_>) {
    let none = Map::new();
    let spot = Spot { path: spot.path.clone(), name: String::new() };
    for (name, was, is) in pairs(was.unwrap_or(&none), is.unwrap_or(&none)) {
        let spot = spot.child(name, "loadout", name);
        match (was.and_then(Value::as_object), is.and_then(Value::as_object)) {
            (Some(was), Some(is)) => loadout(found, &spot, was, is),
            _ => found.one(ChangedKind::Loadout, &spot, was, is),
        }
    }
}

/// The parts of an object that are compared by themselves, taken out of it.
fn without(object: &Value, names: &[&str]) -> Value {
    let mut rest = object.clone();
    if let Value::Object(rest) = &mut rest {
        rest.retain(|name, _| !names.contains(&name.as_str()));
    }
    rest
}

fn loadout(found: &mut Found, spot: &Spot, was: &Map<String, Value>, is: &Map<String, Value>) {
    for (name, was, is) in pairs(was, is) {
        let (old, new) = (was.and_then(Value::as_object), is.and_then(Value::as_object));
        match name {
            "sockets" => each(found, &spot.within(name), "socket", (old, new), socket),
            "loops" => each(found, &spot.within(name), "loop", (old, new), region),
            "layout" => found.one(ChangedKind::Layout, &spot.child(name, "", name), was, is),
            _ => found.one(ChangedKind::Setting, &spot.child(name, "", name), was, is),
        }
    }
}

/// Each entry of an object that is there in either.
fn each(
    found: &mut Found,
    spot: &Spot,
    word: &str,
    (was, is): (Entries<'_>, Entries<'_>),
    look: fn(&mut Found, &Spot, Option<&Value>, Option<&Value>),
) {
    let none = Map::new();
    for (name, was, is) in pairs(was.unwrap_or(&none), is.unwrap_or(&none)) {
        look(found, &spot.child(name, word, name), was, is);
    }
}

fn socket(found: &mut Found, spot: &Spot, was: Option<&Value>, is: Option<&Value>) {
    let (Some(was), Some(is)) = (was, is) else {
        return found.one(ChangedKind::Socket, spot, was, is);
    };
    let own = ["edges", "layout"];
    if without(was, &own) != without(is, &own) {
        found.one(ChangedKind::Socket, spot, Some(was), Some(is));
    }
    found.one(
        ChangedKind::Layout,
        &spot.child("layout", "", "layout"),
        was.get("layout"),
        is.get("layout"),
    );
    list(found, spot, ("edges", "edge"), ChangedKind::Edge, (was, is), &["id", "to", "when"]);
}

fn region(found: &mut Found, spot: &Spot, was: Option<&Value>, is: Option<&Value>) {
    let (Some(was), Some(is)) = (was, is) else {
        return found.one(ChangedKind::Loop, spot, was, is);
    };
    let own = ["exits", "layout"];
    if without(was, &own) != without(is, &own) {
        found.one(ChangedKind::Loop, spot, Some(was), Some(is));
    }
    list(found, spot, ("exits", "exit"), ChangedKind::Exit, (was, is), &["id"]);
}

/// Compares two lists whose elements have no names of their own: what is equal belongs together, then what has the
/// same `marks`, each mark in its turn; what is left is new or gone. Where all of it is equal and only stands
/// elsewhere, the order has changed.
fn list(
    found: &mut Found,
    spot: &Spot,
    (field, word): (&str, &str),
    kind: ChangedKind,
    (was, is): (&Value, &Value),
    marks: &[&str],
) {
    let elements = |value: &Value| value.get(field).and_then(Value::as_array).cloned();
    let (old, new) = (elements(was).unwrap_or_default(), elements(is).unwrap_or_default());
    let mut partner: Vec<Option<usize>> = vec![None; new.len()];
    let mut left: Vec<usize> = (0..old.len()).collect();
    let mut pair = |same: &dyn Fn(&Value, &Value) -> bool| {
        for (place, element) in new.iter().enumerate() {
            if partner[place].is_some() {
                continue;
            }
            if let Some(at) = left.iter().position(|at| same(&old[*at], element)) {
                partner[place] = Some(left.remove(at));
            }
        }
    };
    pair(&|one, other| one == other);
    for mark in marks {
        pair(&|one, other| one.get(mark).is_some() && one.get(mark) == other.get(mark));
    }
    let named = |at: usize| spot.within(field).child(&at.to_string(), word, &(at + 1).to_string());
    for at in left {
        found.one(kind, &named(at), Some(&old[at]), None);
    }
    for (place, element) in new.iter().enumerate() {
        found.one(kind, &named(place), partner[place].map(|at| &old[at]), Some(element));
    }
    let kept: Vec<usize> = partner.iter().flatten().copied().collect();
    if !kept.is_sorted() {
        let order = spot.child(field, "order of", field);
        found.one(kind, &order, was.get(field), is.get(field));
    }
}
