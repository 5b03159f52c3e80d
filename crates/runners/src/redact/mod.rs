//! Removes secrets from everything that is kept, however a stream is split.
//!
//! All output of a turn passes here, of agents and utilities alike: the streams into transcripts, recordings and the
//! files of a turn, and each [report](Secrets::report) as a whole. The routed data is the kept data, so that a replay
//! sees the same.
//!
//! Two kinds are known: *values* (the value of a variable with a secret name, in the encodings of JSON, URLs and
//! Base64), and *shapes* (tokens of well-known services, and private keys). A possible beginning of one is held back
//! until the next piece decides.
//!
//! Deliberately absent: guessing. An undeclared password that looks like any word stays. So does text that a person
//! wrote: the request, the configuration, the prompts.

mod found;
mod funnel;
mod pem;
mod shapes;
mod stream;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, OnceLock};

use shapes::{SHAPES, Shape};
pub use stream::Redactor;
use values::Pattern;

/// Replacement for a secret.
pub const MARK: &str = "[redacted]";

/// The shortest value that is looked for: shorter ones are in every text.
const VALUE_CHARS_MIN: usize = 6;

/// A value can begin with it.
const VALUE: u8 = 1;
/// A token or a private key can begin with it.
const SHAPE: u8 = 2;

/// The words in the name of a variable that say that its value is a secret. Where a name has parts, one of them must
/// end with such a word: `OPENAI_APIKEY` is one, `TOKENIZERS` is none.
const SECRET_WORDS: [&str; 12] = [
    "KEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
];
/// Those that must be a whole part, for other words end with them.
const WHOLE_WORDS: [&str; 3] = ["PASS", "PAT", "CREDS"];
/// Words that end like a secret and are none.
const HARMLESS_WORDS: [&str; 4] = ["MONKEY", "TURKEY", "HOTKEY", "DONKEY"];
/// How the names of variables end that say where something is.
const PLACES: [&str; 4] = ["SOCK", "FILE", "PATH", "DIR"];

/// Knows which secrets to look for.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<Known>);

#[derive(Debug)]
struct Known {
    /// Longest first, so that one that begins with another is found whole.
    values: Vec<Pattern>,
    /// Which of them begin with a byte.
    heads: Vec<Vec<usize>>,
    /// The two bytes that a value can begin with, a bit for each pair.
    pairs: Vec<u64>,
    /// Flags of each byte: [`VALUE`] and [`SHAPE`].
    bytes: [u8; 256],
    /// The shapes by their first byte.
    shapes: BTreeMap<u8, Vec<&'static Shape>>,
}

impl Default for Secrets {
    /// The known shapes alone.
    fn default() -> Self {
        Self::of_values(Vec::new())
    }
}

impl Secrets {
    /// Those in the environment of this process.
    pub fn of_process() -> Self {
        static OWN: OnceLock<Secrets> = OnceLock::new();
        OWN.get_or_init(|| Self::of_variables(std::env::vars_os())).clone()
    }

    /// The values of those variables whose names say that they are secret, and all known shapes.
    pub fn of_variables<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        Self::of_values(
            variables
                .into_iter()
                .flat_map(|(name, value)| forms(name.as_ref(), value.as_ref()))
                .collect(),
        )
    }

    /// These, and those of further variables.
    #[must_use]
    pub fn and<N: AsRef<OsStr>, V: AsRef<OsStr>>(&self, variables: &[(N, V)]) -> Self {
        let more: Vec<Pattern> = variables
            .iter()
            .flat_map(|(name, value)| forms(name.as_ref(), value.as_ref()))
            .collect();
        if more.is_empty() {
            return self.clone();
        }
        Self::of_values(self.0.values.iter().cloned().chain(more).collect())
    }

    fn of_values(mut values: Vec<Pattern>) -> Self {
        values.sort_by(|a, b| b.bytes().len().cmp(&a.bytes().len()).then_with(|| a.cmp(b)));
        values.dedup();
        let mut bytes = [0; 256];
        let mut heads = vec![Vec::new(); 256];
        let mut pairs = vec![0_u64; 1 << 10];
        for (at, value) in values.iter().enumerate() {
            let [first, second, ..] = *value.bytes() else { continue };
            bytes[usize::from(first)] |= VALUE;
            heads[usize::from(first)].push(at);
            let (word, bit) = pair(first, second);
            pairs[word] |= bit;
        }
        if !values.is_empty() {
            // Either can stand for the first character.
            bytes[usize::from(b'\\')] |= VALUE;
            bytes[usize::from(b'%')] |= VALUE;
        }
        let mut shapes: BTreeMap<u8, Vec<&Shape>> = BTreeMap::new();
        for shape in SHAPES {
            shapes.entry(shape.prefix[0]).or_default().push(shape);
        }
        for first in shapes.keys().chain(b"-") {
            bytes[usize::from(*first)] |= SHAPE;
        }
        Self(Arc::new(Known { values, heads, pairs, bytes, shapes }))
    }

    /// The values that begin with a byte, the longest first.
    fn values(&self, first: u8) -> impl Iterator<Item = &Pattern> {
        self.0.heads[usize::from(first)].iter().map(|at| &self.0.values[*at])
    }

    /// Flags of each byte: the kinds of secret that can begin with it.
    fn table(&self) -> &[u8; 256] {
        &self.0.bytes
    }

    /// Whether a value can begin with these two bytes, of which the first can begin one.
    fn can_begin(&self, first: u8, second: u8) -> bool {
        let (word, bit) = pair(first, second);
        self.0.pairs[word] & bit != 0
            || matches!(first, b'\\' | b'%')
            || values::stands_for_others(second)
    }

    /// The shapes that begin with a byte.
    fn shapes(&self, first: u8) -> &[&'static Shape] {
        self.0.shapes.get(&first).map_or(&[], Vec::as_slice)
    }

    /// A text without its secrets.
    pub fn remove<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut cleaned = Vec::with_capacity(text.len());
        let mut redactor = Redactor::new(self.clone());
        redactor.push(text.as_bytes(), &mut cleaned);
        redactor.finish(&mut cleaned);
        if cleaned == text.as_bytes() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(String::from_utf8_lossy(&cleaned).into_owned())
    }
}

/// Where the bit of a pair of bytes is.
fn pair(first: u8, second: u8) -> (usize, u64) {
    let number = usize::from(first) << 8 | usize::from(second);
    (number / 64, 1 << (number % 64))
}

/// Patterns for the value of a variable, if its name is the name of a secret.
fn forms(name: &OsStr, value: &OsStr) -> Vec<Pattern> {
    // A line end that a shell left at its end is no part of it.
    let value = value.as_bytes().trim_ascii();
    let characters = value.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    if characters < VALUE_CHARS_MIN || !is_secret_name(name) {
        return Vec::new();
    }
    Pattern::of(value)
}

/// Whether the name of a variable says that its value is a secret.
fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    if PLACES.iter().any(|place| name.ends_with(place)) {
        return false;
    }
    name.split(['_', '-', '.']).any(|part| {
        WHOLE_WORDS.contains(&part)
            || (SECRET_WORDS.iter().any(|word| part.ends_with(word))
                && !HARMLESS_WORDS.contains(&part))
    })
}
