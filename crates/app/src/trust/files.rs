//! The files of the project that its programs run: they are approved along with the programs.
//!
//! Looked at are the program, if it is a path; the first argument that is a file; every other word, parameter or
//! variable that names a file which looks like a program; and what a few well-known programs read by themselves.
//! What these load in turn is not looked for.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use materia_compiler::Program;
use serde_json::Value;

use super::fact::{Fact, Kind};

/// Endings of files that are run by something.
const ENDINGS: [&str; 24] = [
    "sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "ts", "mts", "cts", "rb", "pl", "php",
    "lua", "awk", "ps1", "bat", "jar", "mk", "r", "tcl", "wasm", "so",
];
/// Programs that read a file of their own accord, and that file.
const READ_UNASKED: [(&str, &[&str]); 10] = [
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("npm", &["package.json"]),
    ("npx", &["package.json"]),
    ("yarn", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("bun", &["package.json"]),
    ("rake", &["Rakefile", "rakefile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
];
/// How much of a file is kept, so that it can be said what has changed.
const KEPT_BYTES_MAX: u64 = 6_000;
/// The most words that are looked at.
const WORDS_MAX: usize = 4_096;

/// The files of these programs that lie in the project, each once.
pub(super) fn named<'p>(
    project: &Path,
    programs: impl IntoIterator<Item = &'p Program>,
) -> Vec<Fact> {
    let Ok(home) = project.canonicalize() else { return Vec::new() };
    let mut found: Vec<Fact> = Vec::new();
    for program in programs {
        for path in of(&home, program) {
            if let Some(fact) = fact(&home, &path)
                && !found.contains(&fact)
            {
                found.push(fact);
            }
        }
    }
    found
}

fn of(home: &Path, program: &Program) -> Vec<PathBuf> {
    let Some((name, arguments)) = program.command.split_first() else { return Vec::new() };
    let cwd = program.cwd.as_ref().map(|cwd| home.join(cwd));
    let folders: Vec<&Path> = cwd.iter().map(PathBuf::as_path).chain([home]).collect();
    let file = |word: &str| {
        let paths = folders.iter().map(|folder| folder.join(word));
        paths.into_iter().find(|path| !word.is_empty() && path.is_file())
    };
    let mut files = Vec::new();
    if name.contains('/') {
        files.extend(file(name));
    }
    files.extend(arguments.iter().find_map(|word| file(word)));
    let mut words = Vec::new();
    arguments.iter().for_each(|text| split(text, &mut words));
    program.env.iter().for_each(|(_, value)| split(value, &mut words));
    program.params.values().for_each(|value| strings(value, &mut words));
    let likely = words.into_iter().take(WORDS_MAX).filter_map(|word| file(&word));
    files.extend(likely.filter(|path| looks_like_a_program(path)));
    let last = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    for (_, read) in READ_UNASKED.iter().filter(|(known, _)| *known == last) {
        files.extend(read.iter().filter_map(|name| file(name)));
    }
    // `python3 -m name` runs a file that no word names whole.
    let modules = arguments.windows(2).filter(|pair| pair[0] == "-m").map(|pair| &pair[1]);
    for module in modules.map(|module| module.replace('.', "/")) {
        files.extend(file(&format!("{module}.py")));
        files.extend(file(&format!("{module}/__main__.py")));
    }
    files
}

/// The words of a text that may be paths: the text itself, and its parts as a shell or an option would see them.
fn split(text: &str, words: &mut Vec<String>) {
    words.push(text.to_owned());
    let between = |c: char| c.is_whitespace() || "=:;&|()<>'\"`,".contains(c);
    words.extend(text.split(between).filter(|word| !word.is_empty()).map(str::to_owned));
}

fn strings(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) => split(text, words),
        Value::Array(list) => list.iter().for_each(|one| strings(one, words)),
        Value::Object(fields) => fields.values().for_each(|one| strings(one, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn looks_like_a_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let ending = path.extension().and_then(|ending| ending.to_str());
    let runs = path.metadata().is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
    let begins = || {
        let mut start = [0; 2];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && &start == b"#!"
    };
    let known =
        ending.is_some_and(|ending| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()));
    known || runs || begins()
}

/// A file by its path and bytes. One that a link leads to outside is known by where it leads: what lies there is
/// no part of the project.
fn fact(home: &Path, path: &Path) -> Option<Fact> {
    let real = path.canonicalize().ok()?;
    let inside = real.starts_with(home);
    if !inside && !path.starts_with(home) {
        return None;
    }
    let shown = if inside { real.strip_prefix(home) } else { path.strip_prefix(home) };
    let name = shown.ok()?.to_string_lossy().into_owned();
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 trust in a file");
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes());
    let mut text = String::new();
    if inside {
        // What cannot be read cannot run; whether it can be read is part of what is known of it.
        text = File::open(&real).and_then(|file| content(file, &mut hasher)).unwrap_or_default();
    } else {
        hasher.update(real.to_string_lossy().as_bytes());
    }
    Some(Fact::new(Kind::File, &name, hasher.finalize().to_hex().to_string(), &text))
}

/// A script of answers: the hash of its bytes, and how it begins. It can write files, so it counts like a program.
pub(super) fn answers(path: &Path) -> (String, String) {
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 trust in answers");
    let text = File::open(path).and_then(|file| content(file, &mut hasher)).unwrap_or_default();
    (hasher.finalize().to_hex().to_string(), text)
}

/// Takes a file into the hash, and gives its beginning where it is text.
fn content(mut file: File, hasher: &mut blake3::Hasher) -> io::Result<String> {
    let mut start = Vec::new();
    file.by_ref().take(KEPT_BYTES_MAX).read_to_end(&mut start)?;
    hasher.update(&start);
    hasher.update_reader(file)?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn program(words: &[&str]) -> Program {
        Program {
            by: "m".to_owned(),
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            params: serde_json::Map::new(),
            env: Vec::new(),
            cwd: None,
        }
    }

    #[test]
    fn whatever_a_program_would_run_counts_and_what_it_reads_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("pkg/sub")).unwrap();
        for name in
            ["a.py", "b.py", "run.sh", "notes.md", "Makefile", "pkg/__main__.py", "pkg/sub/x.js"]
        {
            std::fs::write(home.join(name), name).unwrap();
        }
        std::fs::write(home.join("tool"), "#!/bin/sh\n").unwrap();
        std::os::unix::fs::symlink("/bin/sh", home.join("out")).unwrap();
        let own = home.join("run.sh").to_string_lossy().into_owned();
        let names = |one: Program| {
            named(&home, &[one.clone(), one]).into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        let of = |words: &[&str]| names(program(words));
        assert_eq!(of(&["python3", "-u", "a.py", "notes.md"]), ["a.py"]);
        assert_eq!(of(&["python3", "notes.md", "a.py"]), ["notes.md", "a.py"]);
        assert_eq!(of(&["node", "--require=./pkg/sub/x.js", "-e", "1"]), ["pkg/sub/x.js"]);
        assert_eq!(of(&["sh", "-c", "cat notes.md; ./run.sh && ./tool"]), ["run.sh", "tool"]);
        assert_eq!(of(&[&own, "b.py"]), ["run.sh", "b.py"]);
        assert_eq!(of(&["make", "test"]), ["Makefile"]);
        assert_eq!(of(&["python3", "-m", "pkg"]), ["pkg/__main__.py"]);
        assert_eq!(of(&["python3", "-c", "print()"]), [""; 0]);
        assert_eq!(of(&["/bin/sh", "out"]), ["out"], "where it leads is known");
        let mut given = program(&["node", "verify.mjs"]);
        given.params = json!({ "command": ["sh", "run.sh"] }).as_object().unwrap().clone();
        given.env = vec![("BASH_ENV".to_owned(), "./tool".to_owned())];
        assert_eq!(names(given), ["tool", "run.sh"]);
        let mut elsewhere = program(&["./x.js"]);
        elsewhere.cwd = Some("pkg/sub".to_owned());
        assert_eq!(names(elsewhere), ["pkg/sub/x.js"]);
    }

    #[test]
    fn another_content_and_another_target_are_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let hash = |text: &str| {
            std::fs::write(home.join("a.py"), text).unwrap();
            fact(&home, &home.join("a.py")).unwrap().hash
        };
        assert_ne!(hash("one"), hash("two"));
        assert_eq!(hash("one"), hash("one"));
        let long = "x".repeat(7_000);
        assert_ne!(hash(&format!("{long}a")), hash(&format!("{long}b")), "to the last byte");
        let leads = |to: &str| {
            let _ = std::fs::remove_file(home.join("out"));
            std::os::unix::fs::symlink(to, home.join("out")).unwrap();
            fact(&home, &home.join("out")).unwrap().hash
        };
        assert_ne!(leads("/bin/sh"), leads("/bin/cat"));
    }
}
