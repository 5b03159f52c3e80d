//! Casts that move between a file and a server (M12).

use serde_json::json;

use crate::bench::{Bench, Ran};
use crate::server::Servers;
use crate::{CAST, bench, hashes, on};

fn copy(bench: &Bench, servers: &Servers, home: bool, ids: &[&str]) -> Ran {
    let url = servers.url();
    let places = if home { [url.as_str(), "sqlite"] } else { ["sqlite", url.as_str()] };
    let mut words = vec!["journal", "copy", places[0], places[1], "--space", "tests", "--json"];
    words.extend(ids);
    bench.run(&words)
}

/// M12: a cast that waits is copied, goes on at the server only, and comes home with what happened there.
#[test]
fn a_copied_cast_goes_on_there_and_comes_home() {
    let servers = Servers::start(1, "");
    let bench = bench();
    let mut words = CAST.to_vec();
    words.insert(1, "--interactive");
    bench.run(&words).exits(3);
    let before = hashes(&bench.run(&["events", "c1", "--json"]).exits(0));

    let copied = copy(&bench, &servers, false, &["c1"]).exits(0).json();
    assert_eq!((&copied["castId"], &copied["added"]), (&json!("c1"), &json!(before.len())));
    let told = on(&bench, &servers, &["events", "c1", "--json"]).exits(0);
    assert_eq!(hashes(&told), before);
    on(&bench, &servers, &["replay", "c1"]).exits(0);

    // The source can be read, and nobody drives it.
    bench.run(&["replay", "c1"]).exits(0);
    let refused = bench.run(&["trigger", "c1", "ask"]);
    assert!(refused.exit != 0 && refused.err.contains("goes on there"), "{refused:?}");
    assert_eq!(hashes(&bench.run(&["events", "c1", "--json"]).exits(0)), before);

    let script = ["--script", "answers.json", "--virtual-time"];
    let mut trigger = vec!["trigger", "c1", "ask"];
    trigger.extend(script);
    on(&bench, &servers, &trigger);
    let there = hashes(&on(&bench, &servers, &["events", "c1", "--json"]).exits(0));
    assert!(there.len() > before.len() && there.starts_with(&before));

    let home = copy(&bench, &servers, true, &[]).exits(0).json();
    assert_eq!(home["added"], json!(there.len() - before.len()));
    assert_eq!(hashes(&bench.run(&["events", "c1", "--json"]).exits(0)), there);
    bench.run(&["replay", "c1"]).exits(0);
    let refused = on(&bench, &servers, &["abort", "c1"]);
    assert!(refused.exit != 0 && refused.err.contains("goes on there"), "{refused:?}");
    bench.run(&["abort", "c1"]);
    let here = hashes(&bench.run(&["events", "c1", "--json"]).exits(0));
    assert!(here.len() >= there.len() && here.starts_with(&there));
}

/// M12: the same again changes nothing; casts that parted, and casts that are not there, are refused.
#[test]
fn what_parted_is_not_copied() {
    let servers = Servers::start(1, "");
    let bench = bench();
    bench.run(&CAST).exits(0);
    let first = copy(&bench, &servers, false, &[]).exits(0).json();
    let again = copy(&bench, &servers, false, &[]).exits(0).json();
    assert_eq!((&again["events"], &again["added"]), (&first["events"], &json!(0)));
    assert!(copy(&bench, &servers, false, &["nobody"]).exits(2).err.contains("there is no cast"));

    let other = crate::bench();
    let mut words = CAST.to_vec();
    *words.last_mut().unwrap() = "something else";
    other.run(&words).exits(0);
    let refused = copy(&other, &servers, false, &["c1"]).exits(2);
    assert!(refused.err.contains("other events"), "{refused:?}");
    other.run(&["journal", "copy", "sqlite", "sqlite"]).exits(2);
}
