//! Any bytes as a script file: it is read or refused with a sentence.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let file = folder.path().join("script.json");
    std::fs::write(&file, bytes).expect("a file in a temporary folder");
    if let Err(error) = materia_runners::load(&file) {
        assert!(!error.to_string().is_empty());
    }
});
