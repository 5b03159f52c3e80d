//! Prepares a link: composes the targets, and finds the cast to continue from.

use materia_compiler::link::{Invocation, Linked, unknown_cast};
use materia_contract::{Finding, Refusal, RefusalCode, RunId, Severity};
use serde_json::Map;

use super::{Origin, Ready};
use crate::cast::context as cast_context;
use crate::project::{self, Checked, Found, Project};
use crate::{Failure, Result};

/// Maximum faults that the message about a refused link names.
const FAULTS_TOLD_MAX: usize = 5;
/// Faults of the command itself, not of what it names.
const USAGE: [&str; 4] =
    ["link::no-target", "link::no-delimiter", "link::no-prompt", "link::bad-cast-id"];

/// Targets that were composed, with everything that was found about them.
pub struct Linking {
    /// The composed graph.
    pub checked: Checked<Linked>,
    /// The cast to continue from.
    previous: Option<Found>,
    asked: Invocation,
}

/// Composes the targets and finds the cast to continue from, with every fault at once.
pub fn link(project: &Project, asked: Invocation) -> Result<Linking> {
    let (loaded, found) = materia_compiler::load(&project.sources);
    let (linked, mut more) = materia_compiler::link::link(&loaded, &asked);
    let wanted = asked.from.as_deref().and_then(|id| RunId::parse(id).ok());
    let previous = match wanted.map(|wanted| earlier(project, &wanted)).transpose()? {
        None => None,
        Some(Ok(cast)) => Some(cast),
        Some(Err(why)) => {
            more.extend(unknown_cast(&why));
            None
        }
    };
    Ok(Linking { checked: Checked::new(loaded, found, linked, more), previous, asked })
}

impl Linking {
    /// The virtual loadout, ready to be cast; refused with every fault where there is one.
    pub fn ready(self) -> Result<Ready> {
        let Self { checked: Checked { loaded, findings, made }, previous, asked } = self;
        let Linked { compiled, mut link } = match made {
            Some(linked) if !project::has_errors(&findings) => linked,
            Some(_) | None => return Err(refused(findings)),
        };
        let mut origin = Origin::default();
        if let Some(found) = previous {
            let named = Invocation { from: Some(found.id.to_string()), ..asked };
            link.invocation = named.typed();
            origin.state = Map::from_iter([(
                cast_context::VARIABLE.to_owned(),
                cast_context::context(&found)?,
            )]);
            origin.from_cast_id = Some(found.id.to_string());
        }
        origin.link = Some(link);
        Ok(Ready { loaded, compiled, origin })
    }
}

/// The cast to continue from, or why it is not there.
fn earlier(project: &Project, wanted: &RunId) -> Result<Result<Found, String>> {
    match project.find_configured(wanted) {
        Ok(found) => Ok(Ok(found)),
        Err(Failure::Refused(refused)) if refused.refusal.code == RefusalCode::Resolution => {
            Ok(Err(refused.refusal.message))
        }
        Err(other) => Err(other),
    }
}

/// Why a link was refused: the faults in one sentence, and each of them as a finding.
fn refused(findings: Vec<Finding>) -> Failure {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    if errors().any(|finding| !finding.code.starts_with("link::")) {
        return project::refused(findings);
    }
    let usage = errors().all(|finding| USAGE.contains(&finding.code.as_str()));
    let told = |finding: &Finding| match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    };
    let mut message: Vec<String> = errors().take(FAULTS_TOLD_MAX).map(told).collect();
    if let Some(more) = errors().count().checked_sub(FAULTS_TOLD_MAX).filter(|more| *more > 0) {
        message.push(format!("and {more} more"));
    }
    let code = if usage { RefusalCode::Usage } else { RefusalCode::Resolution };
    let message = message.join("; ");
    Refusal { code, message, findings }.into()
}
