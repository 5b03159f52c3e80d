//! Turns that say a secret: as it is, and written in another way, with the escapes of JSON or in Base64 of a longer text.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::Stage;
use super::agents::agent;
use super::people::people;
use super::turns::{everything, holds, project};

/// The variables that declare secrets, with their values.
const DECLARED: [(&str, &str); 3] = [
    ("MY_API_KEY", "s3cret/value+of?Mine"),
    ("DB_PASSWORD", "/begins/with/A/slash"),
    ("OTHER_TOKEN", "ab/cd7"),
];
/// Variables that say where something is.
const PLACES: [(&str, &str); 2] =
    [("SSH_AUTH_SOCK", "/run/agent-of-mine"), ("MY_KEY_FILE", "/etc/key-of-mine")];

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(text: &str) -> String {
    let groups = text.as_bytes().chunks(3).map(|three| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*three.get(at).unwrap_or(&0)));
        let digit = |at: usize| {
            let digit = char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]);
            if at <= three.len() { digit } else { '=' }
        };
        (0..4).map(digit).collect::<String>()
    });
    groups.collect()
}

/// The bytes that a text of digits stands for, seen from its first digit. What is no digit ends a piece.
fn decoded(text: &[u8]) -> Vec<u8> {
    let value = |byte: &u8| DIGITS.iter().position(|digit| digit == byte);
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_usize, 0);
    for byte in text {
        let Some(digit) = value(byte) else {
            (bits, count) = (0, 0);
            bytes.push(0);
            continue;
        };
        (bits, count) = (bits << 6 | digit, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count).unwrap());
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

/// A text with every escape of JSON that it has read, wherever that is.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let hex = text.get(at + 2..at + 6).and_then(|hex| str::from_utf8(hex).ok());
        let code = hex.and_then(|hex| u8::try_from(u32::from_str_radix(hex, 16).ok()?).ok());
        match (text[at], text.get(at + 1), code) {
            (b'\\', Some(b'u'), Some(code)) => (bytes.push(code), at += 6),
            (b'\\', Some(b'/'), _) => (bytes.push(b'/'), at += 2),
            (byte, ..) => (bytes.push(byte), at += 1),
        };
    }
    bytes
}

/// Ways to write a secret, and whether it is one of JSON.
fn ways(secret: &str) -> Vec<(String, String, bool)> {
    let each = |write: &dyn Fn(char) -> String| secret.chars().map(write).collect::<String>();
    let mut ways = vec![
        ("as it is".to_owned(), secret.to_owned(), false),
        ("slashes".to_owned(), secret.replace('/', "\\/"), true),
        ("all by number".to_owned(), each(&|c| format!("\\u{:04x}", u32::from(c))), true),
        ("in capitals".to_owned(), each(&|c| format!("\\u{:04X}", u32::from(c))), true),
        (
            "vowels by number".to_owned(),
            each(&|c| {
                if "aeiou/".contains(c) {
                    format!("\\u{:04x}", u32::from(c))
                } else {
                    c.to_string()
                }
            }),
            true,
        ),
    ];
    // Three bytes make a group, so that there are three places in a group where the secret can begin.
    for user in ["", "u:", "me:", "you:", "user:"] {
        let whole = base64(&format!("{user}{secret}"));
        ways.push((format!("Base64 behind `{user}`"), whole, false));
        ways.push((
            format!("Base64 within `{user}`"),
            base64(&format!("{user}{secret}@host")),
            false,
        ));
    }
    ways
}

/// Panics if any secret is to be found below the folder of the casts, however it is written.
fn keeps_none(stage: &Stage, what: &str) {
    let kept = everything(&stage.path("project/.materia"));
    assert!(holds(&kept, "[redacted]"), "{what}: nothing was taken out");
    let events = stage.run(&["events", "c1", "--json"]).exits(0).out;
    for bytes in [&kept, events.as_bytes()] {
        let read = unescaped(bytes);
        let by_digits: Vec<Vec<u8>> = (0..4).map(|skip| decoded(&bytes[skip..])).collect();
        for (_, secret) in DECLARED {
            assert!(!holds(bytes, secret) && !holds(&read, secret), "{what}: `{secret}` is kept");
            // The first character may be told by a few bits of it.
            let found = by_digits.iter().any(|bytes| holds(bytes, &secret[1..]));
            assert!(!found, "{what}: `{secret}` is kept in Base64");
        }
    }
}

#[test]
fn the_ways_to_write_a_secret_are_read_here() {
    assert_eq!(base64("user:pass"), "dXNlcjpwYXNz");
    assert_eq!(base64("u:pass"), "dTpwYXNz");
    assert_eq!(base64("pass"), "cGFzcw==");
    for (what, secret) in DECLARED {
        for (way, text, escaped) in ways(secret) {
            let bytes = format!("<{text}>").into_bytes();
            let read = if escaped { unescaped(&bytes) } else { bytes.clone() };
            let by_digits = (0..4).any(|skip| holds(&decoded(&bytes[skip..]), secret));
            assert!(holds(&read, secret) || by_digits, "{what} {way}: {text}");
        }
    }
}

#[test]
fn no_way_to_write_a_secret_brings_it_into_what_is_kept() {
    let env = [&DECLARED[..], &PLACES[..]].concat();
    for who in people() {
        for (name, secret) in DECLARED {
            // Each way in a string of its own, so that one that is cut short does not hide the next.
            let texts: Vec<String> = ways(secret).into_iter().map(|(_, text, _)| text).collect();
            let list = format!("\"it is {} \"", texts.join(" \",\n\"it is "));
            let said =
                format!("{{\"context\":\"{}\",\"state\":{{\"k\":[{list}]}}}}", texts.join(" "));
            for (exit, parse) in [(0, "json"), (0, "text"), (3, "text")] {
                let what = format!("{name} as {parse}, {exit}, as {who:?}");
                let more = json!({ "socket": { "parse": parse } });
                let stage = project("cat said >&2; cat said; exit $(cat exit)", &more).of(who);
                stage.write("project/said", &said);
                stage.write("project/exit", exit.to_string());
                let ran = stage.run_with(&["cast", "--trust", "--cast-id", "c1", "go"], &env);
                assert_eq!(ran.exit == 0, exit == 0, "{what}: {ran:?}");
                keeps_none(&stage, &what);
                let kept = everything(&stage.path("project/.materia/c1"));
                let found = kept.windows(10).filter(|at| *at == b"[redacted]").count();
                assert!(found >= texts.len(), "{what}: {found} were taken out: {ran:?}");
            }
        }
    }
}

#[test]
fn no_way_to_write_a_secret_brings_it_from_an_agent_into_what_is_kept() {
    for who in people() {
        for (name, secret) in DECLARED {
            let said: Vec<String> = ways(secret).into_iter().map(|(_, text, _)| text).collect();
            let stage = agent("    say(open('said').read())").of(who);
            stage.write("project/said", said.join(" and\n"));
            let ran = stage.run_with(&["cast", "--trust", "--cast-id", "c1", "go"], &DECLARED);
            assert_eq!(ran.exit, 0, "{name} as {who:?}: {ran:?}");
            keeps_none(&stage, &format!("{name} of an agent as {who:?}"));
        }
    }
}

#[test]
fn what_says_where_something_is_stays() {
    let env = [&DECLARED[..], &PLACES[..]].concat();
    for who in people() {
        let stage = project("echo $SSH_AUTH_SOCK $MY_KEY_FILE $DB_PASSWORD", &json!({})).of(who);
        stage.run_with(&["cast", "--trust", "--cast-id", "c1", "go"], &env).exits(0);
        let said = fs::read_to_string(stage.path("project/.materia/c1/sockets/a/1-1.stdout"));
        assert_eq!(said.unwrap(), "/run/agent-of-mine /etc/key-of-mine [redacted]\n");
    }
}

/// A token of a shape that everybody knows, put together so that nobody takes this file for a leak.
pub(super) fn token() -> String {
    ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat()
}

#[test]
fn nothing_that_a_utility_says_brings_a_secret_into_what_is_kept() {
    for who in people() {
        const SECRET: &str = "correct-horse-battery";
        let token = token();
        for (what, script, exit) in [
            ("text", "echo $T; echo $MY_API_KEY; echo \"x$MY_API_KEY\" >&2; echo $T >&2", 0),
            ("a failure", "echo \"cannot log in with $MY_API_KEY and $T\" >&2; exit 3", 1),
            ("JSON", "printf '{\"context\":\"%s\",\"state\":{\"k\":\"%s\"}}' $T $MY_API_KEY", 0),
            ("bytes", "printf '\\377%s %s' $T $MY_API_KEY", 0),
            (
                "a diff",
                "echo $T > leak; echo $MY_API_KEY >> leak; cp leak .git/x; git add leak 2>/dev/null; true",
                0,
            ),
            ("the cut", "head -c 1048570 /dev/zero | tr '\\0' ' '; echo $MY_API_KEY; echo $T", 0),
            ("a flood", "yes $T | head -c 3000000; yes $MY_API_KEY | head -c 3000000 >&2", 0),
            ("an encoded one", "printf %s $MY_API_KEY | base64", 0),
        ] {
            let stage = project(
                &format!("T={}; T=$T{}; {script}", &token[..4], &token[4..]),
                &json!({ "socket": { "outputSelector": "artifacts:diff" } }),
            )
            .of(who);
            // The script itself holds its token in two parts; whoever says it says it whole.
            let git = |words: &[&str]| {
                let mut git = std::process::Command::new("git");
                git.current_dir(stage.project()).args(words).stdout(Stdio::null());
                assert!(git.status().unwrap().success());
            };
            git(&["init", "--quiet"]);
            let ran = stage
                .run_with(&["cast", "--trust", "--cast-id", "c1", "go"], &[("MY_API_KEY", SECRET)]);
            assert_eq!(ran.exit, exit, "{what}: {ran:?}");
            let kept = everything(&stage.path("project/.materia"));
            for secret in [SECRET, &token, "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"] {
                assert!(!holds(&kept, secret), "{what}: `{secret}` is kept in clear");
                assert!(!ran.err.contains(secret) && !ran.out.contains(secret), "{what}: {ran:?}");
            }
            assert!(
                ["a flood", "the cut"].contains(&what) || holds(&kept, "[redacted]"),
                "{what}: {ran:?}"
            );
            assert_eq!(
                stage.run(&["replay", "c1"]).exit,
                0,
                "{what}: what is kept is what was routed"
            );
        }
    }
}
