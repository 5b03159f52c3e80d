//! The result of `whatif` in words.

use std::fmt::Write as _;

use materia_contract::body::{Parting, PartingKind, RouteEnd, TurnName, Way, WhatIfBody};

use crate::text::sanitize::one_line;

/// How many turns of a list are named.
const NAMED_MAX: usize = 20;

/// The result as lines for a person.
pub fn told(body: &WhatIfBody) -> String {
    let mut text = String::new();
    let loadout = one_line(&body.loadout, 80);
    let _ = writeln!(text, "Cast `{}`, played against the loadout `{loadout}`", body.cast_id);
    match &body.parting {
        None => {
            let _ = writeln!(
                text,
                "The same route: {} turns, {}.",
                body.matched,
                end(&body.recorded_end)
            );
        }
        Some(parting) => {
            let _ = writeln!(text, "The routes part: {}", short(parting));
            let lines = match parting.kind {
                PartingKind::Route => {
                    let now = parting.today.as_ref();
                    let way = |way: Option<&Way>| way.map_or("no answer".to_owned(), way_in_words);
                    [Some(way(parting.recorded.as_ref())), Some(way(now))]
                }
                PartingKind::End => {
                    [Some(end(&body.recorded_end)), body.today_end.as_ref().map(end)]
                }
                PartingKind::Asked | PartingKind::NotAsked => [None, None],
            };
            for (label, line) in ["recorded", "today   "].into_iter().zip(lines) {
                if let Some(line) = line {
                    let _ = writeln!(text, "  {label}  {line}");
                }
            }
            let _ = writeln!(text, "{} turns went the same way.", body.matched);
        }
    }
    if !body.unanswered.is_empty() {
        let _ = writeln!(text, "\nAsked, and never answered by the cast");
    }
    for one in body.unanswered.iter().take(NAMED_MAX) {
        let after = one
            .after
            .as_ref()
            .map_or("at the beginning".to_owned(), |turn| format!("after {}", name(turn)));
        let materia = one_line(&one.materia, 40);
        let _ = writeln!(text, "  {} ({materia}), {after}", name(&one.turn));
    }
    more(&mut text, body.unanswered.len());
    if !body.unreached.is_empty() {
        let _ = writeln!(text, "\nNot reached any more");
    }
    for turn in body.unreached.iter().take(NAMED_MAX) {
        let _ = writeln!(text, "  {}", name(turn));
    }
    more(&mut text, body.unreached.len());
    if !body.not_given.is_empty() {
        let _ = writeln!(text, "\nActs of people that were not given again");
    }
    for act in &body.not_given {
        let _ = writeln!(text, "  {}", one_line(act, 200));
    }
    text
}

/// The place of a parting in one line.
pub(super) fn short(parting: &Parting) -> String {
    let turn = parting.turn.as_ref().map(name).unwrap_or_default();
    let seq = parting.seq.map(|seq| format!(" (event {seq})")).unwrap_or_default();
    match parting.kind {
        PartingKind::Route => format!("{turn}{seq} leads elsewhere"),
        PartingKind::Asked => format!("{turn} is asked, which the cast does not have"),
        PartingKind::NotAsked => format!("{turn}{seq} is not asked"),
        PartingKind::End => "all turns agree, and the end differs".to_owned(),
    }
}

fn more(text: &mut String, count: usize) {
    if let Some(more) = count.checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more");
    }
}

fn name(turn: &TurnName) -> String {
    let item = turn.item.as_deref().map(|key| format!(" {}", one_line(key, 40)));
    format!("`{}`{}, attempt {}", turn.socket, item.unwrap_or_default(), turn.attempt)
}

fn way_in_words(way: &Way) -> String {
    let mut text = way.outcome.with_verdict(way.satisfied).to_owned();
    for moved in &way.moved {
        let _ = write!(text, ", {} = {}", one_line(&moved.cursor, 40), moved.index);
    }
    if way.edges.is_empty() {
        text.push_str(", no edge");
    }
    for edge in &way.edges {
        let id = edge.edge_id.as_ref().map(|id| format!(" ({})", one_line(id.as_str(), 80)));
        let _ = write!(text, " → {}{}", one_line(&edge.to, 64), id.unwrap_or_default());
    }
    text
}

fn end(end: &RouteEnd) -> String {
    let mut text = word(&end.status);
    if let Some(code) = end.error {
        let _ = write!(text, " with {}", code.word());
    }
    if let Some(reason) = &end.waiting {
        let _ = write!(text, " for {}", word(reason));
    }
    if let Some(node) = &end.node {
        let _ = write!(text, " at `{node}`");
    }
    text
}

fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
