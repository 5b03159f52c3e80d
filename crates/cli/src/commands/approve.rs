use clap::Args;
use materia_app::cast::act::step;
use materia_contract::Do;
use materia_kernel::Run;

use crate::args::{CarryOptions, Global};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::terminal::Terminal;

/// Approve a turn that waits for approval, and resume the cast
///
/// The approval is bound to a hash of the socket, its item and the payloads it would take. If
/// another payload arrives before the turn starts, the cast asks again. A refused turn can still be
/// approved. SOCKET may be left out if only one socket waits.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia approve last\n  materia approve last Deploy\n  materia approve last Deploy --no-run"
)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    whom: Whom,
}

/// Refuse a turn that waits for approval
///
/// Its inputs are kept, and the cast waits. `materia approve` can still approve the turn later.
/// With --route the turn counts as `satisfied: false`, the reason as its context, and the cast goes
/// on over an edge with `"when": "not_satisfied"`. SOCKET may be left out if only one socket waits.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia deny last\n  materia deny last Deploy --reason \"not on a Friday\"\n  materia deny last Deploy --route --reason \"the tests are missing\""
)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    whom: Whom,
    /// The reason; it is stored with the refusal. `show` and `why` print it while the turn waits,
    /// `events` always
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Let the cast go on over an edge for work that is not satisfied
    #[arg(long)]
    route: bool,
}

#[derive(Args, Debug)]
struct Whom {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket whose turn waits
    #[arg(value_name = "SOCKET")]
    node: Option<String>,
    /// Answer this question and no other: its hash, or eight or more characters of it
    #[arg(long, value_name = "HASH")]
    hash: Option<String>,
    /// Whether it is carried on, and how.
    #[command(flatten)]
    options: CarryOptions,
}

impl Whom {
    fn do_to(
        &self,
        what: impl FnOnce(&Run, Option<&str>, Option<&str>) -> Result<Do, materia_app::Failure>,
        global: &Global,
        terminal: &mut Terminal,
    ) -> Ended {
        let (node, hash) = (self.node.as_deref(), self.hash.as_deref());
        Continuation::of(&self.id, &self.options, global)
            .on(terminal, |run| Ok(what(run, node, hash)?))
    }
}

/// Runs `approve`.
pub(crate) fn approve(args: &ApproveArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    args.whom.do_to(step::approve, global, terminal)
}

/// Runs `deny`.
pub(crate) fn deny(args: &DenyArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (reason, route) = (args.reason.clone(), args.route);
    args.whom.do_to(|run, node, hash| step::deny(run, node, hash, reason, route), global, terminal)
}
