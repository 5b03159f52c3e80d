//! Warnings about a configuration that a person has been shown before. The user's state folder keeps their hashes.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use materia_contract::{Finding, Severity};

use crate::Project;

const FILE: &str = "shown-warnings";
/// How many warnings are remembered; the oldest are forgotten first.
const KEPT_MAX: usize = 1_000;
/// How many characters of a hash are kept.
const HASH_CHARS: usize = 32;

/// Whether each of these findings is a warning that was shown before in this project. What cannot be read was not.
pub fn before(project: &Project, findings: &[Finding]) -> Vec<bool> {
    let kept = project.state_dir.as_deref().map(read).unwrap_or_default();
    let kept: HashSet<&str> = kept.lines().collect();
    findings.iter().map(|one| name(project, one).is_some_and(|it| kept.contains(&*it))).collect()
}

/// Remembers the warnings among these findings. Where that fails they are shown once more, and nothing else happens.
pub fn remember<'a>(project: &Project, findings: impl Iterator<Item = &'a Finding>) {
    let new: Vec<String> = findings.filter_map(|finding| name(project, finding)).collect();
    if let Some(state) = project.state_dir.as_deref().filter(|_| !new.is_empty()) {
        let _ = add(state, &new);
    }
}

/// The name of a warning: a hash over the project and all it says, but for the line, which changes with those above.
fn name(project: &Project, finding: &Finding) -> Option<String> {
    let Finding { code, severity, message, help, file, pointer, line: _, column: _ } = finding;
    if *severity != Severity::Warning {
        return None;
    }
    let said = serde_json::to_vec(&(&project.dir, code, message, help, file, pointer)).ok()?;
    Some(blake3::hash(&said).to_hex()[..HASH_CHARS].to_owned())
}

fn read(state: &Path) -> String {
    let mut text = String::new();
    let bytes_max = KEPT_MAX * (HASH_CHARS + 1);
    let file = fs::File::open(state.join(FILE));
    let read = file.and_then(|it| it.take(bytes_max as u64).read_to_string(&mut text));
    read.map(|_| text).unwrap_or_default()
}

fn add(state: &Path, new: &[String]) -> io::Result<()> {
    let kept = read(state);
    let all: Vec<&str> = kept.lines().chain(new.iter().map(String::as_str)).collect();
    let all = &all[all.len().saturating_sub(KEPT_MAX)..];
    DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    let beside = state.join(format!("{FILE}.{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    let written = file
        .write_all(format!("{}\n", all.join("\n")).as_bytes())
        .and_then(|()| fs::rename(&beside, state.join(FILE)));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
