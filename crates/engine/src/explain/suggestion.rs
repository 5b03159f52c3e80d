//! What a person can do to let a node run, as data and as commands to type.

use std::fmt::{Display, Write as _};

use materia_contract::{Act, Budget, NodeBudgets, NodeId, Pace, RunId};
use serde::Serialize;

use crate::Step;

/// The smallest thing found that lets a node run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// All of it in one sentence.
    pub sentence: String,
    /// What to do, in order.
    pub steps: Vec<SuggestedStep>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedStep {
    /// What.
    #[serde(flatten)]
    pub doing: Doing,
    /// The command to type, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What it does, in words.
    pub text: String,
}

/// Something that a person does to a run, or waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Doing {
    /// Begin a new run that shares events; what follows is done to that one.
    Fork {
        /// The last event that is shared.
        at: u64,
        /// Whether nothing starts there by itself.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interactive: bool,
    },
    /// Wait for a turn to end.
    Wait {
        /// Its `turn.started`; a fork will have one of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
        /// Its node.
        node: NodeId,
    },
    /// Change the pace.
    Mode {
        /// From now on.
        value: Pace,
    },
    /// Ask for a turn.
    Trigger {
        /// The node.
        node: NodeId,
    },
    /// Allow the turn that waits.
    Approve {
        /// The node.
        node: NodeId,
    },
    /// Raise what the run may spend.
    Budget {
        /// From now on; what is absent stays as it is.
        budget: Budget,
    },
    /// Raise what a node may spend.
    NodeBudget {
        /// The node.
        node: NodeId,
        /// From now on.
        budgets: NodeBudgets,
    },
    /// Carry the run on.
    Resume,
    /// Try the failed turn again.
    Recast,
    /// Give an exhausted edge its allowance once more.
    Revive,
}

impl Doing {
    /// What it is to the engine; a fork and a wait are no steps of one run.
    ///
    /// `kept` is what the run may spend as it is.
    pub(super) fn step(&self, kept: Budget) -> Option<Step> {
        let act = |act: Act| Some(Step::Act(act));
        match self {
            Self::Fork { .. } | Self::Wait { .. } => None,
            Self::Mode { value } => act(Act::Mode { value: *value }),
            Self::Trigger { node } => act(Act::Trigger { node: node.clone(), message: None }),
            Self::Approve { node } => act(Act::Approve { node: node.clone() }),
            Self::Budget { budget } => Some(Step::SetBudget(Budget {
                max_tokens: budget.max_tokens.or(kept.max_tokens),
                max_cost: budget.max_cost.or(kept.max_cost),
                max_turns: budget.max_turns.or(kept.max_turns),
                warn_at_percent: kept.warn_at_percent,
            })),
            Self::NodeBudget { node, budgets } => {
                Some(Step::SetNodeBudgets { node: node.clone(), budgets: *budgets })
            }
            Self::Resume => Some(Step::Resume(None)),
            Self::Recast => Some(Step::Recast),
            Self::Revive => Some(Step::Revive),
        }
    }

    /// The words of the command about the run `id`; a fork is called `fork`.
    fn command(&self, id: &RunId, fork: &str) -> Option<String> {
        let words = match self {
            Self::Fork { at, interactive } => {
                let pace = if *interactive { " --interactive" } else { "" };
                format!("fork {id} --at {at}{pace} --cast-id {fork}")
            }
            Self::Wait { .. } => return None,
            Self::Mode { value: Pace::Auto } => format!("mode {id} AUTO"),
            Self::Mode { value: Pace::Interactive } => format!("mode {id} INTERACTIVE"),
            Self::Trigger { node } => format!("trigger {id} {}", quoted(node)),
            Self::Approve { node } => format!("approve {id} {}", quoted(node)),
            Self::Budget { budget } => {
                let mut words = format!("budget {id}");
                bound(&mut words, "max-turns", budget.max_turns);
                bound(&mut words, "max-tokens", budget.max_tokens);
                bound(&mut words, "max-cost", budget.max_cost);
                words
            }
            Self::NodeBudget { node, budgets } => {
                let mut words = format!("budget {id} --node {}", quoted(node));
                bound(&mut words, "max-turns", budgets.turns);
                bound(&mut words, "max-time-ms", budgets.time_ms);
                bound(&mut words, "max-cost", budgets.cost);
                words
            }
            Self::Resume => format!("resume {id}"),
            Self::Recast => format!("recast {id}"),
            Self::Revive => format!("revive {id}"),
        };
        Some(format!("materia {words}"))
    }

    /// What it does, in words.
    fn text(&self) -> String {
        match self {
            Self::Fork { at, .. } => format!("begin a new cast that shares events 1 to {at}"),
            Self::Wait { turn: Some(turn), node } => {
                format!(
                    "wait until the turn of `{node}` that began at event {turn} has ended \
                     (`materia resume` where nothing drives the cast)"
                )
            }
            Self::Wait { turn: None, node } => {
                format!("wait until the turn of `{node}` has ended")
            }
            Self::Mode { .. } => "let the scheduler start turns".into(),
            Self::Trigger { node } => format!("start a turn of `{node}` by hand"),
            Self::Approve { .. } => "approve the turn that waits".into(),
            Self::Budget { .. } => "raise what the cast may spend".into(),
            Self::NodeBudget { node, .. } => format!("raise what `{node}` may spend"),
            Self::Resume => "carry the cast on".into(),
            Self::Recast => "try the failed turn again".into(),
            Self::Revive => "take the way that was exhausted once more".into(),
        }
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

/// What is said of these steps to a run.
pub(super) fn say(id: &RunId, steps: Vec<Doing>) -> Suggestion {
    let fork =
        RunId::parse(&format!("{id}-fork")).map_or_else(|_| "fork".to_owned(), |it| it.to_string());
    let mut about = id.clone();
    let mut said = Vec::new();
    for doing in steps {
        let command = doing.command(&about, &fork);
        if let Doing::Fork { .. } = doing {
            about = RunId::new(fork.as_str());
        }
        said.push(SuggestedStep { command, text: doing.text(), doing });
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
    use materia_contract::Amount;

    use super::*;

    fn commands(steps: Vec<Doing>) -> Vec<Option<String>> {
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
            Doing::Wait { turn: Some(7), node: node() },
            Doing::NodeBudget { node: node(), budgets },
            Doing::Trigger { node: node() },
        ]);
        let name = r"'Code Review'\''s'";
        let budget = format!("materia budget c1 --node {name} --max-turns 3 --max-cost 0.5");
        assert_eq!(said, [None, Some(budget), Some(format!("materia trigger c1 {name}"))]);
    }

    #[test]
    fn what_follows_a_fork_is_done_to_the_fork() {
        let fork = Doing::Fork { at: 7, interactive: true };
        let said = say(&RunId::new("c1"), vec![fork, Doing::Resume]);
        assert_eq!(
            said.sentence,
            "`materia fork c1 --at 7 --interactive --cast-id c1-fork`, then `materia resume c1-fork`"
        );
    }
}
