//! The events of a decision as the text of one row.
//!
//! The text is a JSON array with one `[type, node, data]` an event, written without spaces between them. The reader
//! searches only for the end of each event: changes of the data are detected by the hash chain.

use std::borrow::Cow;

use materia_contract::Record;

/// Writes the events of one decision.
pub(super) fn render(out: &mut Vec<u8>, decision: &[Record]) {
    let infallible = "memory takes everything";
    out.clear();
    out.reserve(decision.iter().map(|record| record.data.len() + 64).sum());
    let mut before = b'[';
    for Record { kind, node, data, .. } in decision {
        debug_assert!(is_one_value(data), "`{kind}` has data that is no JSON text");
        out.push(before);
        out.push(b'[');
        serde_json::to_writer(&mut *out, kind).expect(infallible);
        out.push(b',');
        serde_json::to_writer(&mut *out, node).expect(infallible);
        out.push(b',');
        out.extend_from_slice(data.as_bytes());
        out.push(b']');
        before = b',';
    }
    out.push(b']');
}

/// Whether a text is JSON without anything around it.
fn is_one_value(text: &str) -> bool {
    let value = serde_json::from_str::<&serde_json::value::RawValue>(text);
    value.is_ok_and(|value| value.get().len() == text.len())
}

/// One event of a decision.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) node: Option<Cow<'a, str>>,
    pub(super) data: &'a str,
}

/// Takes the text of a decision apart, event by event.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    text: &'a str,
    /// Up to where it has been read.
    at: usize,
    /// Whether that is the end of the array.
    ended: bool,
}

/// The text is not what was written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the events of its decision cannot be told apart")]
pub(super) struct Misshapen;

impl<'a> Entries<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0, ended: false }
    }

    /// The next event; `None` behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<Entry<'a>>, Misshapen> {
        if self.ended {
            return Ok(None);
        }
        self.pass(if self.at == 0 { b'[' } else { b',' })?;
        self.pass(b'[')?;
        let kind = self.string()?;
        self.pass(b',')?;
        let node = match self.peek() {
            Some(b'"') => Some(self.string()?),
            _ if self.text[self.at..].starts_with("null") => {
                self.at += "null".len();
                None
            }
            _ => return Err(Misshapen),
        };
        self.pass(b',')?;
        let data = self.value()?;
        self.pass(b']')?;
        self.ended = self.text[self.at..] == *"]";
        Ok(Some(Entry { kind, node, data }))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn pass(&mut self, byte: u8) -> Result<(), Misshapen> {
        if self.peek() != Some(byte) {
            return Err(Misshapen);
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Misshapen> {
        let start = self.at;
        self.pass(b'"')?;
        self.at = behind_string(self.text.as_bytes(), self.at).ok_or(Misshapen)?;
        let inside = &self.text[start + 1..self.at - 1];
        if !inside.contains('\\') {
            return Ok(Cow::Borrowed(inside));
        }
        let written = &self.text[start..self.at];
        let read: String = serde_json::from_str(written).map_err(|_| Misshapen)?;
        // Unnecessary escapes are refused: no hash covers these bytes.
        let same = serde_json::to_string(&read).is_ok_and(|again| again == written);
        if same { Ok(Cow::Owned(read)) } else { Err(Misshapen) }
    }

    fn value(&mut self) -> Result<&'a str, Misshapen> {
        let start = self.at;
        self.at = behind_value(self.text.as_bytes(), start).ok_or(Misshapen)?;
        Ok(&self.text[start..self.at])
    }
}

/// Where the value that begins at `at` ends; `None` if it does not.
fn behind_value(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match *bytes.get(at)? {
            b'"' => at = behind_string(bytes, at + 1)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ if depth > 0 => {
                at += 1;
                continue;
            }
            // A number or a word goes on until something ends it.
            _ => at += bytes[at..].iter().position(|byte| matches!(byte, b',' | b']' | b'}'))?,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Where the string ends whose inside begins at `at`; `None` if it does not.
fn behind_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        // An escaped quote does not end the string.
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use materia_contract::ChainHash;

    use super::*;

    fn record(kind: &str, node: Option<&str>, data: &str) -> Record {
        Record {
            seq: 1,
            ts: 1,
            wall: 1,
            kind: kind.to_owned(),
            node: node.map(str::to_owned),
            data: data.to_owned(),
            whole: None,
            input: None,
            hash: ChainHash([0; 32]),
        }
    }

    fn apart(text: &str) -> Result<Vec<(String, Option<String>, String)>, Misshapen> {
        let mut entries = Entries::of(text);
        let mut found = Vec::new();
        while let Some(Entry { kind, node, data }) = entries.next()? {
            found.push((kind.into_owned(), node.map(Cow::into_owned), data.to_owned()));
        }
        Ok(found)
    }

    #[test]
    fn what_was_written_is_found_again() {
        let datas = [
            "{}",
            "[]",
            "null",
            "-1.50e+300",
            r#""a \"quoted\" ] and \\""#,
            r#"{"text":"}]\\\"],[\u0000","list":[1,[2,{"x":[]}], "ü\n"]}"#,
            r#"{"spaced" : [ 1 , 2 ] }"#,
        ];
        let nodes = [None, Some("a"), Some("with \"quotes\" and \\"), Some("")];
        let records: Vec<Record> = datas
            .iter()
            .flat_map(|data| nodes.map(|node| record("t.\"y\"pe", node, data)))
            .collect();
        let mut text = Vec::new();
        for count in 1..=records.len() {
            render(&mut text, &records[..count]);
            let text = str::from_utf8(&text).expect("it was made of text");
            serde_json::from_str::<serde::de::IgnoredAny>(text).expect("it is JSON");
            let expected = records[..count]
                .iter()
                .map(|record| (record.kind.clone(), record.node.clone(), record.data.clone()));
            assert_eq!(apart(text), Ok(expected.collect()));
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let good = r#"[["a",null,{"x":[1,"]"]}],["b","n",2]]"#;
        assert_eq!(apart(good).map(|found| found.len()), Ok(2));
        for end in 1..good.len() {
            assert_eq!(apart(&good[..end]), Err(Misshapen), "{}", &good[..end]);
        }
        let bad = [
            "{}",
            "[]",
            "[[]]",
            "[[1,null,{}]]",
            r#"[["a"]]"#,
            r#"[["a",null]]"#,
            r#"[["a",1,{}]]"#,
            r#"[["a",null,]]"#,
            r#"[["a",null,{},1]]"#,
            r#"[["a",null,{}]]x"#,
            r#"[["a",null,}]]"#,
            r#"[["a",null,{}][["b",null,{}]]"#,
            r#" [["a",null,{}]]"#,
            r#"[["a\",null,{}]]"#,
            r#"[["\x",null,{}]]"#,
            r#"[["\u0061",null,{}]]"#,
            r#"[["a","\u006e",{}]]"#,
        ];
        for text in bad {
            assert_eq!(apart(text), Err(Misshapen), "{text}");
        }
    }
}
