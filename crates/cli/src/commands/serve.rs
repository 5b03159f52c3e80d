use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use materia_app::archive;
use materia_contract::api::Code;
use materia_contract::search_path;
use materia_server::client::Client;
use materia_server::{Demo, Listen, ServeError, Serving, Settings};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::Global;
use crate::background;
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::project::Project;
use crate::run;
use crate::terminal::Terminal;

/// Default address of a server; another free port is used if this one is taken.
const USUAL: &str = "127.0.0.1:7717";
/// How long a thread for blocking work waits for the next piece. The allocator gives back its memory when it ends.
const IDLE_THREAD_MAX: Duration = Duration::from_secs(2);

/// Serve casts to the page and to programs
///
/// Runs the casts that are started through it, shows casts of other processes, and lets people
/// intervene. It listens on this machine only. `server.json` in the state folder says where, and
/// has the token that programs send.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia serve\n  materia serve --project ~/work/one --project ~/work/two\n  materia serve --listen unix:/run/user/1000/materia.sock\n\nFrom another machine: ssh -L 7717:127.0.0.1:7717 HOST\n\nExit status: 75 another server of yours runs already."
)]
pub(crate) struct ServeArgs {
    /// Where to listen: a loopback address with a port, or `unix:PATH`
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Serve the project in DIR; may be given several times. Otherwise the current folder. The
    /// projects of the previous server are served as well
    #[arg(long, value_name = "DIR")]
    project: Vec<PathBuf>,
    /// Do not resume casts that the previous server was running when it died
    #[arg(long)]
    no_resume: bool,
    /// Take scripts and recordings with a request, for tests
    #[arg(long, hide = true)]
    test_hooks: bool,
}

/// Open the page in a browser
///
/// Joins the server that runs, or starts one and stays until Ctrl-C. An archive needs no server: its
/// page is a file, and is only read.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia ui\n  materia ui --no-open\n  materia ui cast.materia"
)]
pub(crate) struct UiArgs {
    /// Show this archive instead, `cast.materia`
    #[arg(value_name = "ARCHIVE", conflicts_with_all = ["remove", "listen", "project", "no_resume"])]
    archive: Option<String>,
    /// Only print the address; it opens the page signed in, once, within a minute
    #[arg(long)]
    no_open: bool,
    /// Remove the project in DIR from the running server; its files do not change
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_open", "listen", "project"])]
    remove: Option<PathBuf>,
    /// How it serves, if nobody does.
    #[command(flatten)]
    serve: ServeArgs,
}

/// Runs `serve`.
pub(crate) fn serve(args: &ServeArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    run_server(args, None, global, terminal, |serving, terminal| {
        terminal
            .say(format_args!("Serving at {}; Ctrl-C ends it, and its casts rest.", serving.url()));
        Ok(())
    })
}

/// Runs `ui`.
pub(crate) fn ui(args: &UiArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    if let Some(dir) = &args.remove {
        return remove(dir, terminal);
    }
    if let Some(archive) = &args.archive {
        return show_archive(archive, args.no_open, global, terminal);
    }
    if let Some(client) = background::running()? {
        let link = join(&client, global)?;
        show(&link, args.no_open, terminal)?;
        return Ok(Exit::Done);
    }
    let no_open = args.no_open;
    run_server(&args.serve, None, global, terminal, |serving, terminal| {
        let link = serving.link().map_err(|error| Failure::Broken(error.to_string()))?;
        show(&link, no_open, terminal)
    })
}

/// Shows an archive as a page in a file of the state folder.
fn show_archive(name: &str, no_open: bool, global: &Global, terminal: &mut Terminal) -> Ended {
    use std::io::Write as _;
    if !archive::is_meant(name) {
        let message =
            format!("`{name}` is not an archive; `materia ui` shows the casts of this project");
        return Err(Failure::usage(message));
    }
    let (project, subject) = journals::open(name, global, terminal)?;
    let page = super::export::page(&subject, &project)?;
    let file = materia_server::page_file(&background::state()?, page.as_bytes())
        .map_err(|error| Failure::storage(format!("the page cannot be written: {error}")))?;
    writeln!(terminal.out, "{}", file.display())?;
    if !no_open && !start_browser(&file) {
        terminal.say("No browser could be opened: open the file above.");
    }
    Ok(Exit::Done)
}

/// Has a project served no longer.
fn remove(dir: &Path, terminal: &mut Terminal) -> Ended {
    let Some(client) = background::running()? else {
        return Err(Failure::resolution("no server is running, so it serves no project"));
    };
    // A folder that is gone is known by the path that it had.
    let dir = dir.canonicalize().or_else(|_| std::path::absolute(dir));
    let dir = dir.map_err(|error| Failure::Broken(error.to_string()))?;
    let removed = client.remove_project(&dir.to_string_lossy()).map_err(background::refused)?;
    let Some(removed) = removed else {
        let message = format!("the server does not serve `{}`", dir.display());
        return Err(Failure::resolution(message));
    };
    terminal.say(format_args!("`{}` is served no longer.", removed.dir));
    Ok(Exit::Done)
}

/// Refuses what brings a server of its own where one runs.
pub(crate) fn refuse_another() -> Result<(), Failure> {
    match background::running()? {
        None => Ok(()),
        Some(client) => Err(Failure::resolution(format!(
            "a server of yours runs already ({}), and the demo brings its own; `materia stop` ends it, then `materia demo --ui` works; `materia demo` plays in the terminal",
            client.server().url
        ))),
    }
}

/// Serves the demo, and opens the page.
pub(crate) fn demo(
    demo: Demo,
    listen: Option<String>,
    test_hooks: bool,
    no_open: bool,
    terminal: &mut Terminal,
) -> Ended {
    // Its casts need no server and no worker.
    let global = Global { journal: Some("sqlite".to_owned()), ..Global::default() };
    let args =
        ServeArgs { listen, project: vec![demo.project.clone()], no_resume: false, test_hooks };
    run_server(&args, Some(demo), &global, terminal, |serving, terminal| {
        let link = serving.link().map_err(|error| Failure::Broken(error.to_string()))?;
        show(&link, no_open, terminal)?;
        terminal.say("Press `Run the demo` on the page; Ctrl-C here ends the server.");
        Ok(())
    })
}

/// Has the present project served by the server that runs; gives an address that opens the page signed in.
fn join(client: &Client, global: &Global) -> Result<String, Failure> {
    let here = Project::here(global)?;
    let project = client.add_project(&here.dir.to_string_lossy()).map_err(background::refused)?;
    let wanted = here.nats_options()?.map(|options| options.space.as_str().to_owned());
    if wanted.is_some() && wanted != project.space {
        let served = project
            .space
            .map_or("a file of the project".to_owned(), |it| format!("the space `{it}`"));
        return Err(Failure::resolution(format!(
            "your server ({}) runs already and shows the casts in {served}, not those in {}; `materia stop` ends it, then this command starts one",
            client.server().url,
            here.shown_place(),
        )));
    }
    let code: Code =
        client.post("/api/codes", &serde_json::json!({})).map_err(background::refused)?;
    Ok(format!("{}&project={}", code.url, project.id))
}

fn show(link: &str, no_open: bool, terminal: &mut Terminal) -> Result<(), Failure> {
    use std::io::Write as _;
    if let Some(why) = materia_server::missing_page() {
        terminal.say(format_args!("This build has only a plain page: {why}."));
    }
    writeln!(terminal.out, "{link}")?;
    terminal.out.flush()?;
    let words = match (no_open, no_open || open(link)) {
        (true, _) => "The address signs you in: open it once, within a minute",
        (false, true) => "If no page opens, open the address above once, within a minute",
        (false, false) => {
            "No browser could be opened: open the address above once, within a minute"
        }
    };
    terminal.say(format_args!("{words}; `materia ui` prints a new one."));
    Ok(())
}

/// Opens an address of our own in the user's browser: by a file, since every user can read the arguments of a program.
fn open(link: &str) -> bool {
    let file =
        background::state().ok().and_then(|state| materia_server::opening_file(&state, link).ok());
    file.is_some_and(|file| start_browser(&file))
}

fn start_browser(file: &Path) -> bool {
    let opener = Command::new("xdg-open")
        .arg(file)
        .env("PATH", search_path(std::env::var_os("PATH").as_deref()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    opener.is_ok()
}

/// A runtime for a process that stays.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    run::runtime(Builder::new_multi_thread().thread_keep_alive(IDLE_THREAD_MAX))
}

fn run_server(
    args: &ServeArgs,
    demo: Option<Demo>,
    global: &Global,
    terminal: &mut Terminal,
    begun: impl FnOnce(&Serving, &mut Terminal) -> Result<(), Failure>,
) -> Ended {
    materia_runners::name_driver();
    return_memory();
    let listen = Listen::parse(args.listen.as_deref().unwrap_or(USUAL));
    let listen = listen.map_err(|error| Failure::usage(error.to_string()))?;
    let runtime = runtime()?;
    runtime.block_on(async {
        let settings = Settings { demo, ..settings(args, listen, global)? };
        let serving = match materia_server::serve(settings.clone()).await {
            Err(ServeError::Listen(_)) if args.listen.is_none() => {
                let any = Listen::parse("127.0.0.1:0").unwrap_or(settings.listen.clone());
                materia_server::serve(Settings { listen: any, ..settings }).await
            }
            served => served,
        };
        let serving = match serving {
            Ok(serving) => serving,
            Err(error @ ServeError::Runs(_)) => {
                terminal.say(format_args!(
                    "error: {error}; `materia ui` joins it, `materia stop` ends it"
                ));
                return Ok(Exit::ServerRuns);
            }
            Err(ServeError::Project(failure)) => return Err(failure.into()),
            Err(error) => return Err(Failure::storage(error.to_string())),
        };
        begun(&serving, terminal)?;
        let stop = serving.stopper();
        tokio::spawn(heed_signals(stop));
        serving.run().await;
        Ok(Exit::Done)
    })
}

fn settings(args: &ServeArgs, listen: Listen, global: &Global) -> Result<Settings, Failure> {
    let mut projects = args.project.clone();
    if projects.is_empty() {
        projects.push(Project::here(global)?.dir.clone());
    }
    let named = global.clone();
    let open = move |dir: &Path| Project::open_at(dir, &named);
    Ok(Settings {
        listen,
        projects,
        open: Arc::new(open),
        state_dir: background::state()?,
        supervisor: run::supervisor()?,
        test_hooks: args.test_hooks,
        page_dir: std::env::var_os("MATERIA_PAGE_DIR")
            .map(PathBuf::from)
            .filter(|_| args.test_hooks),
        demo: None,
        resume: !args.no_resume,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The first signal ends the server in good order; the second ends the process at once.
async fn heed_signals(stop: impl Fn()) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else { return };
    let mut heard = false;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            // Closing the terminal must not end a server in the background.
            _ = hangup.recv() => continue,
        }
        if heard {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        heard = true;
        stop();
    }
}

/// Lets a thread return unused memory to the system while the server is idle.
fn return_memory() {
    #[cfg(feature = "jemalloc")]
    if let Err(error) = tikv_jemalloc_ctl::background_thread::write(true) {
        tracing::warn!("unused memory is returned late: {error}");
    }
}
