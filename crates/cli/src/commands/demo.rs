use std::path::PathBuf;

use clap::Args;

use super::serve;
use crate::args::Global;
use crate::failure::{Ended, Failure};
use crate::terminal::Terminal;

/// Run the shipped workflow in a scratch project: no key, no network, no set-up
///
/// Scripted agents plan three work items, build each, judge it, send one back, and checkpoint each
/// with git if it is installed. It takes a few seconds, and you can inspect everything afterwards.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia demo\n  materia demo ~/materia-demo\n  materia demo --workspace\n  materia demo --ui"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct DemoArgs {
    /// The folder of the project, new or empty; otherwise one among the temporary files
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Let the agents answer at once
    #[arg(long, hide = true)]
    at_once: bool,
    /// Let the agents work in a copy of the scratch project's repository
    #[arg(long, conflicts_with = "ui")]
    workspace: bool,
    /// Open the page, and play the demo there
    #[arg(long)]
    ui: bool,
    /// With `--ui`: only print the address; it opens the page signed in, once, within a minute
    #[arg(long, requires = "ui")]
    no_open: bool,
    /// With `--ui`: where to listen
    #[arg(long, value_name = "ADDRESS", requires = "ui", hide = true)]
    listen: Option<String>,
    /// Take scripts and recordings with a request, for tests
    #[arg(long, requires = "ui", hide = true)]
    test_hooks: bool,
}

/// Runs `demo`.
pub(crate) fn demo(args: &DemoArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    if global.config.is_some() {
        return Err(Failure::usage("the demo brings its own configuration; leave `--config` out"));
    }
    if args.ui {
        serve::refuse_another()?;
        let (listen, test_hooks) = (args.listen.clone(), args.test_hooks);
        let made = || crate::demo::for_page(args.folder.as_deref(), terminal);
        return serve::demo(made()?, listen, test_hooks, args.no_open, terminal);
    }
    crate::demo::run(args.folder.as_deref(), args.at_once, args.workspace, global.json, terminal)
}
