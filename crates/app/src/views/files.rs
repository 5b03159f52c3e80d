//! Files that turns left in the folder of a cast.
//!
//! A requested name is looked up in the list and never joined to a folder.

use std::io::Read as _;
use std::path::Path;

use materia_contract::Folders;
use materia_contract::api::FileItem;
use materia_safe_fs::Folder;

use crate::{Failure, Result};

/// Maximum depth of folders, and maximum number of listed files.
const DEPTH_MAX: usize = 4;
const FILES_MAX: usize = 20_000;

/// The largest file that is shown.
const BYTES_MAX: u64 = 64 << 20;

/// The files of a cast, by path.
pub fn files(folders: &Folders) -> Vec<FileItem> {
    let mut found = Vec::new();
    if let Ok(folder) = Folder::at_itself(Path::new(&folders.run_dir)) {
        list(&folder, "", 0, &mut found);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn list(folder: &Folder, before: &str, depth: usize, found: &mut Vec<FileItem>) {
    for name in folder.names().unwrap_or_default() {
        let Some(name) = name.to_str() else { continue };
        if found.len() >= FILES_MAX {
            return;
        }
        let path = format!("{before}{name}");
        if let Ok(file) = folder.open(name) {
            let bytes = file.metadata().map_or(0, |known| known.len());
            found.push(FileItem { path, bytes });
        } else if depth < DEPTH_MAX
            && let Ok(below) = folder.folder(name)
        {
            list(&below, &format!("{path}/"), depth + 1, found);
        }
    }
}

/// The bytes of one of them.
pub fn file(folders: &Folders, path: &str) -> Result<Vec<u8>> {
    let none = || Failure::resolution("the cast has no such file");
    let listed = files(folders).into_iter().find(|file| file.path == path).ok_or_else(none)?;
    let folder = Folder::at_itself(Path::new(&folders.run_dir)).map_err(|_| none())?;
    let file = folder.open(&listed.path).map_err(|_| none())?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::storage(error.to_string()))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Failure::resolution(format!("it has more than {BYTES_MAX} bytes")));
    }
    Ok(bytes)
}
