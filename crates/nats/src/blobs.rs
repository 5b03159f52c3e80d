//! Blobs in an object store bucket, by their hash.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_nats::jetstream::object_store::{InfoErrorKind, ObjectInfo, ObjectMetadata};
use materia_contract::{BlobFault, BlobHash, Record};
use materia_engine::{BlobError, Blobs, BoxFuture, off_thread, text_of};

use crate::connection::{Connection, Fault};

/// The usual size of a chunk. A smaller one is needed where the server takes no such payload.
const CHUNK_BYTES: usize = 128 << 10;

/// A bucket for blobs.
#[derive(Clone)]
pub struct ObjectBlobs(pub(crate) Arc<Connection>);

impl From<Fault> for BlobError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Full(what) => Self::Full(what),
            Fault::Lost(_) | Fault::Refused(_) => Self::Storage(fault.to_string()),
        }
    }
}

impl ObjectBlobs {
    /// Where the chunks of a blob are; `None` if there is none.
    async fn info(&self, hash: BlobHash) -> Result<Option<ObjectInfo>, Fault> {
        let mut patience = self.0.patience();
        loop {
            match self.0.blobs.info(hash.to_string()).await {
                Ok(info) => return Ok((!info.deleted).then_some(info)),
                Err(error) if error.kind() == InfoErrorKind::NotFound => return Ok(None),
                Err(error) => patience.again(error.to_string()).await?,
            }
        }
    }

    /// Puts bytes there, unless they are there.
    pub(crate) async fn put_new(&self, hash: BlobHash, bytes: &[u8]) -> Result<(), Fault> {
        if self.info(hash).await?.is_some() {
            return Ok(());
        }
        let chunk_size = Some(CHUNK_BYTES.min(self.0.room()));
        let mut patience = self.0.patience();
        loop {
            let name = hash.to_string();
            let meta = ObjectMetadata { name, chunk_size, ..ObjectMetadata::default() };
            match self.0.blobs.put(meta, &mut &*bytes).await {
                Ok(_) => return Ok(()),
                Err(error) => patience.again(error.to_string()).await?,
            }
        }
    }

    pub(crate) async fn read(&self, hash: BlobHash) -> Result<Vec<u8>, BlobFault> {
        let unreadable = |fault: Fault| BlobFault::Unreadable { hash, what: fault.to_string() };
        let info = self.info(hash).await.map_err(unreadable)?.ok_or(BlobFault::Missing(hash))?;
        // The leader is asked for each chunk: another replica may not have all of them yet.
        let subject = format!("$O.{}.C.{}", info.bucket, info.nuid);
        let mut bytes = Vec::new();
        let mut from = 1;
        for _ in 0..info.chunks {
            let chunk =
                self.0.next(&self.0.blob_stream, &subject, from).await.map_err(unreadable)?;
            let chunk = chunk.ok_or(BlobFault::Missing(hash))?;
            bytes.extend_from_slice(&chunk.payload);
            from = chunk.sequence + 1;
        }
        if BlobHash::of(&bytes) == hash { Ok(bytes) } else { Err(BlobFault::Altered(hash)) }
    }

    /// Puts the texts that are kept apart into records.
    pub(crate) async fn fill(&self, records: &mut [Record]) {
        let mut texts: HashMap<BlobHash, Result<String, BlobFault>> = HashMap::new();
        for record in records {
            loop {
                let mut wanted = None;
                record.fill(|hash, _| {
                    texts.get(&hash).cloned().unwrap_or_else(|| {
                        wanted = Some(hash);
                        Err(BlobFault::Missing(hash))
                    })
                });
                let Some(hash) = wanted else { break };
                let text = self.read(hash).await.and_then(|bytes| text_of(hash, bytes));
                texts.insert(hash, text);
            }
        }
    }
}

impl Blobs for ObjectBlobs {
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobHash, BlobError>> {
        let (blobs, hash) = (self.clone(), BlobHash::of(&bytes));
        let put = self.0.run(async move { blobs.put_new(hash, &bytes).await });
        Box::pin(async move { put.await.map(|()| hash).map_err(BlobError::from) })
    }

    fn keep(&self, file: &Path, hash: BlobHash) -> BoxFuture<'_, Result<(), BlobError>> {
        let (blobs, file) = (self.clone(), file.to_owned());
        Box::pin(async move {
            let failed = |what: String| BlobError::Storage(format!("{}: {what}", file.display()));
            let path = file.clone();
            let bytes = off_thread(move || std::fs::read(path)).await;
            let bytes = bytes.map_err(|error| failed(error.to_string()))?;
            if BlobHash::of(&bytes) != hash {
                return Err(failed("it is not what it was".to_owned()));
            }
            let put = blobs.clone();
            blobs.0.run(async move { put.put_new(hash, &bytes).await }).await?;
            Ok(())
        })
    }

    fn get(&self, hash: BlobHash) -> BoxFuture<'_, Result<Vec<u8>, BlobFault>> {
        let blobs = self.clone();
        Box::pin(self.0.run(async move { blobs.read(hash).await }))
    }

    fn has(&self, hash: BlobHash) -> BoxFuture<'_, Result<bool, BlobError>> {
        let blobs = self.clone();
        let info = self.0.run(async move { blobs.info(hash).await });
        Box::pin(async move { Ok(info.await?.is_some()) })
    }
}
