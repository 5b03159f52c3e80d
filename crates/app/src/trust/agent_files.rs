//! Files of a project from which an agent takes commands, hooks and servers. They need approval like programs.
//!
//! Covers everything in the agents' folders ([`AGENT_FOLDERS`]) and files of the same kind, in the project and in the
//! folders above it up to the top of its repository. The user's own home is excluded.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use materia_compiler::{AGENT_FILES, AGENT_FOLDERS, NOT_OF_AGENTS};
use serde::Serialize;

use super::fact::{Fact, Kind};
use super::files;
use crate::text::sanitize;
use crate::{Failure, Result};

/// The most files, and the most bytes in them, that are looked at.
const FILES_MAX: usize = 2_000;
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How many of them are kept with their words, so that it can be said what has changed.
const KEPT_MAX: usize = 100;
/// How much of a file is shown.
const BEGINNING_CHARS_MAX: usize = 240;
/// Name of the list of all these files.
const LIST: &str = "files that agents read";

/// A file that agents would read, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFile {
    /// Its path, from the project.
    pub path: String,
    /// Where it leads, if a link is on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
    /// How it begins, on one line.
    pub begins: String,
}

impl AgentFile {
    pub(super) fn line(&self) -> String {
        let path = sanitize::one_line(&self.path, usize::MAX);
        let leads = self.leads.as_ref().map(|to| sanitize::one_line(to, usize::MAX));
        let leads = leads.map(|to| format!(", a link to {to}")).unwrap_or_default();
        format!("{path}{leads}, {} bytes: “{}”", self.bytes, self.begins)
    }
}

/// All such files.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<AgentFile>,
    /// Facts to approve: the list, and the first files one by one.
    pub(super) facts: Vec<Fact>,
}

/// The files that agents would read in a project, which is a real path. `casts` is where its casts are kept.
pub(super) fn of(project: &Path, casts: &Path, home: Option<&Path>) -> Result<Found> {
    let home = home.and_then(|home| home.canonicalize().ok());
    let mut walk = Walk { casts, seen: BTreeSet::new(), bytes: 0, found: Vec::new() };
    for (steps, folder) in folders(project).into_iter().enumerate() {
        if Some(folder) == home.as_deref() {
            continue;
        }
        for name in AGENT_FOLDERS.iter().chain(&AGENT_FILES) {
            let shown = format!("{}{name}", "../".repeat(steps));
            walk.look(&folder.join(name), shown)?;
        }
    }
    let mut found = walk.found;
    // Files nearest to the root come first; the order must not depend on the order of directory entries.
    found.sort_by(|a, b| (a.depth(), &a.file.path).cmp(&(b.depth(), &b.file.path)));
    let mut facts = vec![list(&found)];
    facts.extend(
        found
            .iter()
            .take(KEPT_MAX)
            .map(|one| Fact::new(Kind::AgentFile, &one.file.path, one.hash.clone(), &one.text)),
    );
    Ok(Found { files: found.into_iter().map(|one| one.file).collect(), facts })
}

/// The project, and the folders above it up to the top of its repository.
fn folders(project: &Path) -> Vec<&Path> {
    let top = project.ancestors().position(|folder| folder.join(".git").symlink_metadata().is_ok());
    project.ancestors().take(top.map_or(1, |steps| steps + 1)).collect()
}

/// The list of all files. With it, a file that went is seen; those that are not kept by themselves are
/// in it with their content.
fn list(found: &[One]) -> Fact {
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-17 files of agents");
    let mut lines = Vec::new();
    for (at, one) in found.iter().enumerate() {
        let mut line = one.file.path.clone();
        if at >= KEPT_MAX {
            line = format!("{line} ({})", &one.hash[..16]);
            hasher.update(one.hash.as_bytes());
        }
        hasher.update(&(line.len() as u64).to_le_bytes());
        hasher.update(line.as_bytes());
        lines.push(line);
    }
    Fact::new(Kind::AgentFiles, LIST, hasher.finalize().to_hex().to_string(), &lines.join("\n"))
}

/// A file with what is known of it.
struct One {
    file: AgentFile,
    hash: String,
    text: String,
}

impl One {
    fn depth(&self) -> usize {
        self.file.path.matches('/').count()
    }
}

struct Walk<'a> {
    casts: &'a Path,
    /// Folders that were entered, by device and number: a link can lead back.
    seen: BTreeSet<(u64, u64)>,
    bytes: u64,
    found: Vec<One>,
}

impl Walk<'_> {
    fn look(&mut self, path: &Path, shown: String) -> Result<()> {
        let mut left = vec![(path.to_owned(), shown)];
        while let Some((path, shown)) = left.pop() {
            if self.is_excepted(&path, &shown) {
                continue;
            }
            let Ok(found) = path.symlink_metadata() else { continue };
            let leads = found.is_symlink().then(|| leads(&path));
            // A dangling link becomes valid as soon as its target is created.
            let Ok(found) = path.metadata() else {
                self.add(&path, shown, leads, None)?;
                continue;
            };
            if found.is_file() {
                self.add(&path, shown, leads, Some(found.len()))?;
            } else if !found.is_dir() {
                return Err(refused(&shown, "is neither a file nor a folder"));
            } else {
                if leads.is_some() {
                    self.add(&path, format!("{shown}/"), leads, None)?;
                }
                if self.seen.insert((found.dev(), found.ino())) {
                    left.extend(self.entries(&path, &shown)?);
                }
            }
        }
        Ok(())
    }

    /// Casts are no settings. The whole folder of an agent is never taken for the folder of the casts.
    fn is_excepted(&self, path: &Path, shown: &str) -> bool {
        let below = shown.trim_start_matches("../");
        NOT_OF_AGENTS.contains(&below) || (path == self.casts && below.contains('/'))
    }

    fn entries(&self, folder: &Path, shown: &str) -> Result<Vec<(PathBuf, String)>> {
        // An agent has the same rights: what cannot be read here, it cannot read either.
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let named = |entry: std::fs::DirEntry| {
            let name = entry.file_name();
            (entry.path(), format!("{shown}/{}", name.to_string_lossy()))
        };
        let mut entries: Vec<_> = entries.take(FILES_MAX + 1).map(named).collect();
        if entries.len() > FILES_MAX || self.seen.len() > FILES_MAX {
            return Err(too_much(shown));
        }
        entries.sort();
        Ok(entries)
    }

    fn add(
        &mut self,
        path: &Path,
        shown: String,
        leads: Option<String>,
        bytes: Option<u64>,
    ) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes.unwrap_or(0));
        if self.bytes > BYTES_MAX || self.found.len() >= FILES_MAX {
            return Err(too_much(&shown));
        }
        let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-17 a file of an agent");
        let name = path.as_os_str().as_bytes();
        for part in [name, leads.as_deref().unwrap_or_default().as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let text = match read(path, bytes, &mut hasher) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(refused(&shown, "is neither a file nor a folder"));
            }
            Err(error) => {
                hasher.update(error.to_string().as_bytes());
                String::new()
            }
        };
        let begins = sanitize::one_line(&text, BEGINNING_CHARS_MAX);
        let file = AgentFile { path: shown, leads, bytes: bytes.unwrap_or(0), begins };
        self.found.push(One { file, hash: hasher.finalize().to_hex().to_string(), text });
        Ok(())
    }
}

fn read(path: &Path, bytes: Option<u64>, hasher: &mut blake3::Hasher) -> io::Result<String> {
    let Some(_) = bytes else { return Err(io::Error::from(io::ErrorKind::NotFound)) };
    let file = materia_runners::open_regular(path)?;
    files::content(file.take(BYTES_MAX), hasher)
}

/// Where a link leads: to its end where that is there, otherwise as it says.
fn leads(path: &Path) -> String {
    let end = path.canonicalize().or_else(|_| std::fs::read_link(path));
    end.map(|end| end.to_string_lossy().into_owned()).unwrap_or_default()
}

fn refused(shown: &str, what: &str) -> Failure {
    Failure::resolution(format!(
        "`{}` {what}, and agents would read it: remove it or move it away",
        sanitize::one_line(shown, 300)
    ))
}

fn too_much(shown: &str) -> Failure {
    Failure::resolution(format!(
        "agents would read more files of this project than Materia can check ({FILES_MAX} files, {} MiB), at `{}`: \
         remove the files that no agent needs from this folder",
        BYTES_MAX / (1024 * 1024),
        sanitize::one_line(shown, 300)
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    struct Place {
        _folder: tempfile::TempDir,
        top: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            Self { _folder: folder, top }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn of(&self, project: &str) -> Result<Found> {
            let project = self.top.join(project);
            of(&project, &project.join(".pi/pi-materia"), Some(&self.top.join("home")))
        }

        fn paths(&self, project: &str) -> Vec<String> {
            self.of(project).unwrap().files.into_iter().map(|file| file.path).collect()
        }

        fn facts(&self, project: &str) -> Vec<Fact> {
            self.of(project).unwrap().facts
        }
    }

    #[test]
    fn everything_that_agents_read_counts_up_to_the_top_of_the_repository() {
        let place = Place::new();
        for path in [
            "repo/.git/HEAD",
            "repo/.mcp.json",
            "repo/.claude/settings.json",
            "repo/a/.codex/config.toml",
            "repo/a/b/.gemini/x/y.json",
            "repo/a/b/.pi/extensions/e.ts",
            "repo/a/b/CLAUDE.md",
            "repo/a/b/AGENTS.md",
            "repo/a/b/.pi/pi-materia/journal.db",
            "repo/a/b/.pi/pi-materia.json",
            ".claude/settings.json",
            "repo/a/b/.pi/extensions/pi-materia/e.ts",
            "repo/a/b/sub/.claude/settings.json",
        ] {
            place.write(path, path);
        }
        let expected = [
            "../../.mcp.json",
            "../.codex/config.toml",
            ".gemini/x/y.json",
            ".pi/extensions/e.ts",
            "../../.claude/settings.json",
            ".pi/extensions/pi-materia/e.ts",
        ];
        let mut paths = place.paths("repo/a/b");
        paths.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(paths, expected);
        // Without a repository the project alone counts; a home is its user's.
        place.write("home/.claude/settings.json", "{}");
        assert_eq!(place.paths("home"), [""; 0]);
        place.write("home/code/.mcp.json", "{}");
        place.write("home/.git/HEAD", "");
        assert_eq!(place.paths("home/code"), [".mcp.json"]);
    }

    #[test]
    fn what_comes_changes_or_goes_is_another_fact() {
        let place = Place::new();
        place.write("p/.claude/settings.json", "{}");
        let before = place.facts("p");
        assert_eq!(before, place.facts("p"));
        place.write("p/.claude/settings.json", "{ }");
        let changed = place.facts("p");
        assert_eq!(before[0], changed[0], "the list is the same");
        assert_ne!(before[1].hash, changed[1].hash);
        place.write("p/.claude/hooks/x", "x");
        let came = place.facts("p");
        assert_ne!(changed[0].hash, came[0].hash);
        fs::remove_dir_all(place.top.join("p/.claude/hooks")).unwrap();
        assert_eq!(place.facts("p"), changed);
        // Of many files, those behind the first ones are in the list with their content.
        for n in 0..150 {
            place.write(&format!("p/.claude/skills/{n:03}"), "x");
        }
        let many = place.facts("p");
        assert_eq!(many.len(), 1 + KEPT_MAX);
        place.write("p/.claude/skills/149", "y");
        assert_ne!(many[0].hash, place.facts("p")[0].hash);
    }

    #[test]
    fn links_are_known_by_where_they_lead_and_by_what_is_there() {
        let place = Place::new();
        place.write("p/x", "");
        place.write("out/settings.json", "one");
        place.write("out/deep/hook.sh", "one");
        symlink(place.top.join("out"), place.top.join("p/.claude")).unwrap();
        symlink("../p", place.top.join("out/deep/round")).unwrap();
        symlink("missing", place.top.join("p/.mcp.json")).unwrap();
        let before = place.facts("p");
        let files = place.of("p").unwrap().files;
        let leads = |path: &str| {
            files
                .iter()
                .find(|file| file.path == path)
                .unwrap_or_else(|| panic!("{path}: {files:?}"))
                .leads
                .clone()
        };
        assert_eq!(leads(".mcp.json").as_deref(), Some("missing"));
        assert!(files.iter().any(|file| file.path == ".claude/deep/hook.sh"), "{files:?}");
        place.write("out/deep/hook.sh", "two");
        assert_ne!(before, place.facts("p"));
    }

    #[test]
    fn what_is_no_file_and_what_is_too_much_is_refused() {
        let place = Place::new();
        place.write("p/.claude/a", "");
        let pipe = place.top.join("p/.claude/pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let said = place.of("p").unwrap_err().to_string();
        assert!(said.contains("`.claude/pipe` is neither a file nor a folder"), "{said}");
        fs::remove_file(&pipe).unwrap();
        symlink("/dev/zero", &pipe).unwrap();
        assert!(place.of("p").unwrap_err().to_string().contains(".claude/pipe"));
        fs::remove_file(&pipe).unwrap();
        fs::File::create(&pipe).unwrap().set_len(1 << 40).unwrap();
        assert!(place.of("p").unwrap_err().to_string().contains("64 MiB"));
        fs::remove_file(&pipe).unwrap();
        for n in 0..=FILES_MAX {
            place.write(&format!("p/.claude/{}/{n}", n % 7), "");
        }
        assert!(place.of("p").unwrap_err().to_string().contains("2000 files"));
    }
}
