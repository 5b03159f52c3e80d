//! Opening the page signed in without showing the code to others: arguments of a program can be read by every user of the machine.

use std::io;
use std::path::{Path, PathBuf};

use materia_safe_fs::Folder;

use crate::http::guard::SIGN_IN;
use crate::state_folder;

/// The file that leads to the page, in the state folder. The next one takes its place; its code works once.
const FILE: &str = "open.html";

/// The page of the archive that was shown last.
const ARCHIVE: &str = "archive.html";

/// Writes the page of an archive into a file for its owner alone.
pub fn page_file(state: &Path, page: &[u8]) -> io::Result<PathBuf> {
    state_folder::check(state)?;
    Folder::at(state)?.replace(ARCHIVE, page)?;
    Ok(state.join(ARCHIVE))
}

/// Writes a file for its owner alone that leads a browser to a link of ours ([`crate::Serving::link`]).
pub fn opening_file(state: &Path, link: &str) -> io::Result<PathBuf> {
    state_folder::check(state)?;
    let (address, code) = link.split_once("/#code=").ok_or(io::ErrorKind::InvalidInput)?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_ours = address.strip_prefix("http://").is_some_and(|host| {
        host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:[]".contains(&byte))
    });
    // Behind the code may stand the project to show.
    if !is_ours || !plain(&code.replacen("&project=", "", 1)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let link = format!("{address}{SIGN_IN}#code={code}");
    let text = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>Materia</title>\n<meta http-equiv=\"refresh\" content=\"0; url={link}\">\n<p><a href=\"{link}\">Open the page</a></p>\n"
    );
    Folder::at(state)?.replace(FILE, text.as_bytes())?;
    Ok(state.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_code_stands_in_a_file_for_its_owner_alone() {
        let state = tempfile::tempdir().unwrap();
        std::fs::set_permissions(state.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = opening_file(state.path(), "http://127.0.0.1:7717/#code=abc123").unwrap();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("url=http://127.0.0.1:7717/signin#code=abc123"), "{text}");
        assert!(!path.to_string_lossy().contains("abc123"));
        opening_file(state.path(), "http://127.0.0.1:7717/#code=abc123&project=0f").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("/signin#code=abc123&project=0f"), "{text}");
        for bad in [
            "http://127.0.0.1:1/#code=a\"b",
            "http://127.0.0.1:1/#code=a&other=b",
            "javascript:x/#code=1",
            "http://x/",
            "http://a b/#code=1",
        ] {
            assert!(opening_file(state.path(), bad).is_err(), "{bad}");
        }
    }
}
