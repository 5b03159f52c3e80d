//! Layers: which files count, what wins, and whose fault it is.

use std::fs;

use materia_compiler::LayerKind::{
    self, Environment, Flag, Profile, Project as InProject, Shipped,
};
use materia_compiler::artifact_dir;

use crate::support::{Project, render};

fn doc_root(value: &str) -> String {
    format!("{{\"docRoot\": \"{value}\"}}")
}

#[test]
fn layers_stand_in_order_and_the_strongest_wins() {
    let mut project = Project::new();
    project.write("../profile/config.json", doc_root("profile"));
    project.sources.profile_dir = Some(project.outside().join("profile"));
    let winner = |project: &Project| project.load().0.config.doc_root.unwrap();
    assert_eq!(winner(&project), "profile");
    for name in [".pi/pi-materia.json", ".materia/materia.json", "materia.json"] {
        let short = name.split('/').next().unwrap();
        project.write(name, doc_root(short));
        assert_eq!(winner(&project), short);
    }
    project.write("env.json", doc_root("env"));
    project.sources.env_config = Some("env.json".into());
    assert_eq!(winner(&project), "env");
    project.sources.flag_config = Some(project.write("../flag.json", doc_root("flag")));
    assert_eq!(winner(&project), "flag");

    let (loaded, findings) = project.load();
    assert_eq!(render(&findings), "");
    let kinds: Vec<_> = loaded.layers.iter().map(|layer| layer.kind).collect();
    assert_eq!(kinds, [Shipped, Profile, InProject, InProject, InProject, Environment, Flag]);
    assert_eq!(loaded.layers[2].shown, ".pi/pi-materia.json");
    assert_eq!(loaded.layers[5].shown, "env.json");
    assert!(loaded.layers[5].path.is_absolute());
    let flag = &loaded.layers[6];
    assert_eq!(flag.hash(), blake3_of(flag.text()));
}

fn blake3_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[test]
fn a_profile_may_be_called_materia_json() {
    let mut project = Project::new();
    project.write("../profile/materia.json", doc_root("second"));
    project.sources.profile_dir = Some(project.outside().join("profile"));
    assert_eq!(project.load().0.config.doc_root.as_deref(), Some("second"));
    project.write("../profile/config.json", doc_root("first"));
    assert_eq!(project.load().0.config.doc_root.as_deref(), Some("first"));
    assert_eq!(project.load().0.layers.len(), 2);
}

#[test]
fn a_file_that_stands_in_two_places_counts_once_in_the_stronger() {
    let mut project = Project::with("{}");
    for name in ["materia.json", "./materia.json", "../project/materia.json"] {
        project.sources.env_config = Some(name.into());
        let kinds: Vec<_> = project.load().0.layers.iter().map(|layer| layer.kind).collect();
        assert_eq!(kinds, [LayerKind::Shipped, LayerKind::Environment], "{name}");
    }
    project.sources.flag_config = Some(project.path("materia.json"));
    let kinds: Vec<_> = project.load().0.layers.iter().map(|layer| layer.kind).collect();
    assert_eq!(kinds, [LayerKind::Shipped, LayerKind::Flag]);
}

#[test]
fn findings_name_the_file_that_the_thing_came_from() {
    let mut project = Project::new();
    project.write(
        ".materia/materia.json",
        r#"{"materia": {"m": {"type": "utility"}}, "activeLoadout": "Nope"}"#,
    );
    project.write(
        "materia.json",
        "{\"loadouts\": {\"L\":\n {\"entry\": \"a\", \"sockets\": {\"a\": {\"materia\": \"x\"}}}}}",
    );
    project.sources.flag_config =
        Some(project.write("flag.json", "{\"artifactDir\": \"\", \"docRoot\": \"../x\"}"));
    let findings = project.check();
    let found: Vec<_> = findings
        .iter()
        .map(|one| (one.file.as_deref().unwrap(), one.code.as_str(), one.line.unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            (".materia/materia.json", "utility::no-command", 1),
            (".materia/materia.json", "config::unknown-loadout", 1),
            ("flag.json", "config::artifact-dir", 1),
            ("flag.json", "config::doc-root", 1),
            ("materia.json", "graph::unknown-materia", 2),
        ]
    );
}

#[test]
fn a_materia_is_replaced_whole() {
    let project = Project::with(r#"{"materia": {"m": {"prompt": "new"}}}"#);
    project
        .write(".materia/materia.json", r#"{"materia": {"m": {"prompt": "old", "model": "x"}}}"#);
    let (loaded, findings) = project.load();
    assert_eq!(render(&findings), "", "only replacing a shipped one is mentioned");
    assert_eq!(loaded.config.materia["m"].model, None);
    assert_eq!(loaded.materia_layer("m").unwrap().shown, "materia.json");
}

#[test]
fn a_named_file_must_exist_and_an_unnamed_one_need_not() {
    let mut project = Project::new();
    assert_eq!(render(&project.check()), "");
    project.sources.flag_config = Some("missing.json".into());
    project.sources.env_config = Some("gone.json".into());
    let findings = project.check();
    assert_eq!(
        render(&findings),
        "error config::missing-file -: there is no file `gone.json`\n\
         error config::missing-file -: there is no file `missing.json`"
    );
    assert!(findings[0].help.as_ref().unwrap().contains("MATERIA_CONFIG"));
    assert!(findings[1].help.as_ref().unwrap().contains("--config"));
    assert_eq!(findings[1].file.as_deref(), Some("missing.json"));
}

#[test]
fn folders_and_unreadable_files_are_refused() {
    let project = Project::new();
    fs::create_dir(project.path("materia.json")).unwrap();
    assert_eq!(
        render(&project.check()),
        "error config::unreadable -: `materia.json` cannot be read: it is a folder"
    );
    // A file where a folder is looked for is no configuration, and no fault.
    let project = Project::new();
    project.write(".materia", "");
    assert_eq!(render(&project.check()), "");
}

#[test]
fn a_project_cannot_move_its_artifacts_out_and_its_user_can() {
    for bad in [
        "",
        "/tmp/x",
        "..",
        "a/../../b",
        "a/..",
        "a\\u0000b",
        "./a",
        "a/",
        "a//b",
        "a b",
        "$(a)",
        "a\\nb",
        "ä",
        ".git",
        "x/.GIT/y",
        ".claude",
        ".pi",
        ".pi/extensions",
        ".codex/casts",
    ] {
        let text = format!("{{\"artifactDir\": \"{bad}\"}}");
        let project = Project::with(&text);
        let findings = project.check();
        assert_eq!(findings.len(), 1, "{bad:?}");
        assert_eq!(findings[0].code, "config::artifact-dir");
        assert_eq!(findings[0].pointer, "/artifactDir");
        assert_eq!(artifact_dir(&project.load().0), project.path(".materia"));
    }
    let mut project = Project::new();
    let wanted = project.outside().join("elsewhere");
    let text = format!("{{\"artifactDir\": \"{}\"}}", wanted.display());
    project.sources.flag_config = Some(project.write("mine.json", text));
    assert_eq!(render(&project.check()), "");
    assert_eq!(artifact_dir(&project.load().0), wanted);
    assert_eq!(artifact_dir(&Project::new().load().0).file_name().unwrap(), ".materia");
    for good in ["out/casts", ".pi/pi-materia", "-_.", "...", "a.git"] {
        let project = Project::with(format!("{{\"artifactDir\": \"{good}\"}}"));
        assert_eq!(render(&project.check()), "");
        assert_eq!(artifact_dir(&project.load().0), project.path(good));
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_project_cannot_move_its_artifacts_either() {
    let project = Project::with(r#"{"artifactDir": "out/casts", "docRoot": "out"}"#);
    std::os::unix::fs::symlink(project.outside(), project.path("out")).unwrap();
    let codes: Vec<_> = project.check().into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["config::artifact-dir", "config::doc-root"]);
}

#[test]
fn places_that_ask_for_workspaces_are_found_with_their_file() {
    let project = Project::with(
        r#"{"workspace": "own", "loadouts": {"L": {"workspace": "own"}, "M": {"workspace": "project"}}}"#,
    );
    let (loaded, _) = project.load();
    let places = materia_compiler::own_workspaces(&loaded);
    let pointers: Vec<&str> = places.iter().map(|(_, pointer)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/workspace", "/loadouts/L/workspace"]);
    let refused = [("/loadouts/L/workspace".to_owned(), "no git".to_owned())];
    let findings = materia_compiler::refused_workspaces(&loaded, &refused);
    assert_eq!(findings[0].code, "config::workspace");
    assert_eq!(findings[0].pointer, "/loadouts/L/workspace");
    assert!(findings[0].message.contains("no git"));
}

#[test]
fn the_doc_root_lies_inside_the_project_whoever_names_it() {
    for bad in ["", "/docs", "../docs"] {
        let mut project = Project::new();
        let text = doc_root(bad);
        project.sources.flag_config = Some(project.write("mine.json", text));
        let findings = project.check();
        assert_eq!(findings.len(), 1, "{bad:?}");
        assert_eq!(findings[0].code, "config::doc-root");
    }
}
