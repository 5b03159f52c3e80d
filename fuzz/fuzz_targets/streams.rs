//! Any bytes as what the program of an agent says: its reader understands or ignores each line, and comes to an end.

#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use materia_contract::GlobalMode;
use materia_runners::agents::{AgentSettings, Ask, Exit, SessionPlan, native};

fn ask() -> Ask {
    Ask {
        prompt: "do it".to_owned(),
        cwd: PathBuf::from("/project"),
        run_dir: PathBuf::from("/project/.materia/cast"),
        scratch: PathBuf::from("/scratch"),
        session: SessionPlan::Fresh { id: uuid::Uuid::nil() },
        tools: None,
        mode: GlobalMode::Implementation,
        doc_root: "docs".to_owned(),
        confined: false,
        network: None,
        model: None,
        schema: None,
        settings: AgentSettings::default(),
    }
}

// The first byte says whose stream it is, the second how the program ended.
fuzz_target!(|bytes: &[u8]| {
    let [whose, ended, stream @ ..] = bytes else { return };
    let adapters = native();
    let adapter = adapters[usize::from(*whose) % adapters.len()];
    let mut reader = adapter.reader(&ask());
    for (place, line) in stream.split(|byte| *byte == b'\n').enumerate() {
        if place % 7 == 6 {
            reader.stderr(line);
        } else {
            let _ = reader.line(line);
        }
        let _ = reader.reply();
    }
    let _ = reader.settled();
    let _ = reader.finish(Exit { code: Some(i32::from(*ended)), ..Exit::default() });
});
