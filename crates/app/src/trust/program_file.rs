//! Files that look like programs, by their name, mode and first bytes.

use std::io::{self, Read as _};
use std::path::Path;

use materia_runners::open_regular;

/// Endings of files that are run by something.
const ENDINGS: [&str; 24] = [
    "sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "ts", "mts", "cts", "rb", "pl", "php",
    "lua", "awk", "ps1", "bat", "jar", "mk", "r", "tcl", "wasm", "so",
];
/// How much of a script is searched for what it loads.
const SEARCHED_BYTES_MAX: u64 = 256 * 1024;

/// How a file begins, as text.
pub(super) fn beginning(path: &Path) -> io::Result<String> {
    let mut start = Vec::new();
    open_regular(path)?.take(SEARCHED_BYTES_MAX).read_to_end(&mut start)?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}

pub(super) fn looks_like_a_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let ending = path.extension().and_then(|ending| ending.to_str());
    let runs = path.metadata().is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
    let begins = || {
        let mut start = [0; 2];
        let read = open_regular(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && &start == b"#!"
    };
    let known =
        ending.is_some_and(|ending| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()));
    known || runs || begins()
}
