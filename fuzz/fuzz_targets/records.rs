//! Any text as an event or as the input of a decision: it is read or refused. What is read writes itself down again,
//! and that is read as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use materia_contract::{Decided, EventBody, blob};

// The first line is the type of the event, the rest its data; all of it is tried as an input as well.
fuzz_target!(|text: &str| {
    if let Some((kind, data)) = text.split_once('\n')
        && let Ok(body) = EventBody::parse(kind, data)
    {
        let written = body.data_json();
        let again = EventBody::parse(kind, &written).expect("what was written is read");
        assert_eq!(again.data_json(), written);
        if let Some((stored, _)) = blob::apart(&written) {
            assert_ne!(stored, written);
        }
    }
    if let Ok(decided) = Decided::read(text) {
        let written = decided.text();
        let again = Decided::read(&written).expect("what was written is read");
        assert_eq!(again.text(), written);
    }
});
