use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use materia_contract::{BlobFault, BlobHash};

use super::BoxFuture;

/// Bytes by their hash: long texts of events, and files of turns.
///
/// # Contract
///
/// * Bytes that `put` or `keep` has acknowledged are durable and stay. Storing them again changes nothing.
/// * `get` returns exactly the stored bytes, or an error if they are missing or altered.
/// * Blobs have no owner: runs that name the same bytes share them.
/// * No call blocks the thread of a task on a disk.
///
/// Every implementation passes [`blobs_contract`](super::blobs_contract).
pub trait Blobs: Send + Sync {
    /// Keeps some bytes.
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobHash, BlobError>>;

    /// Stores the content of a file whose hash is known. The file stays in place and may become a hard link to the
    /// stored blob; later changes to it are detected by the hash.
    fn keep(&self, file: &Path, hash: BlobHash) -> BoxFuture<'_, Result<(), BlobError>>;

    /// The bytes of this hash.
    fn get(&self, hash: BlobHash) -> BoxFuture<'_, Result<Vec<u8>, BlobFault>>;

    /// Whether there are bytes of this hash. It looks at no byte of them.
    fn has(&self, hash: BlobHash) -> BoxFuture<'_, Result<bool, BlobError>>;
}

/// Why something was not kept.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The disk is full.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The storage failed in another way.
    #[error("a blob cannot be kept: {0}")]
    Storage(String),
}

/// Blobs in memory: for tests, and to show what the contract asks.
#[derive(Debug, Clone, Default)]
pub struct MemoryBlobs(Arc<Mutex<HashMap<BlobHash, Vec<u8>>>>);

impl MemoryBlobs {
    /// The bytes of this hash, at once.
    pub fn find(&self, hash: BlobHash) -> Result<Vec<u8>, BlobFault> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = kept.get(&hash).ok_or(BlobFault::Missing(hash))?;
        if BlobHash::of(bytes) == hash { Ok(bytes.clone()) } else { Err(BlobFault::Altered(hash)) }
    }

    /// Replaces a stored blob, to simulate damage: `None` removes it.
    pub fn tamper(&self, hash: BlobHash, bytes: Option<Vec<u8>>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match bytes {
            Some(bytes) => kept.insert(hash, bytes),
            None => kept.remove(&hash),
        };
    }

    /// The hashes of all that is kept, in order.
    #[must_use]
    pub fn hashes(&self) -> Vec<BlobHash> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hashes: Vec<BlobHash> = kept.keys().copied().collect();
        hashes.sort_unstable();
        hashes
    }

    /// Keeps bytes under a hash that was read with them. Whether they fit it, [`find`](Self::find) says.
    pub fn hold(&self, hash: BlobHash, bytes: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(hash).or_insert(bytes);
    }
}

impl Blobs for MemoryBlobs {
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobHash, BlobError>> {
        let hash = BlobHash::of(&bytes);
        self.hold(hash, bytes);
        Box::pin(std::future::ready(Ok(hash)))
    }

    fn keep(&self, file: &Path, hash: BlobHash) -> BoxFuture<'_, Result<(), BlobError>> {
        let read = std::fs::read(file).map(|bytes| self.hold(hash, bytes));
        let kept = read.map_err(|error| BlobError::Storage(format!("{}: {error}", file.display())));
        Box::pin(std::future::ready(kept))
    }

    fn get(&self, hash: BlobHash) -> BoxFuture<'_, Result<Vec<u8>, BlobFault>> {
        Box::pin(std::future::ready(self.find(hash)))
    }

    fn has(&self, hash: BlobHash) -> BoxFuture<'_, Result<bool, BlobError>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.contains_key(&hash);
        Box::pin(std::future::ready(Ok(found)))
    }
}

/// The text of some bytes that were kept as one.
pub fn text_of(hash: BlobHash, bytes: Vec<u8>) -> Result<String, BlobFault> {
    String::from_utf8(bytes).map_err(|_| BlobFault::Altered(hash))
}
