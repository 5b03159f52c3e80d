//! Mark of all processes that a turn starts.
//!
//! A living supervisor keeps its tree together. After it is killed, the remaining processes have the mark of their
//! turn in their environment (`MATERIA_TURN`), and the supervisor itself has it in its arguments. The mark finds
//! leftovers: of one turn when it ends without a report of its supervisor, and of a whole run before it is resumed.
//!
//! A mark identifies its run by the path of the cast's folder and by the folder itself, so that neither a moved
//! project nor a copy of one is mistaken. It is no secret.
//!
//! The [cgroup](super::cgroup) of a turn has the mark in its name, and all its members are found. Otherwise not found:
//! a program that cleared its environment, or made it unreadable, *and* left its session *and* lost both its
//! supervisor and materia. While materia lives, such a program becomes its child and is found that way.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use materia_contract::RunId;
use materia_engine::TurnOrder;
use rustix::process::{Signal, getpid};

use super::ARGUMENT;
use super::cgroup::{self, Group};
use super::random::random;
use super::tree::{self, Seen};

/// The variable that holds the mark.
pub(crate) const VARIABLE: &str = "MATERIA_TURN";
/// The argument of a supervisor whose turn may control casts.
pub(crate) const STEERS: &str = "steer";

/// How long killed processes may take to go.
const KILLED_BY: Duration = Duration::from_secs(5);
/// How long a process may take to load another program.
const EXEC_BY: Duration = Duration::from_secs(2);
/// The longest pause between two looks: the kernel tells nobody of processes that are not their children.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// The mark of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    text: String,
    /// Whether the turn may control casts.
    steers: bool,
}

impl Mark {
    /// A new one for a turn.
    pub(crate) fn of(order: &TurnOrder) -> Self {
        let [path, folder] = keys(&order.run, &order.run_dir);
        // Without random bytes a mark is still good enough to find a run by.
        let own = u64::from_le_bytes(random().unwrap_or_default());
        let text = format!("{path}.{folder}.{}.{own:016x}", order.turn);
        let steers = order.policy.as_ref().is_some_and(|policy| policy.steer == Some(true));
        Self { text, steers }
    }

    /// One that belongs to no run.
    pub(crate) fn alone() -> Self {
        let own = u128::from_le_bytes(random().unwrap_or_default());
        Self { text: format!("-.-.-.{own:032x}"), steers: false }
    }

    /// Its text, for the environment and the arguments of what is started.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The arguments of the supervisor of what carries it.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        [ARGUMENT, self.text()].into_iter().chain(self.steers.then_some(STEERS))
    }

    /// Ends everything that carries it; gives the processes that would not go.
    pub(crate) fn sweep(&self) -> Vec<i32> {
        sweep(&|mark| mark == self.text.as_bytes())
    }
}

/// Ends everything that any turn of a run has left; gives the processes that would not go.
pub(crate) fn sweep_run(run: &RunId, run_dir: &Path) -> Vec<i32> {
    let [path, folder] = keys(run, run_dir);
    sweep(&|mark| {
        let mut parts = mark.split(|byte| *byte == b'.');
        let (one, other) = (parts.next(), parts.next());
        one == Some(path.as_bytes()) || (other == Some(folder.as_bytes()) && folder != "none")
    })
}

/// The two names of a run: by the path of its folder, and by the folder.
fn keys(run: &RunId, run_dir: &Path) -> [String; 2] {
    let path = std::path::absolute(run_dir).unwrap_or_else(|_| run_dir.to_owned());
    let found = fs::metadata(run_dir);
    let identity = found.map_or((0, 0), |found| (found.dev(), found.ino()));
    let key = |words: &[&[u8]]| {
        let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 mark of a run");
        for word in [run.as_str().as_bytes()].iter().chain(words) {
            hasher.update(&(word.len() as u64).to_le_bytes());
            hasher.update(word);
        }
        hasher.finalize().to_hex()[..16].to_owned()
    };
    let (device, inode) = (identity.0.to_le_bytes(), identity.1.to_le_bytes());
    // A folder that is not there has no name, and must not have the same one as another.
    let folder = if identity == (0, 0) { "none".to_owned() } else { key(&[&device, &inode]) };
    [key(&[path.as_os_str().as_encoded_bytes()]), folder]
}

/// Kills all processes with a `wanted` mark, repeatedly, until none is left. This process and its ancestors are
/// spared: a turn may run materia.
fn sweep(wanted: &dyn Fn(&[u8]) -> bool) -> Vec<i32> {
    let begun = Instant::now();
    let (end, unclear_until) = (begun + KILLED_BY, begun + EXEC_BY);
    let mut pause = Duration::from_millis(1);
    loop {
        // Looked for anew: a supervisor that is being killed may still be making one.
        let mut groups = cgroup::marked(wanted);
        groups.iter().for_each(Group::kill);
        let all = tree::everybody();
        let spared = tree::ancestors(getpid().as_raw_nonzero().get(), &all);
        let carries = |seen: &&Seen| {
            !seen.zombie
                && !spared.contains(&seen.pid)
                && carried(seen).is_some_and(|mark| wanted(&mark))
                && is_ours(seen.pid)
        };
        let found: Vec<&Seen> = all.iter().filter(carries).collect();
        groups.retain(|group| !group.remove());
        let mut left: Vec<i32> = found.iter().map(|seen| seen.pid).collect();
        left.extend(groups.iter().flat_map(Group::living));
        left.sort_unstable();
        left.dedup();
        let now = Instant::now();
        // A process in the middle of `exec` shows neither arguments nor environment yet: look again.
        let unclear = now < unclear_until && all.iter().any(is_in_exec);
        if now >= end || (left.is_empty() && !unclear) {
            return left;
        }
        for seen in found {
            tree::send(seen, Signal::KILL);
        }
        thread::sleep(pause);
        pause = PAUSE_MAX.min(pause * 2);
    }
}

/// Whether a process runs as this user, or this user is root. Others can show any mark, and cannot be ended.
fn is_ours(pid: i32) -> bool {
    let own = rustix::process::geteuid();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    own.is_root() || users.split_whitespace().any(|user| user == own.as_raw().to_string())
}

/// The mark that a process carries.
fn carried(seen: &Seen) -> Option<Vec<u8>> {
    let named = shown(seen, "environ").split(|byte| *byte == 0).find_map(|variable| {
        variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec)
    });
    // The environment of a supervisor is not readable; its arguments are.
    named.or_else(|| {
        let words = shown(seen, "cmdline");
        let mut words = words.split(|byte| *byte == 0).skip(1);
        (words.next()? == ARGUMENT.as_bytes()).then(|| words.next().map(<[u8]>::to_vec))?
    })
}

/// Whether a process has replaced its memory and the kernel has not put arguments and environment into it yet. Kernel
/// threads, which have neither, have no program file; what another user's process holds cannot be read.
fn is_in_exec(seen: &Seen) -> bool {
    let empty =
        |file| fs::read(format!("/proc/{}/{file}", seen.pid)).is_ok_and(|bytes| bytes.is_empty());
    let runs_a_file = || fs::read_link(format!("/proc/{}/exe", seen.pid)).is_ok();
    !seen.zombie && !seen.leaderless && empty("cmdline") && empty("environ") && runs_a_file()
}

/// Reads a file of a process in `/proc`. If its first thread has ended, only its other threads have it.
fn shown(seen: &Seen, file: &str) -> Vec<u8> {
    let pid = seen.pid;
    if !seen.leaderless {
        return fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    }
    let threads = tree::threads(pid).into_iter();
    let mut read = threads.map(|thread| fs::read(format!("/proc/{pid}/task/{thread}/{file}")));
    read.find_map(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use materia_contract::{GlobalMode, NodeId};
    use materia_engine::{Leaves, Manner, Work};

    use super::*;

    fn order(dir: &std::path::Path, run: &str) -> TurnOrder {
        let work = Work::Utility {
            command: Vec::new(),
            input: std::sync::Arc::new(serde_json::json!({})),
            manner: Manner::default(),
            script: None,
        };
        TurnOrder {
            files: None,
            run: RunId::new(run),
            turn: 3,
            node: NodeId::new("a"),
            visit: 1,
            attempt: 1,
            work,
            cwd: dir.to_owned(),
            run_dir: dir.join(run),
            timeout: None,
            global_mode: GlobalMode::Implementation,
            policy: None,
            doc_root: "docs".to_owned(),
            virtual_time: false,
            leaves: Leaves::default(),
        }
    }

    fn sleeper(mark: &Mark) -> Child {
        Command::new("sleep").arg("60").env(VARIABLE, mark.text()).spawn().unwrap()
    }

    fn lives(child: &mut Child) -> bool {
        child.try_wait().unwrap().is_none()
    }

    #[test]
    fn a_turn_and_a_run_are_found_by_their_mark_and_nobody_else_is() {
        let dir = tempfile::tempdir().unwrap();
        for run in ["one", "two"] {
            fs::create_dir(dir.path().join(run)).unwrap();
        }
        let (one, two) = (order(dir.path(), "one"), order(dir.path(), "two"));
        let marks = [Mark::of(&one), Mark::of(&one), Mark::of(&two)];
        assert_ne!(marks[0], marks[1], "each turn has its own");
        let [mut first, mut second, mut other] = marks.each_ref().map(sleeper);
        assert!(marks[0].sweep().is_empty());
        assert!(!lives(&mut first) && lives(&mut second) && lives(&mut other));
        // The project is moved; its folder is still the same.
        fs::rename(dir.path().join("one"), dir.path().join("moved")).unwrap();
        assert!(sweep_run(&one.run, &dir.path().join("moved")).is_empty());
        assert!(!lives(&mut second) && lives(&mut other));
        // Another folder, but at the same path.
        fs::remove_dir(dir.path().join("two")).unwrap();
        assert!(sweep_run(&one.run, &two.run_dir).is_empty());
        assert!(lives(&mut other), "that is another run");
        assert!(sweep_run(&two.run, &two.run_dir).is_empty());
        assert!(!lives(&mut other));
    }
}
