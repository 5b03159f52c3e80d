//! Finds the place of a value in a document's text.
//!
//! A finding names a value by JSON Pointer; people want a line. The text is parsed again for
//! that, since it happens only when there is something to report.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use crate::syntax::parse;

/// The bytes of the value that `pointer` names, if the text is a document that has it.
pub fn span(text: &str, pointer: &str) -> Option<Range<usize>> {
    let document = parse(text).ok()??;
    find(&document, pointer).map(|found| found.value)
}

/// The bytes of the key under which the value stands, quotes included; `None` where the value
/// is an element of a list or the whole document.
pub fn key_span(text: &str, pointer: &str) -> Option<Range<usize>> {
    let document = parse(text).ok()??;
    find(&document, pointer)?.key
}

/// Line and column of a byte offset, both from 1, the column in characters.
pub fn line_column(text: &str, offset: usize) -> (u32, u32) {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (number(line), number(before[start..].chars().count() + 1))
}

/// Where the lines of a text begin, for many lookups in one text.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The same as [`line_column`].
    pub(crate) fn line_column(&self, offset: usize) -> (u32, u32) {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        (number(line), number(self.text[start..offset].chars().count() + 1))
    }
}

/// The place of one value.
pub(crate) struct Found {
    pub(crate) value: Range<usize>,
    pub(crate) key: Option<Range<usize>>,
}

/// Walks from the root of a parsed text to the value that `pointer` names.
pub(crate) fn find(document: &Value<'_>, pointer: &str) -> Option<Found> {
    let mut value = document;
    let mut key = None;
    let steps = match pointer {
        "" => Vec::new(),
        _ => pointer.strip_prefix('/')?.split('/').map(unescape).collect(),
    };
    for step in &steps {
        match value {
            Value::Object(object) => {
                let property = property(object, step)?;
                let name = property.name.range();
                key = Some(name.start..name.end);
                value = &property.value;
            }
            Value::Array(array) => {
                key = None;
                value = array.elements.get(index(step)?)?;
            }
            Value::StringLit(_)
            | Value::NumberLit(_)
            | Value::BooleanLit(_)
            | Value::NullKeyword(_) => return None,
        }
    }
    let range = value.range();
    Some(Found { value: range.start..range.end, key })
}

/// The number that a step of a JSON Pointer is; neither a sign nor leading zeros belong to one.
fn index(step: &str) -> Option<usize> {
    let number: usize = step.parse().ok()?;
    (number.to_string() == step).then_some(number)
}

/// Of several properties with one name the last counts, as it does for the value.
fn property<'a, 'b>(object: &'b Object<'a>, name: &str) -> Option<&'b ObjectProp<'a>> {
    object.properties.iter().rev().find(|property| property.name.as_str() == name)
}

/// Appends a step to a JSON Pointer.
pub(crate) fn push_step(pointer: &mut String, step: &str) {
    pointer.push('/');
    for character in step.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// A JSON Pointer of these steps.
pub(crate) fn pointer<'a>(steps: impl IntoIterator<Item = &'a str>) -> String {
    let mut pointer = String::new();
    steps.into_iter().for_each(|step| push_step(&mut pointer, step));
    pointer
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "{\n  // a note\n  \"a/b\": [1, {\"ü~\": true}],\n  \"x\": 1, \"x\": 2,\n}\n";

    #[test]
    fn a_pointer_leads_to_the_text_of_its_value() {
        let at = |pointer: &str| span(TEXT, pointer).map(|range| &TEXT[range]);
        assert_eq!(at("/a~1b/1/ü~0"), Some("true"));
        assert_eq!(at("/a~1b/0"), Some("1"));
        assert_eq!(at("/x"), Some("2"), "the last of two equal keys counts");
        assert_eq!(at(""), Some(TEXT.trim_end()));
        for nowhere in ["/y", "/a~1b/7", "/x/y", "x", "/a~1b/one"] {
            assert_eq!(at(nowhere), None, "{nowhere}");
        }
        assert_eq!(key_span(TEXT, "/a~1b").map(|range| &TEXT[range]), Some("\"a/b\""));
        assert_eq!(key_span(TEXT, "/a~1b/0"), None);
        assert_eq!(span("no json", ""), None);
    }

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let text = "äb\nc";
        for (offset, place) in [(0, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 1)), (5, (2, 2))] {
            assert_eq!(line_column(text, offset), place);
            assert_eq!(Lines::new(text).line_column(offset), place);
        }
        assert_eq!(line_column(text, 1), (1, 1), "inside a character counts as its start");
        assert_eq!(line_column(text, 99), (2, 2));
        assert_eq!(Lines::new(text).line_column(99), (2, 2));
    }

    #[test]
    fn steps_are_escaped_and_read_back() {
        let written = pointer(["a/b", "~x", "0"]);
        assert_eq!(written, "/a~1b/~0x/0");
        // Names that look like escapes, like indexes and like nothing at all.
        let names = ["a/b", "~x", "~1", "~0", "~01", "~~11", "/", "//", "~/", "0", "", "ü \" \\"];
        for outer in names {
            for inner in names {
                let quoted = |name: &str| serde_json::to_string(name).expect("a string");
                // Every other name leads to a different value.
                let members: Vec<String> = names
                    .iter()
                    .map(|name| format!("{}: {}", quoted(name), *name == inner))
                    .collect();
                let wanted = format!("{{{}}}", members.join(", "));
                let text = format!("{{\"other\": 1, {}: [0, {wanted}]}}", quoted(outer));
                let steps = pointer([outer, "1", inner]);
                let found = span(&text, &steps).map(|range| &text[range]);
                assert_eq!(found, Some("true"), "{steps} in {text}");
                let key = key_span(&text, &steps).map(|range| &text[range]);
                assert_eq!(key, Some(quoted(inner).as_str()), "{steps} in {text}");
            }
        }
    }

    #[test]
    fn an_index_is_written_in_one_way_only() {
        for odd in ["/a~1b/+0", "/a~1b/00", "/a~1b/-0", "/a~1b/ 0", "/a~1b/"] {
            assert_eq!(span(TEXT, odd), None, "{odd}");
        }
    }
}
