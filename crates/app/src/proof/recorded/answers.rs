//! How a turn ended, as an answer of a script.

use materia_contract::script::{Answer, UtilityAnswer};
use materia_contract::{Behavior, ErrorCode, Node, TurnOutput, TurnUsage};
use serde_json::Value;

/// The answer of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// By an agent.
    Agent(Box<Answer>),
    /// By a program.
    Utility(UtilityAnswer),
    /// Its script had no more answers.
    RanOut,
}

impl Given {
    /// An answer that comes after this time and says nothing.
    pub(super) fn silence(node: &Node, delay_ms: u64) -> Self {
        let delay_ms = Some(delay_ms);
        match node.behavior {
            Behavior::Agent { .. } => {
                Self::Agent(Box::new(Answer { delay_ms, ..Answer::default() }))
            }
            Behavior::Utility { .. } => {
                Self::Utility(UtilityAnswer { delay_ms, ..UtilityAnswer::default() })
            }
        }
    }

    /// How long it takes.
    pub fn delay_ms(&self) -> u64 {
        let delay = match self {
            Self::Agent(answer) => answer.delay_ms,
            Self::Utility(answer) => answer.delay_ms,
            Self::RanOut => None,
        };
        delay.unwrap_or(0)
    }
}

/// How a turn ended.
pub(super) enum Ending<'a> {
    /// It was answered, well or not.
    Said(&'a TurnOutput),
    /// Its runner called it a failure.
    Faulted(ErrorCode, &'a str, &'a TurnOutput),
}

/// The answer of a turn of this node that took so long, or why no script can say it.
pub(super) fn given(node: &Node, ending: &Ending<'_>, took_ms: u64) -> Result<Given, String> {
    let delay_ms = Some(took_ms).filter(|took| *took > 0);
    if let Ending::Faulted(ErrorCode::ScriptExhausted, ..) = ending {
        return Ok(Given::RanOut);
    }
    if let Ending::Faulted(code, ..) = ending
        && !super::can_be_scripted(*code)
    {
        return Err(format!("failed as `{}`, which no script can say", code.word()));
    }
    Ok(match node.behavior {
        Behavior::Agent { .. } => Given::Agent(Box::new(Answer { delay_ms, ..agent(ending) })),
        Behavior::Utility { .. } => {
            let late = matches!(ending, Ending::Faulted(ErrorCode::UtilityTimeout, ..));
            let limit = node.timeout_ms.filter(|_| late).map(|limit| limit + 1);
            Given::Utility(UtilityAnswer { delay_ms: limit.or(delay_ms), ..utility(ending) })
        }
    })
}

fn agent(ending: &Ending<'_>) -> Answer {
    let (output, error) = match ending {
        Ending::Said(output) => (output, None),
        Ending::Faulted(_, message, output) => (output, Some((*message).to_owned())),
    };
    let text = &output.output;
    let value = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    let json = value.filter(|value| {
        let again = value.to_string();
        again == *text
    });
    let artifacts = output.artifacts.iter();
    Answer {
        text: Some(text.clone()).filter(|text| json.is_none() && !text.is_empty()),
        json,
        usage: output.usage.filter(|usage| *usage != TurnUsage::default()),
        class: output.class.filter(|_| error.is_some()),
        retry_after_ms: output.retry_after_ms.filter(|_| error.is_some()),
        error,
        artifacts: artifacts.map(|one| (one.kind.clone(), one.content.clone())).collect(),
        ..Answer::default()
    }
}

fn utility(ending: &Ending<'_>) -> UtilityAnswer {
    let (output, error) = match ending {
        Ending::Said(output) | Ending::Faulted(ErrorCode::UtilityTimeout, _, output) => {
            (output, None)
        }
        Ending::Faulted(_, message, output) => {
            let exited = output.exit_code.is_some_and(|code| code != 0);
            let why = message.split_once(" was not run: ").map_or(*message, |(_, why)| why);
            (output, (!exited).then(|| why.to_owned()))
        }
    };
    let stdout = output.whole.as_ref().unwrap_or(&output.output);
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    UtilityAnswer {
        stdout: some(stdout),
        stderr: some(&output.stderr),
        exit_code: output.exit_code.filter(|code| *code != 0 && error.is_none()),
        error,
        delay_ms: None,
    }
}
