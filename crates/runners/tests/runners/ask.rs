use materia_runners::agents::AgentSession;

#[test]
fn only_a_plain_name_of_a_session_can_be_an_argument() {
    let usable = |id: &str| {
        AgentSession { agent: "claude".to_owned(), id: id.to_owned(), totals: None }.is_usable()
    };
    for good in ["0198-aa", "ses_1", "a", "2026-11-17T16:51:00.000Z_x", &"a".repeat(200)] {
        assert!(usable(good), "{good}");
    }
    for bad in [
        "",
        "-",
        "--dangerously-skip-permissions",
        "a b",
        "a\n--b",
        "../x",
        "a/b",
        "a\0",
        "$(x)",
        "é",
        &"a".repeat(201),
    ] {
        assert!(!usable(bad), "{bad:?}");
    }
}
