use clap::Args;
use materia_contract::{Do, NodeId};

use crate::args::{Global, RunOptions};
use crate::carry::Carry;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Let a turn run that waits for approval
///
/// What is approved is named by hash: the socket, its item and the payloads it would take. If
/// another payload arrives before the turn starts, approval is asked for again.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia approve last Deploy")]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    whom: Whom,
}

/// Refuse a turn that waits for approval
///
/// Its inputs are kept, and the cast waits. `materia approve` lets the turn run after all.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia deny last Deploy")]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    whom: Whom,
}

#[derive(Args, Debug)]
struct Whom {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket whose turn waits
    #[arg(value_name = "NODE")]
    node: String,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

impl Whom {
    fn do_to(
        &self,
        what: impl FnOnce(NodeId) -> Do,
        global: &Global,
        terminal: &mut Terminal,
    ) -> Result<Exit, Failure> {
        let what = what(NodeId::new(self.node.as_str()));
        Carry { id: &self.id, options: &self.options, global }.on(terminal, |_| Ok(what))
    }
}

/// Runs `approve`.
pub(crate) fn approve(
    args: &ApproveArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    args.whom.do_to(|node| Do::Approve { node }, global, terminal)
}

/// Runs `deny`.
pub(crate) fn deny(
    args: &DenyArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    args.whom.do_to(|node| Do::Deny { node }, global, terminal)
}
