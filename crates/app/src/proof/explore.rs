//! Every history of a loadout, and the properties that it promises.

use std::fmt::Write as _;
use std::path::Path as FilePath;
use std::str::FromStr as _;

use materia_compiler::Loaded;
use materia_contract::body::{ExploreBody, ExploredHistory, Proof};
use materia_contract::script::Script;
use materia_contract::{NodeId, Plan};
use materia_proof::explore::Property;

pub use materia_proof::explore::{Options, explore};

use crate::text::sanitize::one_line;
use crate::{Failure, Result};

/// Reads properties, and says all that is wrong with them.
pub fn properties(texts: &[String], plan: &Plan) -> Result<Vec<Property>> {
    let read = |text: &String| {
        let property = Property::from_str(text)?;
        property.fits(plan).map(|()| property)
    };
    let (good, bad): (Vec<_>, Vec<_>) = texts.iter().map(read).partition(Result::is_ok);
    let faults: Vec<String> = bad.into_iter().filter_map(Result::err).collect();
    if faults.is_empty() {
        return Ok(good.into_iter().filter_map(Result::ok).collect());
    }
    Err(Failure::resolution(one_line(&faults.join("; "), 2_000)))
}

/// Reads a script as the possible answers of sockets, and says all that is wrong with it.
pub fn answers(file: &FilePath, plan: &Plan) -> Result<Script> {
    let script = materia_runners::load(file).map_err(|error| Failure::usage(error.to_string()))?;
    let mut faults = materia_runners::faults(&script, plan);
    let unknown = materia_runners::unmatched_keys(&script, plan).into_iter();
    faults.extend(unknown.map(|key| {
        format!("`{key}` under `turns` is neither a socket nor a materia of this loadout")
    }));
    let empty = |list: &str, key: &String| {
        format!("`{key}` under `{list}` has no answer; write at least one, or leave it out")
    };
    let turns = script.turns.iter().filter(|(_, list)| list.is_empty());
    faults.extend(turns.map(|(key, _)| empty("turns", key)));
    let utilities = script.utilities.iter().filter(|(_, list)| list.is_empty());
    faults.extend(utilities.map(|(key, _)| empty("utilities", key)));
    if script.run_for_ms.is_some() || !script.timeline.is_empty() {
        faults.push(
            "an exploration decides the order of events itself; leave `timeline` and `runForMs` out"
                .to_owned(),
        );
    }
    if faults.is_empty() {
        return Ok(script);
    }
    let file = file.display().to_string();
    Err(Failure::usage(one_line(&format!("the answers in {file}: {}", faults.join("; ")), 2_000)))
}

/// The properties that stand in a loadout.
pub fn promised(loaded: &Loaded, loadout: &str) -> Vec<String> {
    loaded.config.loadouts.get(loadout).map(|it| it.properties.clone()).unwrap_or_default()
}

/// The result as lines for a person.
pub fn told(body: &ExploreBody) -> String {
    let mut text = String::new();
    let all = match &body.stopped {
        None => "all of them".to_owned(),
        Some(why) => format!("not all: {why}"),
    };
    let _ = writeln!(text, "{} states, {all}", body.states);
    for (end, count) in &body.ends {
        let _ = writeln!(text, "  {count} end {end}");
    }
    // Where not all states were looked at, another history may reach them.
    let none = if body.complete { "No history" } else { "So far no history" };
    for socket in &body.unreached_sockets {
        let _ = writeln!(text, "{none} reaches socket `{socket}`.");
    }
    for edge in &body.unreached_edges {
        let _ = writeln!(text, "{none} takes `{edge}`.");
    }
    for finding in &body.findings {
        let _ = writeln!(text, "\n{}", one_line(&finding.message, 300));
        let _ = writeln!(text, "  after {}", steps(&finding.history));
    }
    for answer in &body.properties {
        let (word, property) = (word(answer.answer), one_line(&answer.property, 300));
        let _ = writeln!(text, "\n{word}: {property}");
        if let Some(history) = &answer.counterexample {
            let _ = writeln!(text, "{}", counterexample(history));
        }
    }
    text.push('\n');
    for note in &body.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// The word for an answer.
pub fn word(proof: Proof) -> &'static str {
    match proof {
        Proof::Proved => "proved",
        Proof::Refuted => "refuted",
        Proof::Undecided => "undecided",
    }
}

/// A history that refutes a property, in two lines.
pub fn counterexample(history: &ExploredHistory) -> String {
    format!("  by {}\n  which end {}", steps(history), one_line(&history.end, 200))
}

fn steps(history: &ExploredHistory) -> String {
    let visits: Vec<&str> = history.visits.iter().map(NodeId::as_str).collect();
    format!("{} steps: {}", history.steps, one_line(&visits.join(" "), 600))
}
