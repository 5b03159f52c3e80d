use materia_contract::path_tokens::Folders;
use serde_json::{Value, json};

fn folders() -> Folders {
    Folders {
        project: "/home/me/p".into(),
        workspace: "/home/me/p".into(),
        run_dir: "/home/me/p/.materia/c1".into(),
        profile: "/home/me/.config/materia".into(),
    }
}

#[test]
fn a_path_becomes_a_name_and_any_text_comes_back_as_it_was() {
    let folders = folders();
    for (text, kept) in [
        ("/home/me/p", "{project}"),
        ("/home/me/p/scripts/a.py", "{project}/scripts/a.py"),
        ("/home/me/p/.materia/c1/sockets", "{runDir}/sockets"),
        ("/home/me/.config/materia/utilities/x.mjs", "{profile}/utilities/x.mjs"),
        ("/home/me/project", "/home/me/project"),
        ("see /home/me/p", "see /home/me/p"),
        ("{project}/a", "{}{project}/a"),
        ("{projects}", "{projects}"),
        ("{}", "{}{}"),
        ("{}{project}", "{}{}{project}"),
        ("{runDir}", "{}{runDir}"),
        ("{other}", "{other}"),
        ("", ""),
    ] {
        assert_eq!(folders.named(text), kept);
        assert_eq!(folders.found(kept), text);
        // Without known folders, literal text stays the same.
        let nowhere = Folders::default();
        assert_eq!(nowhere.found(&nowhere.named(text)), text);
    }
    assert_eq!(folders.found("{workspace}/a"), "/home/me/p/a");
    assert_eq!(folders.found("{project}s"), "{project}s", "a name ends with its folder");
}

#[test]
fn of_an_input_only_the_two_fields_that_are_paths_are_looked_at() {
    let state = json!({"cwd": "{workspace}", "text": "{project}/a"});
    let kept =
        json!({"cwd": "{workspace}", "runDir": "{runDir}", "request": "{project}", "state": state});
    let found = folders().input(&kept).unwrap();
    assert_eq!(found["cwd"], "/home/me/p");
    assert_eq!(found["runDir"], "/home/me/p/.materia/c1");
    assert_eq!((&found["request"], &found["state"]), (&kept["request"], &kept["state"]));
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&kept));
    assert_eq!(folders().input(&json!({"cwd": "/old", "runDir": "/old/r"})), None);
}
