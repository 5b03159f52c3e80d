//! Compares the output of a case with its `expect`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::scratch::{Ran, Scratch};
use super::subset::{Names, difference, holds};

/// How much of an output is shown with a failure.
const SHOWN_CHARS_MAX: usize = 600;

/// Gives every expectation that does not hold.
pub(super) fn check(
    expect: &Value,
    ran: &Ran,
    folders_before: &BTreeSet<PathBuf>,
    scratch: &Scratch,
    names: &mut Names,
) -> Vec<String> {
    let Value::Object(keys) = expect else {
        return vec!["`expect` is not an object".to_owned()];
    };
    if keys.is_empty() {
        return vec!["`expect` is empty, so nothing is checked".to_owned()];
    }
    let mut failures = Vec::new();
    for (key, wanted) in keys {
        let result = one(key, wanted, ran, folders_before, scratch, names);
        failures.extend(result.err().map(|what| format!("{key}: {what}")));
    }
    if !failures.is_empty() {
        failures.push(format!("it printed: {}", shown(&ran.stdout)));
        if !ran.stderr.is_empty() {
            failures.push(format!("it said: {}", shown(&ran.stderr)));
        }
    }
    failures
}

fn one(
    key: &str,
    wanted: &Value,
    ran: &Ran,
    folders_before: &BTreeSet<PathBuf>,
    scratch: &Scratch,
    names: &mut Names,
) -> Result<(), String> {
    match key {
        "exit" => exit(wanted, ran),
        "status" | "state" | "waiting" | "error" => same(wanted, part(ran, key)?, names),
        "error.code" => same(wanted, &part(ran, "error")?["code"], names),
        "report" => {
            let report = ran.report.as_ref().ok_or("the output is not one JSON value")?;
            same(wanted, report, names)
        }
        "visits" => visits(wanted, part(ran, key)?, names),
        "events" => events(list(wanted)?, &scratch.events()?, names),
        "noEvents" => no_events(list(wanted)?, &scratch.events()?, names),
        "findings" => findings(list(wanted)?, ran, names),
        "stdoutContains" => contains(wanted, &ran.stdout),
        "stderrContains" => contains(wanted, &ran.stderr),
        "files" => files(wanted.as_object().ok_or("it must be an object")?, scratch),
        "noCastFolder" => no_cast_folder(wanted, folders_before, scratch),
        _ => Err("this key is not known, so nothing would be checked".to_owned()),
    }
}

fn exit(wanted: &Value, ran: &Ran) -> Result<(), String> {
    match ran.exit {
        Some(code) if wanted.as_i64() == Some(i64::from(code)) => Ok(()),
        Some(code) => Err(format!("expected {wanted}, found {code}")),
        None => Err(format!("expected {wanted}, and a signal ended it")),
    }
}

fn part<'a>(ran: &'a Ran, key: &str) -> Result<&'a Value, String> {
    let report = ran.report.as_ref().ok_or("the output is not one JSON value")?;
    report.get(key).ok_or_else(|| "the output has no such field".to_owned())
}

fn same(wanted: &Value, found: &Value, names: &mut Names) -> Result<(), String> {
    difference(wanted, found, names).map_or(Ok(()), Err)
}

fn list(wanted: &Value) -> Result<&[Value], String> {
    match wanted.as_array() {
        Some(list) if !list.is_empty() => Ok(list),
        Some(_) => Err("the list is empty, so nothing is checked".to_owned()),
        None => Err("it must be a list".to_owned()),
    }
}

/// Visits in order, no more and no fewer: a socket id, or an object that must be held.
fn visits(wanted: &Value, found: &Value, names: &mut Names) -> Result<(), String> {
    let wanted = wanted.as_array().ok_or("it must be a list")?;
    let found = found.as_array().ok_or("the output has no list of visits")?;
    let mut fits = |(wanted, found): (&Value, &Value)| {
        if wanted.is_string() { found["socket"] == *wanted } else { holds(wanted, found, names) }
    };
    if wanted.len() == found.len() && wanted.iter().zip(found).all(&mut fits) {
        return Ok(());
    }
    let names: Vec<_> = found.iter().map(|visit| visit["socket"].to_string()).collect();
    Err(format!("expected {}, found [{}]", Value::from(wanted.clone()), names.join(",")))
}

fn events(wanted: &[Value], found: &[Value], names: &mut Names) -> Result<(), String> {
    let mut rest = found.iter();
    for (place, one) in wanted.iter().enumerate() {
        if !rest.any(|event| is_event(one, event, names)) {
            let types: Vec<_> = found
                .iter()
                .map(|event| format!("{} {}", event["type"], event["nodeId"]))
                .collect();
            return Err(format!(
                "number {} is not there, or not in this place: {one}\nthe events are: {}",
                place + 1,
                types.join(", ")
            ));
        }
    }
    Ok(())
}

fn no_events(unwanted: &[Value], found: &[Value], names: &mut Names) -> Result<(), String> {
    for one in unwanted {
        if let Some(event) = found.iter().find(|event| is_event(one, event, names)) {
            return Err(format!("{one} must not be there: {}", shown(&event.to_string())));
        }
    }
    Ok(())
}

/// A type, or fields that the event or its data must hold.
fn is_event(wanted: &Value, event: &Value, names: &mut Names) -> bool {
    let Some(fields) = wanted.as_object() else { return event["type"] == *wanted };
    let mut bound = names.clone();
    let fits = fields.iter().all(|(name, value)| {
        let found = event.get(name).or_else(|| event["data"].get(name));
        found.is_some_and(|found| holds(value, found, &mut bound))
    });
    if fits {
        *names = bound;
    }
    fits
}

fn findings(wanted: &[Value], ran: &Ran, names: &mut Names) -> Result<(), String> {
    let report = ran.report.as_ref().ok_or("the output is not one JSON value")?;
    let found = report.get("findings").or_else(|| report["error"].get("findings"));
    let found = found.and_then(Value::as_array).ok_or("the output has no findings")?;
    for one in wanted {
        if !found.iter().any(|finding| holds(one, finding, names)) {
            let found: Vec<_> =
                found.iter().map(|one| format!("{} at {}", one["code"], one["pointer"])).collect();
            return Err(format!("{one} is not among [{}]", found.join(", ")));
        }
    }
    Ok(())
}

fn contains(wanted: &Value, text: &str) -> Result<(), String> {
    let one = std::slice::from_ref(wanted);
    let parts = if wanted.is_string() { one } else { list(wanted)? };
    for part in parts {
        let part = part.as_str().ok_or("it must be text")?;
        if !text.contains(part) {
            return Err(format!("`{part}` is not there"));
        }
    }
    Ok(())
}

fn files(wanted: &Map<String, Value>, scratch: &Scratch) -> Result<(), String> {
    for (path, wanted) in wanted {
        let place = scratch.path(path)?;
        let content =
            std::fs::read(&place).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match (wanted, content) {
            (Value::Null, _) if place.symlink_metadata().is_ok() => {
                return Err(format!("`{path}` must not exist"));
            }
            (Value::Null, _) => {}
            (_, None) => return Err(format!("`{path}` cannot be read")),
            (Value::String(text), Some(content)) if *text == content => {}
            (Value::String(text), Some(content)) => {
                return Err(format!("`{path}` should be {text:?} and is {:?}", shown(&content)));
            }
            (other, Some(content)) => {
                let part = other.as_object().filter(|fields| fields.len() == 1);
                let part = part.and_then(|fields| fields.get("contains")).and_then(Value::as_str);
                let part = part.ok_or_else(|| format!("`{path}`: {other} says nothing"))?;
                if !content.contains(part) {
                    return Err(format!("`{path}` lacks {part:?}; it is {:?}", shown(&content)));
                }
            }
        }
    }
    Ok(())
}

fn no_cast_folder(
    wanted: &Value,
    before: &BTreeSet<PathBuf>,
    scratch: &Scratch,
) -> Result<(), String> {
    if *wanted != Value::Bool(true) {
        return Err("only `true` can be checked".to_owned());
    }
    let new: Vec<_> =
        scratch.folders().difference(before).map(|path| path.display().to_string()).collect();
    if new.is_empty() { Ok(()) } else { Err(format!("there are new folders: {}", new.join(", "))) }
}

fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", cut.trim_end())
}
