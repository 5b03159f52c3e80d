//! Casts of several projects in one list.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{CONFIG, Stage};

#[test]
fn casts_of_several_projects_come_newest_first_page_by_page() {
    let stage = Stage::new();
    stage.trust();
    let other = stage.project().join("../other");
    fs::create_dir(&other).unwrap();
    let other = other.canonicalize().unwrap();
    fs::write(other.join("materia.json"), CONFIG).unwrap();
    let added = stage.as_person("POST", "/api/projects", &json!({ "dir": other }));
    assert_eq!(added.status, 201, "{added:?}");
    let here = stage.project().to_string_lossy().into_owned();
    let there = added.json()["id"].as_str().unwrap().to_owned();
    for item in
        stage.get(&format!("/api/trust?project={there}")).json()["items"].as_array().unwrap()
    {
        stage.post("/api/trust", &json!({ "project": there, "hash": item["hash"] }));
    }
    let order = [("a1", &here), ("b1", &there), ("b2", &there), ("a2", &here), ("b3", &there)];
    for (id, project) in order {
        let body = json!({ "project": project, "loadout": "Quick", "castId": id });
        let begun = stage.post("/api/casts", &body);
        assert_eq!(begun.status, 201, "{begun:?}");
        stage.until(id, "completed");
        // Instants are told in milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    let (mut found, mut cursor) = (Vec::<String>::new(), String::new());
    loop {
        let page = stage.get(&format!("/api/casts?limit=2{cursor}")).json();
        let items = page["items"].as_array().unwrap();
        found.extend(items.iter().map(|it| it["castId"].as_str().unwrap().to_owned()));
        let Value::String(next) = &page["next"] else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(found, ["b3", "a2", "b2", "b1", "a1"]);
    let filtered = stage.get("/api/casts?text=b&limit=1").json();
    assert_eq!(filtered["items"][0]["castId"], "b3", "{filtered}");
    for cursor in ["x", "12345678:y", "12345678", "-"] {
        assert_eq!(stage.get(&format!("/api/casts?cursor={cursor}")).status, 400, "{cursor}");
    }
}
