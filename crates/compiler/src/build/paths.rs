//! Paths as an author writes them, and what holds them: assignments and guards.

use indexmap::IndexMap;
use materia_contract::{Guard, Path, Test, WhereDoc, target_steps};

use super::Place;
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;

/// One line of an `assign` that could be read.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) target: String,
    pub(super) source: Path,
    pub(super) place: Place,
}

/// Reads the lines of an `assign`.
pub(super) fn assignments(
    assign: &IndexMap<String, String>,
    owner: &Place,
    loaded: &Loaded,
    faults: &mut Faults,
) -> Vec<Assignment> {
    let mut read = Vec::new();
    for (target, source) in assign {
        let place = owner.child("assign").child(target);
        if target_steps(target).is_err() {
            let message = format!("`{target}` is no target: a step between its dots is empty");
            let fault = Fault::error("path::bad-target", message);
            faults.push(place.mark(fault).help("name a value of the state, such as `vcs.kind`"));
        } else if target.contains(['[', ']']) {
            let message = format!("`{target}` is no target: steps stand behind dots");
            let fault = Fault::error("path::bad-target", message);
            faults.push(place.mark(fault).help(format!("write `{}`", with_dots(target))));
        }
        if let Some(source) = path(source, &place, loaded, faults) {
            read.push(Assignment { target: target.clone(), source, place });
        }
    }
    read
}

/// Reads a path, or reports what is wrong with it.
pub(super) fn path(
    text: &str,
    place: &Place,
    loaded: &Loaded,
    faults: &mut Faults,
) -> Option<Path> {
    if place.is_mended(loaded) {
        return None;
    }
    if text.contains(['[', ']']) {
        let message = format!("`{text}` is not a path: steps stand behind dots, without brackets");
        let fault = Fault::error("path::bad-path", message);
        faults.push(place.mark(fault).help(format!("write `{}`", with_dots(text))));
        return None;
    }
    match text.parse() {
        Ok(path) => Some(path),
        Err(error) => {
            let error: materia_contract::PathError = error;
            let fault = Fault::error("path::bad-path", error.to_string());
            let help = "a path is $, state, item, lastJson or lastOutput and then names after dots: $.state.hello";
            faults.push(place.mark(fault).help(help));
            None
        }
    }
}

/// A path with brackets as it is written here: `$.files[0]['a']` is `$.files.0.a`.
fn with_dots(text: &str) -> String {
    let steps = text.split(['.', '[', ']']).map(|step| step.trim_matches(['\'', '"', ' ']));
    steps.filter(|step| !step.is_empty()).collect::<Vec<_>>().join(".")
}

/// Reads a guard, or reports what is wrong with it.
pub(super) fn guard(
    loaded: &Loaded,
    doc: &WhereDoc,
    place: &Place,
    faults: &mut Faults,
) -> Option<Guard> {
    let path = path(&doc.path, &place.child("path"), loaded, faults);
    let tests: Vec<Test> = [
        doc.equals.clone().map(Test::Equals),
        doc.not_equals.clone().map(Test::NotEquals),
        doc.exists.map(Test::Exists),
    ]
    .into_iter()
    .flatten()
    .collect();
    if tests.len() != 1 && !place.is_mended(loaded) {
        let said = if tests.is_empty() { "no test" } else { "more than one test" };
        let fault = Fault::error("where::one-test", format!("this `where` has {said}"));
        let help = "write exactly one of `equals`, `notEquals` and `exists`";
        faults.push(place.mark(fault).help(help));
    }
    let [test] = <[Test; 1]>::try_from(tests).ok()?;
    Some(Guard { path: path?, test })
}
