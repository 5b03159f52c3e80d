//! The Planning sandbox: a process that may read and run everything, and write almost nothing.
//!
//! Landlock permanently restricts the calling thread and everything it starts; it needs no privilege. It covers the
//! contents and names of files: writing, truncating, creating, removing, renaming, linking. It also refuses mounting,
//! and tracing a process outside of the sandbox. Only the thread that starts the program enters the sandbox, and exits
//! at once; the supervisor stays outside. So a confined process can neither trace nor open its supervisor, and with
//! Landlock 6 it cannot send a signal out, to the supervisor, to materia or to any other process, nor connect to an
//! abstract socket of theirs.
//!
//! A [filter](super::filter) covers the rest: system calls that bypass Landlock or reach other processes, and, for a
//! program without network access, every socket but those of this machine. Root keeps its rights over files, and loses
//! those over the system.
//!
//! A program that may run nothing else, such as git for a snapshot of a project, is refused that as well.
//!
//! Open files are not restricted, so only the three standard streams are passed on. Device files may be made nowhere:
//! root could make one in `docs` and write to the disk below every file. With Landlock 5 devices can be read, and
//! `/dev/null` written to, but not controlled; so there are no pseudo-terminals.
//!
//! Not covered, because the kernel offers no handle for it: modes, owners and times of files, which the [check of the
//! tree](crate::TreeCheck) finds afterwards, and actions of a process *outside* the sandbox on a request over a
//! socket.

use std::path::Path;
use std::thread;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    PathFdError, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use materia_contract::body::PlanningSupport;
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::filter::Filter;
use super::protocol::Writable;
use crate::raw_path::RawPath;

/// The first version that covers every way of writing; the one before it lacks truncation.
const COMPLETE: ABI = ABI::V3;

/// The first version that covers the network, as far as TCP.
const NETWORK: ABI = ABI::V4;

/// Access to devices besides reading and writing; known from version 5 on.
const DEVICE: AccessFs = AccessFs::IoctlDev;

/// The first version that keeps signals and abstract sockets within.
const SCOPES: ABI = ABI::V6;

/// The only path outside the roots that every turn may write to.
const NULL_DEVICE: &str = "/dev/null";

/// Whether the kernel knows a rule. Changes nothing.
fn knows(rule: impl FnOnce(Ruleset) -> Result<Ruleset, RulesetError>) -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rule(strict).and_then(Ruleset::create).is_ok()
}

/// Why the sandbox could not be set up although the kernel has one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SandboxError {
    /// A folder that should be writable cannot be opened.
    #[error(transparent)]
    Root(#[from] PathFdError),
    /// The kernel refused.
    #[error(transparent)]
    Rules(#[from] RulesetError),
    /// The rights of root could not be given up.
    #[error("the rights of root cannot be given up: {0}")]
    Rights(#[from] Errno),
    /// The thread that was to go in did not come to an end.
    #[error("the thread that starts the program broke off")]
    Thread,
}

/// The first descriptor that is no standard stream.
const FIRST_OWN: i32 = 3;

/// Does something in the sandbox: on a thread of its own, which gives up the right to write anywhere
/// but beneath the folders of `writable`, and ends when it is done. What it starts stays inside.
pub(crate) fn inside<T: Send>(
    writable: &Writable,
    work: impl FnOnce() -> T + Send,
) -> Result<(PlanningSupport, T), SandboxError> {
    let enter = || Ok((lock_in(writable)?, work()));
    thread::scope(|scope| scope.spawn(enter).join().unwrap_or(Err(SandboxError::Thread)))
}

/// Gives up the right to write anywhere but beneath the folders of `writable`, and hands down no
/// open file. Binds this thread and what it starts.
fn lock_in(writable: &Writable) -> Result<PlanningSupport, SandboxError> {
    let writing = AccessFs::from_write(COMPLETE);
    let harmless = writing & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let mut wanted = Ruleset::default().handle_access(writing)?;
    if writable.offline {
        // No rule allows any: connections over TCP are refused, both ways.
        wanted = wanted.handle_access(AccessNet::from_all(NETWORK))?;
    }
    if writable.only_runs.is_some() {
        wanted = wanted.handle_access(AccessFs::Execute)?;
    }
    // Asked for only where the kernel knows them: without them writing is held all the same.
    if knows(|rules| rules.handle_access(DEVICE)) {
        wanted = wanted.handle_access(DEVICE)?;
    }
    if knows(|rules| rules.scope(Scope::from_all(SCOPES))) {
        wanted = wanted.scope(Scope::from_all(SCOPES))?;
    }
    let mut rules = wanted.create()?;
    let to_file = AccessFs::from_file(COMPLETE) & writing;
    for root in writable.folders.iter().map(RawPath::path) {
        // A single file cannot be given the rights of a folder.
        let access = if root.is_dir() { harmless } else { to_file };
        rules = rules.add_rule(PathBeneath::new(PathFd::new(root)?, access))?;
    }
    for program in writable.only_runs.iter().flatten().map(RawPath::path) {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(program)?, AccessFs::Execute))?;
    }
    rules = rules.add_rule(PathBeneath::new(PathFd::new(Path::new(NULL_DEVICE))?, to_file))?;
    let status = rules.restrict_self()?.ruleset;
    // Our descriptors are all closed on exec; materia may have inherited others from its parent.
    close_fds::set_fds_cloexec_threadsafe(FIRST_OWN, &[]);
    give_up_rights()?;
    let everywhere = writable.folders.iter().any(|folder| folder.path() == Path::new("/"));
    let filtered = Filter { offline: writable.offline, bounded: !everywhere }.apply();
    Ok(match status {
        RulesetStatus::FullyEnforced if filtered.is_ok() => PlanningSupport::Enforced,
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => PlanningSupport::Partial,
        RulesetStatus::NotEnforced => PlanningSupport::Unavailable,
    })
}

/// Capabilities that root keeps inside: those for files and own processes. Mounting, tracing, time, network, modules
/// and the like are dropped for good, because new programs get no new privileges.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Gives up the rights of root over the system, for this thread and what it starts.
fn give_up_rights() -> Result<(), Errno> {
    let held = capabilities(None)?;
    if KEPT.contains(held.permitted) {
        return Ok(());
    }
    let CapabilitySets { effective, permitted, inheritable } = held;
    let kept = |set: CapabilitySet| set.intersection(KEPT);
    let [effective, permitted, inheritable] = [effective, permitted, inheritable].map(kept);
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable })
}

/// Landlock support of the kernel, and whether it accepts the filter: tried on a thread that exits at once.
pub(super) fn tried() -> (LandlockStatus, bool) {
    let attempt = || {
        let rules = Ruleset::default().handle_access(AccessFs::from_write(COMPLETE)).ok()?;
        let landlock = rules.create().ok()?.restrict_self().ok()?.landlock;
        let filter = Filter { offline: true, bounded: true }.apply();
        Some((landlock, filter.is_ok()))
    };
    let tried = thread::Builder::new().spawn(attempt).ok().and_then(|thread| thread.join().ok());
    tried.flatten().unwrap_or((LandlockStatus::NotImplemented, false))
}
