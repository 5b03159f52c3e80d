//! Where the journal is, and how it is used.

use std::path::PathBuf;
use std::time::Duration;

use tokio::runtime::Handle;

/// The usual time of a lease.
const LEASE: Duration = Duration::from_secs(15);

/// How long a lost server is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most bytes of the name of a space.
const SPACE_BYTES_MAX: usize = 40;

/// The name under which the casts of a project are kept on a server: `[a-z0-9-]{1,40}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space(String);

impl Space {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, BadOption> {
        let allowed =
            |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
        let length = 1..=SPACE_BYTES_MAX;
        if length.contains(&text.len()) && text.as_bytes().iter().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadOption::Space(text.chars().take(80).collect()))
        }
    }

    /// The name of a project that has none of its own: its folder's name, and `mark`, which tells it from others.
    #[must_use]
    pub fn of_folder(name: &str, mark: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let known = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let mark: String = mark.chars().take(8).collect();
        let room = SPACE_BYTES_MAX - mark.len() - 1;
        let name: String = lower.chars().map(known).take(room).collect();
        Self(format!("{name}-{mark}"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why the journal cannot be where it was said to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadOption {
    /// The name of a space has other characters, or too many.
    #[error(
        "`{0}` cannot name a space: a name is 1 to {SPACE_BYTES_MAX} characters of a-z 0-9 and -"
    )]
    Space(String),
    /// The address is none of a NATS server.
    #[error(
        "`{0}` is no address of a journal; use `sqlite`, `nats://HOST:PORT` or `tls://HOST:PORT`"
    )]
    Address(String),
}

/// How a journal on NATS is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The servers: `nats://…` or `tls://…`, several with commas between them.
    pub url: String,
    /// The space.
    pub space: Space,
    /// A file with credentials.
    pub credentials: Option<PathBuf>,
    /// A file with the certificate of who signs the servers' certificates.
    pub certificate: Option<PathBuf>,
    /// How many servers keep each message. Counts when the space is made.
    pub replicas: usize,
    /// The time of a lease. Counts when the space is made.
    pub lease: Duration,
    /// How long a lost server is waited for before a run comes to rest.
    pub patience: Duration,
    /// The folder of the project, where the files of a run are that begins here.
    pub folder: Option<String>,
    /// Whether a run is given up before its lease can have lapsed, so that another may take it: what a worker does.
    pub yields: bool,
    /// The runtime of a caller that waits for nothing on its threads: the connection then works there, beside the runs.
    /// Otherwise it has a thread of its own.
    pub runtime: Option<Handle>,
}

impl Options {
    /// The usual options for an address and a space.
    pub fn new(url: &str, space: Space) -> Result<Self, BadOption> {
        let is_known = |one: &str| one.starts_with("nats://") || one.starts_with("tls://");
        if !url.split(',').all(|one| is_known(one.trim())) {
            return Err(BadOption::Address(url.chars().take(200).collect()));
        }
        Ok(Self {
            url: url.to_owned(),
            space,
            credentials: None,
            certificate: None,
            replicas: 1,
            lease: LEASE,
            patience: PATIENCE,
            folder: None,
            yields: false,
            runtime: None,
        })
    }

    /// The address without what could be a password.
    #[must_use]
    pub fn shown(&self) -> String {
        let hide = |one: &str| match (one.split_once("://"), one.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            _ => one.to_owned(),
        };
        self.url.split(',').map(|one| hide(one.trim())).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_has_few_characters() {
        for good in ["a", "my-project-1", "0", &"a".repeat(40)] {
            assert_eq!(Space::parse(good).map(|space| space.0), Ok(good.to_owned()));
        }
        for bad in ["", "A", "a.b", "a*", ">", "a b", "ü", "a_b", &"a".repeat(41)] {
            assert!(Space::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_name_of_a_folder_becomes_a_space() {
        for (folder, space) in [
            ("shop", "shop-12345678"),
            ("My Shop.2", "my-shop-2-12345678"),
            ("ü", "--12345678"),
            (&*"x".repeat(90), &*format!("{}-12345678", "x".repeat(31))),
        ] {
            let made = Space::of_folder(folder, "123456789");
            assert_eq!(made.as_str(), space);
            assert!(Space::parse(made.as_str()).is_ok());
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let space = || Space("s".to_owned());
        let options = Options::new("nats://me:secret@127.0.0.1:4222, tls://b:1", space()).unwrap();
        assert_eq!(options.shown(), "nats://127.0.0.1:4222,tls://b:1");
        for bad in ["", "http://x", "nats://a,http://b", "sqlite"] {
            assert!(Options::new(bad, space()).is_err(), "{bad}");
        }
    }
}
