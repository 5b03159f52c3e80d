//! Decides whether a process belongs to a turn: by the mark in its environment, and by its ancestors.
//!
//! A turn can clear its environment and leave its session; it stays below its supervisor, which inherits every orphan.
//! If it kills its supervisor, the process that runs the cast inherits it, which is known by its name. So the check
//! walks up the ancestors. A turn can insert processes that look like others between itself and its supervisor, but
//! cannot remove the real one above them. Therefore every ancestor must permit the request.
//!
//! Not found: a process that another one started on a turn's request (a service, a container), one in its own process
//! namespace, and one that killed its supervisor and the process that runs the cast.

use std::collections::HashMap;
use std::fs;

use rustix::fs::{PROC_SUPER_MAGIC, statfs};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::ARGUMENT;
use super::mark::{STEERS, VARIABLE};
use super::tree;

/// The name of a process that drives casts.
const DRIVER: &std::ffi::CStr = c"materia-driver";
/// The most ancestors that are looked at.
const DEPTH_MAX: usize = 1_000;
/// How often the ancestors are looked at anew if one of them went away meanwhile.
const WALKS_MAX: usize = 8;

/// The turn that a process belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InTurn {
    /// Whether its policy lets it control casts.
    pub steers: bool,
}

/// Names this process as one that drives casts; to be called on its first thread, before it starts anything.
pub fn name_driver() {
    // If the system refuses, a process that kills its supervisor is still found by its mark.
    let _ = rustix::thread::set_name(DRIVER);
}

/// The turn that this process belongs to, if it does. A process that cannot see the processes of the system belongs to
/// a turn that may not control casts: a turn could have hidden them.
pub fn own_turn() -> Option<InTurn> {
    if !statfs("/proc").is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC) {
        return Some(InTurn { steers: false });
    }
    // Not `getpid`: in a pid namespace of its own a process has another pid.
    let own = fs::read_link("/proc/self").ok();
    let own = own.and_then(|own| own.to_str()?.parse().ok());
    let marked = std::env::var_os(VARIABLE).is_some();
    let told = own.and_then(|own| Processes::default().turn_of(own));
    told.or(marked.then_some(InTurn { steers: false }))
}

/// Data of processes from `/proc`; each is read once.
#[derive(Debug, Default)]
pub struct Processes(HashMap<i32, Told>);

#[derive(Debug, Clone, Copy)]
struct Told {
    parent: i32,
    role: Role,
    marked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Supervisor { steers: bool },
    Driver,
    Other,
}

impl Processes {
    /// The turn that a process belongs to, if it does. A process whose ancestors cannot all be looked at belongs to a
    /// turn that may not control casts.
    pub fn turn_of(&mut self, pid: i32) -> Option<InTurn> {
        for _ in 0..WALKS_MAX {
            if let Ok(turn) = self.walk(pid) {
                return turn;
            }
            // Its children have another parent now.
            self.0.clear();
        }
        Some(InTurn { steers: false })
    }

    /// Walks up the ancestors; an error if one of them went away meanwhile, or there are too many.
    fn walk(&mut self, pid: i32) -> Result<Option<InTurn>, Incomplete> {
        let (mut marked, mut supervised, mut steers, mut adopted) = (false, false, true, false);
        let mut below: Option<Role> = None;
        let mut next = pid;
        for _ in 0..DEPTH_MAX {
            let Some(told) = self.told(next) else {
                if is_gone(next) {
                    return Err(Incomplete);
                }
                let steers = steers && supervised && !adopted;
                return Ok((marked || supervised || adopted).then_some(InTurn { steers }));
            };
            marked |= told.marked;
            match told.role {
                Role::Supervisor { steers: permitted } => {
                    supervised = true;
                    steers &= permitted;
                }
                Role::Driver => adopted |= below == Some(Role::Other),
                Role::Other => {}
            }
            below = Some(told.role);
            next = told.parent;
        }
        Err(Incomplete)
    }

    /// Whether a process is the supervisor of a turn that no other turn is around.
    pub fn is_outer_supervisor(&mut self, pid: i32) -> bool {
        self.told(pid).is_some_and(|told| {
            matches!(told.role, Role::Supervisor { .. }) && self.turn_of(told.parent).is_none()
        })
    }

    fn told(&mut self, pid: i32) -> Option<Told> {
        if let Some(told) = self.0.get(&pid) {
            return Some(*told);
        }
        let told = read(pid)?;
        self.0.insert(pid, told);
        Some(told)
    }
}

/// Not all ancestors of a process could be looked at.
struct Incomplete;

/// Whether there is no such process. One that may not be looked at is not gone; neither is the end of the ancestors.
fn is_gone(pid: i32) -> bool {
    let pid = Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

fn read(pid: i32) -> Option<Told> {
    let (parent, name) = tree::parent_and_name(pid)?;
    let arguments = tree::proc_file(pid, "cmdline").unwrap_or_default();
    let mut words = arguments.split(|byte| *byte == 0).skip(1);
    let role = if words.next() == Some(ARGUMENT.as_bytes()) {
        let steers = words.nth(1) == Some(STEERS.as_bytes());
        Role::Supervisor { steers }
    } else if name == DRIVER.to_bytes() {
        Role::Driver
    } else {
        Role::Other
    };
    let environment = tree::proc_file(pid, "environ").unwrap_or_default();
    let begins = |variable: &[u8]| {
        variable.strip_prefix(VARIABLE.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
    };
    let marked = environment.split(|byte| *byte == 0).any(begins);
    Some(Told { parent, role, marked })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(members: &[(i32, i32, Role, bool)]) -> Processes {
        let told = |(pid, parent, role, marked): &(i32, i32, Role, bool)| {
            (*pid, Told { parent: *parent, role: *role, marked: *marked })
        };
        Processes(members.iter().map(told).collect())
    }

    const FREE: Role = Role::Other;
    const HELD: Role = Role::Supervisor { steers: false };
    const STEERING: Role = Role::Supervisor { steers: true };

    #[test]
    fn everybody_above_must_permit() {
        // Parent 0 ends the walk, so that no real process is looked up.
        let of = |members: &[(i32, i32, Role, bool)]| family(members).turn_of(-9);
        let (shell, drives) = ((-1, 0, FREE, false), (-2, -1, Role::Driver, false));
        assert_eq!(of(&[shell, (-9, -1, FREE, false)]), None);
        let held = Some(InTurn { steers: false });
        assert_eq!(of(&[shell, (-9, -1, FREE, true)]), held, "by the mark alone");
        assert_eq!(of(&[shell, drives, (-3, -2, HELD, false), (-9, -3, FREE, false)]), held);
        let above = [shell, drives, (-3, -2, HELD, false), (-4, -3, STEERING, false)];
        assert_eq!(of(&[&above[..], &[(-9, -4, FREE, false)]].concat()), held, "a false one");
        let below = [shell, drives, (-3, -2, STEERING, false)];
        let steers = Some(InTurn { steers: true });
        assert_eq!(of(&[&below[..], &[(-9, -3, FREE, true)]].concat()), steers);
        let outer =
            |members: &[(i32, i32, Role, bool)], pid| family(members).is_outer_supervisor(pid);
        assert!(outer(&above, -3));
        assert!(!outer(&above, -4), "a false one");
        assert!(!outer(&above, -2));
        let nested = [(-4, -3, Role::Driver, true), (-5, -4, HELD, true), (-9, -5, FREE, true)];
        assert_eq!(of(&[&below[..], &nested].concat()), held, "a cast that a turn began");
        assert_eq!(of(&[shell, drives, (-9, -2, FREE, false)]), held, "its supervisor is dead");
    }

    #[test]
    fn this_process_belongs_to_no_turn_or_says_so() {
        let own = i32::try_from(std::process::id()).unwrap();
        let named = std::env::var_os(VARIABLE).is_some();
        assert_eq!(own_turn().is_some(), Processes::default().turn_of(own).is_some() || named);
    }
}
