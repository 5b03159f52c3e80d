//! Fields of an output are looked for before the output is read.

use crate::ask::output::{items_in, may_have_field};

#[test]
fn a_field_is_found_however_its_name_is_written() {
    let items = r#"[{"title":"t","context":"c"}]"#;
    for name in ["workItems", r"work\u0049tems", r"\u0077orkItems"] {
        assert_eq!(items_in(&format!(r#"{{"{name}":{items}}}"#)).len(), 1, "{name}");
    }
    assert_eq!(items_in(r#"{"context":"c"}"#), Vec::<serde_json::Value>::new());
    assert!(may_have_field(r#"{"s\u0074atus":{}}"#, "status"));
    assert!(!may_have_field(r#"{"context":"c"}"#, "status"));
}
