//! The root folder of all access, held open for as long as the process lives.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Folder;

/// The anchors of this process, by path.
static HELD: Mutex<Option<HashMap<PathBuf, Arc<Folder>>>> = Mutex::new(None);

/// A folder that is opened once, at the first use of its path, before anything runs that could replace it. The path
/// may be no link. Afterwards the path is only compared: an error if it leads elsewhere; a removed folder is opened
/// or made again.
#[derive(Debug, Clone)]
pub struct Anchor {
    path: PathBuf,
}

impl Anchor {
    /// The anchor at `path`; opens it now if it is there.
    pub fn of(path: &Path) -> Self {
        let anchor = Self { path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()) };
        // An error shows again at the next use.
        let _ = anchor.folder();
        anchor
    }

    /// The folder, if it is there.
    pub fn folder(&self) -> io::Result<Arc<Folder>> {
        self.hold(false)
    }

    /// The folder, which is made where it is missing.
    pub fn make(&self) -> io::Result<Arc<Folder>> {
        self.hold(true)
    }

    fn hold(&self, make: bool) -> io::Result<Arc<Folder>> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.get_or_insert_default();
        let known = held.get(&self.path);
        if let Some(known) = known {
            let (before, named) = known.identity()?;
            if named {
                return match std::fs::metadata(&self.path) {
                    Ok(now) if (now.dev(), now.ino()) == before => Ok(Arc::clone(known)),
                    Ok(_) | Err(_) => Err(self.moved()),
                };
            }
        }
        let opened = match Folder::at_itself(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && make => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
                Folder::at_itself(&self.path)
            }
            opened => opened,
        };
        let folder = Arc::new(opened?);
        held.insert(self.path.clone(), Arc::clone(&folder));
        Ok(folder)
    }

    fn moved(&self) -> io::Error {
        io::Error::other(format!(
            "`{}` is not the folder any more that it was when this began: something moved it or put \
             another in its place; nothing is written there",
            self.path.display()
        ))
    }
}
