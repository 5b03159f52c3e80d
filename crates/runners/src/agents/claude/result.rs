//! Terminal event of a turn.

use serde_json::Value;

use super::super::failure::Hints;
use super::super::json::{count, list, number, text};
use super::super::usage::added;
use super::super::{AgentFault, Answer, FailureClass, SessionPlan, Totals, Usage};
use super::VOICE;

/// Outcome of the turn.
pub(super) fn outcome(
    last: &Value,
    hints: &Hints,
    wants_schema: bool,
    denied: &[String],
) -> Result<Answer, AgentFault> {
    // `subtype` is `success` for refused requests too; only the flag is reliable.
    let failed = last.get("is_error").and_then(Value::as_bool) != Some(false);
    if failed || text(last, "/subtype") != Some("success") {
        return Err(fault(last, hints));
    }
    let structured = last.get("structured_output").filter(|value| value.is_object());
    let structured = structured.filter(|_| wants_schema).cloned();
    let said = match &structured {
        Some(object) => object.to_string(),
        None => text(last, "/result").unwrap_or_default().to_owned(),
    };
    if said.trim().is_empty() {
        return Err(VOICE.silent());
    }
    let mut notes = Vec::new();
    if !denied.is_empty() {
        notes.push(format!("denied by the rules of the socket: {}", denied.join(", ")));
    }
    Ok(Answer { text: said, structured, notes })
}

fn fault(last: &Value, hints: &Hints) -> AgentFault {
    let errors: Vec<&str> = list(last, "/errors").iter().filter_map(Value::as_str).collect();
    let said = match text(last, "/result") {
        Some(said) if !said.trim().is_empty() => said.to_owned(),
        Some(_) | None if !errors.is_empty() => errors.join("; "),
        Some(_) | None => text(last, "/subtype").unwrap_or("no reason given").to_owned(),
    };
    let ended = text(last, "/terminal_reason").unwrap_or_default();
    match text(last, "/subtype").unwrap_or_default() {
        "error_max_turns" => AgentFault::new(
            FailureClass::Permanent,
            format!(
                "Claude Code used up the steps of its turn ({said}); raise them or ask for less"
            ),
        ),
        "error_max_budget_usd" => AgentFault::new(
            FailureClass::Permanent,
            format!("Claude Code used up the budget of its turn ({said}); raise `maxTurnCost`"),
        ),
        "error_max_structured_output_retries" => VOICE.with_help(FailureClass::Contract, &said),
        _ if ended.starts_with("aborted") => AgentFault::new(
            FailureClass::Transient,
            format!("Claude Code was interrupted ({ended})"),
        ),
        _ => {
            let status = count(last, "/api_error_status").and_then(|n| n.try_into().ok());
            let hints = Hints { status: status.or(hints.status), ..hints.clone() };
            VOICE.complaint(&said, &hints)
        }
    }
}

/// Usage of this turn, and the totals of the session after it.
pub(super) fn usage(
    last: &Value,
    plan: &SessionPlan,
    model: Option<&str>,
) -> (Usage, Option<Totals>) {
    let totals = sum(last.get("modelUsage"))
        .map(|totals| Totals { cost: number(last, "/total_cost_usd").or(totals.cost), ..totals });
    let earlier = match plan {
        SessionPlan::Fresh { .. } => Some(Totals { cost: Some(0.0), ..Totals::default() }),
        SessionPlan::Resume(session) => session.totals,
    };
    let difference = totals.zip(earlier).map(|(now, before)| now.since(&before));
    let named = sum(last.get("model_usage_since_last_result"));
    let turn = named.or_else(|| of_turn(last, difference)).or(difference);
    let usage = Usage {
        model: model.map(str::to_owned),
        input_tokens: turn.map(|turn| turn.input_tokens),
        cached_tokens: turn.map(|turn| turn.cached_tokens),
        output_tokens: turn.map(|turn| turn.output_tokens),
        cost: turn.and_then(|turn| turn.cost),
        priced: None,
    };
    (usage, totals)
}

/// The tokens of `usage`, which are those of the turn, with the cost that the totals tell.
fn of_turn(last: &Value, difference: Option<Totals>) -> Option<Totals> {
    let cached = count(last, "/usage/cache_read_input_tokens").unwrap_or(0);
    let written = count(last, "/usage/cache_creation_input_tokens").unwrap_or(0);
    Some(Totals {
        input_tokens: count(last, "/usage/input_tokens")?
            .saturating_add(cached)
            .saturating_add(written),
        cached_tokens: cached,
        output_tokens: count(last, "/usage/output_tokens")?,
        cost: difference.and_then(|difference| difference.cost),
    })
}

/// The sum over all models of such a table. An empty one is a sum of nothing, which is zero.
fn sum(table: Option<&Value>) -> Option<Totals> {
    let mut sum = Totals { cost: Some(0.0), ..Totals::default() };
    for model in table?.as_object()?.values() {
        let cached = count(model, "/cacheReadInputTokens").unwrap_or(0);
        let written = count(model, "/cacheCreationInputTokens").unwrap_or(0);
        let fresh = count(model, "/inputTokens").unwrap_or(0);
        let output = count(model, "/outputTokens").unwrap_or(0);
        // The figures come from another program: an overflow must not panic.
        let input = fresh.saturating_add(cached).saturating_add(written);
        sum.input_tokens = sum.input_tokens.saturating_add(input);
        sum.cached_tokens = sum.cached_tokens.saturating_add(cached);
        sum.output_tokens = sum.output_tokens.saturating_add(output);
        sum.cost = sum.cost.zip(number(model, "/costUSD")).map(|(sum, cost)| added(sum, cost));
    }
    Some(sum)
}
