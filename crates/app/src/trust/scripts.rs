//! The files of the project that its commands run: they are approved along with the commands.

use std::fs::File;
use std::path::{Path, PathBuf};

use materia_compiler::ProjectCommand;

/// A file that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    /// Its path, relative to the project.
    pub(super) path: String,
    /// A hash over its path and bytes.
    pub(super) hash: String,
}

/// The scripts of these commands that lie in the project, each once.
///
/// Of a command these are the program, if it is a path, and the first argument that is a file. What
/// these load in turn is not looked for, and what cannot be read cannot run.
pub(super) fn named(project: &Path, commands: &[ProjectCommand]) -> Vec<Script> {
    let Ok(home) = project.canonicalize() else { return Vec::new() };
    let mut found: Vec<Script> = Vec::new();
    for path in commands.iter().flat_map(|one| files(&home, &one.command)) {
        if let Some(script) = script(&home, &path)
            && !found.contains(&script)
        {
            found.push(script);
        }
    }
    found
}

fn files(home: &Path, command: &[String]) -> Vec<PathBuf> {
    let Some((program, arguments)) = command.split_first() else { return Vec::new() };
    let inside = |word: &String| {
        let path = home.join(word).canonicalize().ok()?;
        (path.is_file() && path.starts_with(home)).then_some(path)
    };
    let program = Some(program).filter(|word| word.contains('/')).and_then(inside);
    let argument = arguments.iter().find(|word| home.join(word).is_file()).and_then(inside);
    program.into_iter().chain(argument).collect()
}

fn script(home: &Path, path: &Path) -> Option<Script> {
    let shown = path.strip_prefix(home).ok()?.to_string_lossy().into_owned();
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-15 trust in a script");
    hasher.update(&(shown.len() as u64).to_le_bytes());
    hasher.update(shown.as_bytes());
    hasher.update_reader(File::open(path).ok()?).ok()?;
    Some(Script { path: shown, hash: hasher.finalize().to_hex().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_and_the_first_file_among_the_arguments_count() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in ["a.py", "b.py", "run.sh"] {
            std::fs::write(home.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("/bin/sh", home.join("out")).unwrap();
        let own = home.join("run.sh").to_string_lossy().into_owned();
        let paths = |words: &[&str]| {
            let command = words.iter().map(|word| (*word).to_owned()).collect();
            let one = ProjectCommand { materia: "m".into(), command, file: "f".into() };
            named(&home, &[one.clone(), one]).into_iter().map(|one| one.path).collect::<Vec<_>>()
        };
        assert_eq!(paths(&["python3", "-u", "a.py", "b.py"]), ["a.py"]);
        assert_eq!(paths(&[&own, "b.py"]), ["run.sh", "b.py"]);
        assert_eq!(paths(&["python3", "-c", "print()"]), [""; 0]);
        assert_eq!(paths(&["/bin/sh", "out"]), [""; 0], "it lies outside");
        let hash = |text: &str| {
            std::fs::write(home.join("a.py"), text).unwrap();
            script(&home, &home.join("a.py")).unwrap().hash
        };
        assert_ne!(hash("one"), hash("two"));
        assert_eq!(hash("one"), hash("one"));
    }
}
