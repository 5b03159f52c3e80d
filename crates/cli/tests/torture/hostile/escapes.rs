//! Output, names and requests with escape sequences that attack the reader's terminal.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// Every control character there is, alone and as a command to a terminal.
const NASTY: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{9d}0;x\u{9c}\u{7f}\u{8}\r\u{202e}\u{90}q\u{85}\u{200b}\u{61c}\u{ad}\u{2028}\u{3164}\u{fe0f}\u{e0041}z";

/// Whether a terminal would obey any of it.
fn raw(text: &str) -> Option<char> {
    let harmless = |c: char| c == '\n' || c == '\t';
    let hidden = "\u{200b}\u{61c}\u{ad}\u{2028}\u{202e}\u{3164}\u{fe0f}\u{e0041}";
    text.chars().find(|c| c.is_control() && !harmless(*c) || hidden.contains(*c))
}

/// A project of one utility, which is looked at as on a terminal with colours: otherwise the
/// output stream takes escapes out by itself, and hides who let them through.
struct Stage {
    bench: Bench,
}

impl Stage {
    fn new(program: &str, socket: &Value) -> Self {
        let mut socket = socket.clone();
        socket["materia"] = json!(format!("M{NASTY}"));
        socket["edges"] = json!([{ "to": "end" }]);
        let mut materia = serde_json::Map::new();
        materia.insert(
            format!("M{NASTY}"),
            json!({ "type": "utility", "command": ["sh", "say.sh"], "label": NASTY }),
        );
        let mut loadouts = serde_json::Map::new();
        loadouts.insert(format!("L{NASTY}"), json!({ "entry": "a", "sockets": { "a": socket } }));
        let bench = Bench::with(&json!({
            "activeLoadout": format!("L{NASTY}"), "loadouts": loadouts, "materia": materia,
        }));
        // A project may not name such a folder; its user may.
        let mine = json!({ "artifactDir": format!("art{NASTY}ifacts") });
        std::fs::create_dir_all(bench.profile()).unwrap();
        std::fs::write(bench.profile().join("config.json"), mine.to_string()).unwrap();
        bench.write("say.sh", program);
        Self { bench }
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.bench.command(args);
        command.env("CLICOLOR_FORCE", "1").stdin(Stdio::null());
        command.output().unwrap().into()
    }

    /// Casts, looks at everything, and gives how the cast went.
    fn play(&self, exit: i32) -> Value {
        let request = format!("please{NASTY}");
        let ran = self.run(&["cast", "--trust", "--cast-id", "c1", &request]).exits(exit);
        clean(&ran, "cast");
        for args in LOOKS {
            clean(&self.run(args).exits(0), &format!("{args:?}"));
        }
        for args in REFUSED {
            let ran = self.run(args);
            assert!(ran.exit == 2 || ran.exit == 1, "{args:?}: {ran:?}");
            clean(&ran, &format!("{args:?}"));
        }
        self.bench.run(&["show", "c1", "--json"]).exits(0).json()
    }
}

const LOOKS: &[&[&str]] = &[
    &["show", "c1"],
    &["events", "c1"],
    &["events", "c1", "--follow"],
    &["casts"],
    &["why", "c1", "a"],
    &["grid", "c1"],
    &["grid"],
    &["replay", "c1"],
];

const REFUSED: &[&[&str]] = &[
    &["resume", "c1"],
    &["show", "c1\u{1b}[2J"],
    &["why", "c1", "\u{9b}31m"],
    &["cast", "--loadout", "\u{1b}[2J\u{9b}x"],
    &["cast", "--cast-id", "c1"],
    &["cast", "--script", "\u{1b}[2J.json"],
    &["cast", "--config", "\u{1b}[2J\u{9b}.json"],
    &["-C", "\u{1b}[2J\u{9b}", "casts"],
];

fn clean(ran: &Ran, what: &str) {
    for (name, text) in [("standard output", &ran.out), ("standard error", &ran.err)] {
        // Colours of our own are set around words; they are no way to do harm.
        let text = without_colours(text);
        if let Some(found) = raw(&text) {
            let at = text.find(found).unwrap();
            let from = text[..at].char_indices().rev().nth(60).map_or(0, |(index, _)| index);
            let part: String = text[from..].chars().take(120).collect();
            panic!("{what}: {found:?} on {name}: …{part:?}…");
        }
    }
}

/// The text without `ESC [ digits m`.
fn without_colours(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        kept.push_str(&rest[..at]);
        let after = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = after.strip_prefix('m').unwrap_or_else(|| {
            kept.push('\u{1b}');
            &rest[at + 1..]
        });
    }
    kept + rest
}

/// How `printf` of a shell is told to say all of it.
fn nasty_in_shell() -> String {
    NASTY.bytes().fold(String::new(), |text, byte| format!("{text}\\{byte:03o}"))
}

#[test]
fn escapes_in_output_names_and_requests_never_reach_the_terminal() {
    let nasty = nasty_in_shell();
    let stage = Stage::new(&format!("printf 'out {nasty}'; printf 'err {nasty}' >&2"), &json!({}));
    let report = stage.play(0);
    assert_eq!(report["status"], "completed");
    let stage = Stage::new(&format!("printf 'err {nasty}' >&2; exit 3"), &json!({}));
    let report = stage.play(1);
    assert_eq!(report["error"]["code"], "utility_failed");
}

#[test]
fn escapes_in_state_and_in_items_never_reach_the_terminal() {
    let text = serde_json::to_string(NASTY).unwrap();
    let program = format!("cat <<'E'\n{{\"state\":{{{text}:{text},\"list\":[{text}]}}}}\nE\n");
    let stage = Stage::new(&program, &json!({ "parse": "json" }));
    let report = stage.play(0);
    assert_eq!(report["state"][NASTY], NASTY, "what is data stays what it was");
    assert_eq!(report["state"]["list"], json!([NASTY]));
}

#[test]
fn data_that_is_asked_for_is_what_was_recorded_to_the_last_character() {
    let stage = Stage::new("true", &json!({}));
    let request = format!("please{NASTY}");
    stage.bench.run(&["cast", "--trust", "--cast-id", "c1", &request]).exits(0);
    let root = stage.bench.project().join(format!("art{NASTY}ifacts"));
    let file = std::fs::read_to_string(root.join("c1/events.jsonl")).unwrap();
    assert!(file.contains('\u{7f}') && file.contains('\u{9b}'), "nothing was taken out there");
    for colour in ["0", "1"] {
        let mut command = stage.bench.command(&["events", "c1", "--json"]);
        let ran = Ran::from(command.env("CLICOLOR_FORCE", colour).output().unwrap());
        assert_eq!(ran.lines()[0]["data"]["request"], request, "CLICOLOR_FORCE={colour}");
        let line = stage.bench.run(&["casts", "--json"]).exits(0).lines()[0].clone();
        assert_eq!(line["request"], request);
    }
}

/// Content of the first turn's stdout file.
fn stdout_of(stage: &Stage) -> Vec<u8> {
    let root = stage.bench.project().join(format!("art{NASTY}ifacts"));
    std::fs::read(root.join("c1/sockets/a/1-1.stdout")).unwrap()
}

#[test]
fn three_megabytes_are_cut_and_that_is_said() {
    let flood = "head -c 3000000 /dev/zero | tr '\\0' x";
    let stage = Stage::new(flood, &json!({}));
    assert_eq!(stage.play(0)["status"], "completed");
    let kept = String::from_utf8(stdout_of(&stage)).unwrap();
    let lines: Vec<&str> = kept.lines().collect();
    let [head, line, tail] = lines[..] else { panic!("{} lines", lines.len()) };
    assert_eq!((head.len(), tail.len()), (256 << 10, 768 << 10));
    let missing = 3_000_000 - (1 << 20);
    assert!(line.starts_with(&format!("[materia: {missing} bytes are missing here")), "{line}");
    let root = stage.bench.project().join(format!("art{NASTY}ifacts"));
    let meta = std::fs::read(root.join("c1/sockets/a/1-1.meta.json")).unwrap();
    let meta: Value = serde_json::from_slice(&meta).unwrap();
    assert_eq!(meta["stdout"]["dropped"], missing, "{meta}");
    let full =
        std::fs::read(root.join("c1").join(meta["stdout"]["full"].as_str().unwrap())).unwrap();
    assert!(full == "x".repeat(3_000_000).as_bytes(), "all of it is a file");

    let stage = Stage::new(
        &format!("printf '{{\"a\":\"'; {flood}; printf '\"}}'"),
        &json!({ "parse": "json", "assign": { "a": "$.a" } }),
    );
    let report = stage.play(0);
    assert_eq!(
        report["state"]["a"].as_str().map(str::len),
        Some(3_000_000),
        "JSON is read from all of it"
    );
}

#[test]
fn nul_and_bytes_that_are_no_text_are_kept_and_harm_nothing() {
    for (bytes, kept) in [
        ("a\\000b\\000", &b"a\0b\0"[..]),
        ("\\377\\376x\\200", b"\xff\xfex\x80"),
        ("\\355\\240\\200 \\303", b"\xed\xa0\x80 \xc3"),
    ] {
        let program = format!("printf '{bytes}'; printf '{bytes}' >&2");
        let stage = Stage::new(&program, &json!({}));
        assert_eq!(stage.play(0)["status"], "completed", "{bytes}");
        assert_eq!(stdout_of(&stage), kept, "{bytes}");
        let stage = Stage::new(&program, &json!({ "parse": "json" }));
        assert_eq!(stage.play(1)["error"]["code"], "contract_error", "{bytes}");
    }
}
