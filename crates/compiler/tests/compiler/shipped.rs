//! Shipped configuration: it is valid, it can be chosen, and its scripts are installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use materia_compiler::shipped::{MANIFEST_FILE, SCRIPTS, Script, ScriptStore, script, sync};
use materia_compiler::{LayerKind, active_loadout, needed_scripts};
use materia_contract::Behavior;
use serde_json::{Value, json};

use crate::support::{Project, render};

const LOADOUTS: [&str; 4] = ["Full-Auto", "Planning-Consult", "Hojo-Consult", "Release"];

#[test]
fn every_shipped_loadout_compiles_without_a_word() {
    let project = Project::new();
    let (loaded, findings) = project.load();
    assert_eq!(render(&findings), "");
    let names: Vec<_> = loaded.config.loadouts.keys().map(String::as_str).collect();
    assert_eq!(names, LOADOUTS);
    for name in LOADOUTS {
        let (compiled, findings) = project.compile(Some(name));
        assert_eq!(render(&findings), "", "{name}");
        let compiled = compiled.unwrap();
        assert_eq!(compiled.plan.loops.len(), 1, "{name}");
        for (id, node) in &compiled.plan.nodes {
            if let Behavior::Agent { prompt, origin, .. } = &node.behavior {
                assert!(prompt.len() > 200, "{name} {id}");
                assert!(origin.starts_with("(shipped)#/materia/"), "{origin}");
            }
        }
    }
}

#[test]
fn prompts_do_not_say_what_the_runtime_says() {
    let (loaded, _) = Project::new().load();
    for (name, materia) in &loaded.config.materia {
        let prompt = materia.prompt.as_ref().and_then(|prompt| prompt.text()).unwrap_or_default();
        // The form of the answer is written by the runtime, for the fields that the socket needs.
        for word in ["JSON", "```", "{\"", "tasks", "summary", "feedback"] {
            assert!(!prompt.contains(word), "{name}: {word}");
        }
        let verdict = ["Auto-Eval", "Maintain"].contains(&name.as_str());
        assert_eq!(prompt.to_lowercase().contains("satisfied"), verdict, "{name}");
    }
}

#[test]
fn the_shipped_choice_counts_only_where_nobody_chose_or_wrote_another() {
    let active = |project: &Project| active_loadout(&project.load().0).map(str::to_owned);
    assert_eq!(active(&Project::new()).as_deref(), Some("Full-Auto"));
    let own = |names: &[&str]| {
        let sockets = json!({"entry": "a", "sockets": {"a": {"materia": "Narrate"}}});
        let all: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), sockets.clone())).collect();
        Project::with(json!({"loadouts": all}).to_string())
    };
    assert_eq!(active(&own(&["One"])).as_deref(), Some("One"));
    assert_eq!(active(&own(&["One", "Two"])), None);
    assert_eq!(active(&own(&["One", "Full-Auto"])).as_deref(), Some("Full-Auto"));
    let chosen = Project::with(r#"{"activeLoadout": "Release"}"#);
    assert_eq!(active(&chosen).as_deref(), Some("Release"));
    assert!(chosen.compile(None).0.is_some());
}

/// A project with one utility of its own that runs a shipped script.
fn with_script(script: &Value, more: &Value) -> Project {
    let mut materia = json!({"type": "utility", "script": script});
    materia.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut project = Project::with(
        json!({
            "materia": {"Mine": materia},
            "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "Mine"}}}},
        })
        .to_string(),
    );
    project.sources.profile_dir = Some(project.outside().join("profile"));
    project
}

/// How much of the project takes part in a cast.
fn asked(project: &Project) -> usize {
    let (loaded, compiled) = (project.load().0, project.compile(None).0.unwrap());
    let all = materia_compiler::parts(&loaded);
    materia_compiler::taking_part(&all, &compiled.plan, (None, true), &[]).len()
}

#[test]
fn a_script_becomes_a_command_that_runs_the_copy_in_the_profile() {
    let project = with_script(&json!({"kind": "shippedUtility", "name": "join.mjs"}), &json!({}));
    let (compiled, findings) = project.compile(None);
    assert_eq!(render(&findings), "");
    let compiled = compiled.unwrap();
    let path = project.outside().join("profile/utilities/join.mjs");
    let Behavior::Utility { command, .. } = &compiled.plan.nodes["a"].behavior else { panic!() };
    assert_eq!(*command, ["node", path.to_str().unwrap()]);
    assert_eq!(asked(&project), 2, "the project's own words are looked at, whatever they place");
    let mut nobody = Project::new();
    nobody.sources.flag_config = Some(nobody.write(
        "mine.json",
        r#"{"loadouts": {"L": {"entry": "a",
        "sockets": {"a": {"materia": "Detect-VCS"}}}}}"#,
    ));
    nobody.sources.profile_dir = Some(nobody.outside().join("profile"));
    assert_eq!(asked(&nobody), 0, "what is shipped or the user's own needs no approval");
    let needed = needed_scripts(&project.load().0, &compiled.plan);
    assert_eq!(needed, [script("join.mjs").unwrap()]);
    assert!(!path.exists(), "compiling writes nothing");

    let locator = json!({"kind": "shippedUtility", "name": "join.mjs", "runtime": "node"});
    let project = with_script(&locator, &json!({"params": {"from": ["x"]}}));
    assert_eq!(asked(&project), 2);
}

#[test]
fn names_with_folders_unknown_names_and_other_runtimes_are_refused() {
    for (name, runtime, code) in [
        ("../join.mjs", "node", "utility::bad-script"),
        ("sub/join.mjs", "node", "utility::bad-script"),
        ("..\\join.mjs", "node", "utility::bad-script"),
        ("", "node", "utility::bad-script"),
        ("joim.mjs", "node", "utility::unknown-script"),
        ("join", "node", "utility::unknown-script"),
        ("detectVcs.mjs", "node", "utility::obsolete"),
        ("join.mjs", "bun", "utility::unknown-runtime"),
    ] {
        let locator = json!({"kind": "shippedUtility", "name": name, "runtime": runtime});
        let project = with_script(&locator, &json!({}));
        let (compiled, findings) = project.compile(None);
        assert!(compiled.is_none());
        assert_eq!(findings.len(), 1, "{name}");
        assert_eq!(findings[0].code, code, "{name}");
    }
}

#[test]
fn obsolete_names_lead_to_the_present_ones() {
    let project = Project::with(
        r#"{"loadouts": {"L": {"entry": "a", "sockets": {
"a": {"materia": "ensureArtifactsIgnored", "edges": [{"to": "b"}]},
"b": {"materia": "detectVcs", "edges": [{"to": "c"}]},
"c": {"materia": "Old", "edges": [{"to": "d"}]},
"d": {"utility": "vcs.detect", "edges": [{"to": "e"}]},
"e": {"materia": "currentUtilityVcsDetect7"}}}},
"materia": {"Old": {"type": "utility", "utility": "project.ensureIgnored"}}}"#,
    );
    let findings = project.check();
    let obsolete: Vec<_> =
        findings.iter().filter(|finding| finding.code == "utility::obsolete").collect();
    let found: Vec<_> =
        obsolete.iter().map(|one| (one.line.unwrap(), one.message.as_str())).collect();
    assert_eq!(found.len(), 5, "{}", render(&findings));
    for (line, current) in [
        (2, "`Ignore-Artifacts`"),
        (3, "`Detect-VCS`"),
        (5, "`Detect-VCS`"),
        (6, "`Detect-VCS`"),
        (7, "`Ignore-Artifacts`"),
    ] {
        assert!(found.iter().any(|(at, said)| *at == line && said.contains(current)), "{line}");
    }
    let errors = findings.iter().filter(|one| one.severity == materia_contract::Severity::Error);
    assert_eq!(errors.count(), 5, "nothing else is wrong: {}", render(&findings));
    // Somebody's own materia may bear such a name.
    let own = Project::with(
        r#"{"loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "detectVcs"}}}},
            "materia": {"detectVcs": {"type": "utility", "command": ["true"]}}}"#,
    );
    assert_eq!(render(&own.check()), "");
}

#[test]
fn origins_are_kept_apart() {
    let project = Project::with(r#"{"materia": {"Build": {"prompt": "mine"}}}"#);
    let (loaded, _) = project.load();
    assert_eq!(loaded.materia_layer("Build").unwrap().kind, LayerKind::Project);
    assert_eq!(loaded.materia_layer("Auto-Eval").unwrap().kind, LayerKind::Shipped);
    assert_eq!(loaded.loadout_layer("Release").unwrap().kind, LayerKind::Shipped);
}

// ---- The profile ----

const OLD: Script = Script { name: "join.mjs", text: "// an older version\n" };

fn now() -> &'static Script {
    script("join.mjs").unwrap()
}

struct Profile(tempfile::TempDir);

impl Profile {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self) -> PathBuf {
        self.0.path().join("p")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir().join("utilities").join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    fn sync(&self, script: &'static Script) {
        sync(&ScriptStore::of(&self.dir()), &[script]).unwrap();
    }

    fn manifest(&self) -> Value {
        serde_json::from_str(&self.read(MANIFEST_FILE)).unwrap()
    }

    /// The file that would be run, which must hold the script and be what the manifest names.
    fn current(&self) -> String {
        let path = ScriptStore::of(&self.dir()).path(now());
        assert_eq!(fs::read_to_string(&path).unwrap(), now().text);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(self.manifest()["scripts"]["join.mjs"]["file"], name);
        assert_eq!(self.manifest()["scripts"]["join.mjs"]["hash"], now().hash());
        name
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir().join("utilities")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    }
}

#[test]
fn a_script_is_copied_once_and_an_older_one_is_replaced() {
    let profile = Profile::new();
    profile.sync(&OLD);
    assert_eq!(profile.read("join.mjs"), OLD.text);
    profile.sync(now());
    assert_eq!(profile.current(), "join.mjs");
    assert_eq!(profile.names(), ["join.mjs"]);
    let before = fs::metadata(profile.file("join.mjs")).unwrap().modified().unwrap();
    profile.sync(now());
    assert_eq!(fs::metadata(profile.file("join.mjs")).unwrap().modified().unwrap(), before);
    profile.sync(&OLD);
    assert_eq!(profile.read("join.mjs"), OLD.text, "an older binary gets what it holds");
}

#[test]
fn a_changed_script_is_kept_and_the_shipped_one_lies_beside_it() {
    let profile = Profile::new();
    profile.sync(&OLD);
    fs::write(profile.file("join.mjs"), "// mine\n").unwrap();
    profile.sync(now());
    let beside = profile.current();
    assert_eq!(beside, format!("join.{}.mjs", &now().hash()[..12]));
    assert_eq!(profile.read("join.mjs"), "// mine\n");

    // A copy of what is shipped now is its owner's to change: it runs as it is.
    fs::write(profile.file(&beside), "// mine too\n").unwrap();
    profile.sync(now());
    let shelf = ScriptStore::of(&profile.dir());
    assert_eq!(shelf.path(now()), profile.file(&beside));
    assert!(shelf.is_changed(now()));
    assert_eq!(profile.read(&beside), "// mine too\n");
    assert_eq!(profile.names().len(), 2);

    // When what is shipped changes, both are kept and the shipped one lies beside them.
    profile.sync(&OLD);
    let shelf = ScriptStore::of(&profile.dir());
    assert!(!shelf.is_changed(&OLD));
    assert_eq!(fs::read_to_string(shelf.path(&OLD)).unwrap(), OLD.text);
    assert_eq!(profile.read("join.mjs"), "// mine\n");
    assert_eq!(profile.read(&beside), "// mine too\n");
    assert_eq!(profile.names().len(), 3);
}

#[test]
fn a_changed_copy_that_is_removed_comes_back_as_it_is_shipped() {
    let profile = Profile::new();
    profile.sync(now());
    fs::write(profile.file("join.mjs"), "// mine\n").unwrap();
    profile.sync(now());
    assert!(ScriptStore::of(&profile.dir()).is_changed(now()));
    fs::remove_file(profile.file("join.mjs")).unwrap();
    profile.sync(now());
    assert_eq!(profile.current(), "join.mjs");
    assert!(!ScriptStore::of(&profile.dir()).is_changed(now()));
}

#[test]
fn without_a_manifest_every_other_file_is_its_owners() {
    for damage in ["", "{\"scripts\": 1", "[]", "{\"written\": {\"join.mjs\": 7}}"] {
        let profile = Profile::new();
        profile.sync(&OLD);
        fs::write(profile.file(MANIFEST_FILE), damage).unwrap();
        profile.sync(now());
        assert_eq!(profile.read("join.mjs"), OLD.text, "{damage:?}");
        let shelf = ScriptStore::of(&profile.dir());
        assert_eq!(shelf.path(now()), profile.file("join.mjs"));
        assert!(shelf.is_changed(now()), "whoever runs it is told so");
    }
    // The right bytes are right, whoever wrote them.
    let profile = Profile::new();
    profile.sync(now());
    fs::remove_file(profile.file(MANIFEST_FILE)).unwrap();
    profile.sync(now());
    assert_eq!(profile.current(), "join.mjs");
}

/// `PI_MATERIA_PROFILE_DIR` can name one folder as the profile of both systems (D52).
#[test]
fn in_a_profile_that_the_original_system_fills_only_changed_scripts_count() {
    const SHA256: &str = "fd64ce27836ed73b7786925f0e60870b429d6c854070d26b90c9842258c5036f";
    let profile = Profile::new();
    let manifest = json!({
        "version": 1,
        "utilities": { "join.mjs": { "sourceHash": SHA256, "profileFile": "join.mjs" } },
    });
    fs::create_dir_all(profile.dir().join("utilities")).unwrap();
    fs::write(profile.file(".pi-materia-shipped-utilities.json"), manifest.to_string()).unwrap();
    fs::write(profile.file("join.mjs"), OLD.text).unwrap();
    profile.sync(now());
    assert_eq!(profile.read("join.mjs"), OLD.text, "what another program keeps stays as it is");
    assert_eq!(profile.current(), format!("join.{}.mjs", &now().hash()[..12]));

    fs::remove_dir_all(profile.dir().join("utilities")).unwrap();
    fs::create_dir_all(profile.dir().join("utilities")).unwrap();
    fs::write(profile.file(".pi-materia-shipped-utilities.json"), manifest.to_string()).unwrap();
    fs::write(profile.file("join.mjs"), "// mine\n").unwrap();
    profile.sync(now());
    let shelf = ScriptStore::of(&profile.dir());
    assert_eq!((shelf.path(now()), shelf.is_changed(now())), (profile.file("join.mjs"), true));
}

#[test]
fn many_may_start_at_once() {
    let profile = Profile::new();
    fs::create_dir_all(profile.dir().join("utilities")).unwrap();
    fs::write(profile.file("join.mjs"), "// mine\n").unwrap();
    let all: Vec<&'static Script> = SCRIPTS.iter().collect();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                sync(&ScriptStore::of(&profile.dir()), &all).unwrap();
                let shelf = ScriptStore::of(&profile.dir());
                for script in SCRIPTS.iter().filter(|script| !shelf.is_changed(script)) {
                    assert_eq!(fs::read_to_string(shelf.path(script)).unwrap(), script.text);
                }
            });
        }
    });
    assert_eq!(profile.read("join.mjs"), "// mine\n");
    assert_eq!(profile.names().len(), SCRIPTS.len());
    assert_eq!(profile.manifest()["scripts"].as_object().unwrap().len(), SCRIPTS.len());
}

/// Root may write everywhere, so there a file stands in the way instead.
fn cannot_be_written(path: &Path) -> bool {
    fs::write(path.join("probe"), "").is_err()
}

#[test]
fn a_profile_that_cannot_be_used_is_named() {
    let profile = Profile::new();
    fs::write(profile.0.path().join("p"), "a file").unwrap();
    let said = sync(&ScriptStore::of(&profile.dir()), &[now()]).unwrap_err().to_string();
    assert!(said.contains("join.mjs") && said.contains("MATERIA_PROFILE_DIR"), "{said}");
    assert!(said.contains(profile.dir().join("utilities").to_str().unwrap()), "{said}");

    // What is there already can be used without writing.
    let profile = Profile::new();
    profile.sync(now());
    let folder = profile.dir().join("utilities");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    sync(&ScriptStore::of(&profile.dir()), &[now()]).unwrap();
    if cannot_be_written(&folder) {
        assert!(
            sync(&ScriptStore::of(&profile.dir()), &[script("detect-vcs.mjs").unwrap()]).is_err()
        );
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();

    // A folder in the place of a copy cannot be read as one.
    let profile = Profile::new();
    fs::create_dir_all(profile.file("join.mjs")).unwrap();
    assert!(sync(&ScriptStore::of(&profile.dir()), &[now()]).is_err());
}
