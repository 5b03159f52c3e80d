use std::path::PathBuf;

use clap::Args;
use materia_app::archive::{self, Written};
use materia_app::views::export;
use materia_app::views::subject::Subject;

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::typed_path;

/// Write one cast as one file: a page that opens without a server, or an archive
///
/// A page holds the events, the turns with what they were given and gave back, and the page that shows them. It
/// only reads. A file whose name ends with `.materia` is an archive: `replay`, `show`, `events`, `why` and `export`
/// open it in the place of a cast, on any machine. Secrets are taken out of what turns say before it is kept; still
/// look through the file before you give it to others.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia export last -o cast.html\n  materia export 20261115T0226 -o review.html --force\n  materia export last -o cast.materia\n  materia export last -o cast.materia --redact"
)]
pub(crate) struct ExportArgs {
    /// The cast: its id, the beginning of it, or `last`; or an archive, `cast.materia`
    #[arg(value_name = "ID")]
    id: String,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace texts by their length: prompts, answers, messages, variables. Only for an archive
    #[arg(long)]
    redact: bool,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// Runs `export`.
pub(crate) fn export(args: &ExportArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, subject) = journals::open(&args.id, global, terminal)?;
    if args.output.to_string_lossy().ends_with(archive::ENDING) {
        return write_archive(&subject, args, terminal);
    }
    if args.redact {
        let message = "`--redact` makes an archive: name a file that ends with `.materia`; then export that file as a page";
        return Err(Failure::usage(message));
    }
    let text = page(&subject, &project)?;
    let shown = args.output.display();
    typed_path::write(&args.output, text.as_bytes(), args.force)?;
    terminal.say(format_args!(
        "Cast `{}` is in {shown} ({} KB); open it in a browser.",
        subject.id(),
        text.len().div_ceil(1_000)
    ));
    if terminal.json {
        terminal.data(
            &serde_json::json!({ "castId": subject.id(), "file": args.output, "bytes": text.len() }),
        )?;
    }
    Ok(Exit::Done)
}

/// The read-only page with this cast inside.
pub(super) fn page(subject: &Subject, project: &Project) -> Result<String, Failure> {
    let viewer = materia_server::viewer().ok_or_else(|| {
        let why = materia_server::missing_page().unwrap_or("its page cannot be put into a file");
        Failure::resolution(format!("this build cannot export a cast: {why}"))
    })?;
    Ok(export::page(&viewer, &export::of_subject(subject, project)?)?)
}

fn write_archive(subject: &Subject, args: &ExportArgs, terminal: &mut Terminal) -> Ended {
    let Written { bytes, events } =
        if args.redact { subject.write_redacted() } else { subject.write() }?;
    typed_path::write(&args.output, &bytes, args.force)?;
    terminal.say(format_args!(
        "Cast `{}` is in {} ({events} events, {} KB); `materia replay {}` verifies it.",
        subject.id(),
        args.output.display(),
        bytes.len().div_ceil(1_000),
        args.output.display(),
    ));
    if terminal.json {
        terminal.data(&serde_json::json!({
            "castId": subject.id(), "file": args.output, "bytes": bytes.len(), "events": events,
        }))?;
    }
    Ok(Exit::Done)
}
