//! Files that are approved by content: files of the project that its programs run, and scripts of answers.

use std::io::{self, Read};
use std::path::Path;

use materia_compiler::Program;
use materia_engine::Pinned;
use materia_runners::{file_hasher, hash_content, open_regular};

use super::command;
use super::fact::{Fact, Kind};

/// How much of a file is kept, so that it can be said what has changed.
const KEPT_BYTES_MAX: u64 = 6_000;
/// The files of these programs that are in the project, each once.
pub(super) fn named<'p>(
    project: &Path,
    programs: impl IntoIterator<Item = &'p Program>,
) -> Vec<Fact> {
    looked_at(project, programs).into_iter().map(|(fact, _)| fact).collect()
}

/// The same, with where each file is.
pub(super) fn looked_at<'p>(
    project: &Path,
    programs: impl IntoIterator<Item = &'p Program>,
) -> Vec<(Fact, Pinned)> {
    let mut found: Vec<(Fact, Pinned)> = Vec::new();
    let mut programs = programs.into_iter().peekable();
    if programs.peek().is_none() {
        return found;
    }
    let Ok(home) = project.canonicalize() else { return found };
    for program in programs {
        for path in command::takes(&home, program).files {
            if let Some(one) = look(&home, &path)
                && !found.contains(&one)
            {
                found.push(one);
            }
        }
    }
    found
}

/// The ways in which a program may run unreviewed code of the project, each once.
pub(super) fn runs_more(project: &Path, program: &Program) -> Vec<String> {
    let Ok(home) = project.canonicalize() else { return Vec::new() };
    let mut takes = command::takes(&home, program);
    takes.look_into_scripts(&home);
    takes.more
}

/// Reads a file again; `name` is the name of its fact.
pub(super) fn again(project: &Path, name: &str) -> Option<Fact> {
    let home = project.canonicalize().ok()?;
    look(&home, &home.join(name)).map(|(fact, _)| fact)
}

/// A file by its path and bytes. A link out of the project is known by its target path only: the target is no part of
/// the project.
fn look(home: &Path, path: &Path) -> Option<(Fact, Pinned)> {
    let leads = path.canonicalize().ok()?;
    let inside = leads.starts_with(home);
    if !inside && !path.starts_with(home) {
        return None;
    }
    let shown = if inside { leads.strip_prefix(home) } else { path.strip_prefix(home) };
    let name = shown.ok()?.to_string_lossy().into_owned();
    let (hash, beginning) = if inside {
        // What cannot be read cannot run; whether it can be read is part of what is known of it.
        materia_runners::content(&leads, &name, KEPT_BYTES_MAX)
    } else {
        let mut hasher = file_hasher(&name);
        hasher.update(leads.to_string_lossy().as_bytes());
        (hasher.finalize().to_hex().to_string(), Vec::new())
    };
    let approved = inside.then(|| hash.clone());
    let pinned = Pinned { path: path.to_owned(), leads, name: name.clone(), hash: approved };
    let text = String::from_utf8_lossy(&beginning);
    Some((Fact::new(Kind::File, &name, hash, &text), pinned))
}

/// A script of answers: the hash of its bytes, and how it begins. It can write files, so it counts like a program.
pub(super) fn answers(path: &Path) -> (String, String) {
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 trust in answers");
    let text = open_regular(path).and_then(|file| content(file, &mut hasher)).unwrap_or_default();
    (hasher.finalize().to_hex().to_string(), text)
}

/// Takes a file into the hash, and gives its beginning where it is text.
pub(super) fn content(file: impl Read, hasher: &mut blake3::Hasher) -> io::Result<String> {
    let start = hash_content(file, KEPT_BYTES_MAX, hasher)?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

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

    /// A project with these files, each with its own name in it.
    fn project(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in names {
            let path = home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        (folder, home)
    }

    fn names(home: &Path, program: &Program) -> Vec<String> {
        named(home, [program, program]).into_iter().map(|fact| fact.name).collect()
    }

    #[test]
    fn whatever_a_program_would_run_counts_and_what_it_reads_does_not() {
        let (_folder, home) = project(&[
            "a.py",
            "b.py",
            "run.sh",
            "notes.md",
            "Makefile",
            "pkg/__main__.py",
            "pkg/sub/x.js",
        ]);
        std::fs::write(home.join("tool"), "#!/bin/sh\n").unwrap();
        std::os::unix::fs::symlink("/bin/sh", home.join("out")).unwrap();
        let own = home.join("run.sh").to_string_lossy().into_owned();
        let of = |words: &[&str]| names(&home, &program(words));
        assert_eq!(of(&["python3", "-u", "a.py", "notes.md"]), ["a.py"]);
        assert_eq!(of(&["python3", "notes.md", "a.py"]), ["notes.md", "a.py"]);
        assert_eq!(of(&["node", "--require=./pkg/sub/x.js", "-e", "1"]), ["pkg/sub/x.js"]);
        assert_eq!(of(&["sh", "-c", "cat notes.md; ./run.sh && ./tool"]), ["run.sh", "tool"]);
        assert_eq!(of(&[&own, "b.py"]), ["run.sh", "b.py"]);
        assert_eq!(of(&["make", "test"]), ["Makefile"]);
        assert_eq!(of(&["python3", "-m", "pkg"]), ["pkg/__main__.py"]);
        assert_eq!(of(&["python3", "-c", "print()"]), [""; 0]);
        assert_eq!(of(&["/bin/sh", "out"]), ["out"], "where it leads is known");
        assert_eq!(of(&["cat", "notes.md"]), [""; 0], "that is only read");
        let mut given = program(&["node", "verify.mjs"]);
        given.params = json!({ "command": ["sh", "run.sh"] }).as_object().unwrap().clone();
        given.env = vec![("BASH_ENV".to_owned(), "./tool".to_owned())];
        assert_eq!(names(&home, &given), ["tool", "run.sh"]);
        let mut elsewhere = program(&["./x.js"]);
        elsewhere.cwd = Some("pkg/sub".to_owned());
        assert_eq!(names(&home, &elsewhere), ["pkg/sub/x.js"]);
    }

    #[test]
    fn files_that_words_and_variables_name_indirectly_count() {
        let (_folder, home) = project(&[
            "env",
            "pre.js",
            "lib/main.js",
            "package.json",
            "conftest.py",
            "sub/Makefile",
            "bin/tool",
            "bin/notes.md",
            "mods/pkg/__init__.py",
            "mods/pkg/__main__.py",
            "hook",
            "plain/index.js",
            "spa ce.sh",
            "build.rs",
            "node_modules/.bin/jest",
            "rules",
        ]);
        std::fs::write(home.join("package.json"), r#"{"main": "lib/main"}"#).unwrap();
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(home.join("bin/tool"), runs).unwrap();
        let of = |words: &[&str]| names(&home, &program(words));
        for (words, expected) in [
            (&["sh", "-c", ". ./env"][..], &["env"][..]),
            (&["bash", "-lc", "source env; true"], &["env"]),
            (&["sh", "-c", "sh -c '. \"./en\"v'"], &["env"]),
            (&["env", "-i", "A=b", "sh", "-c", "eval \"$(cat ./env)\""], &["env"]),
            (&["sh", "-c", "if true; then bash hook; fi"], &["hook"]),
            (&["sh", "-c", "sh <hook"], &["hook"]),
            (&["sh", "-c", "sh 'spa ce.sh'"], &["spa ce.sh"]),
            (&["env", "PATH=./bin", "tool"], &["bin/tool"]),
            (&["sh", "-c", "PATH=$PWD/bin:$PATH; export PATH; tool"], &["bin/tool"]),
            (&["sh", "-c", "export PATH=bin:/bin && tool"], &["bin/tool"]),
            (&["node", "-r", "./pre", "-e", "1"], &["pre.js"]),
            (&["node", "--import=pre", "-e", "1"], &["pre.js"]),
            (&["ruby", "-r./hook", "-e", "1"], &["hook"]),
            (&["node", "."], &["package.json", "lib/main.js"]),
            (&["node", "plain"], &["plain/index.js"]),
            (&["make", "-C", "sub"], &["sub/Makefile"]),
            (&["make", "-f", "rules"], &["rules"]),
            (&["sh", "-c", "cd sub && make t"], &["sub/Makefile"]),
            (&["sudo", "-u", "nobody", "timeout", "5", "pytest"], &["conftest.py"]),
            (&["python3", "-m", "pytest", "-q"], &["conftest.py"]),
            (&["poetry", "run", "pytest"], &["conftest.py"]),
            (&["npx", "jest"], &["package.json", "node_modules/.bin/jest"]),
            (&["cargo", "test"], &["build.rs"]),
        ] {
            assert_eq!(of(words), expected, "{words:?}");
        }
        let with = |name: &str, value: &str| {
            let env = vec![(name.to_owned(), value.to_owned())];
            names(&home, &Program { env, ..program(&["true"]) })
        };
        assert_eq!(with("PATH", "./bin"), ["bin/tool"]);
        assert_eq!(with("PATH", "/bin:bin"), ["bin/tool"]);
        assert_eq!(with("NODE_OPTIONS", "--require=./pre"), ["pre.js"]);
        assert_eq!(
            with("NODE_OPTIONS", &format!("--import file://{}/pre.js", home.display())),
            ["pre.js"]
        );
        assert_eq!(with("GIT_SSH_COMMAND", "sh hook"), ["hook"]);
        assert_eq!(with("LD_PRELOAD", "rules"), ["rules"]);
        assert_eq!(with("BASH_ENV", "env"), ["env"]);
        let modules = Program {
            env: vec![("PYTHONPATH".to_owned(), "mods".to_owned())],
            ..program(&["python3", "-m", "pkg"])
        };
        assert_eq!(names(&home, &modules), ["mods/pkg/__init__.py", "mods/pkg/__main__.py"]);
        let params =
            json!({ "verify": { "runCommand": "cd sub; make" } }).as_object().unwrap().clone();
        assert_eq!(names(&home, &Program { params, ..program(&["true"]) }), ["sub/Makefile"]);
    }

    #[test]
    fn whoever_may_run_more_than_was_looked_at_is_named() {
        let (_folder, home) = project(&["alone.sh", "Makefile", "lib.py", "bin/tool", "more.sh"]);
        std::fs::write(home.join("alone.sh"), "#!/bin/sh\necho done > out\n").unwrap();
        std::fs::write(home.join("calls.sh"), "#!/bin/sh\n. ./more.sh\n").unwrap();
        std::fs::write(home.join("main.py"), "import lib\n").unwrap();
        let of = |words: &[&str]| runs_more(&home, &program(words));
        for words in [
            &["true"][..],
            &["sh", "alone.sh"],
            &["./alone.sh"],
            &["printf", "%s", "out"],
            &["sh", "-c", "echo one; cat Makefile > two"],
            &["node", "join.mjs"],
        ] {
            assert_eq!(of(words), [""; 0], "{words:?}");
        }
        for (words, by) in [
            (&["make", "t"][..], "make"),
            (&["/usr/bin/make"], "make"),
            (&["cargo", "test"], "cargo"),
            (&["some-program"], "some-program"),
            (&["python3", "-c", "import lib"], "python3"),
            (&["python3.12", "-m", "lib"], "python3.12"),
            (&["node", "."], "node"),
            (&["sh"], "sh"),
            (&["sh", "-c", "cat x | sh"], "sh"),
            (&["sh", "-c", "$TOOL"], "$TOOL"),
            (&["sh", "-c", "eval x"], "eval"),
            (&["sh", "calls.sh"], "calls.sh"),
            (&["python3", "main.py"], "main.py"),
            (&["env", "PATH=bin", "tool"], "PATH"),
        ] {
            assert!(of(words).iter().any(|one| one == by), "{words:?}: {:?}", of(words));
        }
        let params = json!({ "command": ["make"] }).as_object().unwrap().clone();
        assert_eq!(
            runs_more(&home, &Program { params, ..program(&["node", "verify.mjs"]) }),
            ["make"]
        );
        let long = vec!["x"; 5_000].join(" ");
        assert!(of(&["sh", "-c", &long]).iter().any(|one| one.contains("than Materia reads")));
    }

    #[test]
    fn another_content_and_another_target_are_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let hash = |text: &str| {
            std::fs::write(home.join("a.py"), text).unwrap();
            look(&home, &home.join("a.py")).unwrap().0.hash
        };
        assert_ne!(hash("one"), hash("two"));
        assert_eq!(hash("one"), hash("one"));
        let long = "x".repeat(7_000);
        assert_ne!(hash(&format!("{long}a")), hash(&format!("{long}b")), "to the last byte");
        let leads = |to: &str| {
            let _ = std::fs::remove_file(home.join("out"));
            std::os::unix::fs::symlink(to, home.join("out")).unwrap();
            look(&home, &home.join("out")).unwrap().0.hash
        };
        assert_ne!(leads("/bin/sh"), leads("/bin/cat"));
    }
}
