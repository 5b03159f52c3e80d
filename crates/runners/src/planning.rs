//! Folder that turns may write to in Planning mode; creates and checks it.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use materia_engine::TurnJob;
use materia_safe_fs::Folder;

/// Why the doc root cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DocRootError {
    /// It is absolute, or climbs.
    #[error("the doc root `{0}` must be a folder inside the project")]
    NotInside(String),
    /// A symbolic link leads it out of the project.
    #[error("the doc root `{0}` leads out of the project through a symbolic link")]
    LeadsOut(String),
    /// A turn that may write there could write more than documents.
    #[error("the doc root `{0}` {1}; name another folder in `docRoot`")]
    Unfit(String, &'static str),
    /// The file system refused.
    #[error("the doc root `{0}` cannot be used: {1}")]
    Io(String, #[source] io::Error),
}

/// Names that a folder of documents may not contain or be inside: repositories, and journals.
const KEPT: [&str; 2] = [".git", "journal.db"];
/// Folders in which casts are kept.
const CASTS: [&str; 2] = [".materia", ".pi"];

/// The real path of the doc root, which need not exist yet. Call it before each turn: the turn before may have changed
/// it.
///
/// A repository could ship `docs` as a link to its own `.git`. So no part of the path may be a link, and the folder
/// may contain no repository and no journal.
pub(crate) fn doc_root(cwd: &Path, doc_root: &str) -> Result<PathBuf, DocRootError> {
    let real = inside(cwd, doc_root)?;
    let unfit = |what| DocRootError::Unfit(doc_root.to_owned(), what);
    let mut way =
        cwd.canonicalize().map_err(|error| DocRootError::Io(doc_root.to_owned(), error))?;
    if real == way {
        return Err(unfit("is the project itself"));
    }
    for part in Path::new(doc_root).components() {
        let Component::Normal(name) = part else { continue };
        let is = |kept: &str| name.eq_ignore_ascii_case(kept);
        if is(".git") {
            return Err(unfit("belongs to a repository"));
        }
        way.push(name);
        let at = way.symlink_metadata();
        if at.as_ref().is_ok_and(fs::Metadata::is_symlink) {
            return Err(unfit("is a link, or lies behind one"));
        }
        if at.is_ok_and(|found| !found.is_dir()) {
            return Err(unfit("is no folder"));
        }
        if CASTS.iter().any(|kept| is(kept)) || way.join("journal.db").symlink_metadata().is_ok() {
            return Err(unfit("is where casts are kept"));
        }
    }
    if holds(&way) {
        return Err(unfit("holds a repository or a journal"));
    }
    Ok(real)
}

/// Whether a folder contains entries that a turn in Planning mode must not write.
fn holds(folder: &Path) -> bool {
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if KEPT.iter().any(|kept| entry.file_name().eq_ignore_ascii_case(kept)) {
                return true;
            }
            // Links are not followed: their targets are not writable either.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(entry.path());
            }
        }
    }
    false
}

/// The real path of a folder inside the project, which need not exist yet.
pub(crate) fn inside(cwd: &Path, doc_root: &str) -> Result<PathBuf, DocRootError> {
    let relative = Path::new(doc_root);
    if !is_plain(relative) {
        return Err(DocRootError::NotInside(doc_root.to_owned()));
    }
    let failed = |error| DocRootError::Io(doc_root.to_owned(), error);
    let project = cwd.canonicalize().map_err(failed)?;
    let real = resolve(&project.join(relative)).map_err(failed)?;
    if real.starts_with(&project) {
        Ok(real)
    } else {
        Err(DocRootError::LeadsOut(doc_root.to_owned()))
    }
}

/// The real path of the doc root, which is created where it is missing.
pub(crate) fn make_doc_root(cwd: &Path, name: &str) -> Result<PathBuf, DocRootError> {
    made(cwd, doc_root(cwd, name)?, name)
}

/// The real path of a folder inside the project, likewise.
pub(crate) fn make_inside(cwd: &Path, name: &str) -> Result<PathBuf, DocRootError> {
    made(cwd, inside(cwd, name)?, name)
}

/// Makes sure that no file that a turn may write is a file elsewhere too, as a hard link is: no sandbox of paths can
/// tell. Gives back what there is to say about it; an error means that the turn must not run.
pub(crate) fn make_own(job: &TurnJob, roots: &[PathBuf]) -> Result<Option<String>, String> {
    let cwd = &job.cwd;
    let made = materia_safe_fs::make_own(roots).map_err(|error| error.to_string())?;
    let Some((first, more)) = made.split_first() else { return Ok(None) };
    let project = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let first = first.strip_prefix(&project).unwrap_or(first).display().to_string();
    let first = first.escape_debug();
    let note = match more.len() {
        0 => format!("`{first}` had a second name elsewhere and is a file of its own now"),
        more => format!(
            "`{first}` and {more} more had second names elsewhere and are files of their own now"
        ),
    };
    job.control.live.say(&format!("{note}\n"));
    Ok(Some(note))
}

/// Makes a folder whose path was resolved already; a link that has come in between is not followed.
fn made(cwd: &Path, real: PathBuf, name: &str) -> Result<PathBuf, DocRootError> {
    if real.symlink_metadata().is_ok() {
        return Ok(real);
    }
    let make = || {
        let project = cwd.canonicalize()?;
        match real.strip_prefix(&project) {
            Ok(within) => Folder::at(&project)?.for_umask().make_folder(within),
            Err(_) => Err(io::ErrorKind::NotFound.into()),
        }
    };
    make().map_err(|error| DocRootError::Io(name.to_owned(), error))?;
    Ok(real)
}

/// Whether a path leads only downwards, and somewhere.
pub(crate) fn is_plain(path: &Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        && !path.as_os_str().is_empty()
}

/// The real path of `path`: links are followed as far as it exists, the rest is as written.
///
/// A dangling link is an error: a file created through it would be elsewhere.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    for ancestor in path.ancestors() {
        match fs::symlink_metadata(ancestor) {
            Ok(_) => {
                let missing = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
                // Joined part by part, for joining nothing would append a separator.
                let mut real = ancestor.canonicalize()?;
                real.extend(missing);
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_root_is_created_inside_the_project_only() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        fs::create_dir(&project).unwrap();
        assert!(!doc_root(&project, "docs/deep").unwrap().exists());
        let made = make_doc_root(&project, "docs/deep").unwrap();
        assert!(made.is_dir() && made.ends_with("project/docs/deep"));

        for bad in ["", "..", "../x", "docs/../..", "/tmp"] {
            assert!(matches!(doc_root(&project, bad), Err(DocRootError::NotInside(_))), "{bad}");
        }
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, project.join("out")).unwrap();
        assert!(matches!(doc_root(&project, "out"), Err(DocRootError::LeadsOut(_))));
        assert!(matches!(make_doc_root(&project, "out/new"), Err(DocRootError::LeadsOut(_))));
        assert!(!outside.join("new").exists());
        std::os::unix::fs::symlink(dir.path().join("nowhere"), project.join("gone")).unwrap();
        assert!(doc_root(&project, "gone").is_err());
    }

    #[test]
    fn where_more_than_documents_lies_is_no_doc_root() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        for folder in [".git/hooks", "docs/theme", "src", ".materia/c1", "kept/c1", "mine"] {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
        fs::write(project.join("kept/journal.db"), "").unwrap();
        fs::write(project.join("file"), "").unwrap();
        let link =
            |to: &str, name: &str| std::os::unix::fs::symlink(to, project.join(name)).unwrap();
        link(".git", "linked");
        link("src", "elsewhere");
        let unfit = |name: &str| matches!(doc_root(&project, name), Err(DocRootError::Unfit(..)));
        for bad in [
            ".",
            "./.",
            ".git",
            ".git/hooks",
            ".GIT",
            "./.git",
            "linked",
            "linked/hooks",
            "elsewhere",
            "elsewhere/deep",
            ".materia",
            ".materia/c1",
            ".pi/pi-materia",
            "kept",
            "kept/c1",
            "file",
        ] {
            assert!(unfit(bad), "{bad}: {:?}", doc_root(&project, bad));
        }
        for good in ["docs", "src", "./docs/theme", "docs/new/deep"] {
            assert!(doc_root(&project, good).is_ok(), "{good}");
        }
        fs::write(project.join("docs/theme/.git"), "gitdir: ../../.git").unwrap();
        fs::create_dir_all(project.join("mine/a/.git")).unwrap();
        assert!(unfit("docs") && unfit("docs/theme") && unfit("mine"));
        // A policy of a socket is written for that socket, and may name what it likes inside.
        assert!(inside(&project, "elsewhere").is_ok() && make_inside(&project, ".").is_ok());
    }
}
