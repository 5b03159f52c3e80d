//! The folder that turns may write to in Planning mode, made sure of.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Why the doc root cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DocRootError {
    /// It is absolute, or climbs.
    #[error("the doc root `{0}` must be a folder inside the project")]
    NotInside(String),
    /// A symbolic link leads it out of the project.
    #[error("the doc root `{0}` leads out of the project through a symbolic link")]
    LeadsOut(String),
    /// The file system refused.
    #[error("the doc root `{0}` cannot be used: {1}")]
    Io(String, #[source] io::Error),
}

/// The real path of the doc root, which need not exist yet.
///
/// A repository could ship `docs` as a link to anywhere; what lies outside the project is
/// therefore refused, not followed.
pub(crate) fn doc_root(cwd: &Path, doc_root: &str) -> Result<PathBuf, DocRootError> {
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
    let real = doc_root(cwd, name)?;
    fs::create_dir_all(&real).map_err(|error| DocRootError::Io(name.to_owned(), error))?;
    Ok(real)
}

/// Whether a path leads only downwards, and somewhere.
pub(crate) fn is_plain(path: &Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        && !path.as_os_str().is_empty()
}

/// Where `path` really lies: links are followed as far as it exists, the rest is as written.
///
/// A link to nowhere is an error: what is created through it would lie elsewhere.
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
}
