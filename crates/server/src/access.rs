//! Who is known: programs by the token, pages by a session that a single-use code began.
//!
//! A page has a cookie and a key. The cookie alone does nothing: cookies are shared by all ports of a host, so another
//! program's page could send it. The key is kept where one port's pages alone can read it.
//!
//! Both are worked out from the token, so that a page stays signed in while the server is started anew.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use materia_beneath::Folder;

/// How long a code can be exchanged.
const CODE_LIFE: Duration = Duration::from_mins(1);
/// Codes that wait at the most; the oldest go.
const CODES_MAX: usize = 32;
/// Wrong codes within a minute before nobody is asked any more.
const WRONG_MAX: u32 = 60;
/// The file of the token, in the state folder.
const TOKEN_FILE: &str = "server.token";
/// Bytes of a token.
const TOKEN_BYTES: usize = 32;

/// The header that has the key of a page.
pub(crate) const KEY_HEADER: &str = "x-materia-key";

/// Knows who may ask.
pub(crate) struct Access {
    token: String,
    cookie: String,
    codes: Mutex<Codes>,
}

#[derive(Default)]
struct Codes {
    open: HashMap<String, Instant>,
    wrong: u32,
    since: Option<Instant>,
}

/// A page that has signed in.
pub(crate) struct Session {
    /// What is set as cookie.
    pub(crate) cookie: String,
    /// What the page sends along.
    pub(crate) key: String,
}

impl Access {
    /// With the token of a state folder, which is made where it is missing. `port` tells the cookies of servers apart.
    pub(crate) fn open(state: &Path, port: Option<u16>) -> io::Result<Self> {
        let token = token_of(state)?;
        let cookie = format!("materia_{}", port.unwrap_or(0));
        Ok(Self { token, cookie, codes: Mutex::default() })
    }

    /// The token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether a request comes from somebody who is known.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        self.has_token(headers) || self.has_session(headers)
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(one), None) = (named.next(), named.next()) else { return false };
        let Some(token) = one.as_bytes().strip_prefix(b"Bearer ") else { return false };
        is_same(token, self.token.as_bytes())
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let mut keys = headers.get_all(KEY_HEADER).iter();
        let (Some(key), None) = (keys.next(), keys.next()) else { return false };
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut ours = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.cookie).then_some(value)
        });
        let (Some(cookie), None) = (ours.next(), ours.next()) else { return false };
        let Some((name, proof)) = cookie.split_once('.') else { return false };
        is_same(proof.as_bytes(), self.proof("cookie", name).as_bytes())
            && is_same(key.as_bytes(), self.proof("key", name).as_bytes())
    }

    /// Something that only who knows the token can work out.
    fn proof(&self, what: &str, name: &str) -> String {
        let key = blake3::derive_key("materia 2026-11-16 session of a page", self.token.as_bytes());
        let mut hasher = blake3::Hasher::new_keyed(&key);
        hasher.update(what.as_bytes());
        hasher.update(&[0]);
        hasher.update(name.as_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// A new code.
    pub(crate) fn code(&self) -> io::Result<String> {
        let code = random_hex::<16>()?;
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.open.retain(|_, made| made.elapsed() < CODE_LIFE);
        while codes.open.len() >= CODES_MAX {
            let oldest = codes.open.iter().min_by_key(|(_, made)| **made);
            let Some(oldest) = oldest.map(|(code, _)| code.clone()) else { break };
            codes.open.remove(&oldest);
        }
        codes.open.insert(code.clone(), Instant::now());
        Ok(code)
    }

    /// Exchanges a code for a session; each works once.
    pub(crate) fn session(&self, code: &str) -> Option<Session> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if codes.since.is_none_or(|since| since.elapsed() > CODE_LIFE) {
            (codes.since, codes.wrong) = (Some(Instant::now()), 0);
        }
        if codes.wrong >= WRONG_MAX {
            return None;
        }
        if codes.open.remove(code).is_none_or(|made| made.elapsed() >= CODE_LIFE) {
            codes.wrong += 1;
            return None;
        }
        drop(codes);
        let name = random_hex::<16>().ok()?;
        let value = format!("{name}.{}", self.proof("cookie", &name));
        let cookie = format!("{}={value}; HttpOnly; SameSite=Strict; Path=/", self.cookie);
        Some(Session { cookie, key: self.proof("key", &name) })
    }
}

/// Compares without telling by the time it takes where two texts differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    // Of hashes: what is compared has one length, and nobody can choose it.
    let (one, other) = (blake3::hash(one), blake3::hash(other));
    one == other
}

/// Reads the token of a state folder, or makes one.
fn token_of(state: &Path) -> io::Result<String> {
    fs::create_dir_all(state)?;
    let folder = Folder::at(state)?;
    if let Ok(bytes) = folder.read(TOKEN_FILE, 1_024) {
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.len() == TOKEN_BYTES * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(text);
        }
    }
    let token = random_hex::<TOKEN_BYTES>()?;
    folder.replace(TOKEN_FILE, format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// So many bytes that nobody can guess, in hexadecimal.
pub(crate) fn random_hex<const N: usize>() -> io::Result<String> {
    let mut bytes = [0_u8; N];
    let mut filled = 0;
    while filled < N {
        filled +=
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    Ok(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name = header::HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_token_is_kept_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let state = tempfile::tempdir().unwrap();
        let one = Access::open(state.path(), Some(1)).unwrap();
        let other = Access::open(state.path(), Some(1)).unwrap();
        assert_eq!(one.token(), other.token());
        assert_eq!(one.token().len(), 64);
        let mode = fs::metadata(state.path().join(TOKEN_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_program_is_known_by_the_token_and_by_nothing_like_it() {
        let state = tempfile::tempdir().unwrap();
        let access = Access::open(state.path(), Some(1)).unwrap();
        let good = format!("Bearer {}", access.token());
        assert!(access.knows(&with(&[("authorization", &good)])));
        let short = &good[..good.len() - 1];
        let long = format!("{good}0");
        for bad in [short, &long, access.token(), "Bearer ", "", "Basic x"] {
            assert!(!access.knows(&with(&[("authorization", bad)])), "{bad}");
        }
        assert!(!access.knows(&with(&[("authorization", &good), ("authorization", &good)])));
        assert!(!access.knows(&HeaderMap::new()));
    }

    #[test]
    fn a_page_is_known_by_cookie_and_key_together() {
        let state = tempfile::tempdir().unwrap();
        let access = Access::open(state.path(), Some(7)).unwrap();
        let code = access.code().unwrap();
        assert!(access.session("0123").is_none());
        let session = access.session(&code).unwrap();
        assert!(access.session(&code).is_none(), "a code works once");
        let cookie = session.cookie.split(';').next().unwrap().to_owned();
        assert!(session.cookie.contains("HttpOnly") && session.cookie.contains("SameSite=Strict"));
        let key = session.key.as_str();
        assert!(access.knows(&with(&[("cookie", &cookie), (KEY_HEADER, key)])));
        assert!(!access.knows(&with(&[("cookie", &cookie)])));
        assert!(!access.knows(&with(&[(KEY_HEADER, key)])));
        let other = access.session(&access.code().unwrap()).unwrap();
        assert!(!access.knows(&with(&[("cookie", &cookie), (KEY_HEADER, &other.key)])));
        let twice = format!("{cookie}; {cookie}");
        assert!(!access.knows(&with(&[("cookie", &twice), (KEY_HEADER, key)])));
        // Another port has another cookie; another start of the server knows the page.
        let elsewhere = Access::open(state.path(), Some(8)).unwrap();
        assert!(!elsewhere.knows(&with(&[("cookie", &cookie), (KEY_HEADER, key)])));
        let again = Access::open(state.path(), Some(7)).unwrap();
        assert!(again.knows(&with(&[("cookie", &cookie), (KEY_HEADER, key)])));
    }
}
