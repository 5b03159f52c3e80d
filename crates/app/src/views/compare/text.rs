//! Two casts side by side, in words.

use std::fmt::Write as _;

use materia_contract::Amount;
use materia_contract::body::{
    ComparedAspect, ComparedTurn, ComparedVerdict, Comparison, TurnSide, Two,
};
use serde_json::Value;

use crate::text::sanitize::one_line;

/// Maximum characters of a value or a request that are shown.
const VALUE_CHARS_MAX: usize = 60;

/// The comparison as lines for a person.
pub fn told(found: &Comparison) -> String {
    let mut text = String::new();
    for (letter, cast) in [("A", &found.a), ("B", &found.b)] {
        let status = word(&cast.status);
        let request = one_line(&cast.request, VALUE_CHARS_MAX);
        let _ = writeln!(
            text,
            "{letter}  {}  {}  {status}  {request}",
            cast.cast_id,
            one_line(&cast.loadout, VALUE_CHARS_MAX)
        );
    }
    if let Some(seq) = found.forked_at {
        let _ =
            writeln!(text, "They share events 1 to {seq}; what follows is compared from there.");
    }
    let count = |verdict| found.rows.iter().filter(|row| row.verdict == verdict).count();
    let _ = writeln!(
        text,
        "\nTurns: {} the same, {} differ, {} only in A, {} only in B",
        count(ComparedVerdict::Same),
        count(ComparedVerdict::Differs),
        count(ComparedVerdict::OnlyA),
        count(ComparedVerdict::OnlyB)
    );
    for row in &found.rows {
        let _ = writeln!(text, "  {}", line(row));
    }
    if !found.routes.is_empty() {
        let _ = writeln!(text, "\nWays taken a different number of times (A, B)");
        for route in &found.routes {
            let edge = one_line(route.edge.as_str(), 80);
            let _ = writeln!(text, "  {edge}  {}, {}", route.a, route.b);
        }
    }
    if !found.variables.is_empty() {
        let _ = writeln!(text, "\nVariables that differ");
        for value in &found.variables {
            let (a, b) = (shown(value.a.as_ref()), shown(value.b.as_ref()));
            let _ = writeln!(text, "  {}  A {a}  B {b}", one_line(&value.path, 80));
        }
    }
    let totals = &found.totals;
    let _ = writeln!(
        text,
        "\nSpent (A, B): {} turns, {} tokens, {} in money, {} in turns",
        pair(totals.turns, |it| it.to_string()),
        pair(totals.tokens, |it| it.to_string()),
        pair(totals.cost, |it: Option<Amount>| it.map_or("nothing".into(), |it| it.to_string())),
        pair(totals.duration_ms, |it| format!("{:.1} s", seconds(it)))
    );
    text
}

#[expect(clippy::cast_precision_loss, reason = "it is told with one digit")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

fn pair<T>(two: Two<T>, show: impl Fn(T) -> String) -> String {
    format!("{} and {}", show(two.a), show(two.b))
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn line(row: &ComparedTurn) -> String {
    let mark = match row.verdict {
        ComparedVerdict::Same => "=",
        ComparedVerdict::Differs => "≠",
        ComparedVerdict::OnlyA => "A",
        ComparedVerdict::OnlyB => "B",
    };
    let item = row.item.as_deref().map(|key| format!(" {}", one_line(key, 30))).unwrap_or_default();
    let mut line = format!(
        "{mark} {} ({}){item}, attempt {}",
        row.socket,
        one_line(&row.materia, 40),
        row.attempt
    );
    let ends: Vec<String> = [&row.a, &row.b].into_iter().flatten().map(end).collect();
    let _ = match (row.verdict, ends.as_slice()) {
        (ComparedVerdict::Differs, [a, b]) if a != b => write!(line, ": A {a}; B {b}"),
        (_, [one, ..]) => write!(line, ": {one}"),
        (_, []) => Ok(()),
    };
    if !row.differs.is_empty() {
        let named: Vec<&str> = row.differs.iter().map(|aspect| aspect_word(*aspect)).collect();
        let same = if row.differs.contains(&ComparedAspect::Prompt) { "" } else { "; same input" };
        let verb = if named.len() == 1 { "differs" } else { "differ" };
        let _ = write!(line, " [{} {verb}{same}]", named.join(", "));
    }
    line
}

fn aspect_word(aspect: ComparedAspect) -> &'static str {
    match aspect {
        ComparedAspect::Outcome => "outcome",
        ComparedAspect::Prompt => "input",
        ComparedAspect::Output => "output",
        ComparedAspect::Route => "route",
        ComparedAspect::Cost => "cost",
    }
}

fn end(side: &TurnSide) -> String {
    let mut text = side.outcome.with_verdict(side.satisfied).to_owned();
    if !side.to.is_empty() {
        let _ = write!(text, " → {}", one_line(&side.to.join(", "), 80));
    }
    text
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "—".to_owned(), |value| one_line(&value.to_string(), VALUE_CHARS_MAX))
}
