//! Validates the reported cost of a turn.

use materia_contract::{Amount, ErrorCode, FailureClass, TurnOutput};
use materia_engine::{TurnFault, TurnReport};

/// The most that one turn can cost.
const COST_MAX: u64 = 1_000_000;

/// The report of a turn. One with a cost that no turn has fails, and the cost is left out of it: a
/// budget is worth nothing if a turn can report a cost below zero, or any number it likes.
pub(crate) fn held(report: TurnReport) -> TurnReport {
    let TurnReport { outcome, after } = report;
    let outcome = match outcome {
        Ok(mut output) => match refused(&mut output) {
            None => Ok(output),
            Some(message) => {
                output.class = Some(FailureClass::Permanent);
                Err(TurnFault {
                    code: ErrorCode::ProviderFailed,
                    message: format!("the answer is not accepted: {message}"),
                    report: Box::new(output),
                    withheld: false,
                })
            }
        },
        Err(mut fault) => {
            if let Some(message) = refused(&mut fault.report) {
                fault.message = format!("{}; {message}", fault.message);
            }
            Err(fault)
        }
    };
    TurnReport { outcome, after }
}

/// Takes a cost away that no turn has, and says so.
fn refused(output: &mut TurnOutput) -> Option<String> {
    let usage = output.usage.as_mut()?;
    let within = Amount::default()..=Amount::from(COST_MAX);
    let cost = usage.cost.take_if(|cost| !within.contains(cost))?;
    Some(format!(
        "the turn reports a cost of {cost}, and a turn costs from 0 to {COST_MAX}; \
         look at the agent, its prices in the configuration, or the script that reports it"
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use materia_contract::TurnUsage;

    use super::*;

    fn output(cost: i64) -> TurnOutput {
        let usage = TurnUsage {
            input_tokens: Some(7),
            output_tokens: None,
            cost: Some(Amount::from_millionths(cost)),
        };
        TurnOutput { usage: Some(usage), ..TurnOutput::default() }
    }

    #[test]
    fn a_turn_with_a_cost_that_no_turn_has_fails_and_its_tokens_still_count() {
        let most = 1_000_000_000_000;
        for fine in [0, 1, most] {
            let report = held(TurnReport { outcome: Ok(output(fine)), after: Duration::ZERO });
            assert_eq!(report.outcome.unwrap(), output(fine));
        }
        for beyond in [-1, -5_000_000, most + 1, i64::MAX, i64::MIN] {
            let report = held(TurnReport { outcome: Ok(output(beyond)), after: Duration::ZERO });
            let fault = report.outcome.unwrap_err();
            assert_eq!(fault.code, ErrorCode::ProviderFailed);
            assert!(fault.message.contains("reports a cost of"), "{}", fault.message);
            let usage = fault.report.usage.unwrap();
            assert_eq!((usage.input_tokens, usage.cost), (Some(7), None));
            let failed = TurnFault {
                code: ErrorCode::ProviderFailed,
                message: "it broke off".to_owned(),
                report: Box::new(output(beyond)),
                withheld: false,
            };
            let report = held(TurnReport { outcome: Err(failed), after: Duration::ZERO });
            let fault = report.outcome.unwrap_err();
            assert!(
                fault.message.starts_with("it broke off; the turn reports"),
                "{}",
                fault.message
            );
            assert_eq!(fault.report.usage.unwrap().cost, None);
        }
    }
}
