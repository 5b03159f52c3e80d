//! Finds and signals processes through `/proc`.
//!
//! A process whose first thread has ended looks like a zombie there as long as others of its threads go on. What
//! counts is whether any thread lives.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read as _};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal,
};

/// Enough for most of what the system says of a process in one file.
const PROC_BYTES: usize = 8 << 10;

/// A process as `/proc/<pid>/stat` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) pid: i32,
    parent: i32,
    session: i32,
    /// Whether none of its threads lives.
    pub(crate) zombie: bool,
    /// Whether its first thread has ended, although others may live.
    pub(crate) leaderless: bool,
    /// When it started, in ticks since boot; with the pid it names a process for good.
    started: u64,
}

impl Seen {
    /// Whether its pid is still its own.
    pub(crate) fn is_still(&self) -> bool {
        look(self.pid).is_some_and(|now| now.started == self.started)
    }
}

/// Sends `signal` to every living descendant of this process.
pub(crate) fn signal_descendants(signal: Signal) {
    for seen in living_descendants() {
        send(&seen, signal);
    }
}

/// The living descendants of this process.
pub(crate) fn living_descendants() -> Vec<Seen> {
    descendants(getpid().as_raw_nonzero().get(), &everybody())
}

/// A process and all above it.
pub(crate) fn ancestors(pid: i32, all: &[Seen]) -> HashSet<i32> {
    let parents: HashMap<i32, i32> = all.iter().map(|seen| (seen.pid, seen.parent)).collect();
    let mut found = HashSet::new();
    let mut next = Some(pid);
    while let Some(pid) = next.filter(|pid| found.insert(*pid)) {
        next = parents.get(&pid).copied();
    }
    found
}

/// Kills what has become a child of this process although it was not started by it: what supervisors left that
/// were killed. Known by its session, which is not ours, and by not being one of the supervisors that `ours` names.
pub(crate) fn kill_adopted(ours: &HashSet<u32>) {
    let own = getpid().as_raw_nonzero().get();
    // What is started while we look is found by the next look.
    for _ in 0..10 {
        let all = everybody();
        let Some(session) = all.iter().find(|seen| seen.pid == own).map(|seen| seen.session) else {
            return;
        };
        let known = |seen: &Seen| u32::try_from(seen.pid).is_ok_and(|pid| ours.contains(&pid));
        let adopted =
            all.iter().filter(|seen| seen.parent == own && seen.session != session && !known(seen));
        let mut found = 0;
        for seen in adopted {
            if seen.zombie {
                // No other code reaps it.
                let pid = Pid::from_raw(seen.pid);
                let _ = rustix::process::waitpid(pid, rustix::process::WaitOptions::NOHANG);
                continue;
            }
            found += 1;
            for below in descendants(seen.pid, &all).iter().chain([seen]) {
                send(below, Signal::KILL);
            }
        }
        if found == 0 {
            return;
        }
        // What they leave becomes a child of this process as they die, which no signal tells.
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Kills every process of `session` and their descendants.
///
/// Used if a supervisor died before its tree; orphans with a session of their own are not found. If the supervisor was
/// `reaped`, a process with its pid is unrelated, and nothing is killed.
pub(crate) fn kill_session(session: u32, reaped: bool) {
    let Ok(session) = i32::try_from(session) else { return };
    // What is started while we look is found by the next look.
    for _ in 0..10 {
        let all = everybody();
        if reaped && all.iter().any(|seen| seen.pid == session) {
            return;
        }
        let members = all.iter().filter(|seen| seen.session == session && !seen.zombie);
        let mut found: Vec<Seen> = members.copied().collect();
        for member in found.clone() {
            found.extend(descendants(member.pid, &all));
        }
        if found.is_empty() {
            return;
        }
        for seen in found {
            send(&seen, Signal::KILL);
        }
    }
}

/// Sends a signal to exactly the process that was seen, even if its pid has been reused since.
pub(crate) fn send(seen: &Seen, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(seen.pid) else { return false };
    match pidfd_open(pid, PidfdFlags::empty()) {
        // The handle pins the process; what remains is whether it is the one we saw.
        Ok(handle) => seen.is_still() && pidfd_send_signal(handle, signal).is_ok(),
        Err(Errno::NOSYS | Errno::PERM) => kill_process(pid, signal).is_ok(),
        Err(_) => false,
    }
}

/// The living processes below `root`.
fn descendants(root: i32, all: &[Seen]) -> Vec<Seen> {
    let mut children: HashMap<i32, Vec<Seen>> = HashMap::new();
    for seen in all {
        children.entry(seen.parent).or_default().push(*seen);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        // A pid seen twice while the table moved must not lead round in circles.
        for seen in children.remove(&parent).unwrap_or_default() {
            open.push(seen.pid);
            if !seen.zombie {
                found.push(seen);
            }
        }
    }
    found
}

pub(crate) fn everybody() -> Vec<Seen> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(look)
        .collect()
}

/// The parent of a process, and the name of the process.
pub(crate) fn parent_and_name(pid: i32) -> Option<(i32, Vec<u8>)> {
    let stat = proc_file(pid, "stat").ok()?;
    let name = stat.iter().position(|&byte| byte == b'(')? + 1;
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    Some((parse_stat(pid, &stat)?.parent, stat.get(name..end)?.to_owned()))
}

/// A process as it is now.
pub(crate) fn look(pid: i32) -> Option<Seen> {
    // Read as bytes: a program may have given itself a name that is no UTF-8.
    let seen = parse_stat(pid, &proc_file(pid, "stat").ok()?)?;
    Some(Seen { zombie: seen.leaderless && threads(pid).is_empty(), ..seen })
}

/// A file of the system about a process. Its size is not told, so that it would be read in crumbs.
pub(crate) fn proc_file(pid: i32, name: &str) -> io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(PROC_BYTES);
    File::open(format!("/proc/{pid}/{name}"))?.take(u64::MAX).read_to_end(&mut content)?;
    Ok(content)
}

/// The living threads of a process.
pub(crate) fn threads(pid: i32) -> Vec<i32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let threads = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let lives = |thread: &i32| {
        let stat = fs::read(format!("/proc/{pid}/task/{thread}/stat")).ok();
        stat.and_then(|stat| parse_stat(*thread, &stat)).is_some_and(|seen| !seen.leaderless)
    };
    threads.filter(lives).collect()
}

fn parse_stat(pid: i32, stat: &[u8]) -> Option<Seen> {
    // The name stands in parentheses and may hold anything, parentheses included.
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let rest = str::from_utf8(&stat[after_name..]).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let ended = matches!(*fields.first()?, "Z" | "X");
    Some(Seen {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        zombie: ended,
        leaderless: ended,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_parentheses_and_bytes_confuses_nothing() {
        let stat = b"7 (a) R 1 (\xff) S 3 4 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 999 1 2";
        let seen = parse_stat(7, stat).unwrap();
        assert_eq!(
            seen,
            Seen { pid: 7, parent: 3, session: 5, zombie: false, leaderless: false, started: 999 }
        );
    }

    #[test]
    fn descendants_are_found_at_any_depth_without_zombies() {
        let seen = |pid, parent, zombie| Seen {
            pid,
            parent,
            session: 1,
            zombie,
            leaderless: zombie,
            started: 1,
        };
        let all = [
            seen(2, 1, false),
            seen(3, 2, true),
            seen(4, 3, false),
            seen(9, 8, false),
            seen(8, 9, false),
        ];
        let mut pids: Vec<i32> = descendants(1, &all).iter().map(|seen| seen.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 4]);
    }
}
