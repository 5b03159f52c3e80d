//! The size of new events does not depend on the size of the journal (D58).

use serde_json::{Value, json};

use crate::bench::Bench;

/// How large the journal of a cast is that goes through so many items of a kilobyte with a utility.
fn journal_bytes(items: usize) -> u64 {
    let config = json!({
        "materia": {
            "Plan": { "prompt": "Plan.", "generator": true },
            "Work": { "type": "utility", "command": ["printf", "%s", "{\"state\": {\"done\": 1}}"], "parse": "json" },
        },
        "loadouts": { "L": {
            "entry": "plan",
            "sockets": {
                "plan": { "materia": "Plan", "edges": [{ "to": "work" }] },
                "work": { "materia": "Work", "advance": { "cursor": "workItemIndex" }, "edges": [{ "to": "work" }] },
            },
            "loops": { "items": { "sockets": ["work"], "consumes": { "from": "plan", "output": "workItems" } } },
        } },
        "activeLoadout": "L",
    });
    let bench = Bench::with(&config);
    let item = |nth: usize| json!({ "title": format!("item {nth}"), "context": "x".repeat(1_000) });
    let list: Vec<Value> = (0..items).map(item).collect();
    let script = json!({ "turns": { "plan": [{ "json": { "workItems": list } }] } });
    bench.write("s.json", &script.to_string());
    let ran =
        bench.run(&["cast", "--script", "s.json", "--cast-id", "c1", "--json", "--trust", "go"]);
    let report = ran.exits(0).json();
    assert_eq!(report["visits"].as_array().unwrap().len(), 1 + items);
    bench.run(&["replay", "c1"]).exits(0);
    let size = |name: &str| {
        let found = std::fs::metadata(bench.project().join(".materia").join(name));
        found.map_or(0, |found| found.len())
    };
    size("journal.db") + size("journal.db-wal")
}

#[test]
fn two_hundred_items_of_a_kilobyte_take_less_than_eight_megabytes() {
    let (hundred, two_hundred) = (journal_bytes(100), journal_bytes(200));
    assert!(two_hundred < 8 << 20, "{two_hundred} bytes");
    assert!(two_hundred < 3 * hundred, "twice the items, {hundred} and {two_hundred} bytes");
}
