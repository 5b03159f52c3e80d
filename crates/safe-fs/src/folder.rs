//! A folder by its open handle.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::{remove, resolve};

/// How often an operation is retried when another process creates the same name again each time.
const TRIES_MAX: u32 = 8;

/// Makes the names of files that are being written unique in this process.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Who may read new files and folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// Their owner alone.
    Owner,
    /// As the umask allows: files that the user asked for.
    Umask,
}

impl Readers {
    fn file(self) -> Mode {
        match self {
            Self::Owner => Mode::RUSR | Mode::WUSR,
            Self::Umask => Mode::from_raw_mode(0o666),
        }
    }

    fn folder(self) -> Mode {
        match self {
            Self::Owner => Mode::RWXU,
            Self::Umask => Mode::from_raw_mode(0o777),
        }
    }
}

/// A folder that is held open. What happens to its path afterwards does not matter.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    path: PathBuf,
    readers: Readers,
}

impl Folder {
    /// Opens a folder at a place that is trusted: links that lead there are followed.
    pub fn at(path: &Path) -> io::Result<Self> {
        let how = resolve::FOLDER | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(CWD, path, how, Mode::empty())?;
        Ok(Self { handle, path: path.to_owned(), readers: Readers::Owner })
    }

    /// The same, unless it is a link itself.
    pub fn at_itself(path: &Path) -> io::Result<Self> {
        let how = resolve::FOLDER | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = rustix::fs::openat(CWD, path, how, Mode::empty())
            .map_err(|error| resolve::named(error, path))?;
        Ok(Self { handle, path: path.to_owned(), readers: Readers::Owner })
    }

    /// The same folder; what is made in it from now on has the mode that the umask gives.
    #[must_use]
    pub fn for_umask(self) -> Self {
        Self { readers: Readers::Umask, ..self }
    }

    /// The path that it was opened by, for people to read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// Its identity (device and inode), and whether it still has a name.
    pub(crate) fn identity(&self) -> io::Result<((u64, u64), bool)> {
        let found = rustix::fs::fstat(&self.handle)?;
        Ok(((found.st_dev, found.st_ino), found.st_nlink > 0))
    }

    /// Whose it is, and what its mode allows.
    pub(crate) fn owner_and_mode(&self) -> io::Result<(u32, Mode)> {
        let found = rustix::fs::fstat(&self.handle)?;
        Ok((found.st_uid, Mode::from_raw_mode(found.st_mode)))
    }

    /// A folder beneath it.
    pub fn folder(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let handle = resolve::open(&self.handle, path, resolve::FOLDER)?;
        Ok(Self { handle, path: self.path.join(path), readers: self.readers })
    }

    /// A folder beneath it, which is made where it is missing, and so are those on the way.
    pub fn make_folder(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        match self.folder(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        let mut at = self.folder(".")?;
        for part in resolve::parts(path)? {
            match rustix::fs::mkdirat(&at.handle, part, self.readers.folder()) {
                Ok(()) | Err(Errno::EXIST) => at = at.folder(part)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { path: self.path.join(path), ..at })
    }

    /// A new folder; one that is there already is refused.
    pub fn new_folder(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let (parent, name) = self.split(path.as_ref(), true)?;
        rustix::fs::mkdirat(&parent.handle, name, self.readers.folder())?;
        parent.folder(name)
    }

    /// A new, empty file, open for writing. Whatever has its name goes, and the folders on the way are made.
    pub fn create(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let (parent, name) = self.split(path.as_ref(), true)?;
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        for _ in 0..TRIES_MAX {
            match resolve::open_or_make(&parent.handle, Path::new(name), how, self.readers.file()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    parent.remove_file(name)?;
                }
                opened => return opened.map(File::from),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Writes a whole file that is not there yet; what has its name stays, and that is an error.
    pub fn write_new(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let (parent, name) = self.split(path.as_ref(), true)?;
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let made =
            resolve::open_or_make(&parent.handle, Path::new(name), how, self.readers.file())?;
        File::from(made).write_all(bytes)
    }

    /// Writes a whole file.
    pub fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        self.create(path)?.write_all(bytes)
    }

    /// Writes a whole file so that no reader ever sees half of it. Where files are made as the umask allows, one that
    /// is there keeps its mode.
    pub fn replace(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        self.put(path.as_ref(), bytes, false)
    }

    /// The same, durable when it returns.
    pub fn replace_durably(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        self.put(path.as_ref(), bytes, true)
    }

    fn put(&self, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
        let (parent, name) = self.split(path, true)?;
        let beside = beside(name);
        let written = (|| {
            let mut file = parent.create(&beside)?;
            file.write_all(bytes)?;
            if self.readers == Readers::Umask
                && let Ok(found) =
                    rustix::fs::statat(&parent.handle, name, AtFlags::SYMLINK_NOFOLLOW)
                && FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
            {
                rustix::fs::fchmod(&file, Mode::from_raw_mode(found.st_mode & 0o777))?;
            }
            if durable {
                file.sync_all()?;
            }
            parent.rename(&beside, Path::new(name))?;
            if durable {
                rustix::fs::fsync(&parent.handle)?;
            }
            Ok(())
        })();
        if written.is_err() {
            let _ = parent.remove_file(&beside);
        }
        written
    }

    /// The same with what is read; more than `most` bytes are refused, and nothing is written then.
    pub fn replace_from(
        &self,
        path: impl AsRef<Path>,
        from: impl Read,
        most: u64,
    ) -> io::Result<()> {
        let (parent, name) = self.split(path.as_ref(), true)?;
        let beside = beside(name);
        let written = parent.create(&beside).and_then(|mut file| {
            let read = io::copy(&mut from.take(most.saturating_add(1)), &mut file)?;
            if read > most {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            parent.rename(&beside, Path::new(name))
        });
        if written.is_err() {
            let _ = parent.remove_file(&beside);
        }
        written
    }

    /// Makes a link to a place anywhere; nothing may have its name yet. Who follows it is not held here.
    pub fn link(&self, path: impl AsRef<Path>, to: &Path) -> io::Result<()> {
        let (parent, name) = self.split(path.as_ref(), true)?;
        Ok(rustix::fs::symlinkat(to, &parent.handle, name)?)
    }

    /// Opens a file to go on at its end; it is made where it is missing. It must be a plain file with one name.
    pub fn append(&self, path: impl AsRef<Path>) -> io::Result<File> {
        // Without waiting: a pipe in its place would hold us up.
        let how = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::NONBLOCK;
        let (path, mode) = (path.as_ref(), self.readers.file());
        let opened = match resolve::open_or_make(&self.handle, path, how, mode) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (parent, name) = self.split(path, true)?;
                resolve::open_or_make(&parent.handle, Path::new(name), how, mode)
            }
            opened => opened,
        };
        let file = File::from(opened?);
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("something that is no file is in its place"));
        }
        if found.nlink() != 1 {
            return Err(io::Error::other("it is known by a second name somewhere else"));
        }
        Ok(file)
    }

    /// Opens a plain file for reading.
    pub fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let how = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = File::from(resolve::open(&self.handle, path.as_ref(), how)?);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::other("something that is no file is in its place"))
        }
    }

    /// Reads a plain file; one of more than `most` bytes is refused.
    pub fn read(&self, path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    /// Whether a plain file is there, which is no link.
    pub fn has_file(&self, path: impl AsRef<Path>) -> bool {
        self.kind(path.as_ref()).is_ok_and(|kind| kind == FileType::RegularFile)
    }

    /// Whether anything is there, a link included.
    pub fn has(&self, path: impl AsRef<Path>) -> bool {
        self.kind(path.as_ref()).is_ok()
    }

    fn kind(&self, path: &Path) -> io::Result<FileType> {
        let (parent, name) = self.split(path, false)?;
        let found = rustix::fs::statat(&parent.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode))
    }

    /// Gives a file another name beneath this folder; what had that name goes.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (source, old) = self.split(from.as_ref(), false)?;
        let (target, new) = self.split(to.as_ref(), true)?;
        Ok(rustix::fs::renameat(&source.handle, old, &target.handle, new)?)
    }

    /// Gives a file a second name beneath this folder, which nothing may have yet.
    pub fn second_name(&self, of: impl AsRef<Path>, name: impl AsRef<Path>) -> io::Result<()> {
        let (source, old) = self.split(of.as_ref(), false)?;
        let (target, new) = self.split(name.as_ref(), true)?;
        Ok(rustix::fs::linkat(&source.handle, old, &target.handle, new, AtFlags::empty())?)
    }

    /// Takes a name away, of whatever is no folder.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (parent, name) = self.split(path.as_ref(), false)?;
        Ok(rustix::fs::unlinkat(&parent.handle, name, AtFlags::empty())?)
    }

    /// Takes an empty folder away.
    pub fn remove_folder(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (parent, name) = self.split(path.as_ref(), false)?;
        Ok(rustix::fs::unlinkat(&parent.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Takes away whatever is there, with all that is in it, however deep, and follows no link.
    pub fn remove_all(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (parent, name) = self.split(path.as_ref(), false)?;
        remove::all(&parent.handle, name)
    }

    /// The names in it, in no order.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// The parent folder of a path, and the last part of the path.
    fn split<'a>(&self, path: &'a Path, make: bool) -> io::Result<(Within<'_>, &'a OsStr)> {
        if let Some(name) = resolve::single(path) {
            return Ok((Within::This(self), name));
        }
        let parts = resolve::parts(path)?;
        let Some((name, before)) = parts.split_last() else {
            let message = format!("`{}` names no file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        if before.is_empty() {
            return Ok((Within::This(self), name));
        }
        let before: PathBuf = before.iter().collect();
        let parent = if make { self.make_folder(before) } else { self.folder(before) }?;
        Ok((Within::Below(parent), name))
    }
}

/// A name beside another, under which a file is made before it takes that one's place.
pub(crate) fn beside(name: &OsStr) -> OsString {
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}-{number}.new", std::process::id()));
    beside
}

/// The parent folder of a path.
enum Within<'a> {
    This(&'a Folder),
    Below(Folder),
}

impl std::ops::Deref for Within<'_> {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        match self {
            Self::This(folder) => folder,
            Self::Below(folder) => folder,
        }
    }
}
