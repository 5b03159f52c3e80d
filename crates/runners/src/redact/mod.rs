//! Takes secrets out of whatever is kept, however a stream was cut into pieces.
//!
//! One funnel for everything that comes from a turn, of agents and utilities alike: the streams on their way into
//! transcripts, recordings and the files of a turn, and each [report](Secrets::report) as a whole. What is routed is
//! what is kept, so that a replay sees the same.
//!
//! Two kinds are known: *values*, which we were told (what a variable with a telling name holds, also as JSON, URLs
//! and Base64 write it), and *shapes*, which the well-known services give their tokens and which private keys have.
//! What might be the beginning of one is held back until the next piece tells.
//!
//! Deliberately absent: guessing. A password that nobody declared and that looks like any word
//! stays. So does what a person wrote: the request, the configuration, the prompts.

mod funnel;
mod pem;
mod shapes;
mod stream;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, OnceLock};

use shapes::{SHAPES, Shape};
pub use stream::Redactor;

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted]";

/// The shortest value that is looked for: shorter ones are in every text.
const VALUE_BYTES_MIN: usize = 8;

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

/// Knows which secrets to look for.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<Known>);

#[derive(Debug)]
struct Known {
    /// Longest first, so that one that begins with another is found whole.
    values: Vec<Vec<u8>>,
    /// What each byte is good for: see [`VALUE`] and [`SHAPE`].
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
    #[must_use]
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
        let more: Vec<Vec<u8>> = variables
            .iter()
            .flat_map(|(name, value)| forms(name.as_ref(), value.as_ref()))
            .collect();
        if more.is_empty() {
            return self.clone();
        }
        Self::of_values(self.0.values.iter().cloned().chain(more).collect())
    }

    fn of_values(mut values: Vec<Vec<u8>>) -> Self {
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let mut bytes = [0; 256];
        for value in &values {
            bytes[usize::from(value[0])] |= VALUE;
        }
        let mut shapes: BTreeMap<u8, Vec<&Shape>> = BTreeMap::new();
        for shape in SHAPES {
            shapes.entry(shape.prefix[0]).or_default().push(shape);
        }
        for first in shapes.keys().chain(b"-") {
            bytes[usize::from(*first)] |= SHAPE;
        }
        Self(Arc::new(Known { values, bytes, shapes }))
    }

    fn values(&self) -> &[Vec<u8>] {
        &self.0.values
    }

    /// What each byte can be the beginning of.
    fn table(&self) -> &[u8; 256] {
        &self.0.bytes
    }

    /// The shapes that begin with a byte.
    fn shapes(&self, first: u8) -> &[&'static Shape] {
        self.0.shapes.get(&first).map_or(&[], Vec::as_slice)
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

/// The value of a variable in all its forms, if its name says that it is a secret.
fn forms(name: &OsStr, value: &OsStr) -> Vec<Vec<u8>> {
    let value = value.as_bytes();
    // A path to a secret is none.
    let path = value.first() == Some(&b'/');
    if value.len() < VALUE_BYTES_MIN || path || !is_secret_name(name) {
        return Vec::new();
    }
    let mut forms = vec![value.to_vec(), in_url(value)];
    forms.extend(as_in_json(value));
    forms.extend(in_base64(value));
    forms
}

/// Whether the name of a variable says that its value is a secret.
fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    name.split(['_', '-', '.']).any(|part| {
        WHOLE_WORDS.contains(&part)
            || (SECRET_WORDS.iter().any(|word| part.ends_with(word))
                && !HARMLESS_WORDS.contains(&part))
    })
}

/// A value as it stands inside of a JSON string, if that differs.
fn as_in_json(value: &[u8]) -> Option<Vec<u8>> {
    let text = serde_json::to_string(str::from_utf8(value).ok()?).ok()?;
    let inner = text.as_bytes().get(1..text.len() - 1)?;
    (inner != value).then(|| inner.to_vec())
}

/// A value as it stands in a URL.
fn in_url(value: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for byte in value {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text.into_bytes()
}

/// A value in Base64, in both alphabets, as far as it does not depend on what follows.
fn in_base64(value: &[u8]) -> Vec<Vec<u8>> {
    let alphabet = |last: &[u8; 2]| [&COMMON_DIGITS[..], last].concat();
    let encode = |digits: &[u8]| -> Vec<u8> {
        let whole = value.chunks_exact(3).flat_map(|three| {
            let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            [18, 12, 6, 0].map(|shift| digits[(bits >> shift & 63) as usize])
        });
        whole.collect()
    };
    let mut forms = vec![encode(&alphabet(b"+/")), encode(&alphabet(b"-_"))];
    forms.dedup();
    forms
}

const COMMON_DIGITS: [u8; 62] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::shapes::TOKEN_BYTES_MAX;
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
    }

    #[test]
    fn a_value_goes_in_the_forms_that_programs_give_it() {
        let secrets = Secrets::of_variables([("A_PASSWORD", "p\u{e4}ss/w\"rd?1")]);
        for form in ["p\u{e4}ss/w\"rd?1", "p\u{e4}ss/w\\\"rd?1", "p%C3%A4ss%2Fw%22rd%3F1"] {
            assert_eq!(secrets.remove(&format!("<{form}>")), format!("<{MARK}>"), "{form}");
        }
        let encoded = "cMOkc3MvdyJyZD8x";
        assert_eq!(secrets.remove(&format!("Basic {encoded}==")), format!("Basic {MARK}=="));
    }

    #[test]
    fn names_that_only_look_like_it_are_none() {
        let variables =
            ["GIT_AUTHOR_NAME", "KEYBOARD_LAYOUT", "MONKEY", "TOKENIZERS_PARALLELISM", "PWD"];
        for name in variables {
            let secrets = Secrets::of_variables([(name, "a plain value")]);
            assert_eq!(secrets.remove("a plain value"), "a plain value", "{name}");
        }
        for name in [
            "API_KEY",
            "OPENAI_APIKEY",
            "NPM_TOKEN",
            "DB_PASS",
            "PGPASSWORD",
            "client_secret",
            "X_AUTH",
        ] {
            let secrets = Secrets::of_variables([(name, "a plain value")]);
            assert_eq!(secrets.remove("a plain value"), MARK, "{name}");
        }
    }

    #[test]
    fn private_keys_and_coloured_tokens_go_wherever_the_stream_is_cut() {
        let dashes = "-----";
        let key = format!(
            "{dashes}BEGIN OPENSSH PRIVATE KEY{dashes}\nb3BlbnNz-aC1rZXk\n{dashes}END OPENSSH PRIVATE KEY{dashes}"
        );
        let public =
            format!("{dashes}BEGIN PUBLIC KEY{dashes}\nMIIB\n{dashes}END PUBLIC KEY{dashes}");
        let token = ["gh", "p_abcdefghijklmnopqrstuvwxyz0123456789"].concat();
        let text = format!("a {key} b {public} \u{1b}[31m{token}\u{1b}[0m {dashes}BEGIN");
        let expected = format!("a {MARK} b {public} \u{1b}[31m{MARK}\u{1b}[0m {dashes}BEGIN");
        for size in 1..text.len() {
            assert_eq!(in_pieces(&secrets(), &text, size), expected, "in pieces of {size}");
        }
    }
}
