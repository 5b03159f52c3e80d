//! Makes a configured command ready to run: script paths absolute, program looked up.
//!
//! Deliberately absent: any search for scripts that the command does not name, and any shell.

use std::path::{Component, Path, PathBuf};

/// The folder of a configuration file has a name that no argument can hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FolderNotText;

/// Resolves the one path of a command that is meant relative to the file it is written in:
/// the program if it is relative and has a `/`, else the first argument that names an existing
/// file under that file's folder. The process itself runs in the project.
pub(crate) fn resolve(
    command: &[String],
    folder: Option<&Path>,
) -> Result<Vec<String>, FolderNotText> {
    let mut command = command.to_vec();
    let (Some(folder), Some((program, arguments))) = (folder, command.split_first_mut()) else {
        return Ok(command);
    };
    let path = Path::new(program.as_str());
    let relative = if path.is_relative() && program.contains('/') {
        Some(program)
    } else {
        arguments.iter_mut().find(|argument| is_file_under(folder, argument))
    };
    if let Some(relative) = relative {
        *relative = absolute(folder, relative)?;
    }
    Ok(command)
}

fn absolute(folder: &Path, relative: &str) -> Result<String, FolderNotText> {
    let path: PathBuf = folder.join(relative).components().collect();
    path.into_os_string().into_string().map_err(|_| FolderNotText)
}

/// Whether the argument names a file in the folder or below it, links followed.
fn is_file_under(folder: &Path, argument: &str) -> bool {
    let path = Path::new(argument);
    if argument.is_empty() || !stays_inside(path) {
        return false;
    }
    let (Ok(file), Ok(folder)) = (folder.join(path).canonicalize(), folder.canonicalize()) else {
        return false;
    };
    file.is_file() && file.starts_with(folder)
}

/// Whether a path, joined to a folder, stays in it as far as its words say.
pub(crate) fn stays_inside(path: &Path) -> bool {
    let mut depth = 0_i64;
    path.components().all(|component| {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => return false,
        }
        depth >= 0
    })
}

/// Whether the program of a resolved command can be started as far as one can see.
pub(crate) fn is_program(program: &str) -> bool {
    let path = std::env::var_os("PATH");
    materia_contract::program_places(program, path.as_deref()).iter().any(|at| is_executable(at))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(folder: &Path, words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        resolve(&words, Some(folder)).unwrap()
    }

    #[test]
    fn one_path_is_made_absolute_and_everything_else_is_left_alone() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("config");
        std::fs::create_dir_all(folder.join("scripts")).unwrap();
        for file in ["scripts/a.py", "scripts/b.py", "../outer.py"] {
            std::fs::write(folder.join(file), "").unwrap();
        }
        let inside = |path: &str| folder.join(path).to_str().unwrap().to_owned();
        let a = inside("scripts/a.py");

        assert_eq!(resolved(&folder, &["./scripts/a.py", "x"]), [a.as_str(), "x"]);
        assert_eq!(
            resolved(&folder, &["tools/none", "scripts/a.py"]),
            [inside("tools/none").as_str(), "scripts/a.py"],
            "the program counts, whether it exists or not"
        );
        assert_eq!(
            resolved(&folder, &["python3", "-u", "scripts/a.py", "scripts/b.py"]),
            ["python3", "-u", &a, "scripts/b.py"],
            "only the first argument that is a file"
        );
        for left_alone in [
            ["python3", "scripts"],
            ["python3", "../outer.py"],
            ["python3", "scripts/../../outer.py"],
            ["python3", "missing.py"],
            ["/bin/sh", "-c"],
            ["python3", ""],
        ] {
            assert_eq!(resolved(&folder, &left_alone), left_alone);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_of_the_folder_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("config");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(outside.path().join("outer.py"), "").unwrap();
        std::os::unix::fs::symlink("../outer.py", folder.join("link.py")).unwrap();
        assert_eq!(resolved(&folder, &["python3", "link.py"]), ["python3", "link.py"]);
    }

    #[test]
    fn programs_are_found_on_the_path_or_by_path() {
        assert!(is_program("sh"));
        assert!(is_program("/bin/sh"));
        assert!(!is_program("no-such-program-anywhere"));
        assert!(!is_program("/bin"), "a folder is no program");
        assert!(!is_program(""), "nothing is no program");
    }
}
