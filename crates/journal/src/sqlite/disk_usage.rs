//! Disk usage of a run, and free space.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc};

use materia_engine::{Disk, DiskUsage};

/// A folder, and where its weight goes.
type Order = (PathBuf, DiskUsage);

/// The thread that measures: one for all runs of a process, started at the first measurement.
static SCALES: OnceLock<Option<mpsc::Sender<Order>>> = OnceLock::new();

/// Computes on another thread the disk usage of a run's folder.
///
/// `events.jsonl` counts twice, for the journal has the same events. Without a thread the count starts at 0 now.
pub(super) fn weigh(folder: PathBuf) -> DiskUsage {
    let weighed = DiskUsage::default();
    let order = (folder, Arc::clone(&weighed));
    let heard = SCALES.get_or_init(scales).as_ref().map(|scales| scales.send(order));
    if !matches!(heard, Some(Ok(()))) {
        let _ = weighed.set(0);
    }
    weighed
}

fn scales() -> Option<mpsc::Sender<Order>> {
    let (sender, orders) = mpsc::channel::<Order>();
    let work = move || {
        for (folder, weighed) in orders {
            let lines = std::fs::symlink_metadata(folder.join("events.jsonl"));
            let lines = lines.map_or(0, |file| file.len());
            // It is set here and nowhere else.
            let _ = weighed.set(lines.saturating_add(bytes_beneath(&folder)));
        }
    };
    std::thread::Builder::new().name("weigh".to_owned()).spawn(work).ok().map(|_| sender)
}

/// The bytes of all files in a folder. Links are not followed.
fn bytes_beneath(folder: &Path) -> u64 {
    let (mut bytes, mut folders) = (0_u64, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        // Unreadable files and folders are not counted.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// The disk that a folder is on.
pub(super) fn disk(folder: &Path) -> Option<Disk> {
    let found = rustix::fs::statvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Some(Disk { free: bytes(found.f_bavail), total: bytes(found.f_blocks) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_weighed_and_the_lines_twice() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("sockets/a")).unwrap();
        std::fs::write(folder.path().join("events.jsonl"), [b'x'; 100]).unwrap();
        std::fs::write(folder.path().join("sockets/a/1-1.output.txt"), [b'x'; 30]).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("large"), [b'x'; 5_000]).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("link")).unwrap();
        let bytes = *materia_engine::wait(weigh(folder.path().to_owned()).wait());
        // The link itself counts, what it leads to does not.
        assert!((230..1_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_disk_has_no_more_free_than_it_has() {
        let disk = disk(Path::new("/")).unwrap();
        assert!(disk.free <= disk.total && disk.total > 0, "{disk:?}");
        assert_eq!(super::disk(Path::new("/there/is/no/such/folder")), None);
    }
}
