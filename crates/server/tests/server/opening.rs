use std::os::unix::fs::PermissionsExt as _;

use materia_server::opening_file;

#[test]
fn the_code_stands_in_a_file_for_its_owner_alone() {
    let state = tempfile::tempdir().unwrap();
    std::fs::set_permissions(state.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = opening_file(state.path(), "http://127.0.0.1:7717/#code=abc123").unwrap();
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("url=http://127.0.0.1:7717/signin#code=abc123"), "{text}");
    assert!(!path.to_string_lossy().contains("abc123"));
    opening_file(state.path(), "http://127.0.0.1:7717/#code=abc123&project=0f").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("/signin#code=abc123&project=0f"), "{text}");
    for bad in [
        "http://127.0.0.1:1/#code=a\"b",
        "http://127.0.0.1:1/#code=a&other=b",
        "javascript:x/#code=1",
        "http://x/",
        "http://a b/#code=1",
    ] {
        assert!(opening_file(state.path(), bad).is_err(), "{bad}");
    }
}
