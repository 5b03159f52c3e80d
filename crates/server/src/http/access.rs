//! Authentication: programs by the token, pages by a session that a single-use code began.
//!
//! A page has a cookie and a key. The cookie alone is not enough: all ports of a host share
//! cookies, so another program's page could send it. Only pages of this port can read the key.
//!
//! Both are derived from the token, so that a page stays signed in across restarts of the server.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use materia_safe_fs::Folder;

/// How long a code can be exchanged.
const CODE_LIFE: Duration = Duration::from_mins(1);
/// Codes that wait at the most; the oldest go.
const CODES_MAX: usize = 32;
/// Wrong codes of one user within a minute before further ones are refused.
const WRONG_MAX: u32 = 60;
/// Users whose wrong codes are counted.
const USERS_MAX: usize = 1_000;
/// The file of the token, in the state folder.
const TOKEN_FILE: &str = "server.token";
/// Bytes of a token.
const TOKEN_BYTES: usize = 32;

/// The header that has the key of a page.
pub(crate) const KEY_HEADER: &str = "x-materia-key";

/// Knows who may ask.
pub(crate) struct Access {
    token: String,
    port: u16,
    cookie: String,
    codes: Mutex<Codes>,
}

#[derive(Default)]
struct Codes {
    open: HashMap<String, Instant>,
    /// Wrong codes by the user who sent them, and since when they are counted.
    wrong: HashMap<User, (u32, Instant)>,
}

/// The number of the user who calls, where the system says.
pub(crate) type User = Option<u32>;

/// A page that has signed in.
pub(crate) struct Session {
    /// Value of the cookie.
    pub(crate) cookie: String,
    /// Key that the page sends with each request.
    pub(crate) key: String,
    /// Key with which the page verifies the server's proof.
    pub(crate) verifier: String,
}

impl Access {
    /// With the token of a state folder, which is made where it is missing. `port` distinguishes the cookies of
    /// servers.
    pub(crate) fn open(state: &Path, port: Option<u16>) -> io::Result<Self> {
        let token = token_of(state)?;
        let port = port.unwrap_or(0);
        let cookie = format!("materia_{port}");
        Ok(Self { token, port, cookie, codes: Mutex::default() })
    }

    /// The token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether a request is authenticated.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        self.has_token(headers) || self.has_session(headers)
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(one), None) = (named.next(), named.next()) else { return false };
        let Some(token) = one.as_bytes().strip_prefix(b"Bearer ") else { return false };
        is_same(token, self.token.as_bytes())
    }

    /// Whether it is a page that has signed in.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
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
        // A session of a server on another port is not valid here.
        hasher.update(&self.port.to_le_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// Proves to a client that knows the token, or has signed in, that this is its server.
    pub(crate) fn prove(&self, nonce: &str) -> String {
        prove(&verifier(&self.token), nonce, self.port)
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
    pub(crate) fn session(&self, code: &str, user: User) -> Option<Session> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.wrong.retain(|_, (_, since)| since.elapsed() <= CODE_LIFE);
        if codes.wrong.get(&user).is_some_and(|(count, _)| *count >= WRONG_MAX) {
            return None;
        }
        if codes.open.remove(code).is_none_or(|made| made.elapsed() >= CODE_LIFE) {
            if codes.wrong.len() < USERS_MAX || codes.wrong.contains_key(&user) {
                codes.wrong.entry(user).or_insert((0, Instant::now())).0 += 1;
            }
            return None;
        }
        drop(codes);
        let name = random_hex::<16>().ok()?;
        let value = format!("{name}.{}", self.proof("cookie", &name));
        let cookie = format!("{}={value}; HttpOnly; SameSite=Strict; Path=/api", self.cookie);
        let verifier = blake3::Hash::from_bytes(verifier(&self.token)).to_hex().to_string();
        Some(Session { cookie, key: self.proof("key", &name), verifier })
    }
}

/// The key under which a server proves that it knows the token.
pub(crate) fn verifier(token: &str) -> [u8; 32] {
    blake3::derive_key("materia 2026-11-17 proof of a server", token.as_bytes())
}

/// The proof of the server at a port.
pub(crate) fn prove(verifier: &[u8; 32], nonce: &str, port: u16) -> String {
    blake3::keyed_hash(verifier, format!("{nonce}:{port}").as_bytes()).to_hex().to_string()
}

/// Compares without telling by the time it takes where two texts differ.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    // Compares hashes: they have a fixed length, and a caller cannot choose their bytes.
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

/// `N` random bytes, in hexadecimal.
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
        assert!(access.session("0123", None).is_none());
        let session = access.session(&code, None).unwrap();
        assert!(access.session(&code, None).is_none(), "a code works once");
        let cookie = session.cookie.split(';').next().unwrap().to_owned();
        assert!(session.cookie.contains("HttpOnly") && session.cookie.contains("SameSite=Strict"));
        let key = session.key.as_str();
        assert!(access.knows(&with(&[("cookie", &cookie), (KEY_HEADER, key)])));
        assert!(!access.knows(&with(&[("cookie", &cookie)])));
        assert!(!access.knows(&with(&[(KEY_HEADER, key)])));
        let other = access.session(&access.code().unwrap(), None).unwrap();
        assert!(!access.knows(&with(&[("cookie", &cookie), (KEY_HEADER, &other.key)])));
        let twice = format!("{cookie}; {cookie}");
        assert!(!access.knows(&with(&[("cookie", &twice), (KEY_HEADER, key)])));
        // Cookie and key are those of one port; another start of the server there knows the page.
        let elsewhere = Access::open(state.path(), Some(8)).unwrap();
        for cookie in [cookie.clone(), cookie.replace("materia_7", "materia_8")] {
            assert!(!elsewhere.knows(&with(&[("cookie", &cookie), (KEY_HEADER, key)])));
        }
        let again = Access::open(state.path(), Some(7)).unwrap();
        assert!(again.knows(&with(&[("cookie", &cookie), (KEY_HEADER, key)])));
        // The verifier checks the proof of this server on this port only.
        assert_eq!(
            session.verifier,
            blake3::Hash::from(verifier(access.token())).to_hex().as_str()
        );
        assert_ne!(access.prove("n1"), elsewhere.prove("n1"));
        assert_ne!(access.prove("n1"), access.prove("n2"));
        // The page works it out by itself, and its test has the same.
        let key: [u8; 32] = std::array::from_fn(|index| u8::try_from(index).unwrap());
        assert_eq!(
            prove(&key, "0123456789abcdef0123456789abcdef", 7_717),
            "fb53a9c2b44e8f7589f9cb74ae6de381a06f2b49c8a91547afebb6d2336bf4d5"
        );
    }

    #[test]
    fn wrong_codes_count_for_the_user_who_sent_them() {
        let state = tempfile::tempdir().unwrap();
        let access = Access::open(state.path(), Some(7)).unwrap();
        for _ in 0..2 * WRONG_MAX {
            assert!(access.session("wrong", Some(1_000)).is_none());
        }
        let code = access.code().unwrap();
        assert!(access.session(&code, Some(1_000)).is_none(), "this one is heard no more");
        assert!(access.session(&code, Some(1_001)).is_some(), "and this one is");
        assert!(access.session(&access.code().unwrap(), None).is_some());
    }
}
