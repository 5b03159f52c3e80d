//! From bytes to a JSON value: comments and trailing commas allowed, nothing else.

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use materia_contract::number;
use serde_json::{Map, Value};

use crate::fault::{Fault, Faults, Spot};
use crate::locate::push_step;
use crate::syntax::parse;

/// Maximum nesting of objects and arrays. The parser has a higher limit of its own, so that hostile text cannot
/// exhaust the stack before this one is checked.
const DEPTH_MAX: usize = 128;

/// Reads the text of layer number `layer`. What is no document at all gives `None`.
pub(crate) fn document(
    text: &str,
    layer: usize,
    faults: &mut Faults,
) -> Option<Map<String, Value>> {
    let object = match parse(text) {
        Ok(Some(ast::Value::Object(object))) => object,
        Ok(Some(other)) => {
            let fault = Fault::error(
                "document::not-an-object",
                format!("a configuration is an object, and this is {}", kind(&other)),
            );
            let fault = fault.at(layer, "").help("put everything between { and }");
            faults.push(fault);
            return None;
        }
        Ok(None) => {
            let fault = Fault::error("document::syntax", "there is no JSON in this file");
            let fault = fault.spot(layer, Spot::Offset(0));
            faults.push(fault.help("write at least {} or remove the file"));
            return None;
        }
        Err(error) => {
            faults.push(syntax(text, layer, &error));
            return None;
        }
    };
    let mut reader = Reader { layer, faults, pointer: String::new(), too_deep: false };
    let map = reader.object(&object, 1);
    (!reader.too_deep).then_some(map)
}

fn kind(value: &ast::Value<'_>) -> &'static str {
    match value {
        ast::Value::StringLit(_) => "a string",
        ast::Value::NumberLit(_) => "a number",
        ast::Value::BooleanLit(_) => "a boolean",
        ast::Value::Object(_) => "an object",
        ast::Value::Array(_) => "a list",
        ast::Value::NullKeyword(_) => "null",
    }
}

fn syntax(text: &str, layer: usize, error: &ParseError) -> Fault {
    let closing = if matches!(error.kind(), ParseErrorKind::UnterminatedObject) {
        Some('}')
    } else {
        matches!(error.kind(), ParseErrorKind::UnterminatedArray).then_some(']')
    };
    // The parser names the place where such a value begins; its end is missing where the text ends.
    let offset = match closing {
        Some(_) => text.trim_end().len(),
        None => error.range().start.min(text.len()),
    };
    if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
        return too_deep(layer, Spot::Offset(offset));
    }
    let said = error.kind().to_string();
    let mut characters = said.chars();
    let said: String =
        characters.next().into_iter().flat_map(char::to_lowercase).chain(characters).collect();
    let said = match closing {
        Some(closing) => format!(
            "{said}: it begins at {}:{}, and the text ends before its `{closing}`",
            error.line_display(),
            error.column_display()
        ),
        None => said,
    };
    // The parser stops at what it cannot read, or right behind it.
    let near = text[..text.floor_char_boundary(offset)].chars().next_back();
    let at = text[text.floor_char_boundary(offset)..].chars().next();
    let help = match (at, near) {
        (Some('#'), _) => "a comment begins with `//`, or stands between `/*` and `*/`",
        (Some(c), _) | (_, Some(c)) if is_typographic(c) => {
            "these quotation marks are typographic; write straight ones: \""
        }
        (Some('\''), _) => "names and text stand in double quotes: \"",
        _ => {
            "JSON with comments and trailing commas is accepted; names and text stand in double quotes"
        }
    };
    Fault::error("document::syntax", format!("this is not JSON: {said}"))
        .spot(layer, Spot::Offset(offset))
        .help(help)
}

/// Whether it is a quotation mark as word processors write them.
fn is_typographic(character: char) -> bool {
    "“”„‟‘’‚‛«»".contains(character)
}

fn too_deep(layer: usize, spot: Spot) -> Fault {
    Fault::error(
        "document::too-deep",
        format!("objects and lists lie more than {DEPTH_MAX} levels deep in each other"),
    )
    .spot(layer, spot)
    .help("no configuration needs that; look for a bracket that is never closed")
}

/// Turns the parser's tree into a value, with what only the tree can show: equal keys, numbers
/// that fit nowhere, depth.
struct Reader<'f> {
    layer: usize,
    faults: &'f mut Faults,
    pointer: String,
    too_deep: bool,
}

impl Reader<'_> {
    fn value(&mut self, value: &ast::Value<'_>, depth: usize) -> Value {
        match value {
            ast::Value::StringLit(text) => Value::String(text.value.to_string()),
            ast::Value::NumberLit(number) => self.number(number.value),
            ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
            ast::Value::Object(object) if self.fits(object.range().start, depth) => {
                Value::Object(self.object(object, depth + 1))
            }
            ast::Value::Array(array) if self.fits(array.range().start, depth) => {
                Value::Array(self.array(array, depth + 1))
            }
            ast::Value::NullKeyword(_) | ast::Value::Object(_) | ast::Value::Array(_) => {
                Value::Null
            }
        }
    }

    /// Whether one more level may follow. The first level too many is reported, once.
    fn fits(&mut self, offset: usize, depth: usize) -> bool {
        let fits = depth < DEPTH_MAX;
        if !fits && !self.too_deep {
            self.too_deep = true;
            self.faults.push(too_deep(self.layer, Spot::Offset(offset)));
        }
        fits
    }

    fn object(&mut self, object: &Object<'_>, depth: usize) -> Map<String, Value> {
        let mut map = Map::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let length = self.pointer.len();
            push_step(&mut self.pointer, name);
            let value = self.value(&property.value, depth);
            if map.insert(name.to_owned(), value).is_some() {
                let fault = Fault::warning(
                    "document::duplicate-key",
                    format!("`{name}` is written twice here; only this last one counts"),
                );
                let fault = fault.at_key(self.layer, &self.pointer).help("remove one of them");
                self.faults.push(fault);
            }
            self.pointer.truncate(length);
        }
        map
    }

    fn array(&mut self, array: &ast::Array<'_>, depth: usize) -> Vec<Value> {
        let mut values = Vec::with_capacity(array.elements.len());
        for (index, element) in array.elements.iter().enumerate() {
            let length = self.pointer.len();
            push_step(&mut self.pointer, &index.to_string());
            values.push(self.value(element, depth));
            self.pointer.truncate(length);
        }
        values
    }

    fn number(&mut self, text: &str) -> Value {
        let (said, help) = if let Some(wide) = number::too_wide(text) {
            (wide.to_string(), "write a smaller number, or a string where any value may stand")
        } else {
            if let Ok(number) = serde_json::from_str::<serde_json::Number>(text) {
                return Value::Number(number);
            }
            let shown: String = text.chars().take(24).collect();
            (format!("`{shown}` is a number that cannot be held"), "write a smaller number")
        };
        let fault = Fault::error("document::bad-number", said);
        self.faults.push(fault.at(self.layer, &self.pointer).help(help));
        Value::from(0)
    }
}
