//! Forms that the version before wrote and this one still reads.

use serde::Deserialize;

use crate::input::{Acting, InputOf, MomentOf, RunPlace};
use crate::{
    Answerers, Budget, Command, Do, FileState, NodeBudgets, NodeId, Pace, StorageMeasured,
    WorkspacePublished,
};

/// A command as it was left in the inbox.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
enum OlderCommand {
    Abort { reason: String },
    Stop,
    Act { act: Do },
    Say { node: Option<NodeId>, text: String },
    Continue { node: Option<NodeId> },
    Budget { budget: Budget },
    NodeBudgets { node: NodeId, budgets: NodeBudgets },
}

/// Reads a command as it was left in the inbox.
pub(crate) fn command(text: &str) -> Result<Command, String> {
    let older: OlderCommand = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(Command::person(match older {
        OlderCommand::Abort { reason } => Do::Abort { reason: Some(reason) },
        OlderCommand::Stop => Do::Stop { message: None },
        OlderCommand::Act { act } => act,
        OlderCommand::Say { node, text } => Do::Say { node, text },
        OlderCommand::Continue { node } => Do::Continue { node },
        OlderCommand::Budget { budget } => Do::Budget { budget },
        OlderCommand::NodeBudgets { node, budgets } => Do::NodeBudget { node, budgets },
    }))
}

/// An input in any form in which one was ever kept.
///
/// What people did had a form of its own for each thing; now all of it is among the acts of an instant.
#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    bound(deserialize = "Created: Deserialize<'de>, Reported: Deserialize<'de>")
)]
pub(crate) enum AnyInput<Created, Reported> {
    Create(Created),
    Moment(MomentOf<Reported>),
    SetAgents(Answerers),
    Measured(StorageMeasured),
    Stopped {
        #[serde(default)]
        reports: Vec<Reported>,
        message: String,
    },
    Withheld {
        #[serde(default = "Vec::new")]
        reports: Vec<Reported>,
        turn: u64,
        message: String,
        #[serde(default)]
        files: Option<Box<FileState>>,
    },
    Published(Box<WorkspacePublished>),
    Unpublished {
        message: String,
    },
    RunForElapsed,
    Idle,
    Resume {
        cwd: String,
        run_dir: String,
        #[serde(default)]
        pace: Option<Pace>,
    },
    Revive,
    Recast {
        cwd: String,
        run_dir: String,
    },
    SetBudget(Budget),
    SetNodeBudgets {
        node: NodeId,
        budgets: NodeBudgets,
    },
    Say {
        #[serde(default)]
        node: Option<NodeId>,
        text: String,
    },
    Continue {
        #[serde(default)]
        node: Option<NodeId>,
    },
    Stop {
        message: String,
    },
    Abort {
        reason: String,
    },
}

impl<Created, Reported> From<AnyInput<Created, Reported>> for InputOf<Created, Reported> {
    fn from(any: AnyInput<Created, Reported>) -> Self {
        let done = |act: Do, place: Option<RunPlace>| {
            let acts = vec![Acting { place, ..Acting::person(act) }];
            Self::Moment(MomentOf { reports: Vec::new(), acts })
        };
        match any {
            AnyInput::Create(created) => Self::Create(created),
            AnyInput::Moment(moment) => Self::Moment(moment),
            AnyInput::SetAgents(agents) => Self::SetAgents(agents),
            AnyInput::Measured(storage) => Self::Measured(storage),
            AnyInput::Stopped { reports, message } => Self::Stopped { reports, message },
            AnyInput::Withheld { reports, turn, message, files } => {
                Self::Withheld { reports, turn, message, files }
            }
            AnyInput::Published(published) => Self::Published(published),
            AnyInput::Unpublished { message } => Self::Unpublished { message },
            AnyInput::RunForElapsed => Self::RunForElapsed,
            AnyInput::Idle => Self::Idle,
            AnyInput::Resume { cwd, run_dir, pace } => {
                done(Do::Resume { pace }, Some(RunPlace { cwd, run_dir, files: None }))
            }
            AnyInput::Revive => done(Do::Revive, None),
            AnyInput::Recast { cwd, run_dir } => {
                done(Do::Recast, Some(RunPlace { cwd, run_dir, files: None }))
            }
            AnyInput::SetBudget(budget) => done(Do::Budget { budget }, None),
            AnyInput::SetNodeBudgets { node, budgets } => {
                done(Do::NodeBudget { node, budgets }, None)
            }
            AnyInput::Say { node, text } => done(Do::Say { node, text }, None),
            AnyInput::Continue { node } => done(Do::Continue { node }, None),
            AnyInput::Stop { message } => Self::Stopped { reports: Vec::new(), message },
            AnyInput::Abort { reason } => done(Do::Abort { reason: Some(reason) }, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Acting, Decided, Do, RecordedInput, RunPlace};

    /// What people did, as the version before kept it, and as it is read now.
    #[test]
    fn what_people_did_is_among_the_acts_of_an_instant() {
        let read = |input: &str| {
            let text = format!(r#"{{"at":7,"by":"person","command":3,"input":{input}}}"#);
            Decided::read(&text).unwrap()
        };
        let place = Some(RunPlace { cwd: "/p".into(), run_dir: "/r".into(), files: None });
        let acting = |act: Do, place: Option<RunPlace>| Acting { act, timeline: None, place };
        for (kept, expected) in [
            (r#"{"resume":{"cwd":"/p","runDir":"/r"}}"#, acting(Do::Resume { pace: None }, place)),
            (r#""revive""#, acting(Do::Revive, None)),
            (r#"{"say":{"text":"hi"}}"#, acting(Do::Say { node: None, text: "hi".into() }, None)),
            (
                r#"{"abort":{"reason":"enough"}}"#,
                acting(Do::Abort { reason: Some("enough".into()) }, None),
            ),
        ] {
            let decided = read(kept);
            assert_eq!(
                decided.command.as_ref().map(super::super::command::CommandId::as_str),
                Some("#3")
            );
            let RecordedInput::Moment(moment) = decided.input else { panic!("{kept}") };
            assert_eq!(moment.acts, [expected]);
        }
        let stopped = read(r#"{"stop":{"message":"later"}}"#).input;
        let (reports, message) = (Vec::new(), "later".to_owned());
        assert_eq!(stopped, RecordedInput::Stopped { reports, message });
    }
}
