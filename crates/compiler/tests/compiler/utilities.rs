//! Materia: commands, agents, approvals.

use materia_compiler::{PartKind, parts, taking_part};
use materia_contract::Behavior;

use crate::support::{Project, assert_found, render};

#[test]
fn a_utility_has_a_command_that_can_run() {
    assert_found(
        r#"{"materia": {
"a": {"type": "utility"},
"b": {"type": "utility", "command": []},
"c": {"type": "utility", "command": ["", "x"]},
"d": {"type": "utility", "command": ["sh", "a\u0000b"]},
"e": {"type": "utility", "command": ["sh"], "script": {"kind": "shippedUtility", "name": "x.mjs"}},
"f": {"type": "utility", "script": {"kind": "shippedUtility", "name": "x.mjs"}},
"g": {"type": "utility", "command": ["no-such-program-anywhere"]},
"h": {"type": "utility", "command": ["sh", 1]},
"i": {"type": "utility", "command": ["sh"], "timeoutMs": 604800001},
"j": {"type": "utility", "command": ["sh"], "timeoutMs": 0},
"k": {"type": "utility", "command": ["sh"], "prompt": "p", "model": "m"},
"l": {"type": "utility", "command": ["sh"], "multiTurn": true},
"m": {"type": "utility", "command": ["sh"], "multiTurn": false, "session": "keep"}
}}"#,
        "error document::wrong-type 9:44 /materia/h/command/1: `command[1]` must be a string, not 1
         error document::out-of-range 11:58 /materia/j/timeoutMs: `timeoutMs` must be at least 1, not 0
         error utility::no-command 2:6 /materia/a: utility `a` has no `command`
         error utility::empty-command 3:37 /materia/b/command: the command of utility `b` names no program
         error utility::empty-command 4:37 /materia/c/command: the command of utility `c` names no program
         error utility::empty-command 5:37 /materia/d/command: the command of utility `d` holds a NUL character, which no program can be given
         error utility::command-and-script 6:55 /materia/e/script: utility `e` has both `command` and `script`
         error utility::unknown-script 7:71 /materia/f/script/name: there is no shipped script `x.mjs`
         warning utility::program-missing 8:38 /materia/g/command/0: the program `no-such-program-anywhere` of utility `g` was not found
         error document::out-of-range 10:58 /materia/i/timeoutMs: `timeoutMs` must be at most 604800000, which is a week
         warning materia::other-kind 12:55 /materia/k/prompt: materia `k` is a utility, which has no use for `prompt`
         warning materia::other-kind 12:69 /materia/k/model: materia `k` is a utility, which has no use for `model`
         error materia::multi-turn 13:58 /materia/l/multiTurn: materia `l` is a utility, and nobody can talk with one
         warning materia::other-kind 14:58 /materia/m/multiTurn: materia `m` is a utility, which has no use for `multiTurn`
         warning materia::other-kind 14:76 /materia/m/session: materia `m` is a utility, which has no use for `session`",
    );
}

#[test]
fn an_agent_has_a_prompt_and_no_command() {
    assert_found(
        r#"{"materia": {
"a": {"command": ["sh"]},
"b": {},
"c": {"type": "agent", "prompt": "p", "params": {}}
}}"#,
        "error materia::command-on-agent 2:18 /materia/a/command: materia `a` is an agent, but has a `command`
         warning materia::no-prompt 3:6 /materia/b: materia `b` is an agent without a prompt
         warning materia::other-kind 4:49 /materia/c/params: materia `c` is an agent, which has no use for `params`",
    );
}

#[test]
fn a_prompt_is_words_or_a_file_beside_its_configuration() {
    let file = r#"{"materia": {"a": {"prompt": {"file": "no-such-file.md"}}}}"#;
    let found = render(&Project::with(file).check());
    assert!(found.contains("prompt::file") && found.contains("no-such-file.md"), "{found}");
    let both = r#"{"activeLoadout": "L", "materia": {"a": {"prompt": "Do it."}}, "loadouts": {"L": {"entry": "s",
"sockets": {"s": {"materia": "a", "prompt": {"file": "a.md", "replace": "x"}}}}}}"#;
    let found = render(&Project::with(both).check());
    assert!(found.contains("prompt::unclear"), "{found}");
}

const HELLO: &str = r#"{
  "artifactDir": ".pi/pi-materia",
  "activeLoadout": "Hello Utility",
  "loadouts": {
    "Hello Utility": {
      "entry": "hello",
      "sockets": {
        "hello": {
          "materia": "helloUtility",
          "edges": [{ "when": "always", "to": "end" }]
        }
      }
    }
  },
  "materia": {
    "helloUtility": {
      "type": "utility",
      "label": "Hello Utility",
      "command": ["python3", "-c", "import json,sys; ctx=json.load(sys.stdin); print(json.dumps({'state': {'hello': {'ok': True, 'message': ctx['params']['message']}}}))"],
      "params": { "message": "HELLO WORLD" },
      "parse": "json",
      "assign": { "hello": "$.state.hello" }
    }
  }
}"#;

#[test]
fn the_hello_world_document_compiles() {
    let project = Project::with(HELLO);
    let (compiled, findings) = project.compile(None);
    assert_eq!(render(&findings), "");
    let compiled = compiled.unwrap();
    assert_eq!(compiled.artifact_dir, project.path(".pi/pi-materia"));
    let node = compiled.plan.node("hello").unwrap();
    let Behavior::Utility { command, params } = &node.behavior else { panic!("a utility") };
    assert_eq!(command[..2], ["python3", "-c"]);
    assert_eq!(params["message"], "HELLO WORLD");
    assert_eq!(node.assign["hello"].to_string(), "$.state.hello");
    assert_eq!((node.edges.len(), &node.edges[0].to), (1, &None));
    let own = parts(&project.load().0);
    let materia = own.iter().find(|part| part.kind == PartKind::Materia).unwrap();
    assert_eq!((materia.file.as_str(), materia.programs.len()), ("materia.json", 1));
}

const IGNORE: &str = r#"{
  "artifactDir": ".pi/pi-materia",
  "activeLoadout": "Ignore Artifacts",
  "loadouts": {"Ignore Artifacts": {"entry": "ignoreArtifacts", "sockets": {
    "ignoreArtifacts": {"materia": "Ignore-Artifacts", "edges": [{ "when": "always", "to": "end" }]}
  }}},
  "materia": {"Ignore-Artifacts": {
    "type": "utility",
    "label": "Ignore Artifacts",
    "command": ["python3", "scripts/ensure_ignored.py"],
    "params": {"file": ".gitignore", "patterns": [".pi/pi-materia/"]},
    "parse": "json",
    "assign": { "artifactIgnore": "$.state.artifactIgnore" }
  }}
}"#;

#[test]
fn the_ignore_patterns_document_finds_its_script_beside_itself() {
    for file in ["materia.json", ".materia/materia.json", ".pi/pi-materia.json"] {
        let project = Project::new();
        let config = project.write(file, IGNORE);
        let script = config.parent().unwrap().join("scripts/ensure_ignored.py");
        std::fs::create_dir_all(script.parent().unwrap()).unwrap();
        std::fs::write(&script, "").unwrap();
        let (compiled, findings) = project.compile(Some("Ignore Artifacts"));
        assert_eq!(findings.len(), 1, "{file}");
        assert_eq!(findings[0].code, "config::replaces-shipped", "{file}");
        assert!(compiled.is_some());
        let own = parts(&project.load().0);
        let materia = own.iter().find(|part| part.kind == PartKind::Materia).unwrap();
        assert_eq!((materia.file.as_str(), materia.replaces_shipped), (file, true));
        assert_eq!(materia.programs[0].by, "Ignore-Artifacts");
        assert_eq!(materia.programs[0].command, ["python3", script.to_str().unwrap()]);
    }
}

#[test]
fn a_relative_program_is_taken_from_the_folder_of_its_file_and_looked_for_there() {
    let project = Project::new();
    project.write(
        ".materia/materia.json",
        r#"{"materia": {"m": {"type": "utility", "command": ["./run.sh", "x"]}},
            "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "m"}}}}}"#,
    );
    let (compiled, findings) = project.compile(None);
    let program = project.path(".materia/run.sh");
    let program = program.to_str().unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, "utility::program-missing");
    assert!(compiled.is_some());
    assert_eq!(parts(&project.load().0)[0].programs[0].command, [program, "x"]);
}

/// Parts that a cast of the active loadout uses: kinds and names.
fn taking(project: &Project) -> Vec<(PartKind, String)> {
    let (loaded, _) = project.load();
    let compiled = project.compile(None).0.unwrap();
    let all = parts(&loaded);
    let origin = (None, compiled.by_choice);
    let taking = taking_part(&all, &compiled.plan, origin, &["claude".to_owned()]);
    taking.into_iter().map(|part| (part.kind, part.name.clone())).collect()
}

#[test]
fn what_the_project_says_takes_part_and_nothing_else() {
    let mut project = Project::with(
        r#"{"materia": {"own": {"type": "utility", "command": ["sh", "-c", "true"]},
                        "unused": {"prompt": "x"}},
            "agents": {"claude": {"command": ["./x"]}, "codex": {"command": ["./y"]}},
            "limits": {"maxRepairs": 2}, "docRoot": "docs", "activeLoadout": "L",
            "loadouts": {"Other": {"entry": "a", "sockets": {"a": {"materia": "own"}}},
              "L": {"entry": "a", "sockets": {
              "a": {"materia": "own", "edges": [{"to": "b"}]},
              "b": {"materia": "mine", "edges": [{"to": "c"}]},
              "c": {"materia": "own"}}}}}"#,
    );
    project.write(
        "../profile/config.json",
        r#"{"materia": {"mine": {"type": "utility", "command": ["sh"]}}}"#,
    );
    project.sources.profile_dir = Some("../profile".into());
    let expected = [
        (PartKind::Materia, "own"),
        (PartKind::Loadout, "L"),
        (PartKind::Agent, "claude"),
        (PartKind::Setting, "activeLoadout"),
        (PartKind::Setting, "docRoot"),
        (PartKind::Setting, "limits.maxRepairs"),
    ];
    assert_eq!(taking(&project), expected.map(|(kind, name)| (kind, name.to_owned())));
    // A program of the user's own that the project's graph places is shown with the graph.
    let (loaded, _) = project.load();
    let graphs = parts(&loaded).into_iter().filter(|part| part.kind == PartKind::Loadout);
    let graph = graphs.into_iter().find(|part| part.name == "L").unwrap();
    assert_eq!(graph.programs[0].by, "mine in L, socket b");

    // The same file, named by a person, is that person's.
    project.sources.flag_config = Some("materia.json".into());
    assert_eq!(taking(&project), []);
    assert_eq!(parts(&project.load().0), []);
}

#[test]
fn a_part_is_known_by_what_matters_of_it() {
    let hash = |text: &str, words: &str| {
        let project = Project::with(text);
        project.write("words.md", words);
        let own = parts(&project.load().0);
        own.iter().map(materia_compiler::Part::hash).collect::<Vec<_>>()
    };
    let text = r#"{"materia": {"m": {"prompt": {"file": "words.md"}}}}"#;
    let one = hash(text, "a");
    assert_eq!(
        one,
        hash(r#"{"materia": {"m": {"label": "M", "prompt": {"file": "words.md"}}} }"#, "a")
    );
    assert_ne!(one, hash(text, "b"), "the words of a file belong to it");
    assert_ne!(
        one,
        hash(r#"{"materia": {"m": {"tools": "coding", "prompt": {"file": "words.md"}}}}"#, "a")
    );
    let socket = |words: &str| {
        let text = r#"{"loadouts": {"L": {"entry": "a", "sockets": {
            "a": {"materia": "Build", "prompt": {"replace": {"file": "words.md"}}}}}}}"#;
        hash(text, words)
    };
    assert_ne!(socket("a"), socket("b"));
}
