//! The sources of a prompt as notes in the margin.

use std::fmt::Write as _;

use materia_contract::body::{BlameBody, BlameKind, BlameSource, BlamedTurn};

use crate::text::sanitize::{clean, one_line};

/// The width of the margin, in characters.
const MARGIN: usize = 34;

/// The result as lines for a person.
pub fn told(body: &BlameBody) -> String {
    let mut text = String::new();
    if let Some(variable) = &body.variable {
        let path = one_line(&variable.path, 80);
        let value = one_line(&variable.value.to_string(), 200);
        let _ = writeln!(text, "{path} = {value}\n  set by {}\n", named(&variable.source));
    }
    for turn in &body.turns {
        let _ = writeln!(
            text,
            "`{}`, visit {}, attempt {} (event {})",
            turn.socket, turn.visit, turn.attempt, turn.turn
        );
        if body.variable.is_some() {
            behind(&mut text, turn);
        } else {
            margin(&mut text, turn);
        }
    }
    text
}

/// The sources of a turn, one in a line.
fn behind(text: &mut String, turn: &BlamedTurn) {
    for source in &turn.sources {
        let _ = writeln!(text, "  from {}", named(source));
    }
}

/// The prompt with its sources beside it. A line that has two sources is told in two lines.
fn margin(text: &mut String, turn: &BlamedTurn) {
    let prompt = turn.prompt.as_deref().unwrap_or_default();
    let mut before = None;
    for span in &turn.spans {
        let note = named(&span.source);
        let words = prompt.get(span.start..span.end).unwrap_or_default();
        for line in words.trim_matches('\n').lines() {
            let shown = if before.as_ref() == Some(&note) { "" } else { &note };
            let _ = writeln!(text, "{} │ {}", wide(shown), clean(line));
            before = Some(note.clone());
        }
    }
    for field in &turn.fields {
        let (note, pointer) = (named(&field.source), one_line(&field.pointer, 200));
        let _ = writeln!(text, "{} │ {pointer}", wide(&note));
    }
}

fn wide(note: &str) -> String {
    let short = one_line(note, MARGIN);
    format!("{short}{}", " ".repeat(MARGIN.saturating_sub(short.chars().count())))
}

fn named(source: &BlameSource) -> String {
    let event = source.event.map(|event| format!("event {event}"));
    let socket = source.socket.as_ref().map(ToString::to_string).unwrap_or_default();
    let (who, place) = match source.kind {
        BlameKind::Materia => {
            let materia = source.materia.as_deref().unwrap_or_default();
            (format!("materia {}", one_line(materia, 60)), source.file.clone().or(event))
        }
        BlameKind::Person => ("person".to_owned(), event),
        BlameKind::Turn => (format!("{socket} visit {}", source.visit.unwrap_or_default()), event),
        BlameKind::Cast => ("earlier cast".to_owned(), event),
        BlameKind::Runtime => ("Materia".to_owned(), event),
    };
    place.map_or(who.clone(), |place| format!("{who}, {}", one_line(&place, 120)))
}
