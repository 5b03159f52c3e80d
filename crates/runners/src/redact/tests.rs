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
        ("SSH_AUTH_SOCK", "/tmp/agent.sock"),
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
    let places =
        ["SSH_AUTH_SOCK", "TOKEN_FILE", "KEYFILE", "SECRET_KEY_PATH", "PASSWORD_STORE_DIR"];
    for name in variables.into_iter().chain(places) {
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
    let public = format!("{dashes}BEGIN PUBLIC KEY{dashes}\nMIIB\n{dashes}END PUBLIC KEY{dashes}");
    let token = ["gh", "p_abcdefghijklmnopqrstuvwxyz0123456789"].concat();
    let text = format!("a {key} b {public} \u{1b}[31m{token}\u{1b}[0m {dashes}BEGIN");
    let expected = format!("a {MARK} b {public} \u{1b}[31m{MARK}\u{1b}[0m {dashes}BEGIN");
    for size in 1..text.len() {
        assert_eq!(in_pieces(&secrets(), &text, size), expected, "in pieces of {size}");
    }
}

/// Numbers by chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % most
    }

    fn text(&mut self, alphabet: &str, least: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let length = least + self.below(20);
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }
}

const LETTERS: &str = "abcXYZ0189nurt/+%\\\"'$ .:_-=@äß日😀\n\t";

/// A character as JSON may write it.
fn in_json(character: char, chance: &mut Chance) -> String {
    let number = |chance: &mut Chance| {
        let units = character.encode_utf16(&mut [0; 2]).to_vec();
        let upper = chance.below(2) == 0;
        let unit = |unit: &u16| {
            if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") }
        };
        units.iter().map(unit).collect::<String>()
    };
    match (character, chance.below(3)) {
        (_, 0) => number(chance),
        ('"', _) => "\\\"".to_owned(),
        ('\\', _) => "\\\\".to_owned(),
        ('/', 1) => "\\/".to_owned(),
        ('\n', _) => "\\n".to_owned(),
        ('\t', _) => "\\t".to_owned(),
        (other, _) => other.to_string(),
    }
}

/// A character as a URL may write it.
fn in_url(character: char, chance: &mut Chance) -> String {
    if character == ' ' && chance.below(2) == 0 {
        return "+".to_owned();
    }
    if character != '%' && character != '+' && chance.below(2) == 0 {
        return character.to_string();
    }
    let upper = chance.below(2) == 0;
    let byte = |byte: &u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
    character.to_string().as_bytes().iter().map(byte).collect()
}

fn base64(bytes: &[u8], chance: &mut Chance) -> String {
    let last = if chance.below(2) == 0 { *b"+/" } else { *b"-_" };
    let digits =
        [&b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[..], &last].concat();
    let width = [0, 4, 16, 76][chance.below(4)];
    let mut text = String::new();
    for (count, three) in bytes.chunks(3).enumerate() {
        if width > 0 && count > 0 && (count * 4) % width == 0 {
            text.push('\n');
        }
        let byte = |at: usize| three.get(at).map_or(0, |byte| u32::from(*byte));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let signs = [18, 12, 6, 0].map(|shift| char::from(digits[(bits >> shift & 63) as usize]));
        text.extend(&signs[..=three.len()]);
    }
    text
}

/// Everything that Base64 in a text can be decoded to, wherever it begins.
fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let unbroken: Vec<u8> = text.bytes().filter(|byte| *byte != b'\n').collect();
    let mut all = Vec::new();
    for word in unbroken.split(|byte| value(*byte).is_none()) {
        for from in 0..4.min(word.len()) {
            let bits: Vec<u32> =
                word[from..].iter().filter_map(|byte| value(*byte)).map(u32::from).collect();
            for four in bits.chunks(4) {
                let bits =
                    four.iter().fold(0, |bits, six| bits << 6 | six) << (6 * (4 - four.len()));
                all.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
            }
            all.push(0);
        }
    }
    all
}

fn holds(text: &[u8], secret: &str) -> bool {
    text.windows(secret.len()).any(|at| at == secret.as_bytes())
}

/// The text through the funnel, cut by chance.
fn cut_by_chance(secrets: &Secrets, text: &str, chance: &mut Chance) -> String {
    let size = 1 + chance.below(text.len());
    let cut = in_pieces(secrets, text, size);
    assert_eq!(cut, in_pieces(secrets, text, text.len()), "in pieces of {size}: {text}");
    cut
}

#[test]
fn no_mix_of_escapes_brings_a_value_through() {
    for seed in 1..600 {
        let mut chance = Chance(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15));
        let secret = chance.text(LETTERS, 6);
        let secret = secret.trim();
        if secret.chars().count() < 6 {
            continue;
        }
        let secrets = Secrets::of_variables([("A_TOKEN", secret)]);
        let (before, after) = (chance.text(LETTERS, 0), chance.text(LETTERS, 0));

        let plain = cut_by_chance(&secrets, &format!("{before}{secret}{after}"), &mut chance);
        assert!(!plain.contains(secret), "{seed}: {secret:?} in {plain:?}");

        let json = |text: &str, chance: &mut Chance| -> String {
            text.chars().map(|one| in_json(one, chance)).collect()
        };
        let whole = [&before, secret, &after].map(|text| json(text, &mut chance)).concat();
        let text = cut_by_chance(&secrets, &format!("{{\"a\":\"{whole}\"}}"), &mut chance);
        let value: serde_json::Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{seed}: {error}: {secret:?} left {text}"));
        assert!(!value["a"].as_str().unwrap().contains(secret), "{seed}: {secret:?} in {text}");
        // And JSON in a string of JSON, where the value has no backslashes of its own.
        let twice = serde_json::to_string(&format!("\"{whole}\"")).unwrap();
        let text = cut_by_chance(&secrets, &twice, &mut chance);
        let inner: String = serde_json::from_str(&text).unwrap();
        let inner: String = serde_json::from_str(&inner).unwrap_or_default();
        let doubtful = secret.contains('\\');
        assert!(doubtful || !inner.contains(secret), "{seed}: {secret:?} twice in {text}");

        let url: String = secret.chars().map(|one| in_url(one, &mut chance)).collect();
        let text = cut_by_chance(&secrets, &format!("https://u:{url}@h/?q={url}&"), &mut chance);
        assert_eq!(text, format!("https://u:{MARK}@h/?q={MARK}&"), "{seed}: {secret:?}");
        let both: String = url.chars().map(|one| in_json(one, &mut chance)).collect();
        let text = cut_by_chance(&secrets, &format!("\"{both}\""), &mut chance);
        assert_eq!(text, format!("\"{MARK}\""), "{seed}: {secret:?} as {both}");

        let encoded = base64(format!("{before}{secret}{after}").as_bytes(), &mut chance);
        let text = cut_by_chance(&secrets, &format!("Basic {encoded}="), &mut chance);
        assert!(!holds(&decoded(&text), secret), "{seed}: {secret:?} in {text} of {encoded}");
        assert!(text.contains(MARK), "{seed}: {secret:?} in {encoded}");
        let quoted = serde_json::to_string(&encoded).unwrap().replace('/', "\\/");
        let text = cut_by_chance(&secrets, &quoted, &mut chance);
        let inner: String = serde_json::from_str(&text).unwrap();
        assert!(!holds(&decoded(&inner), secret), "{seed}: {secret:?} in {text}");
    }
}

#[test]
fn values_that_are_paths_or_short_are_found_in_every_form() {
    let secrets = Secrets::of_variables([("DB_PASSWORD", "/s3cret/pw"), ("MY_KEY", "abc123")]);
    for form in [
        "/s3cret/pw",
        r"\/s3cret\/pw",
        r"\u002fs3cret\u002Fpw",
        r"\\/s3cret\\/pw",
        "%2fs3cret%2Fpw",
        r"\u00252fs3cret/pw",
        "abc123",
        "a%62c1%32\u{33}",
    ] {
        assert_eq!(secrets.remove(&format!("<{form}>")), format!("<{MARK}>"), "{form}");
    }
    // `user:abc123`, `a:abc123` and `xy:abc123`, so that the value begins anywhere in a group.
    for (encoded, left) in [
        ("dXNlcjphYmMxMjM=", "dXNlcjph"),
        ("YTphYmMxMjM=", "YTph"),
        ("eHk6YWJjMTIz", "eHk6"),
        ("eGFiYzEyMw==", "eG"),
    ] {
        let text = secrets.remove(encoded).into_owned();
        assert!(text.starts_with(&left[..2]) && text.contains(MARK), "{text}");
        assert!(!holds(&decoded(&text), "abc123"), "{text}");
    }
    // What only looks like an escape of JSON leaves JSON behind.
    let secrets = Secrets::of_variables([("A_KEY", "nabcdef"), ("B_KEY", "41bcdefg")]);
    for (text, kept) in
        [(r#""x\nabcdef""#, r#""x\\[redacted]""#), (r#""x\u0041bcdefg""#, r#""x\u0000[redacted]""#)]
    {
        assert_eq!(secrets.remove(text), kept);
        assert!(serde_json::from_str::<String>(kept).is_ok(), "{kept}");
    }
}
