//! The folder of a cast, held by a handle: materia writes its own files of a turn inside it.

use std::io;
use std::path::Path;

use materia_engine::TurnOrder;
use materia_safe_fs::{Anchor, Folder};

/// The folder for private folders of turns, in the folder of the cast.
pub(crate) const TEMPORARY: &str = "tmp";

/// The folder of the cast of a turn; it is made where it is missing.
pub(crate) fn cast(order: &TurnOrder) -> io::Result<Folder> {
    folder(&order.run_dir)
}

/// The same by the path of the folder.
pub(crate) fn folder(run_dir: &Path) -> io::Result<Folder> {
    let (Some(root), Some(name)) = (run_dir.parent(), run_dir.file_name()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a cast needs a folder of its own",
        ));
    };
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    Anchor::of(root).make()?.make_folder(name)
}

/// The name of an artifact of a turn, as seen from the folder of the cast.
pub(crate) fn artifact(order: &TurnOrder, extension: &str) -> String {
    format!("sockets/{}/{}-{}.{extension}", order.node, order.visit, order.attempt)
}

/// A private folder of a turn, new and empty, in the folder of its cast. Leftovers of a killed process are removed.
pub(crate) fn private(cast: &Folder, name: &str) -> io::Result<Folder> {
    let all = cast.make_folder(TEMPORARY)?;
    all.remove_all(name)?;
    all.new_folder(name)
}

/// Takes a private folder away, and the one around it with the last in it.
pub(crate) fn tidy(cast: &Folder, name: &str) {
    // What cannot be removed is no reason to fail a turn.
    if let Ok(all) = cast.folder(TEMPORARY) {
        let _ = all.remove_all(name);
    }
    let _ = cast.remove_folder(TEMPORARY);
}
