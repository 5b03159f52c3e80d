//! The page: static files that belong to the program.

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
const PLACES: [&str; 5] = ["/casts", "/inbox", "/loadouts", "/materia", "/settings"];

/// Why this program has only a plain page, if it has.
#[must_use]
pub fn missing_page() -> Option<&'static str> {
    MISSING
}

/// What is at a path that no endpoint has.
pub(crate) fn answer(method: &Method, path: &str) -> Response<Body> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        let detail = "the page is only read";
        return Refused::new(StatusCode::METHOD_NOT_ALLOWED, "usage", detail).response();
    }
    let of_page = PLACES.iter().any(|place| {
        path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let wanted = if of_page { "/" } else { path };
    let files = if MADE.is_empty() { PLAIN } else { MADE };
    let Some((_, kind, bytes)) = files.iter().find(|(name, ..)| *name == wanted) else {
        return Refused::unknown("there is no such page").response();
    };
    let mut response = Response::new(Body::from(*bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
