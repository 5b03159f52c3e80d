//! Checks that the state folder belongs to this user: write access to it gives access to the server.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// The files of a server in it, and which rights of others they may have none of.
const FILES: [(&str, u32); 6] = [
    ("open.html", 0o077),
    ("server.json", 0o077),
    ("server.token", 0o077),
    ("server.lock", 0o022),
    ("server-casts.json", 0o022),
    ("server-refusals.jsonl", 0o022),
];

/// Refuses a state folder that belongs to another user or that others can write to. A missing folder is fine.
pub(crate) fn check(state: &Path) -> io::Result<()> {
    // The folder may be reached by a link of the user's; its files may not.
    look(state, state.metadata(), fs::Metadata::is_dir, 0o022)?;
    for (name, others) in FILES {
        let path = state.join(name);
        look(&path, path.symlink_metadata(), fs::Metadata::is_file, others)?;
    }
    Ok(())
}

fn look(
    path: &Path,
    found: io::Result<fs::Metadata>,
    is_right: impl Fn(&fs::Metadata) -> bool,
    others: u32,
) -> io::Result<()> {
    let found = match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let (path, own) = (path.display(), rustix::process::geteuid().as_raw());
    let refused = |what: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    if !is_right(&found) {
        return refused(format!("`{path}` is not what it should be: a link, or no file"));
    }
    if found.uid() != own {
        return refused(format!(
            "`{path}` belongs to user {} and not to you ({own}); name a folder of yours in MATERIA_STATE_DIR",
            found.uid()
        ));
    }
    let mode = found.permissions().mode() & 0o777;
    if mode & others != 0 {
        return refused(format!(
            "others can use `{path}` (mode {mode:o}); take that away with `chmod go-rwx`"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_folder_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        check(&state).unwrap();
        fs::create_dir(&state).unwrap();
        check(&state).unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        for mode in [0o777, 0o770, 0o702] {
            set(&state, mode).unwrap();
            assert!(check(&state).is_err(), "{mode:o}");
        }
        set(&state, 0o755).unwrap();
        let token = state.join("server.token");
        fs::write(&token, "x").unwrap();
        for mode in [0o644, 0o640, 0o602] {
            set(&token, mode).unwrap();
            assert!(check(&state).is_err(), "{mode:o}");
        }
        set(&token, 0o600).unwrap();
        check(&state).unwrap();
        fs::rename(&token, folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &token).unwrap();
        assert!(check(&state).is_err(), "a link");
        fs::remove_file(&token).unwrap();
        if rustix::process::geteuid().is_root() {
            fs::write(&token, "x").unwrap();
            set(&token, 0o600).unwrap();
            for path in [&token, &state] {
                std::os::unix::fs::chown(path, Some(65_534), None).unwrap();
                let said = check(&state).unwrap_err().to_string();
                assert!(said.contains("65534"), "{said}");
            }
        }
    }
}
