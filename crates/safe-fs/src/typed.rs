//! Paths that a person typed, and protection against redirection by a repository.
//!
//! Links in the path are the person's own, except those in a project, which came with it: `-o out/cast.html` means
//! the folder `out` of the project, not the target of a link `out` in the repository.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::Folder;

/// How many links are followed.
const LINKS_MAX: u32 = 40;

/// A typed path that was followed as far as it exists.
#[derive(Debug)]
pub struct Typed {
    /// The last folder on the way that is there.
    folder: Folder,
    /// The rest, beneath it.
    rest: PathBuf,
}

impl Typed {
    /// Follows a path. A link in `project`, or in the repository around it, is refused.
    pub fn find(path: &Path, project: &Path) -> io::Result<Self> {
        let fence = fence(&project.canonicalize()?);
        let path = std::path::absolute(path)?;
        // The remaining parts of the path, the next one last.
        let mut left = parts_backwards(&path);
        let mut at = PathBuf::from("/");
        let mut links = 0;
        let mut rest = PathBuf::new();
        while let Some(part) = left.pop() {
            if part == "/" {
                at = PathBuf::from("/");
                continue;
            }
            if part == "." {
                continue;
            }
            if !rest.as_os_str().is_empty() {
                if part == ".." {
                    return Err(io::ErrorKind::NotFound.into());
                }
                rest.push(part);
                continue;
            }
            if part == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&part);
            match next.symlink_metadata() {
                Ok(found) if found.is_symlink() => {
                    if at.starts_with(&fence) {
                        return Err(io::Error::new(
                            io::ErrorKind::InvalidInput,
                            format!(
                                "`{}` is a symbolic link inside the project, which could lead anywhere; name the \
                                 place that it leads to, or remove it",
                                next.display()
                            ),
                        ));
                    }
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(rustix::io::Errno::LOOP.into());
                    }
                    left.extend(parts_backwards(&next.read_link()?));
                }
                Ok(found) if found.is_dir() => at = next,
                Ok(_) => rest.push(part),
                Err(error) if error.kind() == io::ErrorKind::NotFound => rest.push(part),
                Err(error) => return Err(error),
            }
        }
        let folder = match at.strip_prefix(&fence) {
            Ok(inside) => Folder::at(&fence)?.folder(inside)?,
            Err(_) => Folder::at(&at)?,
        };
        Ok(Self { folder: folder.for_umask(), rest })
    }

    /// The folder that was named, which is made where it is missing.
    pub fn make_folder(&self) -> io::Result<Folder> {
        self.folder.make_folder(&self.rest)
    }

    /// The folder that was named, if it is there.
    pub fn folder(&self) -> io::Result<Folder> {
        self.folder.folder(&self.rest)
    }

    /// Writes the file that was named. What is there stays, unless it is a plain file and `over`: then the new one
    /// takes its place, whole and durable.
    pub fn write(&self, bytes: &[u8], over: bool) -> io::Result<()> {
        if self.rest.as_os_str().is_empty() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !over {
            return self.folder.write_new(&self.rest, bytes);
        }
        if self.folder.has(&self.rest) && !self.folder.has_file(&self.rest) {
            return Err(io::Error::other("something that is no plain file is there"));
        }
        self.folder.replace_durably(&self.rest, bytes)
    }
}

fn parts_backwards(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// The folder in which links are not the person's own: the repository around the project, or else the project.
fn fence(project: &Path) -> PathBuf {
    let repository = project.ancestors().find(|at| at.join(".git").symlink_metadata().is_ok());
    repository.unwrap_or(project).to_owned()
}
