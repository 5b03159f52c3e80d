//! Adapters against recordings of the real programs, whole and cut at every byte.

mod commands;
mod cuts;
mod homes;
mod live;
mod outcomes;
mod replayed;
mod rules;

use std::path::PathBuf;

use materia_contract::{GlobalMode, Uuid};
use materia_runners::agents::{
    Adapter, AgentSession, AgentSettings, Ask, Ended, Exit, SessionPlan, Totals, by_name,
};

/// The name of a fresh session.
pub(crate) const FRESH: Uuid = Uuid::from_u128(0x0102_0304_0506_8708_890a_0b0c_0d0e_0f10);

/// A question without any rule.
pub(crate) fn ask() -> Ask {
    Ask {
        prompt: "do it".to_owned(),
        cwd: PathBuf::from("/project"),
        run_dir: PathBuf::from("/project/.materia/cast"),
        scratch: PathBuf::from("/scratch"),
        session: SessionPlan::Fresh { id: FRESH },
        tools: None,
        mode: GlobalMode::Implementation,
        doc_root: "docs".to_owned(),
        confined: false,
        network: None,
        model: None,
        schema: None,
        settings: AgentSettings {
            home: Some(PathBuf::from("/home/user")),
            ..AgentSettings::default()
        },
    }
}

/// The same question in a session of an earlier turn.
pub(crate) fn resumed(agent: &str, id: &str, totals: Option<Totals>) -> Ask {
    let session = AgentSession { agent: agent.to_owned(), id: id.to_owned(), totals };
    Ask { session: SessionPlan::Resume(session), ..ask() }
}

pub(crate) fn adapter(agent: &str) -> &'static dyn Adapter {
    by_name(agent).unwrap()
}

/// Output of a program.
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Recording {
    pub(crate) fn load(agent: &str, name: &str) -> Self {
        let place = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(agent);
        let read = |kind: &str| std::fs::read(place.join(format!("{name}.{kind}")));
        let (stdout, stderr) = (read("jsonl"), read("stderr"));
        assert!(stdout.is_ok() || stderr.is_ok(), "no recording {agent}/{name}");
        let stdout = stdout.unwrap_or_default();
        Self { name: format!("{agent}/{name}"), stdout, stderr: stderr.unwrap_or_default() }
    }

    /// Every recording of an agent.
    pub(crate) fn all(agent: &str) -> Vec<Self> {
        let place = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(agent);
        let files = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> =
            files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names.dedup();
        names.iter().map(|name| Self::load(agent, name)).collect()
    }

    pub(crate) fn lines(&self) -> Vec<&[u8]> {
        self.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect()
    }
}

/// Outcome that the reader gives for a whole recording.
pub(crate) fn play(agent: &str, name: &str, ask: &Ask, exit: Exit) -> Ended {
    let recording = Recording::load(agent, name);
    let mut reader = adapter(agent).reader(ask);
    for line in recording.stderr.split(|byte| *byte == b'\n') {
        reader.stderr(line);
    }
    for line in recording.lines() {
        reader.line(line);
    }
    reader.finish(exit)
}

/// An exit by that code.
pub(crate) fn code(code: i32) -> Exit {
    Exit { code: Some(code), ..Exit::default() }
}

/// An end by that signal.
pub(crate) fn signal(signal: i32) -> Exit {
    Exit { signal: Some(signal), ..Exit::default() }
}
