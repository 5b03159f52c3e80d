//! The demo: a scratch project, a typical workflow, and scripted agents.
//!
//! The binary contains everything: the loadout, the agents' answers, and the checkpoint utility. Nothing is foreign,
//! so it needs no approval. It reads no configuration of the user, which could change the result.

mod git;
mod maintain;
mod scratch;

pub(crate) use maintain::maintain;

use std::path::{Path, PathBuf};

use materia_app::RunOptions;
use materia_app::cast::prepare::{self, Asked, Origin, Ready};
use materia_contract::{EventBody, RunId, WorkspaceKind};
use materia_server::Demo;

use crate::args::Global;
use crate::begin::{self, Vouched};
use crate::failure::{Ended, Exit, Failure};
use crate::narrator::Narrator;
use crate::project::Project;
use crate::sanitize::{clean, one_line};
use crate::terminal::Terminal;
use git::Git;
use scratch::Audience;

/// The hidden command that is the demo's checkpoint utility.
pub(crate) const MAINTAIN: &str = "__demo-maintain";

/// Request of the demo's cast.
const REQUEST: &str = "Make greet.sh greet people by name, also in French, and describe it.";

/// Sets the project up, runs a cast, and prints the result.
pub(crate) fn run(
    wanted: Option<&Path>,
    at_once: bool,
    workspace: bool,
    json: bool,
    terminal: &mut Terminal,
) -> Ended {
    let audience = if at_once { Audience::Nobody } else { Audience::Terminal };
    let folder = set_up(wanted, audience, terminal)?;
    std::env::set_current_dir(&folder)
        .map_err(|error| Failure::storage(format!("cannot go to the project: {error}")))?;
    // With the folder in it, so that each command that is shown can be typed anywhere.
    let here = |journal| {
        let directory = Some(folder.clone());
        Project::here(&Global { directory, journal, json, ..Global::default() })
    };
    let mut project = here(None)?;
    if project.is_remote() {
        // The demo needs no server.
        project = here(Some("sqlite".to_owned()))?;
    }
    let profile = project.sources.profile_dir.take();
    project.sources.env_config = None;
    let workspace = workspace.then_some(WorkspaceKind::Own);
    let script = Some(folder.join(scratch::SCRIPT));
    let options = RunOptions { script, workspace, ..RunOptions::default() };
    terminal.say(format_args!("Casting: {REQUEST}\n"));
    let request = REQUEST.to_owned();
    let asked = Asked { project: &project, approvals: profile, request, options: &options };
    let trusted = Vouched { project: true, journal: false, detach: false };
    let (exit, _) = begin::loadout(&project, &asked, None, trusted, terminal)?;
    if exit == Exit::Done {
        tell(&project, workspace.is_some(), terminal)?;
    }
    Ok(exit)
}

fn set_up(
    wanted: Option<&Path>,
    audience: Audience,
    terminal: &Terminal,
) -> Result<PathBuf, Failure> {
    let folder = scratch::make(wanted)?;
    scratch::fill(&folder, audience)?;
    terminal.say(format_args!("A scratch project: {}", clean(&folder.to_string_lossy())));
    set_up_git(&folder, terminal);
    Ok(folder)
}

/// Sets the project up for the page, where a person begins the cast. Its files come from this program, so no trust
/// question is asked.
pub(crate) fn for_page(wanted: Option<&Path>, terminal: &Terminal) -> Result<Demo, Failure> {
    let folder = set_up(wanted, Audience::Page, terminal)?;
    let global = Global::default();
    let project = Project::at(&folder, &global)?;
    let script = folder.join(scratch::SCRIPT);
    let options = RunOptions { script: Some(script.clone()), ..RunOptions::default() };
    let (loaded, compiled) = project.compile(None, terminal)?;
    let ready = Ready { loaded, compiled, origin: Origin::default() };
    let (approvals, request) = (project.profile_dir().map(Path::to_owned), REQUEST.to_owned());
    let asked = Asked { project: &project, approvals, request, options: &options };
    begin::settle(prepare::cast(&asked, ready)?, true, &project, terminal)?;
    Ok(Demo { project: folder, script, request: REQUEST.to_owned() })
}

/// The first commit, so that each item's own can be compared with something.
fn set_up_git(folder: &Path, terminal: &Terminal) {
    let git = Git::at(folder);
    if let Err(error) = git.init().and_then(|()| git.commit_all("Where the demo begins")) {
        terminal
            .say(format_args!("Without checkpoints, for {}", one_line(&error.to_string(), 300)));
    }
}

fn tell(project: &Project, own: bool, terminal: &Terminal) -> Result<(), Failure> {
    terminal.say("\nWhat happened");
    for line in sent_back(project)? {
        terminal.say(format_args!("  {line}"));
    }
    let git = Git::at(&project.dir);
    if git.has_repository()
        && let Ok(log) = git.log(own)
    {
        terminal.say("  git log says:");
        for line in clean(&log).lines() {
            terminal.say(format_args!("    {line}"));
        }
    }
    let made = if own { "as it was; what they made is in the branch" } else { "what they made" };
    terminal.say(format_args!(
        "\nWhere everything is: {}\n  \
           materia.json  the workflow, with comments\n  \
           script.json   what the scripted agents answered\n  \
           greet.sh      {made}\n  \
           .materia/     the journal, and what each turn was given and gave back",
        clean(&project.dir.to_string_lossy())
    ));
    if own {
        terminal.say(
            "\nThe agents worked in a copy. Your checkout is as it was; the result is the branch above.",
        );
        terminal.say("\nHow to get it");
        for words in ["workspace last", "workspace last --diff", "workspace last --apply"] {
            terminal.say(format_args!("  {}", project.command(words)));
        }
    }
    terminal.say("\nWhat to try next");
    terminal.say("  materia demo --ui  the same on a page, where you are asked once");
    for words in ["show last", "why last Socket-2", "replay last", "events last", "grid"] {
        terminal.say(format_args!("  {}", project.command(words)));
    }
    Ok(())
}

/// A line for each time that work was sent back.
fn sent_back(project: &Project) -> Result<Vec<String>, Failure> {
    let found = project.find(&RunId::new("last"))?;
    let mut lines = Vec::new();
    Narrator::walk(found.journal(), &found.id, |story, event| {
        if let (EventBody::FollowUpCaptured(data), Some(node)) = (&event.body, &event.node) {
            let item = story.item(Some(node), data.item.as_deref().unwrap_or_default());
            let reason = one_line(&data.reason, 200);
            lines.push(format!("{item} was sent back by Auto-Eval: {reason}"));
        }
    })?;
    Ok(lines)
}
