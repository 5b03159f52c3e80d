//! Script that answers the turns of a run.

use std::path::Path;

use materia_contract::script::Script;
use materia_contract::{MOCK, Plan, ScriptBinding};

use crate::options::{Contradiction, Named, RunOptions};
use crate::text::sanitize;
use crate::{Failure, Result};

/// Reads the script, and refuses options that do not go together or cannot be served.
pub(super) fn read(
    named: Option<&Named<'_>>,
    options: &RunOptions,
    virtual_time: bool,
    plan: &Plan,
) -> Result<Option<Script>> {
    let load = |named: &Named<'_>| {
        materia_runners::load(&named.full).map_err(|error| Failure::usage(named.told(&error)))
    };
    let mut script = named.map(load).transpose()?;
    match options.provider.as_deref() {
        Some("scripted") if script.is_some() => {}
        Some("scripted") => return Err(Contradiction::ScriptedWithoutScript.into()),
        // Whatever a script does not answer, the mock does.
        Some(MOCK) => {}
        Some(name) if script.as_ref().is_some_and(|script| !script.only) => {
            return Err(Contradiction::ProviderAndScript(name.to_owned()).into());
        }
        // Whether there is such an agent is found out where agents are chosen.
        Some(_) | None => {}
    }
    if let Some(script) = &mut script {
        fit(script, virtual_time, plan)?;
    }
    Ok(script)
}

/// Refuses a script that does not fit the plan, and puts its timeline in order.
fn fit(script: &mut Script, virtual_time: bool, plan: &Plan) -> Result<()> {
    if !script.timeline.is_empty() && !virtual_time {
        return Err(Contradiction::TimelineInRealTime.into());
    }
    let faults = materia_runners::faults(script, plan);
    if !faults.is_empty() {
        let faults =
            faults.iter().map(|fault| format!("the script: {}", sanitize::one_line(fault, 400)));
        return Err(Failure::resolution(faults.collect::<Vec<_>>().join("\n")));
    }
    materia_kernel::order_timeline(&mut script.timeline);
    Ok(())
}

/// Binding of the script that the cast records. A key of the script that matches no socket gives a warning.
pub(super) fn bind(
    script: &Script,
    path: &Path,
    plan: &Plan,
    warnings: &mut Vec<String>,
) -> ScriptBinding {
    for key in materia_runners::unmatched_keys(script, plan) {
        warnings.push(format!(
            "the script's `{}` is neither a socket nor a materia of this loadout",
            sanitize::one_line(&key, 100)
        ));
    }
    materia_runners::bind(script, &path.to_string_lossy(), plan)
}
