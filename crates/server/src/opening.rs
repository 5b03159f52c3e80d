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
