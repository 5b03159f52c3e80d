use materia_contract::Path;

#[test]
fn paths_read_back_as_written() {
    for text in
        ["$", "$.a.b.0", "state", "state.vcs.kind", "item.title", "lastJson.x", "lastOutput"]
    {
        let path: Path = text.parse().unwrap();
        assert_eq!(path.to_string(), text);
    }
}

#[test]
fn anything_else_is_refused() {
    for text in ["", "a.b", "$[0]", "$..a", "state.", "lastOutput.a", "$a", " state.a"] {
        assert!(text.parse::<Path>().is_err(), "{text:?} must be refused");
    }
}
