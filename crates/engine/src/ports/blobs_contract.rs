//! Contract tests for a blob store. Every implementation runs all of them.

use std::path::Path;

use materia_contract::{BlobFault, BlobHash};

use super::Blobs;

/// Runs the whole suite against an empty store; files are made in `folder`.
pub async fn holds(blobs: &dyn Blobs, folder: &Path) {
    gives_back_what_was_put(blobs).await;
    keeps_a_file(blobs, folder).await;
    is_shared_by_many(blobs).await;
}

async fn gives_back_what_was_put(blobs: &dyn Blobs) {
    let samples = [b"".to_vec(), b"some text".to_vec(), vec![0; 100_000], (0..=255).collect()];
    for bytes in samples {
        let hash = BlobHash::of(&bytes);
        assert!(!blobs.has(hash).await.expect("has"), "nobody has put it");
        assert_eq!(blobs.get(hash).await, Err(BlobFault::Missing(hash)));
        for _ in 0..2 {
            assert_eq!(blobs.put(bytes.clone()).await.expect("put"), hash);
            assert!(blobs.has(hash).await.expect("has"));
            assert_eq!(blobs.get(hash).await.as_ref(), Ok(&bytes));
        }
    }
}

async fn keeps_a_file(blobs: &dyn Blobs, folder: &Path) {
    let (file, bytes) = (folder.join("a transcript"), b"what somebody said\n".to_vec());
    let hash = BlobHash::of(&bytes);
    assert!(blobs.keep(&file, hash).await.is_err(), "there is no such file");
    assert!(!blobs.has(hash).await.expect("has"));
    std::fs::write(&file, &bytes).expect("a file");
    for _ in 0..2 {
        blobs.keep(&file, hash).await.expect("keep");
        assert_eq!(blobs.get(hash).await.as_ref(), Ok(&bytes));
    }
    assert_eq!(std::fs::read(&file).expect("it stays"), bytes);
    std::fs::remove_file(&file).expect("it is a file");
    assert_eq!(blobs.get(hash).await, Ok(bytes), "it is kept all the same");
    // A file that is something else than was said is kept as nothing that is believed.
    std::fs::write(&file, b"another").expect("a file");
    let said = BlobHash::of(b"as was said");
    let _ = blobs.keep(&file, said).await;
    assert!(blobs.get(said).await.is_err());
}

async fn is_shared_by_many(blobs: &dyn Blobs) {
    let bytes = b"the same words".to_vec();
    let puts = (0..20).map(|_| blobs.put(bytes.clone()));
    for put in futures_util::future::join_all(puts).await {
        assert_eq!(put.expect("put"), BlobHash::of(&bytes));
    }
    assert_eq!(blobs.get(BlobHash::of(&bytes)).await, Ok(bytes));
}
