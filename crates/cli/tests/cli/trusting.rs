//! Commands of a repository run only after approval.

use std::fs;

use crate::bench::{Bench, absent, utilities};

const TOUCH: &str = "open('ran.txt', 'a').write('x')";

#[test]
fn unapproved_commands_are_listed_and_do_not_run() {
    let bench = Bench::with(&utilities(&[("a", TOUCH)])).asking();
    let ran = bench.run(&["cast", "--json", "go"]).exits(2);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "trust");
    let message = error["message"].as_str().unwrap();
    for part in ["--trust", "M-a", "ran.txt", "materia.json"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!bench.has("ran.txt") && !bench.has(".materia"));
    assert!(absent(&bench.profile()), "nothing was approved, so nothing is remembered");
}

#[test]
fn approval_is_remembered_for_this_content_only() {
    let bench = Bench::with(&utilities(&[("a", TOUCH)])).asking();
    bench.run(&["cast", "--trust", "go"]).exits(0);
    bench.run(&["cast", "go"]).exits(0);
    assert_eq!(bench.read("ran.txt"), "xx");
    bench.write("materia.json", &utilities(&[("a", "open('other.txt', 'w')")]).to_string());
    bench.run(&["cast", "go"]).exits(2);
    assert!(!bench.has("other.txt"));
    // The same content elsewhere is another project.
    let copy = Bench::with(&utilities(&[("a", TOUCH)])).asking();
    fs::create_dir(copy.profile()).unwrap();
    fs::copy(bench.profile().join("trust.json"), copy.profile().join("trust.json")).unwrap();
    copy.run(&["cast", "go"]).exits(2);
}

#[test]
fn a_journal_that_comes_with_a_repository_is_not_resumed_unasked() {
    let bench = Bench::with(&utilities(&[("a", TOUCH)])).asking();
    bench.run(&["cast", "--trust", "--interactive", "--cast-id", "c1", "go"]).exits(3);
    // The person who began it may go on, whatever the configuration says by now.
    fs::remove_file(bench.project().join("materia.json")).unwrap();
    // On another machine the profile is another one.
    fs::rename(bench.profile(), bench.profile().with_extension("mine")).unwrap();
    let ran = bench.run(&["resume", "c1", "--json"]).exits(2);
    assert_eq!(ran.json()["error"]["code"], "trust");
    assert!(!bench.has("ran.txt"));
    fs::rename(bench.profile().with_extension("mine"), bench.profile()).unwrap();
    bench.run(&["resume", "c1", "--interactive"]).exits(3);
    assert!(!bench.has("ran.txt"));
    bench.run(&["resume", "c1"]).exits(0);
    assert!(bench.has("ran.txt"));
}

#[test]
fn what_a_person_names_needs_no_approval() {
    let bench = Bench::new().asking();
    bench.write("own.json", &utilities(&[("a", TOUCH)]).to_string());
    bench.run(&["cast", "--config", "own.json", "go"]).exits(0);
    let mut command = bench.command(&["cast", "go"]);
    assert!(command.env("MATERIA_CONFIG", "own.json").status().unwrap().success());
    assert_eq!(bench.read("ran.txt"), "xx");
}

#[test]
fn a_profile_that_cannot_be_written_is_no_hindrance() {
    let bench = Bench::with(&utilities(&[("a", TOUCH)])).asking();
    fs::write(bench.profile(), "a file where the folder should be").unwrap();
    let ran = bench.run(&["cast", "--trust", "go"]).exits(0);
    assert!(ran.err.contains("cannot remember"), "{}", ran.err);
}
