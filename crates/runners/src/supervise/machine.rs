//! Sandbox mechanisms of this machine.

use std::fs;
use std::sync::OnceLock;

use landlock::LandlockStatus;
use materia_contract::body::{PlanningSupport, Sandbox};

use super::{cgroup, sandbox};

/// The first version of Landlock that covers every way of writing; the one before it lacks truncation.
const COMPLETE: u32 = 3;

/// Sandbox mechanisms of this machine. Detected once: a kernel does not change.
pub fn machine() -> Sandbox {
    static FOUND: OnceLock<Sandbox> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let (landlock, filter) = sandbox::tried();
        let landlock = version(landlock);
        let planning = match landlock {
            0 => PlanningSupport::Unavailable,
            COMPLETE.. if filter => PlanningSupport::Enforced,
            _ => PlanningSupport::Partial,
        };
        let (cgroup, user_namespaces) = (cgroup::is_available(), user_namespaces());
        Sandbox { landlock, planning, filter, cgroup, user_namespaces }
    })
}

/// How far the kernel can hold turns to Planning mode.
pub fn planning_support() -> PlanningSupport {
    machine().planning
}

fn version(status: LandlockStatus) -> u32 {
    match status {
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            kernel_abi.and_then(|version| version.try_into().ok()).unwrap_or(effective_abi as u32)
        }
    }
}

/// Whether programs without privileges may make user namespaces here, as far as the settings of the system say.
fn user_namespaces() -> bool {
    let setting = |name: &str| fs::read_to_string(format!("/proc/sys/{name}")).ok();
    let is_zero = |name| setting(name).is_some_and(|value| value.trim() == "0");
    let most = setting("user/max_user_namespaces");
    most.is_some_and(|most| most.trim() != "0")
        && !is_zero("kernel/unprivileged_userns_clone")
        && setting("kernel/apparmor_restrict_unprivileged_userns").is_none_or(|on| on.trim() == "0")
}
