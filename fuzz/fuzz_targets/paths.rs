//! Any text as a path into data, as the name of a cast, of a command or of a blob. A name that is taken is one
//! component of a path, and a path into data writes itself down as it is read.

#![no_main]

use std::path::{Component, Path as FilePath};

use libfuzzer_sys::fuzz_target;
use materia_contract::{BlobHash, CommandId, Path, RunId};

fuzz_target!(|text: &str| {
    if let Ok(path) = text.parse::<Path>() {
        let written = path.to_string();
        assert_eq!(written.parse::<Path>().expect("what was written is read").to_string(), written);
    }
    let _ = CommandId::parse(text);
    if RunId::parse(text).is_ok() {
        let mut parts = FilePath::new(text).components();
        assert!(matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)), "{text}");
    }
    if let Some(hash) = BlobHash::parse(text) {
        assert_eq!(hash.to_string(), text);
    }
});
