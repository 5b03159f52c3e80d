//! Steps that let a node run, as data and as commands to type.

use std::fmt::{Display, Write as _};

use materia_contract::body::{Suggested, SuggestedStep, Suggestion};
use materia_contract::{Do, NodeId, Pace, RunId};

/// The words of the command about the run `id`; a fork is called `fork`.
fn command(what: &Suggested, id: &RunId, fork: &str) -> Option<String> {
    let words = match what {
        Suggested::Fork { at, interactive } => {
            let pace = if *interactive { " --interactive" } else { "" };
            format!("fork {id} --at {at}{pace} --cast-id {fork}")
        }
        Suggested::Wait { .. } => return None,
        Suggested::Do(done) => typed(done, id)?,
    };
    Some(format!("materia {words}"))
}

/// The effect of a step in a sentence.
fn text(what: &Suggested) -> String {
    match what {
        Suggested::Fork { at, .. } => format!("begin a new cast that shares events 1 to {at}"),
        Suggested::Wait { turn: Some(turn), node } => {
            format!(
                "wait until the turn of `{node}` that began at event {turn} has ended \
                 (`materia resume` where nothing drives the cast)"
            )
        }
        Suggested::Wait { turn: None, node } => {
            format!("wait until the turn of `{node}` has ended")
        }
        Suggested::Do(done) => told_of(done),
    }
}

/// The words that a person types to do something to a run; a few things are for programs alone.
fn typed(what: &Do, id: &RunId) -> Option<String> {
    Some(match what {
        Do::Mode { value: Pace::Auto } => format!("mode {id} AUTO"),
        Do::Mode { value: Pace::Interactive } => format!("mode {id} INTERACTIVE"),
        Do::Trigger { node, approve, .. } => {
            let approve = if *approve { " --approve" } else { "" };
            format!("trigger {id} {}{approve}", quoted(node))
        }
        Do::Approve { node, .. } => format!("approve {id} {}", quoted(node)),
        Do::Deny { node, .. } => format!("deny {id} {}", quoted(node)),
        Do::Budget { budget } => {
            let mut words = format!("budget {id}");
            bound(&mut words, "max-turns", budget.max_turns);
            bound(&mut words, "max-tokens", budget.max_tokens);
            bound(&mut words, "max-cost", budget.max_cost);
            words
        }
        Do::NodeBudget { node, budgets } => {
            let mut words = format!("budget {id} --node {}", quoted(node));
            bound(&mut words, "max-turns", budgets.turns);
            bound(&mut words, "max-time-ms", budgets.time_ms);
            bound(&mut words, "max-cost", budgets.cost);
            words
        }
        Do::Pause
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Abort { .. }
        | Do::Skip { .. }
        | Do::Continue { .. } => format!("{} {id}", what.name()),
        Do::Offer { .. } | Do::GlobalMode { .. } | Do::Crash | Do::Say { .. } | Do::Stop { .. } => {
            return None;
        }
    })
}

/// The effect of an act in a sentence.
fn told_of(what: &Do) -> String {
    match what {
        Do::Mode { .. } => "let the scheduler start turns".into(),
        Do::Trigger { node, .. } => format!("start a turn of `{node}` by hand"),
        Do::Approve { .. } => "approve the turn that waits".into(),
        Do::Budget { .. } => "raise what the cast may spend".into(),
        Do::NodeBudget { node, .. } => format!("raise what `{node}` may spend"),
        Do::Resume { .. } => "carry the cast on".into(),
        Do::Recast => "try the failed turn again".into(),
        Do::Revive => "take the way that was exhausted once more".into(),
        Do::Skip { .. } => "end the present item and move on to the next".into(),
        Do::Offer { .. }
        | Do::Deny { .. }
        | Do::Pause
        | Do::GlobalMode { .. }
        | Do::Crash
        | Do::Say { .. }
        | Do::Continue { .. }
        | Do::Stop { .. }
        | Do::Abort { .. } => what.name().to_owned(),
    }
}

fn bound(words: &mut String, name: &str, limit: Option<impl Display>) {
    if let Some(limit) = limit {
        // Writing to a string cannot fail.
        let _ = write!(words, " --{name} {limit}");
    }
}

/// A node's name as a shell takes it.
fn quoted(node: &NodeId) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@+".contains(c);
    let name = node.as_str();
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

/// The suggestion for these steps.
pub(super) fn say(id: &RunId, steps: Vec<Suggested>) -> Suggestion {
    let fork =
        RunId::parse(&format!("{id}-fork")).map_or_else(|_| "fork".to_owned(), |it| it.to_string());
    let mut about = id.clone();
    let mut said = Vec::new();
    for what in steps {
        let command = command(&what, &about, &fork);
        if let Suggested::Fork { .. } = what {
            about = RunId::new(fork.as_str());
        }
        let text = text(&what);
        said.push(SuggestedStep::new(what, command, text));
    }
    let words: Vec<String> = said.iter().map(told).collect();
    let sentence = if words.is_empty() {
        "nothing has to be done: it is about to start".to_owned()
    } else {
        words.join(", then ")
    };
    Suggestion { sentence, steps: said }
}

fn told(step: &SuggestedStep) -> String {
    match &step.command {
        Some(command) => format!("`{command}`"),
        None => step.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use materia_contract::{Amount, NodeBudgets};

    use super::*;

    fn commands(steps: Vec<Suggested>) -> Vec<Option<String>> {
        say(&RunId::new("c1"), steps).steps.into_iter().map(|step| step.command).collect()
    }

    #[test]
    fn commands_are_what_a_person_types() {
        let node = || NodeId::new("Code Review's");
        let budgets = NodeBudgets {
            turns: Some(3),
            cost: Some(Amount::from_millionths(500_000)),
            ..NodeBudgets::default()
        };
        let said = commands(vec![
            Suggested::Wait { turn: Some(7), node: node() },
            Suggested::Do(Do::NodeBudget { node: node(), budgets }),
            Suggested::Do(Do::trigger(node(), None)),
        ]);
        let name = r"'Code Review'\''s'";
        let budget = format!("materia budget c1 --node {name} --max-turns 3 --max-cost 0.5");
        assert_eq!(said, [None, Some(budget), Some(format!("materia trigger c1 {name}"))]);
    }

    #[test]
    fn what_follows_a_fork_is_done_to_the_fork() {
        let fork = Suggested::Fork { at: 7, interactive: true };
        let said = say(&RunId::new("c1"), vec![fork, Suggested::Do(Do::Resume { pace: None })]);
        assert_eq!(
            said.sentence,
            "`materia fork c1 --at 7 --interactive --cast-id c1-fork`, then `materia resume c1-fork`"
        );
    }
}
