//! The page: static files that belong to the program.

use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderValue, Method, Response, StatusCode, header};

use crate::http::problem::Refused;
use materia_contract::RefusalCode;

/// Paths that the page itself reads.
const PLACES: [&str; 7] = [
    "/casts",
    "/inbox",
    "/loadouts",
    "/materia",
    "/settings",
    "/workers",
    crate::http::guard::SIGN_IN,
];

/// The content security policy of every response.
pub(crate) const POLICY: &str =
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// Why this program has only a plain page, if it has.
pub fn missing_page() -> Option<&'static str> {
    materia_page::MISSING
}

/// The page that shows one cast from a file, where this program has it. It names a file of the page that goes into
/// it, `<!--materia-file PATH-->`: the program holds that script once.
pub fn viewer() -> Option<String> {
    let text = |path: &str| std::str::from_utf8(materia_page::file(path)?.bytes).ok();
    let (before, rest) = text("/viewer.html")?.split_once("<!--materia-file ")?;
    let (path, behind) = rest.split_once("-->")?;
    Some([before, text(path)?, behind].concat())
}

/// Response for a path that no endpoint has: a file of the page, or 404.
pub(crate) fn answer(method: &Method, path: &str, folder: Option<&Path>) -> Response<Body> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        let detail = "the page is only read";
        return Refused::new(StatusCode::METHOD_NOT_ALLOWED, RefusalCode::Usage, detail).response();
    }
    let of_page = PLACES.iter().any(|place| {
        path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let wanted = if of_page { "/" } else { path };
    if let Some(folder) = folder {
        return from_folder(folder, wanted);
    }
    match materia_page::file(wanted) {
        Some(file) if wanted == "/" => first_page(file.bytes),
        Some(file) => content(wanted, Body::from(file.bytes)),
        None => Refused::unknown("there is no such page").response(),
    }
}

/// The same from a folder, for developers of the page. A path is looked up among the files of the folder.
fn from_folder(folder: &Path, wanted: &str) -> Response<Body> {
    let wanted = if wanted == "/" { "/index.html" } else { wanted };
    let found = files_in(folder).into_iter().find(|path| {
        let inside = path.strip_prefix(folder).map(|inside| format!("/{}", inside.display()));
        inside.is_ok_and(|inside| inside == wanted)
    });
    let Some(bytes) = found.as_ref().and_then(|path| std::fs::read(path).ok()) else {
        return Refused::unknown("there is no such page").response();
    };
    if wanted == "/index.html" { first_page(&bytes) } else { content(wanted, Body::from(bytes)) }
}

/// The HTML page with a new nonce. The page's text editor writes its styles at run time; only styles with this
/// nonce are allowed beside those from files.
fn first_page(html: &[u8]) -> Response<Body> {
    // Without random bytes there is no nonce, and no such style is allowed.
    let nonce = crate::http::access::random_hex::<16>().unwrap_or_default();
    let html = String::from_utf8_lossy(html).replace("MATERIA_NONCE", &nonce);
    let mut response = content("/", Body::from(html));
    let policy = format!("{POLICY}; style-src 'self' 'nonce-{nonce}'");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn content(path: &str, bytes: Body) -> Response<Body> {
    let mut response = Response::new(bytes);
    let kind = HeaderValue::from_static(materia_page::media_type(path));
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
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
