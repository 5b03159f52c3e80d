//! Takes secrets out of a stream of bytes, however the stream was cut into pieces.
//!
//! Two kinds are known: *values*, which we were told (what a variable with a telling name holds),
//! and *shapes*, which the well-known services give their tokens. What might be the beginning of
//! one is held back until the next piece tells.
//!
//! Deliberately absent: guessing. A password that nobody declared and that looks like any word
//! stays.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted]";

/// The shortest value that is looked for: shorter ones are in every text.
const VALUE_BYTES_MIN: usize = 8;
/// The longest token that is held back whole; of a longer one the rest is dropped as it comes.
const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// What a token looks like: how it begins, and how long it must be to be one.
struct Shape {
    prefix: &'static [u8],
    body_min: usize,
    /// Whether its body has dots in it, and must have.
    dotted: bool,
}

const fn shape(prefix: &'static str, body_min: usize) -> Shape {
    Shape { prefix: prefix.as_bytes(), body_min, dotted: false }
}

const fn dotted(prefix: &'static str, body_min: usize) -> Shape {
    Shape { prefix: prefix.as_bytes(), body_min, dotted: true }
}

/// Tokens of model providers, code hosts, package registries and clouds.
const SHAPES: &[Shape] = &[
    shape("sk-", 20),
    shape("sk_live_", 16),
    shape("rk_live_", 16),
    shape("ghp_", 30),
    shape("gho_", 30),
    shape("ghu_", 30),
    shape("ghs_", 30),
    shape("ghr_", 30),
    shape("github_pat_", 30),
    shape("glpat-", 18),
    shape("AIza", 30),
    shape("AKIA", 16),
    shape("ASIA", 16),
    shape("xoxa-", 10),
    shape("xoxb-", 10),
    shape("xoxp-", 10),
    shape("xoxr-", 10),
    shape("xoxs-", 10),
    shape("npm_", 30),
    shape("pypi-", 40),
    shape("hf_", 30),
    shape("gsk_", 40),
    shape("xai-", 40),
    dotted("ya29.", 20),
    dotted("eyJ", 40),
];

/// A value can begin with it.
const VALUE: u8 = 1;
/// A token can begin with it.
const SHAPE: u8 = 2;
/// It can stand inside of a word.
const BODY: u8 = 4;

/// Knows which secrets to look for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Longest first, so that one that begins with another is found whole.
    values: Vec<Vec<u8>>,
    /// Whether tokens are known by their looks too.
    shapes: bool,
}

impl Secrets {
    /// The values of those variables whose names say that they are secret, and all known shapes.
    pub fn of_variables<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let mut values = Vec::new();
        for (name, value) in variables {
            let value = value.as_ref().as_bytes();
            // A path to a secret is none.
            let path = value.first() == Some(&b'/');
            if value.len() >= VALUE_BYTES_MIN && !path && is_secret_name(name.as_ref()) {
                values.push(value.to_vec());
                values.extend(as_in_json(value));
            }
        }
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values, shapes: true }
    }

    /// The same, without the shapes: for text whose every word counts.
    #[must_use]
    pub fn values_only(&self) -> Self {
        Self { values: self.values.clone(), shapes: false }
    }

    /// A text without its secrets.
    #[must_use]
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

/// Whether the name of a variable says that its value is a secret.
fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let words = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"];
    words.iter().any(|word| name.contains(word))
}

/// A value as it stands inside of a JSON string, if that differs.
fn as_in_json(value: &[u8]) -> Option<Vec<u8>> {
    let text = serde_json::to_string(str::from_utf8(value).ok()?).ok()?;
    let inner = text.as_bytes().get(1..text.len() - 1)?;
    (inner != value).then(|| inner.to_vec())
}

/// Takes secrets out of one stream.
#[derive(Debug)]
pub struct Redactor {
    secrets: Secrets,
    /// What each byte is good for: see [`VALUE`], [`SHAPE`] and [`BODY`].
    bytes: [u8; 256],
    /// What has not been decided yet.
    held: Vec<u8>,
    /// The two bytes before it.
    before: [u8; 2],
    /// Whether we are inside a token too long to be held.
    swallowing: bool,
}

/// What stands at some place.
enum Found {
    /// A secret of this length; `open` if it goes on beyond what we have.
    Secret {
        length: usize,
        open: bool,
    },
    /// The beginning of one, perhaps.
    Perhaps,
    Nothing,
}

impl Redactor {
    /// Looks for these secrets.
    #[must_use]
    pub fn new(secrets: Secrets) -> Self {
        let mut bytes = [0; 256];
        for value in &secrets.values {
            bytes[usize::from(value[0])] |= VALUE;
        }
        for shape in SHAPES.iter().filter(|_| secrets.shapes) {
            bytes[usize::from(shape.prefix[0])] |= SHAPE;
        }
        for byte in (0..=u8::MAX).filter(|byte| is_body(*byte, false)) {
            bytes[usize::from(byte)] |= BODY;
        }
        Self { secrets, bytes, held: Vec::new(), before: [b'\n'; 2], swallowing: false }
    }

    /// Takes the next piece; adds to `out` what is certain.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        self.scan(false, out);
    }

    /// Adds the rest: nothing follows.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.scan(true, out);
    }

    fn scan(&mut self, last: bool, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let mut at = 0;
        while let Some(&byte) = held.get(at) {
            if self.swallowing && is_body(byte, true) {
                at += 1;
                continue;
            }
            self.swallowing = false;
            if self.bytes[usize::from(byte)] & (VALUE | SHAPE) != 0 {
                match self.look(&held[at..], last) {
                    Found::Secret { length, open } => {
                        out.extend_from_slice(MARK.as_bytes());
                        at += length;
                        self.swallowing = open;
                        self.before = *b"]]";
                        continue;
                    }
                    Found::Perhaps => break,
                    Found::Nothing => {}
                }
            }
            // What cannot begin a secret goes in one piece: most of every stream.
            let plain = &held[at..self.next_start(&held, at)];
            out.extend_from_slice(plain);
            self.before = match plain {
                [.., earlier, last] => [*earlier, *last],
                _ => [self.before[1], byte],
            };
            at += plain.len();
        }
        self.held = held[at..].to_vec();
    }

    /// The next place behind `at` where a secret could begin.
    fn next_start(&self, held: &[u8], at: usize) -> usize {
        let mut before = self.bytes[usize::from(held[at])];
        for (place, byte) in held.iter().enumerate().skip(at + 1) {
            let this = self.bytes[usize::from(*byte)];
            // Inside of a word no shape begins, but for one behind `\n` as JSON writes it.
            let word = before & BODY == 0 || (place >= 2 && held[place - 2] == b'\\');
            if this & VALUE != 0 || (this & SHAPE != 0 && (word || place < at + 2)) {
                return place;
            }
            before = this;
        }
        held.len()
    }

    fn look(&self, rest: &[u8], last: bool) -> Found {
        for value in &self.secrets.values {
            if rest.starts_with(value) {
                return Found::Secret { length: value.len(), open: false };
            }
            if !last && value.starts_with(rest) {
                return Found::Perhaps;
            }
        }
        if !self.secrets.shapes || !self.at_word() {
            return Found::Nothing;
        }
        for shape in SHAPES {
            match look_for(shape, rest, last) {
                Found::Nothing => {}
                found @ (Found::Secret { .. } | Found::Perhaps) => return found,
            }
        }
        Found::Nothing
    }

    /// Whether a word can begin here: not in the middle of another, but behind `\n` in JSON.
    fn at_word(&self) -> bool {
        let [earlier, before] = self.before;
        !is_body(before, false) || (earlier == b'\\' && b"nrtbf".contains(&before))
    }
}

fn look_for(shape: &Shape, rest: &[u8], last: bool) -> Found {
    let Some(body) = rest.strip_prefix(shape.prefix) else {
        let begun = !last && shape.prefix.starts_with(rest);
        return if begun { Found::Perhaps } else { Found::Nothing };
    };
    let end = body.iter().position(|byte| !is_body(*byte, shape.dotted));
    let length = end.unwrap_or(body.len());
    let open = end.is_none() && !last;
    if open && length <= TOKEN_BYTES_MAX {
        return Found::Perhaps;
    }
    let body = &body[..length];
    let looks_random = body.iter().any(u8::is_ascii_digit)
        && body.iter().any(u8::is_ascii_alphabetic)
        && (!shape.dotted || shape.prefix.ends_with(b".") || body.contains(&b'.'));
    if length >= shape.body_min && looks_random {
        Found::Secret { length: shape.prefix.len() + length, open }
    } else {
        Found::Nothing
    }
}

fn is_body(byte: u8, dotted: bool) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || (dotted && byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::of_variables([
            ("MY_TOKEN", "hunter2\"hunter2"),
            ("MY_TOKEN_LONGER", "hunter2\"hunter2-and-more"),
            ("PLAIN", "not a secret"),
            ("SHORT_KEY", "abc"),
            ("KEY_FILE", "/etc/passwd-like"),
        ])
    }

    fn in_pieces(secrets: &Secrets, text: &str, size: usize) -> String {
        let mut redactor = Redactor::new(secrets.clone());
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            redactor.push(piece, &mut out);
        }
        redactor.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_and_shapes_go_wherever_the_stream_is_cut() {
        let token = ["sk", "proj", "a1b2c3d4e5f6g7h8i9j0"].join("-");
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN";
        let text = format!(
            "{{\"a\":\"hunter2\\\"hunter2\",\"b\":\"x\\n{token}\"}}\nhunter2\"hunter2-and-more \
             {jwt}, task-{token} and sk-learn ghp_short AKIA1234567890ABCDEF not a secret hunter2"
        );
        let expected = format!(
            "{{\"a\":\"{MARK}\",\"b\":\"x\\n{MARK}\"}}\n{MARK} {MARK}, task-{token} and sk-learn \
             ghp_short {MARK} not a secret hunter2"
        );
        for size in 1..text.len() {
            assert_eq!(in_pieces(&secrets(), &text, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_token_without_end_takes_no_memory() {
        let mut redactor = Redactor::new(secrets());
        let mut out = Vec::new();
        redactor.push(b"sk-a1", &mut out);
        for _ in 0..1_000 {
            redactor.push(&[b'x'; 1_000], &mut out);
            assert!(redactor.held.len() <= TOKEN_BYTES_MAX + 1_100);
        }
        redactor.push(b" over", &mut out);
        redactor.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{MARK} over"));
    }

    #[test]
    fn a_long_word_that_is_no_token_stays_whole() {
        let word = format!("eyJ{}", "ab1".repeat(10_000));
        for size in [1_000, 8_192, 100_000] {
            assert_eq!(in_pieces(&secrets(), &word, size), word);
        }
    }

    #[test]
    fn text_without_secrets_is_not_copied() {
        assert!(matches!(secrets().remove("plain sk-learn"), Cow::Borrowed(_)));
        assert_eq!(secrets().remove("say hunter2\"hunter2!"), format!("say {MARK}!"));
        let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        assert_eq!(secrets().remove(token), MARK);
        assert_eq!(secrets().values_only().remove(token), token);
    }
}
