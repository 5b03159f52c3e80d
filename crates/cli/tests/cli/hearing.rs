//! Live and kept output of commands.

use std::io::{BufRead as _, BufReader};

use serde_json::json;

use crate::bench::{Bench, finish, until, utilities};

/// Says something, waits for a file, says something else.
const WAITS: &str = "import os,sys,time
print('begun', flush=True)
print('aside', file=sys.stderr, flush=True)
while not os.path.exists('go'): time.sleep(0.01)
print('over')";

#[test]
fn a_command_is_followed_while_it_runs() {
    let bench = Bench::with(&utilities(&[("a", WAITS), ("b", "print('quick')")]));
    let cast = bench.start(&["cast", "--cast-id", "c1", "go"]);
    bench.wait_for(".materia/c1/sockets/a/1-1.stdout.full");
    let mut logs = bench.start(&["logs", "-f", "c1"]);
    let mut lines = BufReader::new(logs.stdout.take().unwrap()).lines();
    let mut said = Vec::new();
    while said.len() < 2 {
        said.push(lines.next().unwrap().unwrap());
    }
    said.sort_unstable();
    assert_eq!(said, ["aside", "begun"], "it is heard before the command ends");
    let of_b = bench.start(&["logs", "--follow", "c1", "b", "--json"]);
    bench.write("go", "");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(rest, ["over", "quick"], "every turn is told to its end");
    assert!(logs.wait().unwrap().success());
    finish(cast).exits(0);
    let told = finish(of_b).exits(0).lines();
    let expected =
        json!({ "socket": "b", "visit": 1, "attempt": 1, "stream": "stdout", "text": "quick\n" });
    assert_eq!(told, [expected]);
    assert!(!bench.has(".materia/c1/sockets/a/1-1.stdout.full"), "the event has all of it");
    let at_rest = bench.run(&["logs", "-f", "c1", "a"]).exits(0);
    assert_eq!(at_rest.out, "begun\nover\naside\n");
}

#[test]
fn a_long_output_is_followed_to_its_end_and_has_its_end_everywhere() {
    let program = "import os,sys,time
print('begun', flush=True)
while not os.path.exists('go'): time.sleep(0.01)
print('x' * 5_000_000)
print('it FAILED')
sys.exit(1)";
    let mut config = utilities(&[("a", program)]);
    config["limits"] = json!({ "maxOutputMb": 2 });
    let bench = Bench::with(&config);
    let cast = bench.start(&["cast", "--cast-id", "c1", "go"]);
    bench.wait_for(".materia/c1/sockets/a/1-1.stdout.full");
    let logs = bench.start(&["logs", "-f", "c1"]);
    // It follows once it has a journal open; before that it would find the cast at rest, which is as good.
    bench.write("go", "");
    finish(cast).exits(1);
    let followed = finish(logs).exits(0);
    for text in [
        followed.out,
        bench.run(&["logs", "c1", "a"]).exits(0).out,
        bench.run(&["output", "c1", "a"]).exits(0).out,
        bench.run(&["show", "c1"]).exits(0).out,
    ] {
        assert!(text.contains("it FAILED"), "{text:.300}");
    }
    let error = &bench.run(&["show", "c1", "--json"]).exits(0).json()["error"];
    assert!(error["message"].as_str().unwrap().ends_with("x ⏎ it FAILED"), "{error}");
    until("the file has all that it may have", || {
        let path = bench.project().join(".materia/c1/sockets/a/1-1.stdout.full");
        std::fs::metadata(path).is_ok_and(|file| file.len() == 2 << 20)
    });
}

#[test]
fn a_command_that_reaches_its_limit_names_the_field_that_sets_it() {
    let mut config = utilities(&[("a", "import time; time.sleep(60)")]);
    config["materia"]["M-a"]["timeoutMs"] = json!(100);
    let bench = Bench::with(&config);
    let report = bench.run(&["cast", "--json", "go"]).exits(1).json();
    assert_eq!(report["error"]["code"], "utility_timeout");
    let message = report["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`timeoutMs` on its socket or materia sets another limit"),
        "{message}"
    );
}
