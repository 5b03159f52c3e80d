//! Request guard before every route: accepts requests of this machine's own page or programs.
//!
//! A browser lets any page send requests to a local port. The guard refuses those: `Host` must be
//! ours (DNS rebinding), `Origin` or `Referer` must be our own page, and `Sec-Fetch-Site` must
//! agree. An accepted request still needs the token ([`crate::http::access`]).

use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version, header, uri};

use crate::http::limits::HEAD_BYTES_MAX;
use crate::http::problem::Refused;
use materia_contract::RefusalCode;

/// Accepted hosts and origins of an address.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// The values of `Host` that are ours; none where any will do (a Unix socket).
    hosts: Option<Vec<String>>,
    /// The origins of our own page.
    origins: Vec<String>,
}

/// A request, as far as the guard looks at it.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) version: Version,
    pub(crate) headers: &'a HeaderMap,
}

/// Headers that a proxy adds. There is none between the page and the server.
const FORWARDED: [&str; 5] =
    ["forwarded", "x-forwarded-host", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-port"];

/// The names under which a server on this machine is called.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl Policy {
    /// The policy of a TCP port.
    pub(crate) fn port(port: u16) -> Self {
        let hosts: Vec<String> = NAMES.iter().map(|name| format!("{name}:{port}")).collect();
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        // A browser leaves the usual port out.
        let usual = if port == 80 { NAMES.map(str::to_owned).to_vec() } else { Vec::new() };
        let short: Vec<String> = usual.iter().map(|host| format!("http://{host}")).collect();
        let origins = [origins, short].concat();
        Self { hosts: Some([hosts, usual].concat()), origins }
    }

    /// The policy of a Unix socket: only its owner can open it, and no browser can.
    pub(crate) fn socket() -> Self {
        Self { hosts: None, origins: Vec::new() }
    }

    /// Refuses what is not ours. Says nothing about tokens.
    pub(crate) fn check(&self, asked: &Asked<'_>) -> Result<(), Refused> {
        size(asked)?;
        method(asked.method)?;
        path(asked.uri)?;
        self.host(asked)?;
        if let Some(name) = FORWARDED.iter().find(|name| asked.headers.contains_key(**name)) {
            return Err(forbidden(format!(
                "the header `{name}` says that a proxy stands before the server, and it takes no requests through one; use an SSH tunnel"
            )));
        }
        self.origin(asked.headers)?;
        fetch_site(asked)?;
        if asked.headers.contains_key(header::TRANSFER_ENCODING) {
            let detail = "a body comes with its `Content-Length`, and in no other encoding";
            return Err(Refused::new(StatusCode::LENGTH_REQUIRED, RefusalCode::Usage, detail));
        }
        Ok(())
    }

    /// Exactly one `Host`, and it is ours; what the target itself names must agree.
    fn host(&self, asked: &Asked<'_>) -> Result<(), Refused> {
        let mut named = asked.headers.get_all(header::HOST).iter();
        let (host, more) = (named.next(), named.next());
        let host = match (host, more) {
            (Some(host), None) => host.to_str().ok(),
            (None, _) if self.hosts.is_none() && asked.version < Version::HTTP_11 => Some(""),
            (None, _) => return Err(Refused::usage("the request names no `Host`")),
            (Some(_), Some(_)) => {
                return Err(Refused::usage("the request names more than one `Host`"));
            }
        };
        let Some(hosts) = &self.hosts else { return Ok(()) };
        let is_ours = |host: &str| hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        let authority = asked.uri.authority().map(uri::Authority::as_str);
        let agrees = authority.is_none_or(|target| {
            is_ours(target) && host.is_some_and(|host| host.eq_ignore_ascii_case(target))
        });
        if host.is_some_and(is_ours) && agrees {
            return Ok(());
        }
        Err(forbidden(format!(
            "the server is called {}; another `Host` is not answered. Over SSH use the same port at both ends",
            hosts.join(" or ")
        )))
    }

    /// Where the sender says which page it is, it must be ours.
    fn origin(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let own = |text: &str| self.origins.iter().any(|own| own.eq_ignore_ascii_case(text));
        for (name, is_whole) in [(header::ORIGIN, true), (header::REFERER, false)] {
            for value in headers.get_all(&name) {
                let text = value.to_str().unwrap_or_default();
                let origin = if is_whole { text } else { origin_of(text) };
                if !own(origin) {
                    return Err(foreign_page(&name));
                }
            }
            if headers.get_all(&name).iter().count() > 1 {
                return Err(foreign_page(&name));
            }
        }
        Ok(())
    }
}

fn forbidden(detail: impl Into<String>) -> Refused {
    Refused::new(StatusCode::FORBIDDEN, RefusalCode::Forbidden, detail)
}

fn foreign_page(name: &HeaderName) -> Refused {
    forbidden(format!(
        "`{name}` names another page than the server's own; its requests are refused"
    ))
}

/// The origin of an address: what stands before its path.
fn origin_of(text: &str) -> &str {
    let Some(scheme) = text.find("://").map(|at| at + 3) else { return text };
    let end = text[scheme..].find(['/', '?', '#']).map_or(text.len(), |at| scheme + at);
    &text[..end]
}

/// Refuses a head that is larger than any of ours.
fn size(asked: &Asked<'_>) -> Result<(), Refused> {
    let fields = asked.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let target = asked.uri.path().len() + asked.uri.query().map_or(0, str::len);
    if fields.sum::<usize>() + target <= HEAD_BYTES_MAX {
        return Ok(());
    }
    let detail = format!("the head of a request has at most {HEAD_BYTES_MAX} bytes");
    Err(Refused::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, RefusalCode::Usage, detail))
}

fn method(method: &Method) -> Result<(), Refused> {
    match *method {
        Method::GET | Method::HEAD | Method::POST | Method::PUT | Method::DELETE => Ok(()),
        _ => Err(Refused::new(
            StatusCode::METHOD_NOT_ALLOWED,
            RefusalCode::Usage,
            "the server answers GET, HEAD, POST, PUT and DELETE",
        )),
    }
}

/// Refuses every ambiguous path, so that all handlers read the rest in the same way.
fn path(uri: &Uri) -> Result<(), Refused> {
    let path = uri.path();
    let strange = || Refused::usage("the path of the request is not written plainly");
    if !path.starts_with('/') || path.contains("//") || path.contains(['\\', ';']) {
        return Err(strange());
    }
    let mut rest = path.as_bytes();
    let mut plain = Vec::with_capacity(path.len());
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'%' {
            plain.push(*byte);
            continue;
        }
        let [high, low, after @ ..] = after else { return Err(strange()) };
        let (Some(high), Some(low)) = (hex(*high), hex(*low)) else { return Err(strange()) };
        rest = after;
        let decoded = high * 16 + low;
        // What separates parts, or names the folder above, has no second way of being written.
        if matches!(decoded, b'/' | b'\\' | b'.' | b'%' | b';') || decoded.is_ascii_control() {
            return Err(strange());
        }
        plain.push(decoded);
    }
    let plain = std::str::from_utf8(&plain).map_err(|_| strange())?;
    if plain.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(strange());
    }
    Ok(())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Where a page signs in that `materia ui` opens: a file of the user's leads there, which is another site to a browser.
pub(crate) const SIGN_IN: &str = "/signin";

/// Whether a browser opens the sign-in page as a top-level page. That page shows nothing and does nothing.
fn opens_sign_in(asked: &Asked<'_>) -> bool {
    let says = |name: &str, word: &str| {
        let mut said = asked.headers.get_all(name).iter();
        said.next().is_some_and(|value| value == word) && said.next().is_none()
    };
    *asked.method == Method::GET
        && asked.uri.path() == SIGN_IN
        && asked.uri.query().is_none()
        && says("sec-fetch-mode", "navigate")
        && says("sec-fetch-dest", "document")
}

/// Checks `Sec-Fetch-Site`, which the browser sets and a page cannot.
fn fetch_site(asked: &Asked<'_>) -> Result<(), Refused> {
    let mut said = asked.headers.get_all("sec-fetch-site").iter();
    let (first, more) = (said.next(), said.next());
    let Some(first) = first else { return Ok(()) };
    let typed_address = matches!(*asked.method, Method::GET | Method::HEAD)
        && (!asked.uri.path().starts_with("/api") && asked.uri.path() != "/metrics"
            || asked.uri.path() == "/api/health");
    match (first.as_bytes(), more) {
        (b"same-origin", None) => Ok(()),
        (b"none", None) if typed_address => Ok(()),
        (b"cross-site", None) if opens_sign_in(asked) => Ok(()),
        _ => Err(forbidden("the browser says that another page sent the request")),
    }
}
