//! Any bytes as a script file: it is read or refused with a sentence.

#![no_main]

mod scratch;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = materia_runners::load(&scratch::file("script.json", bytes)) {
        assert!(!error.to_string().is_empty());
    }
});
