//! Many processes in one project.

use crate::bench::{Bench, agents, finish};

#[test]
fn twenty_casts_at_once_are_all_whole() {
    let (config, script) = agents(&["a", "b", "c"]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    let started: Vec<_> =
        (0..20).map(|_| bench.start(&["cast", "--script", "s.json", "--json", "go"])).collect();
    let mut ids: Vec<String> = started
        .into_iter()
        .map(|child| {
            let report = finish(child).exits(0).json();
            assert_eq!(report["status"], "completed");
            report["castId"].as_str().unwrap().to_owned()
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20, "no two have one id");
    assert_eq!(bench.run(&["casts", "--json"]).exits(0).lines().len(), 20);
    for id in [&ids[0], &ids[10], &ids[19]] {
        bench.run(&["replay", id]).exits(0);
    }
}

#[test]
fn of_two_with_one_id_one_wins() {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    let start =
        || bench.start(&["cast", "--script", "s.json", "--cast-id", "same", "--json", "go"]);
    let started: Vec<_> = (0..6).map(|_| start()).collect();
    let mut exits: Vec<i32> = started.into_iter().map(|child| finish(child).exit).collect();
    exits.sort_unstable();
    assert_eq!(exits, [0, 2, 2, 2, 2, 2]);
    bench.run(&["replay", "same"]).exits(0);
}
