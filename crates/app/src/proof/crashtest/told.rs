//! The result of a crash test in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use materia_contract::body::{
    CrashDifference, CrashFinding, CrashPoint, CrashPointKind, CrashtestBody, Differs,
};
use materia_contract::{CastReport, NodeId, Plan};
use serde_json::json;

use super::Other;
use crate::text::sanitize::one_line;

/// How many differences of a finding are shown.
const SHOWN_MAX: usize = 10;
/// How many of them its message names.
const NAMED_MAX: usize = 3;

/// A part of the end by its usual name.
pub(super) fn word(kind: Differs) -> &'static str {
    match kind {
        Differs::End => "the end",
        Differs::Visits => "visits",
        Differs::Variable => "variable",
        Differs::File => "file",
    }
}

/// How a cast ended.
pub(crate) fn ended(report: &CastReport) -> String {
    let mut words = vec![report.status.word().to_owned()];
    if let Some(error) = &report.error {
        words.push(error.code.word().to_owned());
    }
    if let Some(waiting) = &report.waiting {
        let reason = json!(waiting.reason);
        words.extend(reason.as_str().map(str::to_owned));
    }
    words.join(" ")
}

/// Plays that differ in the same things, as one finding. A socket that ran again elsewhere without any difference is not
/// to blame, if another one is left.
pub(super) fn findings(
    others: Vec<Other>,
    harmless: &BTreeSet<NodeId>,
    plan: &Plan,
) -> Vec<CrashFinding> {
    let mut places = BTreeMap::new();
    let mut findings: Vec<CrashFinding> = Vec::new();
    for Other { at, again, to_blame, differences } in others {
        let again = if to_blame { again } else { BTreeSet::new() };
        let blamed: Vec<NodeId> = again.difference(harmless).cloned().collect();
        let sockets = if blamed.is_empty() { again.into_iter().collect() } else { blamed };
        let named = differences.iter().map(|it| (it.kind, it.name.clone()));
        let key = (sockets.clone(), named.collect::<Vec<_>>());
        let place = *places.entry(key).or_insert(findings.len());
        if let Some(known) = findings.get_mut(place) {
            known.plays += 1;
            continue;
        }
        let message = message(&sockets, &at, &differences, plan);
        findings.push(CrashFinding { message, sockets, at, plays: 1, differences });
    }
    findings
}

fn message(
    sockets: &[NodeId],
    at: &[CrashPoint],
    differences: &[CrashDifference],
    plan: &Plan,
) -> String {
    let named = |id: &NodeId| {
        let materia = plan.nodes.get(id).map(|node| node.materia.as_str()).unwrap_or_default();
        format!("`{}` ({})", one_line(id.as_str(), 100), one_line(materia, 100))
    };
    let shown = differences.iter().take(NAMED_MAX).map(name);
    let mut differs: Vec<String> = shown.collect();
    if differences.len() > NAMED_MAX {
        differs.push(format!("{} more", differences.len() - NAMED_MAX));
    }
    let differs = differs.join(", ");
    let place: Vec<String> = at.iter().map(point).collect();
    let place = place.join("; then ");
    match sockets {
        [] => format!("Another end: {differs}. Memory was lost {place}."),
        [one] => format!(
            "Socket {} is not idempotent: it ran again, and other at the end: {differs}. Memory was lost {place}.",
            named(one)
        ),
        several => {
            let all: Vec<String> = several.iter().map(named).collect();
            format!(
                "Not all of the sockets {} are idempotent: they ran again, and other at the end: {differs}. Memory \
                 was lost {place}.",
                all.join(", ")
            )
        }
    }
}

/// A part of the end, by its kind and name.
fn name(difference: &CrashDifference) -> String {
    match difference.kind {
        Differs::End => word(Differs::End).to_owned(),
        kind @ (Differs::Visits | Differs::Variable | Differs::File) => {
            format!("{} `{}`", word(kind), one_line(&difference.name, 200))
        }
    }
}

/// Where memory was lost.
fn point(point: &CrashPoint) -> String {
    let sockets: Vec<String> =
        point.sockets.iter().map(|it| format!("`{}`", one_line(it.as_str(), 100))).collect();
    let (number, event) = (point.number, point.event);
    match point.kind {
        CrashPointKind::Report => {
            format!(
                "at point {number}: {} had ended, its report was not durable",
                sockets.join(", ")
            )
        }
        CrashPointKind::Decision if sockets.is_empty() => {
            format!("at point {number}: event {event} was durable")
        }
        CrashPointKind::Decision => format!(
            "at point {number}: event {event} was durable, {} had not started",
            sockets.join(", ")
        ),
    }
}

/// The result as lines for a person.
pub fn told(body: &CrashtestBody) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "Without a crash: {}.", body.end);
    let _ = writeln!(
        text,
        "{} points at which memory can be lost, each played once.",
        body.points.len()
    );
    if body.pairs > 0 {
        let _ = writeln!(text, "{} pairs of points played.", body.pairs);
    }
    for one in &body.repeated {
        let _ = writeln!(
            text,
            "Socket `{}` ({}) runs again after a crash at {} of the points, so it must be idempotent.",
            one_line(one.socket.as_str(), 100),
            one_line(&one.materia, 100),
            one.points.len()
        );
    }
    for finding in &body.findings {
        let _ = writeln!(text, "\n{}", finding.message);
        for difference in finding.differences.iter().take(SHOWN_MAX) {
            let CrashDifference { expected, found, .. } = difference;
            let _ = writeln!(
                text,
                "  {}: {expected} without a crash, {found} with it",
                name(difference)
            );
        }
        if let Some(more) =
            finding.differences.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0)
        {
            let _ = writeln!(text, "  and {more} more");
        }
        if finding.plays > 1 {
            let _ = writeln!(text, "  The same in {} plays.", finding.plays);
        }
    }
    if body.findings.is_empty() {
        let _ = writeln!(text, "Every play comes to the same end.");
    }
    for note in &body.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}
