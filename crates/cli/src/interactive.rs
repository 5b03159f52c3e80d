//! Prompts on the terminal for the questions of a running cast: approvals, and messages to a multi-turn socket.

use std::io::BufRead as _;

use materia_app::views::questions::{Approval, Asks};
use materia_contract::{Do, NodeId};

use crate::failure::{Ended, Exit, Failure};
use crate::sanitize::clean;
use crate::terminal::Terminal;

/// Continues a cast with the answers of a user.
pub(crate) trait NextAct {
    /// Present question of the cast.
    fn asks(&self) -> Result<Option<Asks>, Failure>;
    /// Applies a command to it, and drives it until it rests.
    fn does(&self, what: Do, terminal: &mut Terminal) -> Ended;
}

/// Asks the user the questions of the cast and continues it with each answer, until the user gives none.
pub(crate) fn go_on(cast: &impl NextAct, exit: Exit, terminal: &mut Terminal) -> Ended {
    let mut exit = exit;
    while exit == Exit::Waiting
        && terminal.can_ask
        && !terminal.json
        && let Some(asks) = cast.asks()?
    {
        let step = match asks {
            Asks::Approval(approval) => approve(&approval, terminal),
            Asks::Words(node) => talk(node, terminal),
        };
        exit = match step {
            None => break,
            Some(Step::Do(what)) => cast.does(what, terminal)?,
            Some(Step::Refuse(what)) => {
                cast.does(what, terminal)?;
                break;
            }
            Some(Step::Say(node, text)) => {
                cast.does(Do::Say { node: Some(node), text }, terminal)?;
                cast.does(Do::Resume { pace: None }, terminal)?
            }
        };
    }
    Ok(exit)
}

/// Action after an answer.
enum Step {
    /// This, and the cast goes on.
    Do(Do),
    /// This, and the cast stays where it is.
    Refuse(Do),
    /// These words to a socket.
    Say(NodeId, String),
}

/// Asks whether a turn may run. Without an answer the cast stays where it is.
fn approve(approval: &Approval, terminal: &Terminal) -> Option<Step> {
    let Approval { node, hash, runs, shown_by, inputs, writes, routes } = approval;
    terminal.say(format_args!("\n`{node}` asks before it runs:"));
    terminal.say(format_args!("  runs    {}", clean(runs)));
    if let Some(words) = shown_by {
        terminal.say(format_args!("          the whole prompt: {words}"));
    }
    for (place, input) in inputs.iter().enumerate() {
        let margin = if place == 0 { "takes" } else { "" };
        terminal.say(format_args!("  {margin:6}  {}", clean(input)));
    }
    terminal.say(format_args!("  writes  {}", clean(writes)));
    terminal.say(format_args!("  hash    {hash}"));
    let (node, hash) = (node.clone(), Some(hash.clone()));
    terminal.forget_typed();
    loop {
        let back = if *routes { ", b = no, and send it back" } else { "" };
        let question = format!("Run it? [y = yes, n = no{back}, Enter = later] ");
        let answer = line(&question, terminal)?;
        let answer = answer.trim();
        let (route, refuses) = match answer.to_lowercase().as_str() {
            "" => return None,
            "y" | "yes" => return Some(Step::Do(Do::Approve { node, hash })),
            "n" | "no" => (false, true),
            "b" if *routes => (true, true),
            _ => (false, false),
        };
        if refuses {
            let reason = line("Why? [Enter = no reason] ", terminal).unwrap_or_default();
            let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
            let what = Do::Deny { node, hash, reason, route };
            return Some(if route { Step::Do(what) } else { Step::Refuse(what) });
        }
        terminal.say("Please answer with one of these letters.");
    }
}

/// Asks what to say to a socket that talks with a person.
fn talk(node: NodeId, terminal: &Terminal) -> Option<Step> {
    terminal.say(format_args!(
        "\n`{node}` waits for you: write what it should do, `/continue` if it is done, `/later` to leave it."
    ));
    loop {
        let words = line("> ", terminal)?;
        match words.trim() {
            "" => {}
            "/continue" => return Some(Step::Do(Do::Continue { node: Some(node) })),
            "/later" | "/quit" => return None,
            command if command.starts_with('/') => {
                terminal.say("There is `/continue` and `/later`.");
            }
            words => return Some(Step::Say(node, words.to_owned())),
        }
    }
}

/// Reads a line from the person. Ctrl-C and the end of input mean that there is none.
fn line(question: &str, terminal: &Terminal) -> Option<String> {
    terminal.err.write(question);
    let (send, receive) = tokio::sync::oneshot::channel();
    // The run installed a handler for Ctrl-C, so the signal is handled here as well. If no answer comes, the thread is
    // abandoned; the process ends soon.
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().lock().read_line(&mut text);
        let _ = send.send(matches!(read, Ok(bytes) if bytes > 0).then_some(text));
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let answer = runtime.block_on(async {
        tokio::select! {
            answer = receive => answer.ok().flatten(),
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    if answer.is_none() {
        terminal.say("");
    }
    answer
}
