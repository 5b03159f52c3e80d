//! Shell completion: the binary, and the shells that call it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, agents};

/// Names that would do something if a shell read them.
const HOSTILE: [&str; 10] = [
    "$(touch owned)",
    "`touch owned`",
    "a; touch owned",
    "a & touch owned",
    "a' touch owned '",
    "a\" touch owned \"",
    "~ * {a,b} !x #y",
    "back\\slash",
    "two words",
    "ünïcödé",
];
/// Names that no terminal should see, or that would be taken for an option.
const UNFIT: [&str; 5] = ["x\u{1b}[2J", "new\nline", "tab\tbed", "--json", "turned\u{202e}round"];

fn bench() -> Bench {
    let (mut config, script) = agents(&["first", "second"]);
    let loadout = config["loadouts"]["L"].clone();
    for name in HOSTILE.iter().chain(&UNFIT) {
        config["loadouts"][*name] = loadout.clone();
    }
    config["agents"] = json!({ "mine": { "command": ["true"], "protocol": "acp" } });
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    bench
}

/// Candidates after these words; the last one is being typed.
fn offered(bench: &Bench, words: &[&str]) -> Vec<String> {
    let ran = bench.run(&[&["__complete", "zsh"], words].concat()).exits(0);
    assert_eq!(ran.err, "");
    let lines = ran.out.lines().skip(1);
    lines.map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn kind(bench: &Bench, words: &[&str]) -> String {
    let ran = bench.run(&[&["__complete", "zsh"], words].concat()).exits(0);
    ran.out.lines().next().unwrap_or_default().to_owned()
}

/// Every file beneath a folder with its size and time.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let it = entry.metadata().unwrap();
        found.push(format!("{} {} {:?}", entry.path().display(), it.len(), it.modified().unwrap()));
        if it.is_dir() {
            found.extend(files(&entry.path()));
        }
    }
    found.sort();
    found
}

#[test]
fn names_of_casts_sockets_loadouts_and_agents_are_offered_and_nothing_is_written() {
    let bench = bench();
    for id in ["older", "newer"] {
        bench.run(&["cast", "--script", "s.json", "--cast-id", id, "go"]).exits(0);
    }
    let whole = bench.project().parent().unwrap().to_owned();
    let before = (files(&whole), std::fs::metadata(bench.project().join(".materia")).unwrap());
    assert_eq!(offered(&bench, &["show", ""]), ["last", "newer", "older"]);
    assert_eq!(offered(&bench, &["show", "old"]), ["older"]);
    assert_eq!(offered(&bench, &["link", "--from", "n"]), ["newer"]);
    for cast in ["last", "older", "newe"] {
        assert_eq!(offered(&bench, &["why", cast, ""]), ["first", "second"], "{cast}");
    }
    assert_eq!(offered(&bench, &["why", "nobody", ""]), [""; 0]);
    assert_eq!(offered(&bench, &["events", "last", "--socket", "f"]), ["first"]);
    assert_eq!(offered(&bench, &["output", "last", "s"]), ["second"]);
    assert_eq!(offered(&bench, &["say", "last", "fi"]), ["first"]);
    assert_eq!(offered(&bench, &["say", "last", "fi", "fi"]), [""; 0], "the rest are words");
    let agents = offered(&bench, &["cast", "--provider", ""]);
    assert!(["claude", "codex", "mock", "mine"].iter().all(|it| agents.contains(&(*it).into())));
    assert_eq!(offered(&bench, &["cast", "--loadout=Full"]), ["--loadout=Full-Auto"]);
    assert_eq!(offered(&bench, &["loadout", "Full"]), ["Full-Auto"]);
    assert_eq!(offered(&bench, &["grid", "newer"]), ["newer"]);
    assert_eq!(offered(&bench, &["link", "loadout:Full"]), ["loadout:Full-Auto"]);
    assert_eq!(offered(&bench, &["init", "wat"]), ["watch"]);
    assert_eq!(offered(&bench, &["mode", "last", "AU"]), ["AUTO"]);
    assert_eq!(offered(&bench, &["cas"]), ["cast", "casts", "case"]);
    assert_eq!(offered(&bench, &["help", "sho"]), ["show"]);
    assert!(!offered(&bench, &["__"]).iter().any(|it| it.starts_with("__")), "inner commands");
    assert!(offered(&bench, &["cast", "--max-"]).contains(&"--max-cost".to_owned()));
    assert!(!offered(&bench, &["resume", "--"]).contains(&"--cast-id".to_owned()), "useless there");
    assert_eq!(kind(&bench, &["cast", "--script", ""]), "files");
    assert_eq!(kind(&bench, &["-C", ""]), "folders");
    assert_eq!(kind(&bench, &["show", ""]), "names");
    let there = bench.project().to_str().unwrap().to_owned();
    let mut elsewhere = bench.command(&["__complete", "zsh", "-C", &there, "show", "old"]);
    let said = elsewhere.current_dir(&whole).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("older"), "{said:?}");
    let after = (files(&whole), std::fs::metadata(bench.project().join(".materia")).unwrap());
    assert_eq!(before.0, after.0);
    assert_eq!(before.1.modified().unwrap(), after.1.modified().unwrap());
}

#[test]
fn hostile_names_and_folders_and_a_broken_configuration_take_nothing_but_names() {
    let bench = bench();
    let names = offered(&bench, &["loadout", ""]);
    for name in HOSTILE {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    for name in UNFIT {
        assert!(!names.iter().any(|it| it.contains(name)), "{name:?}: {names:?}");
    }
    // Whatever lies where casts do is looked at and not waited for.
    let root = bench.project().join(".materia");
    for (name, made) in [("pipe", "mkfifo"), ("link", "ln")] {
        std::fs::create_dir_all(root.join(name)).unwrap();
        let file = root.join(name).join("events.jsonl");
        let mut command = Command::new(made);
        let command = if made == "ln" { command.args(["-s", "/dev/zero"]) } else { &mut command };
        assert!(command.arg(&file).status().unwrap().success());
    }
    bench.write(
        ".materia/odd/events.jsonl",
        "{\"data\": {\"plan\": {\"nodes\": {\"a\\nb\": {}, \"fit\": {}}}}}\n",
    );
    bench.write(".materia/bad/events.jsonl", "no JSON");
    bench.write(".materia/a b/events.jsonl", "no name of a cast");
    let mut casts = offered(&bench, &["show", ""]);
    casts.sort();
    assert_eq!(casts, ["bad", "last", "odd"]);
    assert_eq!(offered(&bench, &["why", "odd", ""]), ["fit"]);
    assert_eq!(offered(&bench, &["why", "bad", ""]), [""; 0]);
    for broken in ["{ no JSON", "[]", "{\"loadouts\": 7}", ""] {
        bench.write("materia.json", broken);
        assert_eq!(offered(&bench, &["cast", "--loadout", "Full"]), ["Full-Auto"], "{broken}");
    }
    for odd in [&["__complete"][..], &["__complete", "bash"], &["__complete", "nosuch", "x"]] {
        assert_eq!(bench.run(odd).exits(0).out, "");
    }
}

/// The script of a shell, in a file; the shell finds the real binary by its PATH. `None`: that shell is not here.
fn shell(bench: &Bench, name: &str, program: &str) -> Option<String> {
    if Command::new(name).arg("--version").output().is_err() {
        #[expect(clippy::print_stderr, reason = "what was not tried is said")]
        let () = eprintln!("{name} is not installed here: its completions are not tried");
        return None;
    }
    let script = bench.run(&["completions", name]).exits(0).out;
    bench.write("completions", &script);
    let own = Path::new(env!("CARGO_BIN_EXE_materia")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path)));
    let ran = Command::new(name)
        .args(["-c", program])
        .current_dir(bench.project())
        .env("PATH", path.unwrap())
        .env("MATERIA_PROFILE_DIR", bench.profile())
        .env("MATERIA_STATE_DIR", bench.state())
        .env("HOME", bench.project())
        .env_remove("MATERIA_CONFIG")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert!(!bench.has("owned"), "a name was run");
    Some(String::from_utf8(ran.stdout).unwrap())
}

/// Words that a shell made of what was offered, one a line.
fn words(said: &str) -> Vec<&str> {
    said.lines().collect()
}

#[test]
fn bash_inserts_every_name_as_itself() {
    let bench = bench();
    bench.run(&["cast", "--script", "s.json", "--cast-id", "c1", "go"]).exits(0);
    // What it would insert is read again by bash as a command line: each must be one word, and the name.
    let program = r#"
        source completions
        offered() {
            COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"\'@><=;|&(:'
            _materia materia '' ''
            for one in "${COMPREPLY[@]}"; do
                eval "set -- $one"
                printf '%s %s\n' "$#" "$1"
            done
        }
        offered 'materia cast --loadout '
        printf 'NEXT\n'
        offered 'materia show c'
        offered 'materia cast --loadout=Full-'
        offered 'materia why last sec'
        offered 'materia cast --loadout "two w'
        offered 'materia cast --loadout two\ w'
        offered 'materia cast --loadout "$('
    "#;
    let Some(said) = shell(&bench, "bash", program) else { return };
    let (all, rest) = said.split_once("NEXT\n").unwrap();
    for name in HOSTILE {
        assert!(words(all).contains(&format!("1 {name}").as_str()), "{name}: {all}");
    }
    assert!(words(all).iter().all(|word| word.starts_with("1 ")), "{all}");
    // In an open quote the blank is as it is, and bash closes the quote.
    assert_eq!(words(rest), ["1 c1", "1 Full-Auto", "1 second", "2 two", "1 two words"]);
}

#[test]
fn zsh_is_given_every_name_as_itself() {
    let bench = bench();
    bench.run(&["cast", "--script", "s.json", "--cast-id", "c1", "go"]).exits(0);
    let program = r#"
        compdef() { : }
        compadd() { print -rl -- "${(@)values}" }
        _files() { print -r -- "files $*" }
        source ./completions
        offered() { words=(materia "$@"); CURRENT=${#words}; PREFIX=${words[-1]}; _materia }
        offered cast --loadout ''
        print NEXT
        offered show c
        offered cast --loadout=Full-
        offered cast --loadout two\\\ w
        offered cast --script ''
        offered -C ''
    "#;
    let Some(said) = shell(&bench, "zsh", program) else { return };
    let (all, rest) = said.split_once("NEXT\n").unwrap();
    for name in HOSTILE {
        assert!(words(all).contains(&name), "{name}: {all}");
    }
    let wanted = ["c1", "--loadout=Full-Auto", "two words", "files ", "files -/"];
    assert_eq!(words(rest), wanted);
}

#[test]
fn fish_is_given_every_name_as_itself() {
    let bench = bench();
    bench.run(&["cast", "--script", "s.json", "--cast-id", "c1", "go"]).exits(0);
    let program = r"
        source completions
        complete -C 'materia cast --loadout '
        echo NEXT
        complete -C 'materia show c'
        complete -C 'materia why last sec'
    ";
    let Some(said) = shell(&bench, "fish", program) else { return };
    let (all, rest) = said.split_once("NEXT\n").unwrap();
    let all: Vec<&str> = words(all).iter().map(|line| line.split('\t').next().unwrap()).collect();
    for name in HOSTILE {
        // fish shows names as it would insert them, or bare; either way none was run.
        let bare = |word: &&str| word.replace('\\', "") == name.replace('\\', "");
        assert!(all.iter().any(bare), "{name}: {all:?}");
    }
    assert_eq!(words(rest), ["c1\tcompleted · L · go", "second\tM"]);
}

#[test]
fn shells_that_cannot_ask_get_the_commands_and_options() {
    let bench = Bench::new();
    for name in ["elvish", "powershell"] {
        let script = bench.run(&["completions", name]).exits(0).out;
        assert!(script.contains("request-file") && !script.contains("__demo"), "{name}");
    }
    let help: Value = json!(bench.run(&["completions", "--help"]).exits(0).out);
    assert!(help.as_str().unwrap().contains("_materia"), "{help}");
}
