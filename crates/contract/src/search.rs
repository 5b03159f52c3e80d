//! Search paths of programs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The default search path.
const USUAL: &str = "/usr/bin:/bin";

/// The user's `PATH` without its empty and relative entries: they mean folders of whichever project one is in, and
/// its programs. Absolute entries stay, wherever they lead. Never empty, for that would mean the present folder.
pub fn search_path(path: Option<&OsStr>) -> OsString {
    let folders = path.into_iter().flat_map(std::env::split_paths).filter(|one| one.is_absolute());
    match std::env::join_paths(folders) {
        Ok(kept) if !kept.is_empty() => kept,
        Ok(_) | Err(_) => USUAL.into(),
    }
}

/// The paths at which a program of this name is searched; the first existing one is used.
pub fn program_places(name: &str, path: Option<&OsStr>) -> Vec<PathBuf> {
    if name.contains('/') {
        return vec![Path::new(name).to_owned()];
    }
    std::env::split_paths(&search_path(path)).map(|folder| folder.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_relative_entries_are_left_out() {
        for (path, kept) in [
            ("/a:/b", "/a:/b"),
            (":/a", "/a"),
            ("/a:", "/a"),
            ("/a::/b", "/a:/b"),
            (".:/a:..:./bin:node_modules/.bin:bin:~/bin", "/a"),
            ("", USUAL),
            (":", USUAL),
            ("bin", USUAL),
        ] {
            assert_eq!(search_path(Some(OsStr::new(path))), OsStr::new(kept), "{path:?}");
        }
        assert_eq!(search_path(None), OsStr::new(USUAL));
        let places = program_places("git", Some(OsStr::new(":bin:/a")));
        assert_eq!(places, [PathBuf::from("/a/git")]);
        assert_eq!(program_places("./x/git", None), [PathBuf::from("./x/git")]);
    }
}
