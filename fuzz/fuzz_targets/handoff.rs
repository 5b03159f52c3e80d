//! Any text as the answer of an agent: the object that is found stands in it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use materia_contract::{Behavior, Node, Parse};
use materia_kernel::object_place;

fuzz_target!(|text: &str| {
    let behavior = Behavior::Agent {
        prompt: "Do it.".to_owned(),
        origin: String::new(),
        tools: None,
        model: None,
        provider: None,
    };
    let node = Node { parse: Parse::Json, ..Node::new("m", behavior) };
    let (start, end) = object_place(&node, text).expect("a node that reads JSON has a place");
    let found = text.get(start..end).expect("the place lies in the text, between characters");
    if (start, end) != (0, text.len()) {
        let value: serde_json::Value = serde_json::from_str(found).expect("what was found is JSON");
        assert!(value.is_object(), "{found}");
    }
});
