//! Changes something that follows from the inputs of a history and recomputes the hashes: recomputation and the
//! verifier must both notice, each time.
//!
//! The bytes of the records are changed: other JSON for the same value, added, removed and swapped events, impossible
//! times, decisions without their inputs.

use materia_contract::{ChainHash, Decided, Event, Record};
use materia_kernel::Recomputation;
use materia_verifier::Verifier;
use serde_json::{Value, json};

use crate::again::judged;
use crate::world::World;

/// A way to forge a journal. It gives the records with something changed, or nothing where it does not apply.
type Forgery = fn(&[Record], &mut World<'_>) -> Option<Vec<Record>>;

const FORGERIES: &[(&str, Forgery)] = &[
    ("a field more", a_field_more),
    ("a field more, deep inside", a_field_more_inside),
    ("a space", a_space),
    ("a field twice", a_field_twice),
    ("fields in another order", another_order),
    ("a number in another form", another_number),
    ("a text in another form", another_text),
    ("an event left out", left_out),
    ("an event twice", twice),
    ("two events in each other's place", exchanged),
    ("two decisions in each other's place", decisions_exchanged),
    ("a decision left out", decision_left_out),
    ("two decisions made one", joined),
    ("a decision made two", parted),
    ("a decision before the one that it follows on", went_back),
    ("the clock ahead of the run's time", clock_ahead),
    ("logical time moved", time_moved),
    ("a cut where nothing was forked", cut),
    ("another version", another_version),
    ("another node", another_node),
    ("another type", another_type),
];

/// Forges a history in one way; says in which.
pub(crate) fn one(world: &mut World<'_>) -> &'static str {
    let records = sealed(world);
    loop {
        let (name, forgery) = world.dice.pick(FORGERIES);
        let Some(forged) = forgery(&records, world).filter(|forged| *forged != records) else {
            continue;
        };
        let verdict = verified(world, &hashed(world, forged.clone()));
        assert!(verdict.is_err(), "nobody noticed {name}: {}", difference(&records, &forged));
        return name;
    }
}

/// The history as its journal has it.
pub(crate) fn sealed(world: &World<'_>) -> Vec<Record> {
    let (mut head, mut first) = (ChainHash::origin(&world.id), 0);
    let mut records: Vec<Record> = Vec::new();
    for (decided, end) in &world.decisions {
        let events = &world.journal[first..*end];
        first = *end;
        records.extend(Record::seal_decision(decided.text(), events, head));
        head = records.last().map_or(head, |record| record.hash);
    }
    records
}

/// The records numbered and hashed as they stand: what somebody does who wants to be believed.
fn hashed(world: &World<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let mut head = ChainHash::origin(&world.id);
    for record in &mut records {
        record.hash = record.hash_after(head);
        head = record.hash;
    }
    records
}

/// Checks a journal as `materia replay` does.
pub(crate) fn verified(world: &World<'_>, records: &[Record]) -> Result<(), String> {
    let mut again = Recomputation::new(world.id.clone());
    let mut opinion = Verifier::new(world.id.clone());
    let mut due = 1;
    for decision in records.chunk_by(|_, next| next.input.is_none()) {
        let Some(input) = &decision[0].input else { return Err("no input".to_owned()) };
        let decided = Decided::read(input).map_err(|error| error.to_string())?;
        if !decided.is_of_these_rules() {
            return Err("other rules".to_owned());
        }
        let mut events: Vec<Event> = Vec::new();
        for record in decision {
            if record.seq != due {
                return Err("a gap".to_owned());
            }
            due += 1;
            events.push(record.event().map_err(|error| error.to_string())?);
        }
        let retaken = again.next(&decided, &events).map_err(|it| it.to_string())?;
        judged(&mut opinion, &decided, &events).map_err(|it| it.to_string())?;
        let written = decision.iter().zip(&retaken.events);
        if *input != retaken.decided.text()
            || written.into_iter().any(|(it, event)| !it.is_written_for(event))
        {
            return Err("other bytes".to_owned());
        }
    }
    Ok(())
}

fn difference(before: &[Record], forged: &[Record]) -> String {
    let other = before.iter().zip(forged).find(|(one, other)| one != other);
    format!("{other:?}, {} events and then {}", before.len(), forged.len())
}

/// The same records with one of them changed.
fn changed(
    records: &[Record],
    world: &mut World<'_>,
    change: impl Fn(&mut Record, &mut World<'_>) -> Option<()>,
) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let nth = world.dice.below(forged.len());
    change(&mut forged[nth], world)?;
    Some(forged)
}

/// Any number below this one, if there is one.
fn any_below(world: &mut World<'_>, bound: usize) -> Option<usize> {
    (bound > 0).then(|| world.dice.below(bound))
}

/// The text of a record that is changed: its data, or the input of its decision.
fn text<'a>(record: &'a mut Record, world: &mut World<'_>) -> &'a mut String {
    match &mut record.input {
        Some(input) if world.dice.percent(40) => input,
        _ => &mut record.data,
    }
}

fn a_field_more(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        let text = text(record, world);
        let behind = if text == "{}" { "" } else { "," };
        text.pop();
        text.push_str(behind);
        text.push_str("\"unknown\":1}");
        Some(())
    })
}

fn a_field_more_inside(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        // The variables that a run begins with are an input.
        let text = (record.kind != "run.created").then_some(&mut record.data)?;
        let places: Vec<usize> = text.match_indices(":{\"").map(|(place, _)| place + 2).collect();
        let place = *places.get(world.dice.below(places.len().max(1)))?;
        text.insert_str(place, "\"unknown\":null,");
        Some(())
    })
}

fn a_space(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        let text = text(record, world);
        let place = *world.dice.pick(&[1, text.len() - 1]);
        text.insert(place, ' ');
        Some(())
    })
}

fn a_field_twice(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        let text = text(record, world);
        let value: Value = serde_json::from_str(text).ok()?;
        let (name, value) = value.as_object()?.iter().next()?;
        let again = format!("{{{}:{value},", json!(name));
        *text = text.replacen('{', &again, 1);
        Some(())
    })
}

fn another_order(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        let text = text(record, world);
        let value: Value = serde_json::from_str(text).ok()?;
        let fields = value.as_object()?.iter().rev();
        let fields: Vec<String> =
            fields.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        *text = format!("{{{}}}", fields.join(","));
        Some(())
    })
}

fn another_number(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        let text = text(record, world);
        let ends = ends_of_numbers(text);
        let place = *ends.get(world.dice.below(ends.len().max(1)))?;
        let form: &str = world.dice.pick::<&str>(&["e0", ".0", "E+0"]);
        text.insert_str(place, form);
        Some(())
    })
}

/// Where the numbers of a JSON text end, but for those that are part of a string.
fn ends_of_numbers(text: &str) -> Vec<usize> {
    let (mut ends, mut inside, mut escaped, mut before) = (Vec::new(), false, false, b' ');
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b',' | b'}' | b']' if !inside && before.is_ascii_digit() => ends.push(at),
            _ => {}
        }
        before = byte;
    }
    ends
}

fn another_text(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        let text = text(record, world);
        let place = text.find(":\"")? + 2;
        let first = text[place..].chars().next().filter(char::is_ascii_alphanumeric)?;
        text.replace_range(place..=place, &format!("\\u{:04x}", u32::from(first)));
        Some(())
    })
}

/// Gives every record the number that it has by its place, and the times of its decision.
fn numbered(mut records: Vec<Record>) -> Vec<Record> {
    let mut before: Option<(i64, i64)> = None;
    for (seq, record) in (1..).zip(&mut records) {
        record.seq = seq;
        if record.input.is_none()
            && let Some((ts, wall)) = before
        {
            (record.ts, record.wall) = (ts + 1, wall);
        }
        before = Some((record.ts, record.wall));
    }
    records
}

fn left_out(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let nth = world.dice.below(records.len());
    let gone = forged.remove(nth);
    let next = forged.get_mut(nth).filter(|next| next.input.is_none());
    match (gone.input, next) {
        (None, _) => {}
        (Some(input), Some(next)) => next.input = Some(input),
        // All of a decision: that is a run in which something else was asked.
        (Some(_), None) => return None,
    }
    Some(numbered(forged))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of many")]
fn twice(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let nth = world.dice.below(records.len());
    forged.insert(nth + 1, Record { input: None, ..records[nth].clone() });
    Some(numbered(forged))
}

fn exchanged(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let nth = any_below(world, records.len() - 1)?;
    let (one, other) = (records[nth].clone(), records[nth + 1].clone());
    let same = (&one.kind, &one.node, &one.data) == (&other.kind, &other.node, &other.data);
    (forged[nth].kind, forged[nth].node, forged[nth].data) = (other.kind, other.node, other.data);
    let place = &mut forged[nth + 1];
    (place.kind, place.node, place.data) = (one.kind, one.node, one.data);
    (!same).then_some(forged)
}

/// The decisions of a journal.
fn decisions(records: &[Record]) -> Vec<Vec<Record>> {
    records.chunk_by(|_, next| next.input.is_none()).map(<[Record]>::to_vec).collect()
}

fn decisions_exchanged(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut all = decisions(records);
    let nth = any_below(world, all.len() - 1)?;
    let at = |nth: usize| -> Option<i64> {
        Some(Decided::read(all[nth].first()?.input.as_deref()?).ok()?.at)
    };
    // At one instant either may come first.
    let apart = at(nth)? < at(nth + 1)?;
    all.swap(nth, nth + 1);
    apart.then(|| numbered(all.concat()))
}

fn decision_left_out(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut all = decisions(records);
    // Not the last one: a shorter run is none that was forged.
    let nth = any_below(world, all.len() - 1)?;
    let gone = all.remove(nth);
    // Only what others follow on: without the rest it is a run in which something else was asked.
    let started = gone.iter().any(|it| it.kind == "turn.started");
    started.then(|| numbered(all.concat()))
}

fn joined(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let begins: Vec<usize> =
        (1..records.len()).filter(|nth| records[*nth].input.is_some()).collect();
    let nth = *begins.get(world.dice.below(begins.len().max(1)))?;
    forged[nth].input = None;
    Some(numbered(forged))
}

fn parted(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let inside: Vec<usize> =
        (1..records.len()).filter(|nth| records[*nth].input.is_none()).collect();
    let nth = *inside.get(world.dice.below(inside.len().max(1)))?;
    let begun = records[..nth].iter().rev().find_map(|it| it.input.clone())?;
    forged[nth].input = Some(begun);
    Some(forged)
}

/// Changes the input of one decision.
fn with_input(
    records: &[Record],
    world: &mut World<'_>,
    change: impl Fn(&mut Decided, &[Record]) -> Option<()>,
) -> Option<Vec<Record>> {
    let begins: Vec<usize> =
        (0..records.len()).filter(|nth| records[*nth].input.is_some()).collect();
    let nth = *world.dice.pick(&begins);
    let mut decided = Decided::read(records[nth].input.as_deref()?).ok()?;
    change(&mut decided, &records[..nth])?;
    let mut forged = records.to_vec();
    forged[nth].input = Some(decided.text());
    Some(forged)
}

fn went_back(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    with_input(records, world, |decided, before| {
        let input = before.iter().rev().find_map(|it| it.input.as_deref())?;
        decided.at = Decided::read(input).ok()?.at - 1;
        Some(())
    })
}

fn clock_ahead(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let begins: Vec<usize> =
        (0..records.len()).filter(|nth| records[*nth].input.is_some()).collect();
    let nth = *world.dice.pick(&begins);
    let at = Decided::read(records[nth].input.as_deref()?).ok()?.at;
    forged[nth].wall = at + 1;
    Some(numbered(forged))
}

fn time_moved(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    changed(records, world, |record, world| {
        record.ts += if world.dice.percent(50) { 1 } else { -1 };
        Some(())
    })
}

fn cut(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    with_input(records, world, |decided, before| {
        decided.until = Some(before.last().map_or(2, |it| it.seq + 1));
        Some(())
    })
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of many")]
fn another_version(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let mut forged = records.to_vec();
    let other =
        world.dice.pick(&["\"journalVersion\":4", "\"journalVersion\":3", "\"journalVersion\":1"]);
    let version = format!("\"journalVersion\":{}", materia_contract::JOURNAL_VERSION_OF_PROJECT);
    forged[0].data = forged[0].data.replace(&version, other);
    Some(forged)
}

fn another_node(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let names: Vec<String> = world.plan().nodes.keys().map(ToString::to_string).collect();
    changed(records, world, |record, world| {
        record.node = if record.node.is_some() && world.dice.percent(30) {
            None
        } else {
            Some(world.dice.pick(&names).clone())
        };
        Some(())
    })
}

fn another_type(records: &[Record], world: &mut World<'_>) -> Option<Vec<Record>> {
    let kinds: Vec<String> = records.iter().map(|record| record.kind.clone()).collect();
    changed(records, world, |record, world| {
        record.kind.clone_from(world.dice.pick(&kinds));
        Some(())
    })
}
