//! Syntax of the configuration: JSON with comments and trailing commas, nothing else.

use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};

/// Extensions to strict JSON.
pub(crate) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text; `None` if there is nothing in it.
pub(crate) fn parse(text: &str) -> Result<Option<ast::Value<'_>>, ParseError> {
    Ok(parse_to_ast(text, &CollectOptions::default(), &OPTIONS)?.value)
}
