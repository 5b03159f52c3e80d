//! Retries after a failure that may pass: when, and how often. A utility is retried where its author asked for it
//! (D62).

use materia_contract::time::Micros;
use materia_contract::{ErrorCode, FailureClass, Node, TurnOutput};

use crate::span::micros;
use crate::state::Turn;

/// The wait before the first further try; each further one is twice as long.
const FIRST_WAIT_MS: u64 = 2_000;

/// The longest wait that we choose ourselves.
const WAIT_MS_MAX: u64 = 120_000;

/// The longest wait that a provider may ask for. Beyond it a person should know at once.
const ASKED_WAIT_MS_MAX: u64 = 3_600_000;

/// Whether a turn failed because its session is gone: it begins anew in a fresh one (D44). One that has
/// done so already has failed like any other.
pub(crate) fn is_lost(code: ErrorCode, turn: &Turn, report: &TurnOutput) -> bool {
    code == ErrorCode::ProviderFailed
        && report.class == Some(FailureClass::SessionLost)
        && turn.session.is_some()
        && !turn.afresh
}

/// When a failed turn is tried again; `None` where that would not help.
pub(crate) fn at(
    now: Micros,
    most: u32,
    node: &Node,
    code: ErrorCode,
    turn: &Turn,
    report: &TurnOutput,
) -> Option<Micros> {
    if let ErrorCode::UtilityFailed | ErrorCode::UtilityTimeout = code {
        let retries = node.retries.filter(|retries| turn.retries < retries.max)?;
        return Some(now.saturating_add(micros(retries.delay_ms)));
    }
    report.class.filter(|class| class.retries())?;
    if code != ErrorCode::ProviderFailed || turn.retries >= most {
        return None;
    }
    let own = FIRST_WAIT_MS.saturating_mul(1 << turn.retries.min(16)).min(WAIT_MS_MAX);
    let wait = match report.retry_after_ms {
        Some(asked) if asked > ASKED_WAIT_MS_MAX => return None,
        Some(asked) => asked.max(own),
        None => own,
    };
    Some(now.saturating_add(micros(wait)))
}
