//! Everyday tools work under every restriction: git, cargo, npm, pytest, node.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::people::skipped;
use super::turns::{confines, project};

/// Each works in a temporary folder and says `well done` at its end.
const WORKS: [(&str, &str); 5] = [
    (
        "git",
        "git init -q r; cd r; git config user.name T; git config user.email t@example.org
echo one > a; git add a; git commit -q -m first; echo two >> a; git status --short | grep -q 'M a'
git diff | grep -q '^+two'; git commit -q -a -m second; git log --oneline | wc -l | grep -q 2
git clone -q . ../c; git -C ../c log --oneline >/dev/null; git gc -q; git stash list",
    ),
    (
        "cargo",
        "export CARGO_HOME=$PWD/home CARGO_TARGET_DIR=$PWD/target; mkdir -p p/src; cd p
printf '[package]\\nname = \"tiny\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml
printf 'fn main() { std::thread::spawn(|| println!(\"built\")).join().unwrap() }\\n#[test] fn t() {}\\n' > src/main.rs
cargo build --offline -q; cargo run --offline -q | grep -q built; cargo test --offline -q",
    ),
    (
        "npm",
        "export npm_config_cache=$PWD/cache npm_config_update_notifier=false; npm --version
printf '{\"name\":\"p\",\"version\":\"1.0.0\",\"scripts\":{\"x\":\"node -p 6*7\"}}' > package.json
npm run --silent x | grep -q 42; npm pack --silent | grep -q p-1.0.0.tgz; npm install --offline --silent --no-audit ./p-1.0.0.tgz --prefix q",
    ),
    (
        "pytest",
        "printf 'import subprocess, threading\\ndef test_it(tmp_path):\\n    (tmp_path / \"f\").write_text(\"x\")\\n    assert subprocess.check_output([\"echo\", \"1\"]) == b\"1\\\\n\"\\n    t = threading.Thread(target=print); t.start(); t.join()\\n' > test_it.py
python3 -m pytest -q test_it.py | grep -q '1 passed'",
    ),
    (
        "node",
        "cat > m.mjs <<'X'
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { execFileSync, spawn } from 'node:child_process';
import { createServer, connect } from 'node:net';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
if (!isMainThread) { parentPort.postMessage(1); }
else {
  await new Promise((done) => new Worker(fileURLToPath(import.meta.url)).on('message', done));
  if (execFileSync('echo', ['2']).toString() !== '2\\n') throw 1;
  await new Promise((done) => spawn('sh', ['-c', 'cat'], { stdio: ['ignore', 'pipe', 'inherit'] }).on('close', done));
  await fs.promises.writeFile('f', 'x'); await fs.promises.cp('f', 'g'); fs.watch('f').close();
  const server = createServer((c) => c.end('hi')).listen('./socket');
  await new Promise((done) => connect('./socket').on('data', done));
  server.close();
}
X
node m.mjs",
    ),
];

/// The bounds under which everything must work.
fn modes() -> [(&'static str, Value); 4] {
    [
        ("Planning", json!({})),
        ("policy.write", json!({ "write": ["out"] })),
        ("policy.network", json!({ "network": false })),
        ("none", json!({})),
    ]
}

/// The variables by which a program finds what it is installed with, although the home is another.
fn tools() -> Vec<(&'static str, String)> {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let given = std::env::var("RUSTUP_HOME").ok();
    let usual = home.join(".rustup").to_str().map(str::to_owned);
    let rustup = given.or(usual.filter(|folder| fs::exists(folder).unwrap_or(false)));
    rustup.map(|folder| ("RUSTUP_HOME", folder)).into_iter().collect()
}

fn is_there(program: &str) -> bool {
    let words = if program == "pytest" {
        vec!["python3", "-m", "pytest", "--version"]
    } else {
        vec![program, "--version"]
    };
    let tried = Command::new(words[0]).args(&words[1..]).output();
    let there = tried.is_ok_and(|tried| tried.status.success());
    if !there {
        skipped(&format!("{program} is not installed"));
    }
    there
}

#[test]
fn real_work_goes_on_under_every_bound() {
    let tools = tools();
    let env: Vec<(&str, &str)> =
        tools.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for (program, script) in WORKS {
        if !is_there(program) {
            continue;
        }
        for (mode, policy) in modes() {
            if mode != "none" && !confines() {
                continue;
            }
            let script = format!("set -e; cd \"$(mktemp -d)\"\n{script}\necho well done");
            let stage = project(&script, &json!({ "socket": { "policy": policy } }));
            let mut args = vec!["cast", "--trust", "--cast-id", "c1", "go"];
            if mode == "Planning" {
                args.insert(1, "--planning");
            }
            let ran = stage.run_with(&args, &env);
            assert_eq!(ran.exit, 0, "{program} under {mode}: {ran:?}");
            let said = stage.path("project/.materia/c1/sockets/a/1-1.stdout");
            let said = fs::read_to_string(said).unwrap();
            assert!(said.ends_with("well done\n"), "{program} under {mode}: {said}");
        }
    }
}
