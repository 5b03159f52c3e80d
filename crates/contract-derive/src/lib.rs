//! The attribute and the derive macro with which `contract` describes its types. They need no parser of Rust, because
//! every crate waits for `contract`.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// `#[derive(JsonSchema)]` that generates nothing. `contract` derives with it unless its feature `schemas` is on. The
/// schemas are committed, so the program needs no code that generates them.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Leaves a field `Option` out of the JSON where it is `None`, and reads it as `None` where it is left out. A field
/// with `#[keep_none]` is written as `null`.
#[proc_macro_attribute]
pub fn omit_none(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut item: Vec<TokenTree> = item.into_iter().collect();
    let is_enum = item.iter().any(|token| token.to_string() == "enum");
    if let Some(TokenTree::Group(body)) = item.last_mut() {
        *body = if is_enum { variants(body) } else { fields(body) };
    }
    item.into_iter().collect()
}

/// The fields of each variant in braces.
fn variants(body: &Group) -> Group {
    let variants = body.stream().into_iter().map(|token| {
        if let TokenTree::Group(group) = &token
            && group.delimiter() == Delimiter::Brace
        {
            return fields(group).into();
        }
        token
    });
    group(body, variants.collect())
}

fn fields(body: &Group) -> Group {
    let mut all = TokenStream::new();
    let mut field = Vec::new();
    let mut depth = 0;
    for token in body.stream() {
        let text = token.to_string();
        match text.as_str() {
            "<" => depth += 1,
            ">" => depth -= 1,
            _ => {}
        }
        field.push(token);
        if text == "," && depth == 0 {
            all.extend(with_attribute(std::mem::take(&mut field)));
        }
    }
    all.extend(with_attribute(field));
    group(body, all)
}

fn with_attribute(mut field: Vec<TokenTree>) -> TokenStream {
    let is =
        |place: usize, text: &str| field.get(place).is_some_and(|token| token.to_string() == text);
    let kept = (0..field.len()).find(|place| is(*place, "#") && is(place + 1, "[keep_none]"));
    let colon = (0..field.len()).find(|place| is(*place, ":"));
    let omitted = kept.is_none() && colon.is_some_and(|colon| is(colon + 1, "Option"));
    if let Some(place) = kept {
        field.drain(place..place + 2);
    }
    let attribute = "#[serde(default, skip_serializing_if = \"Option::is_none\")]";
    let attribute = if omitted { attribute } else { "" };
    let mut whole: TokenStream = attribute.parse().expect("an attribute");
    whole.extend(field);
    whole
}

/// The same group with other content.
fn group(old: &Group, content: TokenStream) -> Group {
    let mut new = Group::new(old.delimiter(), content);
    new.set_span(old.span());
    new
}
