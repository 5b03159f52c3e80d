use materia_app::project::cast_id::fresh;
use materia_contract::RunId;

#[test]
fn fresh_ids_are_ids_and_differ() {
    let (one, two) = (fresh(), fresh());
    assert_ne!(one, two);
    assert!(RunId::parse(one.as_str()).is_ok());
    assert_eq!(one.as_str().len(), "20261115T022644-3f9a1c".len());
    assert_eq!(&one.as_str()[8..9], "T");
    assert_eq!(&one.as_str()[15..16], "-");
}
