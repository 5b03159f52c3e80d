use materia_contract::content_hash;
use serde_json::json;

#[test]
fn order_of_fields_does_not_matter_and_everything_else_does() {
    let one = json!({"a": 1, "b": {"c": [1, 2], "d": null}});
    let same = json!({"b": {"d": null, "c": [1, 2]}, "a": 1});
    assert_eq!(content_hash(&one), content_hash(&same));
    for other in [
        json!({"a": 1, "b": {"c": [2, 1], "d": null}}),
        json!({"a": "1", "b": {"c": [1, 2], "d": null}}),
        json!({"a": 1, "b": {"c": [1, 2]}}),
        json!({"a": 1, "b": {"c": [[1], 2], "d": null}}),
    ] {
        assert_ne!(content_hash(&one), content_hash(&other), "{other}");
    }
}
