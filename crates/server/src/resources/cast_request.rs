//! Compiles the loadout or link that a start request names.

use std::path::PathBuf;

use axum::http::StatusCode;
use materia_app::cast::prepare::{self, Origin, Ready};
use materia_app::{Project, RunOptions};
use materia_compiler::link::Invocation;
use materia_contract::api::StartBody;
use materia_contract::{Budget, GoOnFrom, RefusalCode};

use crate::http::problem::Refused;

/// How a cast is performed, as a request says.
pub(crate) fn options(body: &StartBody) -> RunOptions {
    let path = |text: &Option<String>| text.as_ref().map(PathBuf::from);
    let told = body.budget.unwrap_or_default();
    RunOptions {
        script: path(&body.script),
        virtual_time: body.virtual_time,
        provider: body.provider.clone(),
        record: path(&body.record),
        replay: path(&body.replay),
        cast_id: body.cast_id.clone(),
        planning: body.planning,
        interactive: body.interactive,
        no_request: body.no_request,
        workspace: body.workspace,
        include_changes: body.include_changes,
        go_on: GoOnFrom::Usual,
        budget: Budget {
            max_cost: body.max_cost.or(told.max_cost),
            max_turns: body.max_turns.or(told.max_turns),
            max_tokens: body.max_tokens.or(told.max_tokens),
            ..told
        },
    }
}

/// Compiles the loadout or link of a start request.
pub(crate) fn ready(project: &Project, body: &StartBody) -> Result<Ready, Refused> {
    if let Some(fault) = options(body).budget.fault_at_start() {
        return Err(Refused::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::Usage, fault));
    }
    if let Some(targets) = &body.link {
        if body.loadout.is_some() {
            return Err(Refused::usage("a cast is of a `loadout` or of a `link`, not of both"));
        }
        let asked = Invocation {
            from: body.from.clone(),
            targets: targets.clone(),
            delimited: true,
            prompt: vec![body.request.clone()],
        };
        return Ok(prepare::link(project, asked)?.ready()?);
    }
    if body.from.is_some() {
        return Err(Refused::usage("`from` goes with a `link`"));
    }
    let (loaded, compiled) = project.compile(body.loadout.as_deref()).sound()?;
    Ok(Ready { loaded, compiled, origin: Origin::default() })
}
