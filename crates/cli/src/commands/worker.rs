use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use materia_app::cast::worker::{Settings, Worker};
use materia_contract::{LABEL_RULE, is_label};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::run;
use crate::sanitize;
use crate::terminal::Terminal;

/// How long tasks of the worker may take to end.
const END_WAIT_MAX: Duration = Duration::from_secs(5);

/// Run the casts of a space on NATS that wait for a worker
///
/// `cast --detach` and `resume --detach` hand a cast to the workers of its space. If a worker dies,
/// another one carries its casts on.
///
/// Everyone who can write to the space can run programs on this machine, as your user: the commands
/// of a cast come from the space, and the worker asks nobody. Name the space with `--trust-space`
/// to allow that. The accounts and permissions of NATS decide who can write to it.
///
/// A cast with a workspace of its own (`cast --workspace own`) runs on every worker. A cast in the
/// folder of its project runs only on a worker that was started in that folder, on that machine.
///
/// SIGTERM and Ctrl-C: the worker takes no more casts and begins no further turn. Turns that run
/// have the time of `--grace` to end. Then other workers carry the casts on. A second signal ends
/// the worker at once.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia worker --journal nats://10.0.0.1:4222 --space shop --trust-space shop\n  materia worker --slots 8 --labels gpu,big --trust-space shop"
)]
pub(crate) struct WorkerArgs {
    /// How many casts it runs at one time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    slots: u32,
    /// Its labels: it runs casts whose sockets need no others (`policy.labels`)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    labels: Vec<String>,
    /// How long turns may take to end after SIGTERM
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    grace: u64,
    /// Let everyone who can write to this space run programs here; it must be the space of the worker
    #[arg(long, value_name = "SPACE")]
    trust_space: Option<String>,
}

/// Runs `worker`.
pub(crate) fn worker(args: &WorkerArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    if let Some(wrong) = args.labels.iter().find(|label| !is_label(label)) {
        let wrong = sanitize::one_line(wrong, 80);
        return Err(Failure::usage(format!("`{wrong}` cannot be a label: {LABEL_RULE}")));
    }
    let mut project = Project::here(global)?;
    let runtime = super::serve::runtime()?;
    project.place.worker = Some(runtime.handle().clone());
    let Some(options) = project.nats_options()? else {
        return Err(Failure::usage(
            "a worker needs casts on NATS servers: name them with `--journal nats://HOST:PORT`, MATERIA_JOURNAL, or `journal` in your profile",
        ));
    };
    let space = options.space.as_str().to_owned();
    refuse_untrusted(args.trust_space.as_deref(), &space)?;
    let mut labels = args.labels.clone();
    labels.sort();
    labels.dedup();
    let settings = Settings {
        slots: args.slots,
        labels,
        grace: Duration::from_secs(args.grace),
        supervisor: run::supervisor()?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    materia_runners::name_driver();
    let say = terminal.err.clone();
    let done = runtime.block_on(async {
        let said = say.clone();
        let heard = Arc::new(move |words: &str| said.say(sanitize::clean(words)));
        let worker = Worker::new(project.app().clone(), settings, heard)?;
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(heed_signals(stop));
        say.say(format_args!(
            "worker `{}` runs casts of the space `{space}`; Ctrl-C hands them over",
            worker.name()
        ));
        worker.work(stopped).await
    });
    runtime.shutdown_timeout(END_WAIT_MAX);
    done?;
    Ok(Exit::Done)
}

/// A worker runs what others put into its space. The user must name that space (M8).
fn refuse_untrusted(trusted: Option<&str>, space: &str) -> Result<(), Failure> {
    if trusted == Some(space) {
        return Ok(());
    }
    let named = match trusted {
        None => String::new(),
        Some(other) => {
            format!("`--trust-space {}` names another space. ", sanitize::one_line(other, 80))
        }
    };
    Err(Failure::usage(format!(
        "{named}Everyone who can write to the space `{space}` can run programs on this machine, as your user, and a worker asks nobody. If you want that, add `--trust-space {space}`"
    )))
}

/// The first signal ends the worker in good order; the second ends the process at once.
async fn heed_signals(stop: watch::Sender<bool>) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    let [Ok(mut interrupt), Ok(mut terminate)] = kinds.map(signal) else { return };
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if stop.send_replace(true) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    }
}
