//! The Planning sandbox: a process that may read and run everything, and write almost nothing.
//!
//! Landlock binds the calling thread and everything it starts from then on, for good; it needs no
//! privilege. Covered are the contents and names of files: writing, truncating, creating,
//! removing, renaming, linking. Also refused by it, for they would lead around: mounting, and
//! tracing a process that is not in the sandbox. The supervisor is not: only the thread that starts
//! the program goes in, and ends at once. So what runs inside can neither trace nor open its
//! supervisor, and where the kernel knows how (Landlock 6) it cannot even send a signal out, to the
//! supervisor, to materia or to anybody else, nor connect to an abstract socket of theirs.
//!
//! A program that may not use the network is refused connections over TCP, where the kernel knows
//! how; other protocols are not covered. A program that may run nothing else, as git when materia
//! looks at a project, is refused that as well.
//!
//! What was open before is free, so nothing is handed down but the three standard streams. Device
//! files may be made nowhere: who is root and makes one in `docs` could write to the disk beneath
//! every file.
//!
//! Not covered, because the kernel offers no handle for it: modes, owners, times and attributes of
//! files, which the [check of the tree](crate::TreeCheck) finds afterwards, and what a process
//! *outside* the sandbox does when it is asked to over a socket.

use std::path::Path;
use std::thread;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, PathFdError,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use materia_contract::body::PlanningSupport;

use super::protocol::{RawPath, Writable};

/// The first version that covers every way of writing; the one before it lacks truncation.
const COMPLETE: ABI = ABI::V3;

/// The first version that covers the network, as far as TCP.
const NETWORK: ABI = ABI::V4;

/// The first version that keeps signals and abstract sockets within.
const SCOPES: ABI = ABI::V6;

/// The one thing outside the roots that everybody may write to.
const NULL_DEVICE: &str = "/dev/null";

/// Asks the kernel how far it can hold turns to Planning mode. Changes nothing.
#[must_use]
pub fn planning_support() -> PlanningSupport {
    let supports = |abi| {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(abi))
            .and_then(Ruleset::create)
            .is_ok()
    };
    if supports(COMPLETE) {
        PlanningSupport::Enforced
    } else if supports(ABI::V1) {
        PlanningSupport::Partial
    } else {
        PlanningSupport::Unavailable
    }
}

/// Whether the kernel can keep signals and abstract sockets within.
fn can_scope() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::from_all(SCOPES))
        .and_then(Ruleset::create)
        .is_ok()
}

/// The newest version of Landlock whose rules about files this kernel knows; 0 where it has none.
#[must_use]
pub fn landlock_version() -> u32 {
    // Version 4 is about the network only.
    let known = [(5, ABI::V5), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];
    let newest = known.into_iter().find(|(_, abi)| {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(*abi))
            .and_then(Ruleset::create)
            .is_ok()
    });
    newest.map_or(0, |(version, _)| version)
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
    if can_scope() {
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
    // Ours are all closed on exec; others may have been left open by whoever started materia.
    close_fds::set_fds_cloexec_threadsafe(FIRST_OWN, &[]);
    Ok(match status {
        RulesetStatus::FullyEnforced => PlanningSupport::Enforced,
        RulesetStatus::PartiallyEnforced => PlanningSupport::Partial,
        RulesetStatus::NotEnforced => PlanningSupport::Unavailable,
    })
}
