//! Live output of a turn that another process runs, read from its transcript.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use materia_contract::{GlobalMode, Uuid};
use materia_engine::Live;

use super::live::Voice;
use super::stream_reader::Lines;
use super::{Adapter, AgentSettings, Ask, Reader, SessionPlan, acp, native};
use crate::redact::Secrets;

/// The longest line that is kept; a longer one is shown in part.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Reads an agent's text and actions from the bytes of its transcript, in which secrets are redacted.
pub struct TranscriptTail {
    reader: Box<dyn Reader>,
    lines: Lines,
    voice: Voice,
    said: Arc<Mutex<String>>,
    cwd: std::path::PathBuf,
}

impl TranscriptTail {
    /// Of a turn of this agent; one of another name than the known ones speaks ACP.
    pub fn of(provider: &str, cwd: &Path) -> Self {
        let known = native().into_iter().find(|adapter| adapter.name() == provider);
        let other = acp::Acp { name: provider.to_owned(), command: Vec::new() };
        let adapter: &dyn Adapter = known.unwrap_or(&other);
        let said = Arc::new(Mutex::new(String::new()));
        let ear = Arc::clone(&said);
        let live = Live::new(move |text| {
            ear.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        });
        Self {
            reader: adapter.reader(&nothing_asked(cwd)),
            lines: Lines::new(LINE_BYTES_MAX),
            voice: Voice::new(live, Secrets::of_variables::<&str, &str>([])),
            said,
            cwd: cwd.to_owned(),
        }
    }

    /// Takes the next bytes; gives what is worth showing of them.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let (reader, voice, cwd) = (&mut self.reader, &mut self.voice, &self.cwd);
        self.lines.take(bytes, |line| {
            for news in reader.line(line) {
                voice.tell(&news, cwd);
            }
        });
        std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A reader only needs to know what it reads.
fn nothing_asked(cwd: &Path) -> Ask {
    Ask {
        prompt: String::new(),
        cwd: cwd.to_owned(),
        run_dir: cwd.to_owned(),
        scratch: cwd.to_owned(),
        session: SessionPlan::Fresh { id: Uuid::nil() },
        tools: None,
        mode: GlobalMode::Implementation,
        doc_root: String::new(),
        confined: false,
        network: None,
        model: None,
        schema: None,
        settings: AgentSettings::default(),
    }
}
