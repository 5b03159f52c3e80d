//! The Planning sandbox: a process that may read and run everything, and write almost nothing.
//!
//! Landlock binds the calling thread and everything it starts from then on, for good; it needs no
//! privilege. Covered are the contents and names of files: writing, truncating, creating,
//! removing, renaming, linking. Not covered, because the kernel offers no handle for it: modes,
//! owners and times of files, and what a process *outside* the tree does when it is asked to.

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, PathFdError, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
};
use serde::{Deserialize, Serialize};

use super::protocol::RawPath;

/// The first version that covers every way of writing; the one before it lacks truncation.
const COMPLETE: ABI = ABI::V3;

/// The one thing outside the roots that everybody may write to.
const NULL_DEVICE: &str = "/dev/null";

/// How far this kernel can hold turns to Planning mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanningSupport {
    /// Every way of writing is covered.
    Enforced,
    /// Most ways are: existing files can still be truncated.
    Partial,
    /// None is.
    Unavailable,
}

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
pub(super) enum SandboxError {
    /// A folder that should be writable cannot be opened.
    #[error(transparent)]
    Root(#[from] PathFdError),
    /// The kernel refused.
    #[error(transparent)]
    Rules(#[from] RulesetError),
}

/// Gives up the right to write anywhere but beneath `roots`.
///
/// Must come before the first thread: threads that exist already would stay free.
pub(super) fn lock_in(roots: &[RawPath]) -> Result<PlanningSupport, SandboxError> {
    let writing = AccessFs::from_write(COMPLETE);
    let mut rules = Ruleset::default().handle_access(writing)?.create()?;
    let to_file = AccessFs::from_file(COMPLETE) & writing;
    for root in roots.iter().map(RawPath::path) {
        // A single file cannot be given the rights of a folder.
        let access = if root.is_dir() { writing } else { to_file };
        rules = rules.add_rule(PathBeneath::new(PathFd::new(root)?, access))?;
    }
    rules = rules.add_rule(PathBeneath::new(PathFd::new(NULL_DEVICE)?, to_file))?;
    Ok(match rules.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => PlanningSupport::Enforced,
        RulesetStatus::PartiallyEnforced => PlanningSupport::Partial,
        RulesetStatus::NotEnforced => PlanningSupport::Unavailable,
    })
}
