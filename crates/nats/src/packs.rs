//! Which git packs hold the files of casts: a bucket that is made when it is first needed. The packs are blobs.

use async_nats::HeaderMap;
use async_nats::jetstream::stream::Stream;
use materia_contract::RunId;
use materia_engine::{BoxFuture, ReadError};
use serde::{Deserialize, Serialize};

use crate::connection::{Connection, Fault, Published};
use crate::journal::NatsJournal;

/// The answer of the servers, awaited.
type Fetched<T> = BoxFuture<'static, Result<T, ReadError>>;

/// The name of the bucket.
const PACKS: &str = "packs";

/// The history of a commit that casts began at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredBase {
    /// The hash of the blob with the pack; `None` if the bases that it needs have all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// Bases that must be there before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Commits whose parents are nowhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shallow: Vec<String>,
}

/// A pack of a cast. It needs the base of the cast and the packs before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredPack {
    /// The hash of the blob with the pack.
    pub pack: String,
    /// The git objects that it is stored for.
    pub ids: Vec<String>,
    /// The tree with the settings of the user's repository, in the first pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_up: Option<String>,
}

/// The workspace in which the files of a cast were worked on last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesAt {
    /// The mark of the workspace; empty if none was noted.
    pub mark: String,
    revision: u64,
}

impl Connection {
    async fn packs(&self) -> Result<&Stream, Fault> {
        self.buckets.packs.get_or_try_init(|| self.bucket(self.kept(PACKS))).await
    }

    fn pack_key(&self, run: &RunId, nth: &str) -> String {
        self.key(PACKS, &format!("cast.{run}.{nth}"))
    }
}

impl NatsJournal {
    /// The commits whose history is stored, oldest first.
    #[must_use]
    pub fn bases(&self) -> Fetched<Vec<String>> {
        let connection = self.connection();
        Box::pin(self.connection().run(async move {
            let stream = connection.packs().await?;
            let (all, prefix) = (connection.key(PACKS, "base.*"), connection.key(PACKS, "base."));
            let (mut from, mut found) = (1, Vec::new());
            while let Some(message) = connection.next(stream, &all, from).await? {
                from = message.sequence + 1;
                found.extend(message.subject.strip_prefix(&prefix).map(str::to_owned));
            }
            Ok(found)
        }))
    }

    /// How the history of a commit is stored; `None` if it is not.
    #[must_use]
    pub fn base(&self, commit: &str) -> Fetched<Option<StoredBase>> {
        let (connection, key) = (self.connection(), format!("base.{commit}"));
        Box::pin(self.connection().run(async move {
            let stream = connection.packs().await?;
            let last = connection.last(stream, &connection.key(PACKS, &key)).await?;
            last.map(|last| read(&last.payload)).transpose()
        }))
    }

    /// Notes that the history of a commit is stored. Its pack is there.
    #[must_use]
    pub fn put_base(&self, commit: &str, base: &StoredBase) -> Fetched<()> {
        let (connection, value) = (self.connection(), rendered(base));
        let key = format!("base.{commit}");
        Box::pin(self.connection().run(async move {
            connection.packs().await?;
            let key = connection.key(PACKS, &key);
            connection.publish_surely(&key, &HeaderMap::new(), &value).await?;
            Ok(())
        }))
    }

    /// The packs of a cast, in their order.
    #[must_use]
    pub fn packs(&self, run: &RunId) -> Fetched<Vec<StoredPack>> {
        let (connection, run) = (self.connection(), run.clone());
        Box::pin(self.connection().run(async move {
            let stream = connection.packs().await?;
            let all = connection.pack_key(&run, "*");
            let (mut from, mut found) = (1, Vec::new());
            while let Some(message) = connection.next(stream, &all, from).await? {
                from = message.sequence + 1;
                found.push(read(&message.payload)?);
            }
            Ok(found)
        }))
    }

    /// Adds a pack as the `nth` of a cast, or behind others that came in between. Returns the number of packs. The
    /// blob is there.
    #[must_use]
    pub fn add_pack(&self, run: &RunId, nth: usize, pack: &StoredPack) -> Fetched<usize> {
        let (connection, run, pack) = (self.connection(), run.clone(), pack.clone());
        Box::pin(self.connection().run(async move {
            let stream = connection.packs().await?;
            let (value, mut nth) = (rendered(&pack), nth);
            let mut patience = connection.patience();
            loop {
                // Zeros keep the keys in their order for people who list them.
                let key = connection.pack_key(&run, &format!("{nth:06}"));
                let sent = (key.clone(), HeaderMap::new(), value.clone());
                // Once there, it is never replaced: later packs need it at its place.
                match connection.publish(sent.0, sent.1, sent.2, Some(0)).await? {
                    Published::At(_) => return Ok(nth + 1),
                    Published::Late => match connection.last(stream, &key).await? {
                        Some(last) if last.payload == value => return Ok(nth + 1),
                        _ => nth += 1,
                    },
                    Published::Unknown(what) => patience.again(what).await?,
                }
            }
        }))
    }

    /// The workspace in which the files of a cast were worked on last.
    #[must_use]
    pub fn files_at(&self, run: &RunId) -> Fetched<FilesAt> {
        let (connection, key) = (self.connection(), format!("at.{run}"));
        Box::pin(self.connection().run(async move {
            let stream = connection.packs().await?;
            let last = connection.last(stream, &connection.key(PACKS, &key)).await?;
            let none = || FilesAt { mark: String::new(), revision: 0 };
            Ok(last.map_or_else(none, |last| FilesAt {
                mark: String::from_utf8_lossy(&last.payload).into_owned(),
                revision: last.sequence,
            }))
        }))
    }

    /// Notes that the files are worked on in the workspace with this mark. False if another process noted one since
    /// `seen` was read.
    #[must_use]
    pub fn set_files_at(&self, run: &RunId, mark: &str, seen: &FilesAt) -> Fetched<bool> {
        let (connection, key) = (self.connection(), format!("at.{run}"));
        let (mark, seen) = (mark.to_owned(), seen.revision);
        Box::pin(self.connection().run(async move {
            let stream = connection.packs().await?;
            let key = connection.key(PACKS, &key);
            let mut patience = connection.patience();
            loop {
                let sent = (key.clone(), mark.clone().into_bytes());
                match connection.publish(sent.0, HeaderMap::new(), sent.1, Some(seen)).await? {
                    Published::At(_) => return Ok(true),
                    Published::Late => {
                        let last = connection.last(stream, &key).await?;
                        return Ok(last.is_some_and(|last| last.payload == mark.as_bytes()));
                    }
                    Published::Unknown(what) => patience.again(what).await?,
                }
            }
        }))
    }

    /// A word that nobody else has.
    #[must_use]
    pub fn nonce(&self) -> String {
        self.connection().nonce()
    }
}

fn rendered(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("an entry is data and always renders")
}

fn read<T: for<'a> Deserialize<'a>>(value: &[u8]) -> Result<T, ReadError> {
    let unreadable = |error: serde_json::Error| {
        ReadError::Storage(format!("an entry of the list of packs cannot be read: {error}"))
    };
    serde_json::from_slice(value).map_err(unreadable)
}
