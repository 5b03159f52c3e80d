//! System calls that a confined program may not make.
//!
//! Landlock decides about files by their path. This filter refuses calls that Landlock does not cover or that bypass
//! it: mounts, namespaces, other processes, the kernel itself. A refused call returns EPERM. A call newer than this
//! list returns ENOSYS, as in an older kernel, and so does `clone3`, whose flags the filter cannot read. Calls by
//! another table (32-bit, x32) kill the process.
//!
//! Arguments are compared in the width that the kernel reads: bits above it could be anything.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

/// Optional refusals of a filter, besides the calls that it always refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filter {
    /// Sockets of every kind but those of this machine (`AF_UNIX`).
    pub(super) offline: bool,
    /// Calls that change files or memory of others past Landlock; used if write access is restricted.
    pub(super) bounded: bool,
}

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilterError {
    /// It cannot be put into the kernel's form.
    #[error("the system-call filter cannot be made: {0}")]
    Made(#[from] BackendError),
    /// The kernel refused it.
    #[error("the kernel refused the system-call filter: {0}")]
    Refused(#[from] seccompiler::Error),
}

impl Filter {
    /// Binds this thread and what it starts, for good.
    pub(super) fn apply(self) -> Result<(), FilterError> {
        let refused = self.refused()?;
        seccompiler::apply_filter(&newer_and_foreign())?;
        Ok(seccompiler::apply_filter(&refused)?)
    }

    fn refused(self) -> Result<BpfProgram, BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        let bounded = if self.bounded { BOUNDED } else { &[] };
        for call in REFUSED.iter().chain(REFUSED_HERE).chain(bounded) {
            rules.insert(*call, Vec::new());
        }
        let mut cases = cases(self.bounded);
        if self.offline {
            let other = vec![(0, Dword, Ne, u64::from(AF_UNIX))];
            cases.push((libc::SYS_socket, other.clone()));
            cases.push((libc::SYS_socketpair, other));
        }
        for (call, case) in cases {
            let conditions = case.into_iter().map(|(argument, width, operator, value)| {
                SeccompCondition::new(argument, width, operator, value)
            });
            let rule = SeccompRule::new(conditions.collect::<Result<_, _>>()?)?;
            rules.entry(call).or_default().push(rule);
        }
        let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let machine = std::env::consts::ARCH.try_into()?;
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine)?.try_into()
    }
}

/// Conditions on arguments (counted from 0) that must all hold.
type Case = Vec<(u8, SeccompCmpArgLen, SeccompCmpOp, u64)>;

const AF_UNIX: u16 = 1;

/// Calls that are refused whatever their arguments are.
const REFUSED: &[i64] = &[
    // Mounts, old and new.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Further ways to call the kernel.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The system as a whole.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

/// Such calls that one architecture alone has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[libc::SYS_ioperm, libc::SYS_iopl];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// Calls that are refused where writing is bounded: attributes of files anywhere, and memory and queues that processes share
/// by a number instead of a file.
const BOUNDED: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

// Numbers that the library does not name. From 424 on they are the same on every architecture.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// The newest call that was looked at for these lists (Linux 6.18).
const NEWEST: u32 = 469;

/// Calls that are refused with some arguments. Several cases of a call are alternatives.
fn cases(bounded: bool) -> Vec<(i64, Case)> {
    let mut cases = Vec::new();
    for flag in NAMESPACES {
        cases.push((libc::SYS_clone, vec![(0, Dword, MaskedEq(flag), flag)]));
    }
    // Limits of other processes; pid 0 is the caller. Reading limits is allowed.
    cases.push((libc::SYS_prlimit64, vec![(0, Dword, Ne, 0), (2, Qword, Ne, 0)]));
    // The priority of others, by process or all of a user.
    for call in [libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr] {
        cases.push((call, vec![(0, Dword, Ne, 0)]));
    }
    for call in [libc::SYS_migrate_pages, libc::SYS_move_pages] {
        cases.push((call, vec![(0, Dword, Ne, 0)]));
    }
    for (call, user) in [(libc::SYS_setpriority, PRIO_USER), (libc::SYS_ioprio_set, IOPRIO_USER)] {
        cases.push((call, vec![(1, Dword, Ne, 0)]));
        cases.push((call, vec![(0, Dword, Eq, user)]));
    }
    for request in TERMINALS {
        cases.push((libc::SYS_ioctl, vec![(1, Dword, Eq, request)]));
    }
    if bounded {
        for kind in FILE_SYSTEMS {
            let mut case: Case = vec![(1, Dword, MaskedEq(0xff00), kind << 8)];
            let reads = READS.iter().filter(|request| (*request >> 8) & 0xff == kind);
            case.extend(reads.map(|request| (1, Dword, Ne, *request)));
            cases.push((libc::SYS_ioctl, case));
        }
        for (call, mode) in CHMOD.iter().chain(CHMOD_HERE) {
            let sets_user = MaskedEq(SET_USER_ID);
            cases.push((*call, vec![(*mode, Dword, sets_user, SET_USER_ID)]));
        }
    }
    cases
}

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`.
const NAMESPACES: [u64; 7] =
    [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];

const PRIO_USER: u64 = 2;
const IOPRIO_USER: u64 = 3;

/// `TIOCSTI`, `TIOCLINUX`, `TIOCCONS`, `TIOCVHANGUP`: typing into a terminal, and taking it from others; `SG_IO`: commands to a disk.
const TERMINALS: [u64; 5] = [0x5412, 0x541c, 0x541d, 0x5437, 0x2285];

/// Kinds of ioctl that file systems answer on files that are open for reading alone: common and ext4 (`f`), common and
/// XFS (`X`), btrfs, F2FS. By them one makes files immutable, deletes subvolumes, freezes a file system.
const FILE_SYSTEMS: [u64; 4] = [0x66, 0x58, 0x94, 0xf5];

/// Those of them that change nothing, or need a file that is open for writing: `FS_IOC_GETFLAGS`, `FIEMAP`, `FSGETXATTR`,
/// `FICLONE`, `FICLONERANGE`, `FIDEDUPERANGE`.
const READS: [u64; 6] =
    [0x8008_6601, 0xc020_660b, 0x801c_581f, 0x4004_9409, 0x4020_940d, 0xc018_9436];

const SET_USER_ID: u64 = 0o4000;
/// The calls that set the mode of a file, and which argument has it.
const CHMOD: &[(i64, u8)] = &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2)];
#[cfg(target_arch = "x86_64")]
const CHMOD_HERE: &[(i64, u8)] = &[(libc::SYS_chmod, 1)];
#[cfg(not(target_arch = "x86_64"))]
const CHMOD_HERE: &[(i64, u8)] = &[];

/// The bit that marks a call by the x32 table.
const BY_X32: u32 = 0x4000_0000;
/// Number of a call if there is none.
const NO_CALL: u32 = u32::MAX;

/// A filter for numbers instead of calls, which the library has no words for: what is newer than the lists, `clone3`, x32.
fn newer_and_foreign() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_ABOVE: u16 = 0x25;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(NO_CALL);
    let answer = |action: SeccompAction| (RETURN, u32::from(action), 0, 0);
    let steps = [
        (LOAD, 0, 0, 0),
        (IF_EQUAL, NO_CALL, 4, 0),
        (IF_AT_LEAST, BY_X32, 4, 0),
        (IF_ABOVE, NEWEST, 2, 0),
        (IF_EQUAL, clone3, 1, 0),
        answer(SeccompAction::Allow),
        answer(SeccompAction::Errno(libc::ENOSYS.unsigned_abs())),
        answer(SeccompAction::KillProcess),
    ];
    steps.map(|(code, k, jt, jf)| sock_filter { code, jt, jf, k }).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_fits_into_the_kernel_and_begins_with_the_table_of_calls() {
        for (offline, bounded) in [(false, false), (false, true), (true, false), (true, true)] {
            let program = Filter { offline, bounded }.refused().unwrap();
            assert!(program.len() < 1000, "{} steps", program.len());
            // Loads the architecture, and ends the process where it is another one.
            assert_eq!((program[0].code, program[0].k), (0x20, 4));
            assert_eq!(program[2].k, u32::from(SeccompAction::KillProcess));
        }
    }

    #[test]
    fn no_call_of_the_lists_is_newer_than_the_newest() {
        let all = REFUSED.iter().chain(REFUSED_HERE).chain(BOUNDED);
        let conditional = cases(true).into_iter().map(|(call, _)| call);
        for call in all.copied().chain(conditional) {
            assert!((0..=i64::from(NEWEST)).contains(&call), "{call}");
        }
    }
}
