use std::collections::HashMap;

use materia_contract::blob::{
    Blob, BlobFault, BlobHash, EVENT_BYTES_MAX, INLINE_BYTES_MAX, apart, bytes_apart, whole,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn there_and_back(value: &Value) -> (String, Vec<Blob>) {
    let data = value.to_string();
    let (stored, blobs) = apart(&data).unwrap_or_else(|| (data.clone(), Vec::new()));
    let texts: HashMap<BlobHash, String> =
        blobs.iter().map(|blob| (blob.hash, blob.text.clone())).collect();
    let fetch = |hash, _| texts.get(&hash).cloned().ok_or(BlobFault::Missing(hash));
    assert_eq!(whole(&stored, fetch).unwrap(), data);
    let mut named: Vec<BlobHash> = blobs.iter().map(|blob| blob.hash).collect();
    assert_eq!(bytes_apart(&stored), blobs.iter().map(|blob| blob.text.len() as u64).sum::<u64>());
    named.dedup();
    if let Some(first) = named.first() {
        assert_eq!(
            whole(&stored, |hash, _| Err(BlobFault::Missing(hash))),
            Err(BlobFault::Missing(*first))
        );
    }
    (stored, blobs)
}

fn long(letter: &str) -> String {
    letter.repeat(INLINE_BYTES_MAX / letter.len() + 1)
}

#[test]
fn long_texts_are_put_apart_and_come_back() {
    for text in [long("a"), long("\"\\\n"), long("ä"), long("{\"$blob\":\"")] {
        let value = json!({"turn": 1, "output": text, "list": [text, "short", {"deep": text}]});
        let (stored, blobs) = there_and_back(&value);
        assert_eq!(blobs.len(), 3);
        assert!(stored.len() < 1_000, "{} bytes", stored.len());
        assert_eq!(blobs[0].text, text);
        let reference = &serde_json::from_str::<Value>(&stored).unwrap()["output"];
        assert_eq!(reference["$blob"], BlobHash::of(text.as_bytes()).to_string());
        assert_eq!(reference["bytes"], text.len());
    }
    let most = "a".repeat(INLINE_BYTES_MAX);
    assert!(there_and_back(&json!({"output": most})).1.is_empty(), "as much may stay");
    assert!(there_and_back(&json!({"many": vec!["abc"; 30_000]})).1.is_empty());
    assert!(there_and_back(&json!({long("k"): 1})).1.is_empty(), "a name of a field stays");
}

#[test]
fn nothing_that_was_said_is_taken_for_a_reference() {
    let hash = BlobHash::of(b"x").to_string();
    for value in [
        json!({"$blob": hash, "bytes": 1}),
        json!({"$$blob": hash, "bytes": 1}),
        json!({"a": [{"$$$blob": {"$blob": hash, "bytes": 1}}]}),
        json!({"text": "{\"$blob\":\"x\"}", "other": "$blob", "$blobs": 1, "x$blob": 2}),
        json!({"$blob": long("a")}),
        json!(["$blob"]),
    ] {
        there_and_back(&value);
    }
    let honest = json!({"$blob": hash, "bytes": 1}).to_string();
    assert_eq!(apart(&honest).unwrap().0, format!(r#"{{"$$blob":"{hash}","bytes":1}}"#));
}

#[test]
fn a_reference_has_one_form() {
    let hash = BlobHash::of(b"x");
    let good = format!(r#"{{"$blob":"{hash}","bytes":1}}"#);
    assert_eq!(whole(&good, |_, _| Ok("x".into())).unwrap(), "\"x\"");
    assert_eq!(whole(&good, |_, _| Ok("xx".into())), Err(BlobFault::Altered(hash)));
    for bad in [
        good.replace(":1", ":-1"),
        good.replace(":1", ":"),
        good.replace(":1}", ":1,\"more\":2}"),
        good.replace("bytes", "size"),
        good.to_uppercase().replace("$BLOB", "$blob").replace("BYTES", "bytes"),
        format!(r#"{{"bytes":1,"$blob":"{hash}"}}"#),
        r#"{"$blob":"ä"}"#.to_owned(),
        r#"{"$blob":1}"#.to_owned(),
    ] {
        assert_eq!(whole(&bad, |_, _| Ok("x".into())).unwrap(), bad, "it is none");
    }
}

#[test]
fn an_event_that_names_more_than_anybody_can_hold_is_not_put_together() {
    let hash = BlobHash::of(b"x");
    let one = format!(r#"{{"$blob":"{hash}","bytes":{}}}"#, EVENT_BYTES_MAX / 4);
    let many = |count: usize| format!("[{}]", vec![one.as_str(); count].join(","));
    let mut fetched = 0;
    let mut fetch = |hash, _| {
        fetched += 1;
        Err(BlobFault::Missing(hash))
    };
    assert_eq!(whole(&many(4), &mut fetch), Err(BlobFault::Missing(hash)), "just enough");
    let told = whole(&many(5), &mut fetch).map(std::borrow::Cow::into_owned);
    assert!(matches!(told, Err(BlobFault::TooLarge { .. })), "{told:?}");
    assert_eq!(fetched, 1, "nothing was read for it");
}

proptest! {
    #[test]
    fn any_text_survives(words in prop::collection::vec(("[a$]{0,3}(blob)?", ".{0,40}", 0..3_usize), 0..6)) {
        let mut object = serde_json::Map::new();
        for (name, text, times) in words {
            object.insert(name, text.repeat(1 + times * INLINE_BYTES_MAX / 20).into());
        }
        there_and_back(&json!({"list": [object.clone()], "object": object}));
    }

    #[test]
    fn whatever_is_read_never_panics(text in r#"[{}\[\]:,"\\$blobytes0-9ä]{0,60}"#) {
        let _ = apart(&text);
        let _ = whole(&text, |_, _| Ok(String::new()));
        let _ = bytes_apart(&text);
    }
}
