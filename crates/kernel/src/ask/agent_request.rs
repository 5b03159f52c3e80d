//! The agent of a turn: provider, model, tools and answer schema (D46).

use std::sync::Arc;

use materia_contract::{Behavior, SCRIPTED, ToolsDoc};
use serde_json::Value;

use crate::state::Run;

/// The agent's fields of `turn.started`; all empty where a utility runs.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) provider: Option<String>,
    pub(crate) program_version: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) tools: Option<ToolsDoc>,
    pub(crate) schema: Option<Arc<Value>>,
}

/// Who is asked in a turn of a node.
pub(crate) fn of(run: &Run, index: usize) -> Asked {
    let (id, node) = run.node(index);
    let Behavior::Agent { tools, model, provider, .. } = &node.behavior else {
        return Asked::default();
    };
    let answerer = run.agents.get(id);
    let scripted = run
        .created()
        .and_then(|created| created.script.as_ref())
        .is_some_and(|script| answerer.is_none() || script.keys.contains_key(id));
    let named = answerer.map(|it| it.provider.clone()).or_else(|| provider.clone());
    // The policy of the socket has precedence over its materia.
    let allowed = node.policy.as_ref().and_then(|policy| policy.tools.clone());
    Asked {
        provider: if scripted { Some(SCRIPTED.to_owned()) } else { named },
        program_version: answerer.and_then(|it| it.program_version.clone()),
        model: model.clone().or_else(|| answerer.and_then(|it| it.model.clone())),
        tools: allowed.or_else(|| tools.clone()),
        schema: run.wiring().schemas[index].clone(),
    }
}
