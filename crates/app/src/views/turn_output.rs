//! Output of a turn: its answer, and the streams of its program.

use std::path::Path;

use materia_contract::{EventBody, NodeId, Plan, RunId, TurnOutput};
use materia_engine::views::TurnEnd;
use materia_engine::{Journal, blocking};
use serde::Serialize;
use serde_json::Value;

use crate::{Failure, Result};

/// The most of a transcript that is read.
const TRANSCRIPT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Which turn is meant: the newest of the cast, of a socket, or a visit of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Which {
    socket: Option<String>,
    visit: Option<u32>,
}

impl Which {
    /// Reads `SOCKET` or `SOCKET@VISIT`; nothing means the newest turn of all.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        let Some(text) = text else { return Ok(Self::default()) };
        let Some((socket, visit)) = text.split_once('@') else {
            return Ok(Self { socket: Some(text.to_owned()), visit: None });
        };
        let visit = visit.parse().ok().filter(|visit| *visit > 0).ok_or_else(|| {
            Failure::usage(format!(
                "`{text}`: write the number of a visit after `@`, counted from 1"
            ))
        })?;
        Ok(Self { socket: Some(socket.to_owned()), visit: Some(visit) })
    }

    /// The socket of a plan that is meant, if one is.
    pub fn socket_in(&self, plan: &Plan) -> Result<Option<NodeId>> {
        self.socket.as_deref().map(|name| socket_of(plan, name)).transpose()
    }

    /// The visit that is meant, if one is.
    pub fn visit(&self) -> Option<u32> {
        self.visit
    }
}

/// Output of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedTurn {
    /// Where it ran.
    pub socket: NodeId,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Where in the output its object stands.
    object: Option<(usize, usize)>,
    /// Report of its runner.
    pub report: TurnOutput,
}

impl PrintedTurn {
    /// The answer as data: the object in it, else what it is as JSON, else its text.
    pub fn parsed(&self) -> Value {
        let text = self.report.json_text();
        let object = self.object.and_then(|(from, to)| text.get(from..to)).unwrap_or(text);
        serde_json::from_str(object).unwrap_or_else(|_| Value::String(self.report.output.clone()))
    }
}

/// The streams of a turn.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Streams {
    /// Where it ran.
    pub socket: NodeId,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Standard output, or what an agent said last.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Raw output of an agent's program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

/// Finds what the newest turn that is meant has put out.
pub fn find(journal: &dyn Journal, id: &RunId, which: &Which) -> Result<PrintedTurn> {
    let (mut found, mut socket) = (None, None);
    for record in blocking(journal).behind(id, 0) {
        let Ok(event) = record?.event() else { continue };
        if let EventBody::RunCreated(created) = &event.body {
            socket = which.socket_in(&created.plan)?;
        }
        if let Some(heard) = event.node.and_then(|node| of_turn(node, &event.body))
            && socket.as_ref().is_none_or(|socket| *socket == heard.socket)
            && which.visit.is_none_or(|visit| visit == heard.visit)
        {
            found = Some(heard);
        }
    }
    found.ok_or_else(|| {
        let whose = match (&socket, which.visit) {
            (Some(socket), Some(visit)) => format!("visit {visit} of `{socket}`"),
            (Some(socket), None) => format!("`{socket}`"),
            (None, _) => "no turn of it".to_owned(),
        };
        Failure::resolution(format!("cast `{id}`: {whose} has no output yet"))
    })
}

/// The streams of a turn; `folder` is the folder of the cast.
pub fn streams(heard: PrintedTurn, folder: &Path) -> Streams {
    let PrintedTurn { socket, visit, attempt, report, .. } = heard;
    let transcript = report.transcript.as_ref().and_then(|it| {
        let path = folder.join(&it.path);
        let small = path.symlink_metadata().is_ok_and(|found| found.len() <= TRANSCRIPT_BYTES_MAX);
        let bytes = small.then(|| std::fs::read(&path).ok()).flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
    let (stdout, stderr) = (report.output, report.stderr);
    Streams { socket, visit, attempt, stdout, stderr, transcript }
}

/// The socket of a plan that a person names by its id, or by its materia where only one runs that.
pub fn socket_of(plan: &Plan, name: &str) -> Result<NodeId> {
    if let Some((id, _)) = plan.nodes.get_key_value(name) {
        return Ok(id.clone());
    }
    let placed: Vec<&NodeId> =
        plan.nodes.iter().filter(|(_, node)| node.materia == name).map(|(id, _)| id).collect();
    match placed.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let known: Vec<&str> = plan.nodes.keys().take(12).map(NodeId::as_str).collect();
            Err(Failure::resolution(format!(
                "the cast has no socket `{name}`; it has {}",
                known.join(", ")
            )))
        }
        several => {
            let ids: Vec<&str> = several.iter().map(|id| id.as_str()).collect();
            Err(Failure::resolution(format!(
                "`{name}` runs in several sockets: {}; name one of them",
                ids.join(", ")
            )))
        }
    }
}

fn of_turn(socket: NodeId, body: &EventBody) -> Option<PrintedTurn> {
    let TurnEnd { visit, attempt, object, report, .. } = TurnEnd::of(body)?;
    Some(PrintedTurn { socket, visit, attempt, object, report: report?.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_named_by_socket_and_visit() {
        assert_eq!(Which::parse(None).unwrap(), Which::default());
        let which = Which::parse(Some("Socket-1@3")).unwrap();
        assert_eq!((which.socket.as_deref(), which.visit), (Some("Socket-1"), Some(3)));
        for bad in ["a@", "a@0", "a@x", "a@-1"] {
            assert!(Which::parse(Some(bad)).is_err(), "{bad}");
        }
    }
}
