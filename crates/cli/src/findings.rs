//! Findings as pictures: the line, and what in it is meant.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use anstream::adapter::strip_str;
use materia_app::Project;
use materia_app::project::seen_warnings;
use materia_compiler::Layer;
use materia_contract::{Finding, Severity};

use crate::failure::Failure;
use crate::sanitize;
use crate::terminal::Terminal;

/// How many findings are drawn; the rest is only counted.
const DRAWN_MAX: usize = 50;
/// How many characters of a line are shown before and behind the place that is meant.
const AROUND_CHARS: usize = 60;
/// How many characters can be underlined.
const UNDERLINED_CHARS_MAX: usize = 60;
/// How long a message may be.
const MESSAGE_CHARS_MAX: usize = 600;

/// Shows findings to people.
pub(crate) fn show(findings: &[Finding], layers: &[Layer], terminal: &Terminal) {
    if !findings.is_empty() {
        terminal.err.write(&render(findings, layers, &Renderer::styled()));
    }
}

/// Shows the findings that matter before a run; remarks, and warnings that were shown before, are only counted.
pub(crate) fn show_briefly(
    findings: &[Finding],
    layers: &[Layer],
    project: &Project,
    terminal: &Terminal,
) {
    let (remarks, others): (Vec<_>, Vec<_>) =
        findings.iter().cloned().partition(|finding| finding.severity == Severity::Info);
    let (known, new): (Vec<_>, Vec<_>) = others
        .iter()
        .cloned()
        .zip(seen_warnings::before(project, &others))
        .partition(|(_, known)| *known);
    let new: Vec<Finding> = new.into_iter().map(|(finding, _)| finding).collect();
    show(&new, layers, terminal);
    seen_warnings::remember(project, new.iter().take(DRAWN_MAX));
    if !known.is_empty() {
        let warnings = counted(known.len(), "warning");
        terminal.say(format_args!("{warnings}, shown before: `materia check` shows them again"));
    }
    if !remarks.is_empty() {
        let remarks = counted(remarks.len(), "remark");
        terminal
            .say(format_args!("({remarks} about the configuration; `materia check` shows them)"));
    }
}

fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Shows the findings of a refusal, and gives it on.
pub(crate) fn of(failure: impl Into<Failure>, layers: &[Layer], terminal: &Terminal) -> Failure {
    let failure = failure.into();
    if let Failure::Refused(refusal) = &failure {
        show(&refusal.findings, layers, terminal);
    }
    failure
}

fn render(findings: &[Finding], layers: &[Layer], renderer: &Renderer) -> String {
    let mut text = String::new();
    for finding in findings.iter().take(DRAWN_MAX) {
        let layer = layers.iter().find(|layer| finding.file.as_ref() == Some(&layer.shown));
        text.push_str(&draw(finding, layer.map(Layer::text), renderer));
        text.push_str("\n\n");
    }
    if let Some(more) = findings.len().checked_sub(DRAWN_MAX).filter(|more| *more > 0) {
        let _ = write!(text, "… and {more} more\n\n");
    }
    text
}

fn draw(finding: &Finding, text: Option<&str>, renderer: &Renderer) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level
        .primary_title(shortened(&finding.message))
        .id(sanitize::one_line(&finding.code, MESSAGE_CHARS_MAX));
    let mut elements: Vec<Element<'_>> = Vec::new();
    if let Some(file) = &finding.file {
        let mut origin = Origin::path(sanitize::one_line(file, MESSAGE_CHARS_MAX));
        if let (Some(line), Some(column)) = (finding.line, finding.column) {
            origin = origin.line(line as usize).char_column(column as usize);
        }
        elements.push(origin.into());
        if let Some(Excerpt { line, text, span }) = excerpt(finding, text) {
            let snippet = Snippet::source(text).line_start(line);
            elements.push(snippet.annotation(AnnotationKind::Primary.span(span)).into());
        }
    }
    if let Some(help) = &finding.help {
        elements.push(Level::HELP.message(shortened(help)).into());
    }
    let drawn = renderer.render(&[Group::with_title(title).elements(elements)]);
    // The place is drawn apart from the source, since its column is not the column of the excerpt. The renderer marks
    // that with a line of its own, which says nothing here.
    let lines = drawn.lines().filter(|line| strip_str(line).to_string().trim() != ":::");
    lines.collect::<Vec<_>>().join("\n")
}

fn shortened(text: &str) -> String {
    let cut: String = text.chars().take(MESSAGE_CHARS_MAX).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", sanitize::clean(&cut))
}

/// A part of one line that is fit to be shown, and what in it is meant.
struct Excerpt {
    line: usize,
    text: String,
    span: Range<usize>,
}

/// Cuts a line around the place a finding means: a whole configuration may stand on one line.
fn excerpt(finding: &Finding, text: Option<&str>) -> Option<Excerpt> {
    let line_number = finding.line? as usize;
    let line = text?.split('\n').nth(line_number.checked_sub(1)?)?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    let column = (finding.column? as usize).checked_sub(1)?;
    let characters: Vec<char> = line
        .chars()
        .skip(column.saturating_sub(AROUND_CHARS))
        .take(UNDERLINED_CHARS_MAX + 2 * AROUND_CHARS)
        .collect();
    let before = column.min(AROUND_CHARS);
    if before > characters.len() {
        return None;
    }
    let meant = token(&characters[before..]).clamp(1, UNDERLINED_CHARS_MAX);
    let end = (before + meant + AROUND_CHARS).min(characters.len());
    let mut shown = String::new();
    if column > before {
        shown.push('…');
    }
    let (mut from, mut to) = (shown.len(), shown.len());
    for (index, character) in characters[..end].iter().enumerate() {
        if index == before {
            from = shown.len();
        }
        shown.push_str(&sanitize::one(*character));
        if index < before + meant {
            to = shown.len();
        }
    }
    if before == characters.len() {
        // The place is the end of the line.
        from = shown.len();
        shown.push(' ');
        to = shown.len();
    }
    if end < characters.len() {
        shown.push('…');
    }
    Some(Excerpt { line: line_number, text: shown, span: from..to })
}

/// How many characters the JSON value at the beginning of `text` takes up on this line.
fn token(text: &[char]) -> usize {
    match text.first() {
        Some('"') => string(text),
        Some('{' | '[') => balanced(text).unwrap_or(1),
        Some(c) if c.is_alphanumeric() || *c == '-' => {
            text.iter().take_while(|c| c.is_alphanumeric() || "-+._".contains(**c)).count()
        }
        Some(_) | None => 1,
    }
}

fn string(text: &[char]) -> usize {
    let mut escaped = false;
    for (index, character) in text.iter().enumerate().skip(1) {
        match character {
            '"' if !escaped => return index + 1,
            _ => escaped = *character == '\\' && !escaped,
        }
    }
    text.len()
}

/// The length of an object or a list, if it closes within `text`.
fn balanced(text: &[char]) -> Option<usize> {
    let (mut depth, mut index) = (0_usize, 0);
    while index < text.len() {
        match text[index] {
            '"' => index += string(&text[index..]) - 1,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        index += 1;
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u32, column: u32) -> Finding {
        Finding {
            code: "graph::unknown-target".into(),
            severity: Severity::Error,
            message: "the edge leads to `Biuld`".into(),
            help: Some("did you mean `Build`?".into()),
            file: Some("loop.json".into()),
            pointer: "/x".into(),
            line: Some(line),
            column: Some(column),
        }
    }

    #[test]
    fn a_finding_is_drawn_under_its_line() {
        let text = "{\n  \"edges\": [ { \"to\": \"Biuld\" } ]\n}\n";
        let drawn = draw(&finding(2, 22), Some(text), &Renderer::plain());
        assert_eq!(
            drawn,
            "error[graph::unknown-target]: the edge leads to `Biuld`\n \
             --> loop.json:2:22\n  \
               |\n\
             2 |   \"edges\": [ { \"to\": \"Biuld\" } ]\n  \
               |                      ^^^^^^^\n  \
               |\n  \
               = help: did you mean `Build`?"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("[{}, \"here\", {}]", "1, ".repeat(300_000), "2, ".repeat(300_000));
        let column = u32::try_from(text.find("\"here\"").unwrap() + 1).unwrap();
        let drawn = draw(&finding(1, column), Some(&text), &Renderer::plain());
        assert!(drawn.len() < 1_000, "{}", drawn.len());
        assert!(drawn.contains("\"here\"") && drawn.contains("^^^^^^\n"), "{drawn}");
        assert!(drawn.contains(&format!("loop.json:1:{column}")), "{drawn}");
    }

    #[test]
    fn nothing_in_a_file_reaches_the_terminal_raw() {
        let mut hostile = finding(1, 3);
        hostile.message = "a\x1b[2Jb".into();
        hostile.help = Some("\x07".into());
        hostile.file = Some("x\x1b]0;t\x07.json".into());
        let drawn = draw(&hostile, Some("{ \"\x1b[31m\u{9b}\": 1 }"), &Renderer::plain());
        assert!(!drawn.chars().any(|c| c.is_control() && c != '\n'), "{drawn:?}");
    }

    #[test]
    fn the_end_of_a_file_and_places_outside_can_be_drawn() {
        for (line, column) in [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (9, 9), (1, 900)] {
            let drawn = draw(&finding(line, column), Some("{\n"), &Renderer::plain());
            assert!(drawn.contains("loop.json"), "{drawn}");
        }
    }

    #[test]
    fn many_findings_are_counted() {
        let text = render(&vec![finding(1, 1); 60], &[], &Renderer::plain());
        assert_eq!(text.matches("error[").count(), DRAWN_MAX);
        assert!(text.ends_with("… and 10 more\n\n"), "{text}");
    }

    #[test]
    fn tokens_end_where_json_says() {
        let length = |text: &str| token(&text.chars().collect::<Vec<_>>());
        assert_eq!(length(r#""a\"b" x"#), 6);
        assert_eq!(length(r#"{"a": "}"} x"#), 10);
        assert_eq!(length("{ open"), 1);
        assert_eq!(length("true, x"), 4);
        assert_eq!(length("-1.5e3 "), 6);
    }
}
