//! Parts of long texts.

/// The end of a text, at most `chars` characters of it, with an ellipsis where something was left out.
pub fn end_of(text: &str, chars: usize) -> String {
    let surplus = text.chars().count().saturating_sub(chars);
    if surplus == 0 {
        return text.to_owned();
    }
    ['…'].into_iter().chain(text.chars().skip(surplus + 1)).collect()
}
