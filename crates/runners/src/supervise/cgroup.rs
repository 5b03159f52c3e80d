//! A cgroup for the processes of a turn, if the system lets us make one.
//!
//! Membership in a cgroup is inherited, whatever a process does to its environment, its session or its parents; and
//! `cgroup.kill` kills all members at once. So a turn's cgroup also finds processes that outlived materia *and* the
//! supervisor.
//!
//! Moving a process takes the kernel milliseconds. Therefore a turn gets its cgroup only after it has run for
//! [`LONG`]; for shorter turns the [sweep](super::mark) is enough. A program that may write to the hierarchy (root, or
//! the user in a delegated part of it) can leave its cgroup; the sweep finds it anyway.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::process::Signal;

use super::tree::{self, Seen};

/// How long a turn runs before it gets a cgroup.
pub(super) const LONG: Duration = Duration::from_millis(100);

/// The age at which an empty cgroup is considered abandoned.
const LEFT: Duration = Duration::from_mins(1);

/// Prefix of the name of each of our cgroups; the mark of the turn follows.
const PREFIX: &str = "materia-";
/// How deep a cgroup of ours is looked for.
const DEPTH_MAX: usize = 12;
/// Maximum passes for processes that started others while they were moved.
const LOOKS_MAX: usize = 50;

/// The cgroup of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group(PathBuf);

impl Group {
    /// The cgroup of the turn with this mark, which need not exist; `None` if no cgroup can be made.
    pub(super) fn of(mark: &str) -> Option<Self> {
        let own = Place::find().filter(|own| !mark.is_empty() && own.is_ours())?;
        Some(Self(own.folder().join(format!("{PREFIX}{mark}"))))
    }

    /// Makes it, and moves all descendants of this process into it that are where this process is.
    pub(super) fn gather(&self) -> io::Result<()> {
        let Some(own) = Place::find() else { return Ok(()) };
        remove_left(&own.folder());
        fs::create_dir(&self.0)?;
        for _ in 0..LOOKS_MAX {
            let all = tree::living_descendants();
            // A process in another cgroup was moved there on purpose.
            let here =
                all.iter().filter(|seen| Place::name(seen.pid).as_deref() == Some(&*own.name));
            let mut moved = 0;
            for seen in here {
                if fs::write(self.0.join("cgroup.procs"), seen.pid.to_string()).is_err() {
                    continue;
                }
                moved += 1;
                if !seen.is_still() {
                    // Its pid now belongs to another process, which is moved back.
                    let _ = fs::write(own.folder().join("cgroup.procs"), seen.pid.to_string());
                }
            }
            if moved == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Kills all processes in it.
    pub(super) fn kill(&self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        // The kernel passes over processes whose first thread has ended.
        for seen in self.members() {
            tree::send(&seen, Signal::KILL);
        }
    }

    /// The living processes in it.
    pub(super) fn living(&self) -> Vec<i32> {
        self.members().iter().map(|seen| seen.pid).collect()
    }

    fn members(&self) -> Vec<Seen> {
        // `cgroup.procs` does not list a process whose first thread ended before the move, but `cgroup.threads` lists
        // its living threads.
        let mut found = Vec::new();
        let mut left = vec![(self.0.clone(), 0)];
        while let Some((folder, depth)) = left.pop() {
            let told = fs::read_to_string(folder.join("cgroup.threads")).unwrap_or_default();
            let members = told.lines().filter_map(|thread| tree::look(process_of(thread)?));
            found.extend(members.filter(|seen| !seen.zombie));
            if depth < DEPTH_MAX {
                left.extend(folders(&folder).into_iter().map(|inner| (inner, depth + 1)));
            }
        }
        found
    }

    /// Takes it away; says whether it is gone.
    pub(super) fn remove(&self) -> bool {
        // Inner cgroups of the turn are removed first; they have no processes left.
        fn remove(folder: &Path, depth: usize) -> io::Result<()> {
            for inner in folders(folder).into_iter().filter(|_| depth < DEPTH_MAX) {
                remove(&inner, depth + 1)?;
            }
            fs::remove_dir(folder)
        }
        match remove(&self.0, 0) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// Takes empty cgroups away that turns have left here whose supervisor was killed. The kernel keeps the others.
fn remove_left(folder: &Path) {
    for inner in folders(folder) {
        let ours = inner
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        let made = inner.metadata().and_then(|meta| meta.modified());
        // A new one is about to get its processes.
        if ours && made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > LEFT)) {
            let _ = fs::remove_dir(inner);
        }
    }
}

/// Whether this process may make cgroups for turns.
pub(super) fn is_available() -> bool {
    Place::find().is_some_and(|place| place.is_ours())
}

/// The cgroups of turns whose mark is `wanted`, wherever they are, but for those that this process is in.
pub(super) fn marked(wanted: &dyn Fn(&[u8]) -> bool) -> Vec<Group> {
    let Some(own) = Place::find() else { return Vec::new() };
    let own_folder = own.folder();
    let mut found = Vec::new();
    let mut left = vec![(own.mount, 0)];
    while let Some((folder, depth)) = left.pop() {
        for inner in folders(&folder) {
            let name = inner.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match name.strip_prefix(PREFIX) {
                Some(mark) if wanted(mark.as_bytes()) && !own_folder.starts_with(&inner) => {
                    found.push(Group(inner));
                }
                Some(_) | None if depth < DEPTH_MAX => left.push((inner, depth + 1)),
                Some(_) | None => {}
            }
        }
    }
    found
}

/// The process that a thread belongs to.
fn process_of(thread: &str) -> Option<i32> {
    let status = fs::read(format!("/proc/{thread}/status")).ok()?;
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Tgid:"))?;
    str::from_utf8(line).ok()?.trim().parse().ok()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    entries.map(|entry| entry.path()).collect()
}

/// Where this process is in the second version of the hierarchy.
struct Place {
    /// Where the hierarchy is mounted.
    mount: PathBuf,
    /// Our cgroup, as the kernel names it.
    name: String,
}

impl Place {
    fn find() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mount = mounts.lines().find_map(mounted)?;
        Some(Self { mount, name: name_of("self")? })
    }

    /// The name of the cgroup of another process, read from a living thread: a thread that has ended keeps its old
    /// cgroup.
    fn name(pid: i32) -> Option<String> {
        let thread = tree::threads(pid).into_iter().next()?;
        name_of(&format!("{pid}/task/{thread}"))
    }

    fn folder(&self) -> PathBuf {
        self.mount.join(self.name.trim_start_matches('/'))
    }

    /// Whether we may make cgroups here, and move processes into them, on a kernel that ends them together (5.14).
    fn is_ours(&self) -> bool {
        let folder = self.folder();
        let may_write = |path: &Path| access(path, Access::WRITE_OK).is_ok();
        may_write(&folder) && may_write(&folder.join("cgroup.procs")) && is_recent()
    }
}

/// The mount point in a line of `mountinfo`, if the whole second version of the hierarchy is there.
fn mounted(line: &str) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut words = mount.split(' ');
    let (root, point) = (words.nth(3)?, words.next()?);
    // A mount point with escaped characters is unusual and not supported.
    let plain = root == "/" && !point.contains('\\');
    (plain && kind.starts_with("cgroup2 ")).then(|| point.into())
}

fn name_of(process: &str) -> Option<String> {
    let told = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
    let name = told.lines().find_map(|line| line.strip_prefix("0::"))?;
    (!name.contains("/..")).then(|| name.to_owned())
}

fn is_recent() -> bool {
    let told = rustix::system::uname();
    let mut numbers = told.release().to_str().unwrap_or_default().split(['.', '-']);
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
    (next(), next()) >= (5, 14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_found_wherever_it_is_mounted() {
        let hybrid =
            "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw";
        assert_eq!(mounted(hybrid), Some("/sys/fs/cgroup/unified".into()));
        for other in [
            "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu",
            "41 31 0:38 /a/b /mnt rw - cgroup2 cgroup2 rw",
            "41 31 0:38 / /mnt\\040x rw - cgroup2 cgroup2 rw",
            "nonsense",
        ] {
            assert_eq!(mounted(other), None, "{other}");
        }
    }
}
