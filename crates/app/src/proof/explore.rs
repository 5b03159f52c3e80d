//! Every history of a loadout, and the properties that it promises.

use std::fmt::Write as _;
use std::str::FromStr as _;

use materia_compiler::Loaded;
use materia_contract::body::{ExploreBody, Proof};
use materia_contract::{NodeId, Plan};
use materia_proof::explore::Property;

pub use materia_proof::explore::{Options, explore};

use crate::failure::Failure;
use crate::text::sanitize::one_line;

/// Reads properties, and says all that is wrong with them.
pub fn properties(texts: &[String], plan: &Plan) -> Result<Vec<Property>, Failure> {
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

/// The properties that stand in a loadout.
#[must_use]
pub fn promised(loaded: &Loaded, loadout: &str) -> Vec<String> {
    loaded.config.loadouts.get(loadout).map(|it| it.properties.clone()).unwrap_or_default()
}

/// The result as lines for a person.
#[must_use]
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
    for socket in &body.unreached_sockets {
        let _ = writeln!(text, "No history reaches socket `{socket}`.");
    }
    for edge in &body.unreached_edges {
        let _ = writeln!(text, "No history takes `{edge}`.");
    }
    for finding in &body.findings {
        let history = &finding.history;
        let visits: Vec<&str> = history.visits.iter().map(NodeId::as_str).collect();
        let _ = writeln!(text, "\n{}", one_line(&finding.message, 300));
        let _ =
            writeln!(text, "  after {} steps: {}", history.steps, one_line(&visits.join(" "), 600));
    }
    for answer in &body.properties {
        let word = match answer.answer {
            Proof::Proved => "proved",
            Proof::Refuted => "refuted",
            Proof::Undecided => "undecided",
        };
        let _ = writeln!(text, "\n{word}: {}", one_line(&answer.property, 300));
        if let Some(history) = &answer.counterexample {
            let visits: Vec<&str> = history.visits.iter().map(NodeId::as_str).collect();
            let _ = writeln!(
                text,
                "  by {} steps: {}",
                history.steps,
                one_line(&visits.join(" "), 600)
            );
            let _ = writeln!(text, "  which end {}", one_line(&history.end, 200));
        }
    }
    text.push('\n');
    for note in &body.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}
