//! The page as files inside the program. `build.rs` builds it with Node.

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// Its path in an address. The first page has `/`.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

// `BUILT` and `MISSING`.
include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// A plain page for a program that was built without Node.
const PLAIN: &[File] = &[
    File { path: "/", bytes: include_bytes!("plain/index.html") },
    File { path: "/assets/page.js", bytes: include_bytes!("plain/page.js") },
    File { path: "/assets/page.css", bytes: include_bytes!("plain/page.css") },
];

/// The file at a path.
pub fn file(path: &str) -> Option<File> {
    let files = if BUILT.is_empty() { PLAIN } else { BUILT };
    files.iter().find(|file| file.path == path).copied()
}

/// The media type of a file by its name.
pub fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        // The first page is `/`.
        None | Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        Some(_) => "application/octet-stream",
    }
}
