//! The result that a script gives in place of a program, reported as the program's own would be.

use std::time::Duration;

use materia_contract::TurnOutput;
use materia_contract::script::UtilityAnswer;
use materia_engine::{Manner, TurnFault, TurnOrder};

use super::link::Ending;
use super::report;
use crate::supervise::protocol::Verdict;

/// The outcome of a utility whose program would be `command`. `late` says that it took longer than its limit.
pub(crate) fn answered(
    job: &TurnOrder,
    (command, manner): (&[String], &Manner),
    answer: &UtilityAnswer,
    late: Option<Duration>,
) -> Result<TurnOutput, TurnFault> {
    let name = report::shown_command(command, &job.cwd);
    let ending = match (late, &answer.error) {
        (Some(_), _) => Ending::TimedOut(None),
        (None, Some(why)) => {
            Ending::Reported(Verdict { spawn_error: Some(why.clone()), ..Verdict::default() })
        }
        (None, None) => Ending::Reported(Verdict {
            exit_code: Some(answer.exit_code.unwrap_or(0)),
            ..Verdict::default()
        }),
    };
    let mut output = TurnOutput {
        output: answer.stdout.clone().unwrap_or_default(),
        stderr: answer.stderr.clone().unwrap_or_default(),
        ..TurnOutput::default()
    };
    if let Ending::Reported(Verdict { exit_code, .. }) = &ending {
        output.exit_code = *exit_code;
    }
    let fault = if manner.verdict.is_some() && report::exited(&ending) {
        None
    } else {
        report::fault(&name, &ending, late, &output)
    };
    match fault {
        None => Ok(output),
        Some((code, message)) => {
            Err(TurnFault { code, message, report: Box::new(output), withheld: false })
        }
    }
}
