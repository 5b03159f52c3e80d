//! Blobs as files, under `blobs/` beside the journal.
//!
//! A blob is at `blobs/ab/<the other 62 digits>`, readable by its owner alone. It is written under a temporary name,
//! synced, and renamed, so that a file with the final name is complete. Its hash is checked when it is read.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use materia_contract::{BlobFault, BlobHash, Record};
use materia_engine::{BlobError, Blobs, BoxFuture, off_thread, text_of};

use crate::{memory, private};

/// The folder of the blobs in the artifact root.
pub const BLOBS_FOLDER: &str = "blobs";

/// Told apart the files that are being written in this process.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Blobs in the folder of an artifact root. It is made with the first of them.
#[derive(Debug, Clone)]
pub struct FileBlobs {
    folder: Arc<Path>,
}

impl FileBlobs {
    /// The blobs of an artifact root.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        Self { folder: root.join(BLOBS_FOLDER).into() }
    }

    /// The path of a blob, whether or not it exists.
    #[must_use]
    pub fn path(&self, hash: BlobHash) -> PathBuf {
        let name = hash.to_string();
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// The bytes of this hash; reads them at once, on this thread.
    pub fn read(&self, hash: BlobHash) -> Result<Vec<u8>, BlobFault> {
        self.read_sized(hash, None)
    }

    /// The same, if it has so many bytes. What has another size, or is too large to be held, is not read.
    fn read_sized(&self, hash: BlobHash, bytes: Option<u64>) -> Result<Vec<u8>, BlobFault> {
        let (file, found) = self.open(hash)?;
        if bytes.is_some_and(|bytes| bytes != found) {
            return Err(BlobFault::Altered(hash));
        }
        if let Some(what) = memory::too_much(found) {
            return Err(BlobFault::TooLarge { hash, what });
        }
        let mut read = Vec::with_capacity(usize::try_from(found).unwrap_or(0));
        // It may grow while it is read.
        file.take(found).read_to_end(&mut read).map_err(|error| unreadable(hash, &error))?;
        if BlobHash::of(&read) == hash { Ok(read) } else { Err(BlobFault::Altered(hash)) }
    }

    /// Whether the bytes of this hash are there and as they were, however many they are.
    pub fn check(&self, hash: BlobHash) -> Result<(), BlobFault> {
        let (file, _) = self.open(hash)?;
        let same = BlobHash::of_reader(file).map_err(|error| unreadable(hash, &error))? == hash;
        if same { Ok(()) } else { Err(BlobFault::Altered(hash)) }
    }

    /// The file of a blob, and its size.
    fn open(&self, hash: BlobHash) -> Result<(File, u64), BlobFault> {
        let path = self.path(hash);
        let unreadable = |error: io::Error| unreadable(hash, &error);
        // A link would lead elsewhere.
        if !path.symlink_metadata().map_err(unreadable)?.is_file() {
            return Err(BlobFault::Altered(hash));
        }
        let file = File::open(&path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?.len();
        Ok((file, found))
    }

    /// Removes a blob that is too old to be kept. A file of its name with `.gone` behind it says that it was here.
    pub fn discard(&self, hash: BlobHash) -> io::Result<u64> {
        let path = self.path(hash);
        let bytes = path.symlink_metadata()?.len();
        let gone = gone(&path);
        if !gone.exists() {
            private::new_file(&gone)?;
        }
        sync_parent(&path)?;
        fs::remove_file(&path)?;
        Ok(bytes)
    }

    /// Whether a blob was removed because of its age.
    #[must_use]
    pub fn is_gone(&self, hash: BlobHash) -> bool {
        let path = self.path(hash);
        gone(&path).symlink_metadata().is_ok_and(|found| found.is_file()) && !path.exists()
    }

    /// Puts into records what is kept apart from them.
    pub(crate) fn fill(&self, records: &mut [Record]) {
        for record in records {
            record.fill(|hash, bytes| text_of(hash, self.read_sized(hash, Some(bytes))?));
        }
    }

    /// Whether there is a whole blob of that size.
    fn is_there(&self, hash: BlobHash, bytes: u64) -> bool {
        let found = self.path(hash).symlink_metadata();
        found.is_ok_and(|found| found.is_file() && found.len() == bytes)
    }

    fn write(&self, hash: BlobHash, bytes: &[u8]) -> io::Result<()> {
        if self.is_there(hash, bytes.len() as u64) {
            return Ok(());
        }
        let (beside, path) = self.room_for(hash)?;
        let written = (|| {
            let mut file = new_file(&beside)?;
            file.write_all(bytes)?;
            file.sync_data()?;
            fs::rename(&beside, &path)
        })();
        settled(&beside, written)?;
        sync_parent(&path)
    }

    /// Takes a file over: by a second name for it, or else as a copy.
    fn take_over(&self, file: &Path, hash: BlobHash) -> io::Result<()> {
        let found = file.symlink_metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        if self.is_there(hash, found.len()) {
            return Ok(());
        }
        let (beside, path) = self.room_for(hash)?;
        File::open(file)?.sync_data()?;
        let written = fs::hard_link(file, &beside)
            .or_else(|_| {
                io::copy(&mut File::open(file)?, &mut new_file(&beside)?)?;
                File::open(&beside)?.sync_data()
            })
            .and_then(|()| fs::rename(&beside, &path));
        settled(&beside, written)?;
        sync_parent(&path)
    }

    /// Makes the folder of a blob. Gives a name to write it under, and the one it is to have.
    fn room_for(&self, hash: BlobHash) -> io::Result<(PathBuf, PathBuf)> {
        let path = self.path(hash);
        let folder = path.parent().unwrap_or(&self.folder);
        // Links are not followed: what they lead to is not ours.
        let there = |folder: &Path| folder.symlink_metadata().is_ok_and(|found| found.is_dir());
        if !there(&self.folder) || !there(folder) {
            private::folders(&self.folder)?;
            private::folder(folder)?;
            sync_parent(folder)?;
            sync_parent(&self.folder)?;
        }
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        Ok((folder.join(format!(".new-{}-{number}", std::process::id())), path))
    }
}

/// The file that stands for a blob which was removed because of its age.
fn gone(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gone");
    PathBuf::from(name)
}

fn unreadable(hash: BlobHash, error: &io::Error) -> BlobFault {
    if error.kind() == io::ErrorKind::NotFound {
        return BlobFault::Missing(hash);
    }
    BlobFault::Unreadable { hash, what: error.to_string() }
}

fn new_file(path: &Path) -> io::Result<File> {
    // A file with this process id was left by an earlier process and is not used any more.
    let _ = fs::remove_file(path);
    private::new_file(path)
}

/// Leaves nothing behind where something went wrong, or where the name was there already.
fn settled(beside: &Path, written: io::Result<()>) -> io::Result<()> {
    if written.is_err() || beside.symlink_metadata().is_ok() {
        let _ = fs::remove_file(beside);
    }
    written
}

fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn failed(error: &io::Error) -> BlobError {
    let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    let what = error.to_string();
    if full { BlobError::Full(what) } else { BlobError::Storage(what) }
}

impl Blobs for FileBlobs {
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobHash, BlobError>> {
        let this = self.clone();
        let work = move || {
            let hash = BlobHash::of(&bytes);
            this.write(hash, &bytes).map(|()| hash).map_err(|error| failed(&error))
        };
        Box::pin(off_thread(work))
    }

    fn keep(&self, file: &Path, hash: BlobHash) -> BoxFuture<'_, Result<(), BlobError>> {
        let (this, file) = (self.clone(), file.to_owned());
        let work = move || this.take_over(&file, hash).map_err(|error| failed(&error));
        Box::pin(off_thread(work))
    }

    fn get(&self, hash: BlobHash) -> BoxFuture<'_, Result<Vec<u8>, BlobFault>> {
        let this = self.clone();
        Box::pin(off_thread(move || this.read(hash)))
    }

    fn has(&self, hash: BlobHash) -> BoxFuture<'_, Result<bool, BlobError>> {
        let path = self.path(hash);
        let work = move || path.try_exists().map_err(|error| failed(&error));
        Box::pin(off_thread(work))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use materia_engine::blobs_contract;

    use super::*;

    #[tokio::test]
    async fn files_keep_the_contract() {
        let root = tempfile::tempdir().unwrap();
        blobs_contract::holds(&FileBlobs::of(root.path()), root.path()).await;
    }

    #[tokio::test]
    async fn a_blob_that_was_discarded_is_known_to_be_gone() {
        let root = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::of(root.path());
        let hash = blobs.put(b"words".to_vec()).await.unwrap();
        assert!(!blobs.is_gone(hash));
        assert_eq!(blobs.discard(hash).unwrap(), 5);
        assert!(blobs.is_gone(hash) && blobs.check(hash).is_err());
        assert!(blobs.discard(hash).is_err(), "there is nothing left");
        // Storing it again makes it available again.
        blobs.put(b"words".to_vec()).await.unwrap();
        assert!(!blobs.is_gone(hash) && blobs.check(hash).is_ok());
        assert!(!blobs.is_gone(BlobHash::of(b"other")));
    }

    #[tokio::test]
    async fn a_blob_lies_where_its_hash_says_for_its_owner_alone() {
        let root = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::of(root.path());
        let hash = blobs.put(b"words".to_vec()).await.unwrap();
        let name = hash.to_string();
        let path = root.path().join("blobs").join(&name[..2]).join(&name[2..]);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(mode(&root.path().join("blobs")), 0o700);
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "nothing else is left there");
        // An existing one is not written again.
        let before = path.metadata().unwrap().modified().unwrap();
        blobs.put(b"words".to_vec()).await.unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), before);
    }

    #[tokio::test]
    async fn what_was_altered_or_leads_elsewhere_is_found_out() {
        let root = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::of(root.path());
        let hash = blobs.put(b"words".to_vec()).await.unwrap();
        let path = blobs.path(hash);
        fs::write(&path, b"wordS").unwrap();
        assert_eq!(blobs.get(hash).await, Err(BlobFault::Altered(hash)));
        fs::remove_file(&path).unwrap();
        assert_eq!(blobs.get(hash).await, Err(BlobFault::Missing(hash)));
        fs::write(root.path().join("elsewhere"), b"words").unwrap();
        std::os::unix::fs::symlink(root.path().join("elsewhere"), &path).unwrap();
        assert_eq!(blobs.get(hash).await, Err(BlobFault::Altered(hash)));
        // One that was cut short is written again when the bytes come once more.
        fs::remove_file(&path).unwrap();
        fs::write(&path, b"wor").unwrap();
        blobs.put(b"words".to_vec()).await.unwrap();
        assert_eq!(blobs.get(hash).await.unwrap(), b"words");
    }
}
