use std::path::PathBuf;

use clap::Args;
use materia_app::export;

use crate::args::Global;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::typed_path;

/// Write one cast as a page that opens without a server
///
/// The file holds the events, the turns with what they were given and gave back, and the page that shows them. It
/// only reads. Secrets are taken out of what turns say before it is kept; still look through the file before you
/// give it to others.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia export last -o cast.html\n  materia export 20261115T0226 -o review.html --force"
)]
pub(crate) struct ExportArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

/// Runs `export`.
pub(crate) fn export(
    args: &ExportArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let (project, found) = Project::with_cast(&args.id, global)?;
    let viewer = materia_server::viewer().ok_or_else(|| {
        let why = materia_server::missing_page().unwrap_or("its page cannot be put into a file");
        Failure::resolution(format!("this build cannot export a cast: {why}"))
    })?;
    let folders = project.folders(&found.root, &found.id);
    let made = export::of(found.journal(), &found.id, &folders)?;
    let text = export::page(viewer, &made)?;
    let shown = args.output.display();
    typed_path::write(&args.output, text.as_bytes(), args.force)?;
    terminal.say(format_args!(
        "Cast `{}` is in {shown} ({} KB); open it in a browser.",
        found.id,
        text.len().div_ceil(1_000)
    ));
    if terminal.json {
        terminal.data(
            &serde_json::json!({ "castId": found.id, "file": args.output, "bytes": text.len() }),
        )?;
    }
    Ok(Exit::Done)
}
