//! Agents: which one is asked, what is seen of it, and what happens when none is there.
//!
//! The agents are shell scripts; no real one is ever started, for the path of these commands
//! begins with a folder of the test and leads to the system's own programs only.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, Ran, agents, finish, until};

/// An agent that understands as much of Claude Code's command line as it needs.
const CLAUDE: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo "9.8.7 (Claude Code)"; exit 0; }
id=none
while [ $# -gt 0 ]; do
  case $1 in --session-id|--resume) id=$2; shift;; esac
  shift
done
printf '{"type":"system","subtype":"init","session_id":"%s","model":"fake-1"}\n' "$id"
result() { printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"%s","usage":{"input_tokens":10,"output_tokens":2},"total_cost_usd":0.5,"modelUsage":{"fake-1":{"inputTokens":10,"outputTokens":2,"costUSD":0.5}}}\n' "$1" "$id"; }
"#;

/// A project and a folder of agents.
struct Asking {
    bench: Bench,
}

impl Asking {
    fn new(config: &Value) -> Self {
        let bench = Bench::with(config);
        fs::create_dir(bench.profile()).unwrap();
        fs::create_dir(bench.profile().join("bin")).unwrap();
        Self { bench }
    }

    /// One agent socket, and Claude Code, which goes on with this script.
    fn with_claude(script: &str) -> Self {
        let mut config = agents(&["a"]).0;
        // What may pass is not waited for here.
        config["limits"] = json!({ "maxRetries": 0 });
        let asking = Self::new(&config);
        asking.install("claude", &format!("{CLAUDE}{script}\n"));
        asking
    }

    fn bin(&self) -> PathBuf {
        self.bench.profile().join("bin")
    }

    fn install(&self, name: &str, content: &str) {
        let path = self.bin().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bench.command(args);
        // `env` and friends only: an agent that is installed here must not be found.
        let tools = self.bench.profile().join("tools");
        if !tools.exists() {
            fs::create_dir(&tools).unwrap();
            for tool in ["sh", "cat", "sleep", "setsid", "touch", "git"] {
                let places = ["/bin", "/usr/bin"].map(|folder| PathBuf::from(folder).join(tool));
                if let Some(place) = places.iter().find(|place| place.exists()) {
                    std::os::unix::fs::symlink(place, tools.join(tool)).unwrap();
                }
            }
        }
        let path = std::env::join_paths([self.bin(), tools]).unwrap();
        command.env("PATH", path).env("HOME", self.bench.profile()).env_remove("ANTHROPIC_API_KEY");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }
}

/// The events of one type.
fn events(asking: &Asking, id: &str, kind: &str) -> Vec<Value> {
    let lines = asking.run(&["events", id, "--json"]).exits(0).lines();
    lines.into_iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn without_any_agent_it_says_so_before_anything_ran() {
    let asking = Asking::new(&agents(&["a"]).0);
    let ran = asking.run(&["cast", "--json", "go"]).exits(2);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "resolution");
    let message = error["message"].as_str().unwrap();
    for words in [
        "no agent is installed",
        "claude, codex, gemini, pi",
        "materia doctor",
        "materia demo",
        "--script",
    ] {
        assert!(message.contains(words), "{words} is missing in {message}");
    }
    assert!(!asking.bench.has(".materia"), "nothing was created");
    let ran = asking.run(&["cast", "--provider", "codex", "--json", "go"]).exits(2);
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`codex` is not installed") && message.contains("npm"), "{message}");
    asking.run(&["cast", "--provider", "nobody", "go"]).exits(2);
    asking.run(&["cast", "--provider", "scripted", "go"]).exits(2);
}

#[test]
fn an_agent_that_is_there_is_asked() {
    let asking = Asking::with_claude(
        r#"cat > prompt.txt
printf '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test\\u001b[2J"}}]}}\n'
result 'It is done.'"#,
    );
    let ran = asking.run(&["cast", "--json", "--cast-id", "c1", "go"]).exits(0);
    let report = ran.json();
    assert_eq!(report["usage"], json!({ "turns": 1, "tokens": 12, "cost": 0.5 }));
    assert!(asking.bench.read("prompt.txt").contains("Do it."));
    assert!(ran.err.contains("a: › Bash: cargo test"), "{}", ran.err);
    assert!(!ran.err.contains('\u{1b}'), "nothing a terminal would obey: {:?}", ran.err);

    let done = &events(&asking, "c1", "turn.completed")[0]["data"];
    assert_eq!(done["output"], "It is done.");
    let path = format!(".materia/c1/{}", done["transcript"]["path"].as_str().unwrap());
    assert_eq!(path, ".materia/c1/sockets/a/1-1.transcript.jsonl");
    let hash = blake3::hash(asking.bench.read(&path).as_bytes()).to_hex().to_string();
    assert_eq!(done["transcript"]["hash"], hash.as_str());
    asking.run(&["replay", "c1"]).exits(0);
}

/// W9: what is too old goes, and `replay` counts it; a cast that can go on keeps all of its own.
#[test]
fn clean_removes_transcripts_of_casts_that_ended() {
    let asking = Asking::with_claude("cat > /dev/null; result 'It is done.'");
    asking.run(&["cast", "--json", "--cast-id", "c1", "go"]).exits(0);
    let path = ".materia/c1/sockets/a/1-1.transcript.jsonl";
    let items = |args: &[&str]| {
        let cleaned = asking.run(args).exits(0).json();
        cleaned["items"].as_array().unwrap().iter().filter(|it| it["kind"] == "transcript").count()
    };
    assert_eq!(items(&["clean", "--json"]), 0, "it is not old enough");
    assert_eq!(items(&["clean", "--json", "--older-than", "0", "--dry-run"]), 1);
    assert!(asking.bench.has(path));
    assert_eq!(items(&["clean", "--json", "--older-than", "0"]), 1);
    assert!(!asking.bench.has(path));
    let replayed = asking.run(&["replay", "c1", "--json"]).exits(0).json();
    assert_eq!((&replayed["ok"], &replayed["gone"]), (&json!(true), &json!(1)));
    assert_eq!(items(&["clean", "--json", "--older-than", "0"]), 0, "it is gone");
    asking.run(&["show", "c1"]).exits(0);
}

#[test]
fn a_failure_tells_its_class_and_when_to_try_again() {
    let asking = Asking::with_claude(
        r#"printf '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 429 rate limit, retry after 90 seconds","api_error_status":429,"session_id":"x"}\n'; exit 1"#,
    );
    let ran = asking.run(&["cast", "--json", "--cast-id", "c1", "go"]).exits(1);
    assert_eq!(ran.json()["error"]["code"], "provider_failed");
    let failed = &events(&asking, "c1", "turn.failed")[0]["data"];
    assert_eq!((&failed["class"], &failed["retryAfterMs"]), (&json!("rate_limit"), &json!(90_000)));
    assert!(failed["message"].as_str().unwrap().contains("90 s"), "{failed}");
    assert!(failed["transcript"]["hash"].is_string());
    asking.run(&["replay", "c1"]).exits(0);
}

#[test]
fn the_configuration_and_the_person_choose() {
    let mut config = agents(&["a"]).0;
    config["limits"] = json!({ "maxRetries": 0 });
    config["provider"] = json!("two");
    config["agents"] = json!({
        "one": { "protocol": "acp", "command": ["one"] },
        "two": { "protocol": "acp", "command": ["two"] }
    });
    let mut asking = Asking::new(&config);
    asking.bench = asking.bench.asking();
    for name in ["one", "two"] {
        asking.install(name, &format!("#!/bin/sh\ntouch asked-{name}\nexit 3\n"));
    }
    // What the project says about agents is a command that somebody must approve.
    let refused = asking.run(&["cast", "--json", "go"]).exits(2);
    assert_eq!(refused.json()["error"]["code"], "trust");
    assert!(refused.err.contains("agent two: [\"two\"]"), "{}", refused.err);
    assert!(!asking.bench.has("asked-two"));
    asking.run(&["cast", "--trust", "go"]).exits(1);
    assert!(asking.bench.has("asked-two") && !asking.bench.has("asked-one"));
    asking.run(&["cast", "--provider", "one", "go"]).exits(1);
    assert!(asking.bench.has("asked-one"), "the same content needs no second approval");
    config["materia"]["M"]["provider"] = json!("three");
    asking.bench.write("materia.json", &config.to_string());
    let ran = asking.run(&["cast", "--trust", "--json", "go"]).exits(2);
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("there is no agent `three`"), "{message}");
}

#[test]
fn what_was_recorded_runs_again_without_an_agent() {
    let asking = Asking::new(&agents(&["a", "b"]).0);
    asking.install("claude", &format!("{CLAUDE}result \"answer of $MATERIA_SOCKET_ID\"\n"));
    let tape = ["--record", "tape", "--cast-id", "c1"];
    asking.run(&[&["cast", "--json", "go"][..], &tape].concat()).exits(0);
    fs::remove_file(asking.bin().join("claude")).unwrap();

    let again =
        asking.run(&["cast", "--json", "--replay", "tape", "--cast-id", "c2", "go"]).exits(0);
    assert_eq!(again.json()["usage"]["turns"], 2);
    let outputs: Vec<Value> = events(&asking, "c2", "turn.completed")
        .iter()
        .map(|event| event["data"]["output"].clone())
        .collect();
    assert_eq!(outputs, ["answer of a", "answer of b"]);

    let other = asking.run(&["cast", "--json", "--replay", "tape", "something else"]).exits(1);
    let message = other.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("parts from its recording at socket `a`, visit 1, attempt 1"),
        "{message}"
    );
    assert!(message.contains("something else"), "{message}");

    asking.run(&["cast", "--record", "tape", "go"]).exits(2);
    asking.run(&["cast", "--replay", "nowhere", "go"]).exits(2);
    asking.run(&["cast", "--replay", "tape", "--record", "other", "go"]).exits(2);
    assert!(!asking.bench.has("other"));
}

#[test]
fn the_doctor_says_what_is_there_and_what_is_missing() {
    let asking = Asking::new(&agents(&["a"]).0);
    let ran = asking.run(&["doctor"]).exits(1);
    for words in ["not installed", "npm install", "materia demo", "No socket can ask an agent"] {
        assert!(ran.out.contains(words), "{words} is missing in {}", ran.out);
    }
    asking.install("claude", &format!("{CLAUDE}result x\n"));
    let ran = asking.run(&["doctor"]).exits(1);
    assert!(
        ran.out.contains("installed, no login found") && ran.out.contains("log in:"),
        "{}",
        ran.out
    );
    let said = ran.out;
    let ran = Ran::from(
        asking.command(&["doctor", "--json"]).env("ANTHROPIC_API_KEY", "k").output().unwrap(),
    );
    let health = ran.exits(0).json();
    assert_eq!(health["uses"], "claude");
    let claude = &health["agents"][0];
    assert_eq!((&claude["name"], &claude["version"]), (&json!("claude"), &json!("9.8.7")));
    assert_eq!((&claude["loggedIn"], &claude["missing"]), (&json!(true), &Value::Null));
    assert_eq!(claude["capabilities"]["resume"], true);
    assert_eq!(health["agents"][1]["installed"], false);
    assert!(health["agents"][1]["missing"].as_str().unwrap().contains("npm install"));
    // What the machine has is told twice, and is the same for both.
    let sandbox = &health["sandbox"];
    assert!(sandbox["landlock"].is_u64());
    for (mechanism, name) in [
        ("filter", "system-call filter"),
        ("cgroup", "cgroup for turns"),
        ("userNamespaces", "user namespaces are"),
    ] {
        assert!(sandbox[mechanism].is_boolean(), "{mechanism}: {sandbox}");
        assert!(said.contains(name), "{name} is missing in {said}");
    }
    let gaps = health["gaps"].as_array().unwrap();
    for gap in gaps {
        assert!(said.contains(gap.as_str().unwrap()), "{gap} is missing in {said}");
    }
    assert_eq!(said.contains("no Landlock,"), sandbox["landlock"] == 0, "{said}");
    assert!(!asking.bench.has(".materia"), "a doctor leaves nothing behind");
}

/// A project that only asks for another model names no program.
#[test]
fn the_doctor_asks_the_users_own_program_where_a_project_wishes_for_a_model() {
    let wishes =
        [json!({ "model": "opus-9" }), json!({ "model": "opus-9", "retries": 3, "idleMs": 5 })];
    for wish in wishes {
        let mut config = agents(&["a"]).0;
        config["agents"] = json!({ "claude": wish });
        let asking = Asking::new(&config);
        asking.install("claude", &format!("{CLAUDE}result x\n"));
        let doctor = |args: &[&str]| -> Ran {
            asking.command(args).env("ANTHROPIC_API_KEY", "k").output().unwrap().into()
        };
        let claude = doctor(&["doctor", "--json"]).exits(0).json()["agents"][0].clone();
        assert_eq!((&claude["version"], &claude["model"]), (&json!("9.8.7"), &json!("opus-9")));
        assert_eq!(claude.get("notRun"), None, "{claude}");
        let told = doctor(&["doctor"]).exits(0).out;
        assert!(told.contains("this project asks for its model `opus-9`"), "{told}");
    }
    // Who says how the program is started names it.
    for named in
        [json!({ "args": ["--x"] }), json!({ "env": ["SECRET"] }), json!({ "command": ["claude"] })]
    {
        let mut config = agents(&["a"]).0;
        config["agents"] = json!({ "claude": named });
        let asking = Asking::new(&config);
        asking.install("claude", &format!("{CLAUDE}result x\n"));
        let claude = asking.run(&["doctor", "--json"]).exits(1).json()["agents"][0].clone();
        assert_eq!(claude["notRun"], true, "{claude}");
    }
}

#[test]
fn when_materia_is_killed_its_agents_go_and_the_cast_carries_on() {
    let asking = Asking::with_claude(
        "if [ -e up ]; then result carried; exit; fi
setsid sh -c 'trap \"\" TERM INT; touch up; sleep 60' & trap '' TERM; sleep 60",
    );
    let mut cast = asking.command(&["cast", "--cast-id", "c1", "go"]).spawn().unwrap();
    asking.bench.wait_for("up");
    cast.kill().unwrap();
    cast.wait().unwrap();
    let begun = Instant::now();
    until("the tree is gone", || living("c1", &asking).is_empty());
    assert!(begun.elapsed() < Duration::from_secs(20));
    let report = asking.run(&["resume", "c1", "--json"]).exits(0).json();
    let outcomes: Vec<&Value> =
        report["visits"].as_array().unwrap().iter().map(|visit| &visit["outcome"]).collect();
    assert_eq!(outcomes, ["interrupted", "completed"]);
}

#[test]
fn an_interrupt_ends_the_agent_and_keeps_the_cast() {
    let asking =
        Asking::with_claude("setsid sh -c 'touch up; sleep 60' & trap '' TERM; sleep 60; sleep 60");
    let cast = asking.command(&["cast", "--cast-id", "c1", "go"]).spawn().unwrap();
    asking.bench.wait_for("up");
    let pid = rustix::process::Pid::from_raw(i32::try_from(cast.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    finish(cast).exits(130);
    assert_eq!(living("c1", &asking), [] as [String; 0]);
}

/// The processes of a cast in this project.
fn living(id: &str, asking: &Asking) -> Vec<String> {
    let mark = format!("MATERIA_CAST_ID={id}");
    let here = asking.bench.project().canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let found = entries.filter_map(|entry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        environment.split(|byte| *byte == 0).find(|one| *one == mark.as_bytes())?;
        let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
        (cwd == here).then(|| entry.file_name().to_string_lossy().into_owned())
    });
    found.collect()
}
