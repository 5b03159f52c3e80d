use materia_contract::{RunId, derived_id, is_node_id};
use uuid::Uuid;

#[test]
fn run_ids_that_could_leave_their_folder_are_refused() {
    for bad in ["", ".", "..", "a/b", "a\\b", "../x", "a..b", "-x", "x y", "ü", "a\0"] {
        assert!(RunId::parse(bad).is_err(), "{bad:?} must be refused");
    }
    for good in ["a", "2026-05-01T00-00-00-000Z", "x.y_z-1"] {
        assert!(RunId::parse(good).is_ok(), "{good:?} must be accepted");
    }
    assert!(RunId::parse(&"a".repeat(129)).is_err());
}

#[test]
fn a_name_that_somebody_chooses_is_no_file_and_no_other_word() {
    let long = "a".repeat(65);
    let bad =
        ["", "materia.json", "a.b", "-x", "_x", "x y", "last", "end", "lock", "my-lock", &long];
    for bad in bad {
        assert!(RunId::chosen(bad).is_err(), "{bad:?} must be refused");
    }
    for good in ["a", "c1", "My_cast-2", "20261115T022644-3f9a1c", "lasting", "locks"] {
        assert!(RunId::chosen(good).is_ok(), "{good:?} must be accepted");
    }
}

#[test]
fn node_ids_follow_the_grammar() {
    for bad in ["end", "", "-a", "a b", "a/b", &"a".repeat(65)] {
        assert!(!is_node_id(bad), "{bad:?} must be refused");
    }
    for good in ["hello", "Socket-1", "a.b_c", "End", &"a".repeat(64)] {
        assert!(is_node_id(good), "{good:?} must be accepted");
    }
}

#[test]
fn derived_ids_are_those_that_the_documentation_names() {
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-15 id of an event");
    hasher.update(b"r1").update(&3_u64.to_le_bytes());
    let bytes: [u8; 16] = hasher.finalize().as_bytes()[..16].try_into().unwrap();
    assert_eq!(derived_id(&RunId::new("r1"), 3), Uuid::new_v8(bytes));
}

#[test]
fn derived_ids_depend_on_run_and_position_only() {
    let run = RunId::new("r1");
    assert_eq!(derived_id(&run, 3), derived_id(&RunId::new("r1"), 3));
    assert_ne!(derived_id(&run, 3), derived_id(&run, 4));
    assert_ne!(derived_id(&run, 3), derived_id(&RunId::new("r2"), 3));
    assert_eq!(derived_id(&run, 3).get_version_num(), 8);
}
