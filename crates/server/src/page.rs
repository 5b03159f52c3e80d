//! The page: static files that belong to the program.

use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderValue, Method, Response, StatusCode, header};

use crate::problem::Refused;

// `MADE`: the files of the page, by path, with their type and their bytes. `MISSING`: why there are none.
include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// A plain page for a program that was built without the other.
const PLAIN: &[(&str, &str, &[u8])] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("plain/index.html")),
    ("/assets/page.js", "text/javascript; charset=utf-8", include_bytes!("plain/page.js")),
    ("/assets/page.css", "text/css; charset=utf-8", include_bytes!("plain/page.css")),
];

/// Paths that the page itself reads.
const PLACES: [&str; 6] =
    ["/casts", "/inbox", "/loadouts", "/materia", "/settings", crate::guard::SIGN_IN];

/// Why this program has only a plain page, if it has.
#[must_use]
pub fn missing_page() -> Option<&'static str> {
    MISSING
}

/// The page that shows one cast from a file, where this program has it.
#[must_use]
pub fn viewer() -> Option<&'static str> {
    let (.., bytes) = MADE.iter().find(|(name, ..)| *name == "/viewer.html")?;
    std::str::from_utf8(bytes).ok()
}

/// What is at a path that no endpoint has.
pub(crate) fn answer(method: &Method, path: &str, folder: Option<&Path>) -> Response<Body> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        let detail = "the page is only read";
        return Refused::new(StatusCode::METHOD_NOT_ALLOWED, "usage", detail).response();
    }
    let of_page = PLACES.iter().any(|place| {
        path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let wanted = if of_page { "/" } else { path };
    if let Some(folder) = folder {
        return from_folder(folder, wanted);
    }
    let files = if MADE.is_empty() { PLAIN } else { MADE };
    let Some((_, kind, bytes)) = files.iter().find(|(name, ..)| *name == wanted) else {
        return Refused::unknown("there is no such page").response();
    };
    let mut response = Response::new(Body::from(*bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// The same from a folder, for whoever works on the page. A path is looked up among the files that are there.
fn from_folder(folder: &Path, wanted: &str) -> Response<Body> {
    let wanted = if wanted == "/" { "/index.html" } else { wanted };
    let found = files_in(folder).into_iter().find(|path| {
        let inside = path.strip_prefix(folder).map(|inside| format!("/{}", inside.display()));
        inside.is_ok_and(|inside| inside == wanted)
    });
    let Some(bytes) = found.as_ref().and_then(|path| std::fs::read(path).ok()) else {
        return Refused::unknown("there is no such page").response();
    };
    let kind = match found.as_ref().and_then(|path| path.extension()?.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let inside = entries.flat_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files_in(&entry.path()),
        Ok(kind) if kind.is_file() => vec![entry.path()],
        Ok(_) | Err(_) => Vec::new(),
    });
    inside.collect()
}
