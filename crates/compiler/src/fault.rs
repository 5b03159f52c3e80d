//! Findings while they are collected: they know their layer, not yet their line.

use std::collections::BTreeMap;

use materia_contract::{Finding, Severity};

use crate::locate::{Lines, find};
use crate::syntax::parse;

/// Maximum findings that are kept; the rest is counted.
const FAULTS_MAX: usize = 400;

/// The position of a fault in a layer's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spot {
    /// At the value of this JSON Pointer.
    Pointer(String),
    /// At the name under which that value stands.
    Key(String),
    /// At this byte, where there is no value to point to.
    Offset(usize),
}

/// A text that faults can refer to.
pub(crate) trait Source {
    /// Its path for people.
    fn shown(&self) -> &str;
    /// Its content.
    fn text(&self) -> &str;
}

/// No text at all.
enum Nowhere {}

impl Source for Nowhere {
    fn shown(&self) -> &str {
        match *self {}
    }

    fn text(&self) -> &str {
        match *self {}
    }
}

/// A finding before its line is known.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    code: &'static str,
    severity: Severity,
    message: String,
    help: Option<String>,
    place: Option<(usize, Spot)>,
}

impl Fault {
    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    pub(crate) fn info(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Info, message.into())
    }

    fn new(code: &'static str, severity: Severity, message: String) -> Self {
        Self { code, severity, message, help: None, place: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn at(self, layer: usize, pointer: &str) -> Self {
        self.spot(layer, Spot::Pointer(pointer.to_owned()))
    }

    /// Where the name is what is wrong, and not the value.
    pub(crate) fn at_key(self, layer: usize, pointer: &str) -> Self {
        self.spot(layer, Spot::Key(pointer.to_owned()))
    }

    pub(crate) fn spot(mut self, layer: usize, spot: Spot) -> Self {
        self.place = Some((layer, spot));
        self
    }
}

/// Gathers faults, up to a bound. The first error is kept whatever the bound says.
#[derive(Debug, Default, Clone)]
pub(crate) struct Faults {
    kept: Vec<Fault>,
    errors: usize,
    left_out: usize,
}

impl Faults {
    pub(crate) fn push(&mut self, fault: Fault) {
        self.push_with(fault, |fault| fault);
    }

    /// Adds a fault whose help costs something: it is worked out only for one that is kept.
    pub(crate) fn push_with(&mut self, fault: Fault, finish: impl FnOnce(Fault) -> Fault) {
        let is_error = fault.severity == Severity::Error;
        if self.kept.len() < FAULTS_MAX || (is_error && self.errors == 0) {
            self.kept.push(finish(fault));
        } else {
            self.left_out += 1;
        }
        self.errors += usize::from(is_error);
    }

    /// How many errors there were, kept or not.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// The findings without a position in a text.
    pub(crate) fn placeless(self) -> Vec<Finding> {
        self.place::<Nowhere>(&[])
    }

    /// Gives every fault its line and column and sorts them by file and line.
    pub(crate) fn place<S: Source>(self, layers: &[S]) -> Vec<Finding> {
        let mut by_layer: BTreeMap<Option<usize>, Vec<Fault>> = BTreeMap::new();
        for fault in self.kept {
            by_layer.entry(fault.place.as_ref().map(|(layer, _)| *layer)).or_default().push(fault);
        }
        let mut findings = Vec::new();
        for (layer, faults) in by_layer {
            let layer = layer.and_then(|layer| layers.get(layer));
            let text = layer.map_or("", Source::text);
            let document = parse(text).ok().flatten();
            let lines = Lines::new(text);
            findings.extend(faults.into_iter().map(|fault| {
                let (pointer, offset) = match fault.place {
                    Some((_, Spot::Offset(offset))) => (String::new(), Some(offset)),
                    Some((_, Spot::Pointer(pointer))) => {
                        let offset = document.as_ref().and_then(|root| nearest(root, &pointer));
                        (pointer, offset)
                    }
                    Some((_, Spot::Key(pointer))) => {
                        let found = document.as_ref().and_then(|root| find(root, &pointer));
                        let key = found.and_then(|found| found.key).map(|key| key.start);
                        let value = || document.as_ref().and_then(|root| nearest(root, &pointer));
                        let offset = key.or_else(value);
                        (pointer, offset)
                    }
                    None => (String::new(), None),
                };
                let place = offset.map(|offset| lines.line_column(offset));
                Finding {
                    code: fault.code.to_owned(),
                    severity: fault.severity,
                    message: fault.message,
                    help: fault.help,
                    file: layer.map(|layer| layer.shown().to_owned()),
                    pointer,
                    line: place.map(|(line, _)| line),
                    column: place.map(|(_, column)| column),
                }
            }));
        }
        findings.sort_by(|a, b| {
            (&a.file, a.line, a.column, a.severity).cmp(&(&b.file, b.line, b.column, b.severity))
        });
        findings.extend(left_out(self.left_out));
        findings
    }
}

/// The start of the value, or of the nearest one around it: a field that is missing has no place.
fn nearest(root: &jsonc_parser::ast::Value<'_>, pointer: &str) -> Option<usize> {
    let mut pointer = pointer;
    loop {
        if let Some(found) = find(root, pointer) {
            return Some(found.value.start);
        }
        pointer = &pointer[..pointer.rfind('/')?];
    }
}

fn left_out(count: usize) -> Option<Finding> {
    (count > 0).then(|| Finding {
        code: "document::too-many".to_owned(),
        severity: Severity::Info,
        message: format!("{count} more findings are not shown"),
        help: Some("fix the ones above and check again".to_owned()),
        file: None,
        pointer: String::new(),
        line: None,
        column: None,
    })
}
