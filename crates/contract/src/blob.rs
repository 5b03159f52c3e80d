//! Blobs: long texts that are stored apart from their events, named by hash.
//!
//! In the stored data of an event a long text is replaced by `{"$blob":"<hash>","bytes":<size>}`. The hash of the
//! event is over the stored data, so the chain covers the text as well. A field that is really named `$blob` gets one
//! more `$` (`$$blob` gets a third, and so on), so that no text of an agent or a program is read as a reference.
//!
//! Data without the mark `$blob"` is not parsed: this check is one search for a few bytes.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::{memchr, memchr_iter, memchr2};

/// Texts of more bytes than this are kept apart.
pub const INLINE_BYTES_MAX: usize = 64 << 10;

/// The most bytes of texts kept apart that one event may name. Nothing that this program writes comes near it.
pub const EVENT_BYTES_MAX: u64 = 256 << 20;

/// Bytes that every reference contains; data without them needs no parsing.
const MARK: &[u8] = b"$blob\"";

/// The name of the field that makes an object a reference.
const FIELD: &str = "$blob";

/// The hash of some bytes that are kept apart: BLAKE3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobHash([u8; 32]);

impl BlobHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The hash of what a reader gives.
    pub fn of_reader(reader: impl std::io::Read) -> std::io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reader)?;
        Ok(Self(*hasher.finalize().as_bytes()))
    }

    /// Reads a hash of 64 hexadecimal digits; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let lower = text.bytes().all(|byte| !byte.is_ascii_uppercase());
        let hash = blake3::Hash::from_hex(text).ok().filter(|_| lower)?;
        Some(Self(*hash.as_bytes()))
    }
}

impl std::fmt::Display for BlobHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

/// A text that is kept apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its hash.
    pub hash: BlobHash,
    /// The text itself.
    pub text: String,
}

/// Why data could not be put together again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobFault {
    /// It is not there.
    #[error("the blob {0} is missing")]
    Missing(BlobHash),
    /// It is not what was put there.
    #[error("the blob {0} was altered")]
    Altered(BlobHash),
    /// It is larger than the memory limit.
    #[error("the blob {hash} was not read: {what}")]
    TooLarge {
        /// Which.
        hash: BlobHash,
        /// How much it is, and how much may be.
        what: String,
    },
    /// It could not be read.
    #[error("the blob {hash} cannot be read: {what}")]
    Unreadable {
        /// Which.
        hash: BlobHash,
        /// Why.
        what: String,
    },
}

/// The data as it is stored, long texts replaced by their references, and the texts themselves; `None` where it
/// is stored as it is.
pub fn apart(data: &str) -> Option<(String, Vec<Blob>)> {
    apart_where(data, |_| true)
}

/// Moves out only the texts that `is_kept` names; the others stay in place.
pub fn apart_where(
    data: &str,
    mut is_kept: impl FnMut(BlobHash) -> bool,
) -> Option<(String, Vec<Blob>)> {
    if data.len() <= INLINE_BYTES_MAX && !has_mark(data) {
        return None;
    }
    let mut stored = Splice::new(data);
    let mut blobs = Vec::new();
    for text in Strings::of(data) {
        let raw = &data[text.start..text.end];
        if text.is_key {
            if is_field(raw) {
                // Behind the quote, so that something was taken over in any case.
                stored.put(text.start, text.start, "$");
            }
        } else if raw.len() > INLINE_BYTES_MAX
            && let Ok(text_itself) = serde_json::from_str::<String>(text.quoted(data))
            && text_itself.len() > INLINE_BYTES_MAX
        {
            let (hash, bytes) = (BlobHash::of(text_itself.as_bytes()), text_itself.len());
            if !is_kept(hash) {
                continue;
            }
            let reference = format!(r#"{{"{FIELD}":"{hash}","bytes":{bytes}}}"#);
            stored.put(text.start - 1, text.end + 1, &reference);
            blobs.push(Blob { hash, text: text_itself });
        }
    }
    (stored.taken > 0).then(|| (stored.done(), blobs))
}

/// Whether stored data needs to be put together at all.
pub fn has_mark(data: &str) -> bool {
    let bytes = data.as_bytes();
    memchr_iter(b'$', bytes).any(|at| bytes[at..].starts_with(MARK))
}

/// The data with its long texts put back in; `fetch` returns a text of the given size. The data may be hostile:
/// references to more than [`EVENT_BYTES_MAX`] are refused.
pub fn whole(
    stored: &str,
    mut fetch: impl FnMut(BlobHash, u64) -> Result<String, BlobFault>,
) -> Result<Cow<'_, str>, BlobFault> {
    if !has_mark(stored) {
        return Ok(Cow::Borrowed(stored));
    }
    let bytes = bytes_apart(stored);
    let mut data = Splice::new(stored);
    for key in Strings::of(stored).filter(|text| text.is_key) {
        let raw = &stored[key.start..key.end];
        if raw == FIELD {
            // An object with this field need not be a reference: agents can write the field, too.
            let Some(reference) = Reference::at(stored, &key) else { continue };
            if bytes > EVENT_BYTES_MAX {
                let what = format!("its event names {bytes} bytes, and may name {EVENT_BYTES_MAX}");
                return Err(BlobFault::TooLarge { hash: reference.hash, what });
            }
            let text = fetch(reference.hash, reference.bytes)?;
            if text.len() as u64 != reference.bytes {
                return Err(BlobFault::Altered(reference.hash));
            }
            let quoted = serde_json::to_string(&text).expect("a text always renders");
            data.put(reference.start, reference.end, &quoted);
        } else if is_field(raw) {
            data.put(key.start, key.start + 1, "");
        }
    }
    Ok(Cow::Owned(data.done()))
}

/// How many bytes the texts have that stored data refers to.
pub fn bytes_apart(stored: &str) -> u64 {
    if !has_mark(stored) {
        return 0;
    }
    let keys =
        Strings::of(stored).filter(|text| text.is_key && &stored[text.start..text.end] == FIELD);
    keys.filter_map(|key| Some(Reference::at(stored, &key)?.bytes)).fold(0, u64::saturating_add)
}

/// Whether a field is named `$blob`, or is an escaped form of that.
fn is_field(name: &str) -> bool {
    name.ends_with(FIELD) && name.trim_start_matches('$').len() == FIELD.len() - 1
}

/// A reference in stored data.
struct Reference {
    hash: BlobHash,
    bytes: u64,
    start: usize,
    end: usize,
}

impl Reference {
    /// Reads the one whose field is this key. It has exactly one form.
    fn at(stored: &str, key: &Text) -> Option<Self> {
        let start = key.start.checked_sub(2).filter(|start| stored[*start..].starts_with("{\""))?;
        let rest = stored[key.end..].strip_prefix("\":\"")?;
        let (hash, rest) = rest.split_at_checked(64)?;
        let rest = rest.strip_prefix("\",\"bytes\":")?;
        let (bytes, rest) = rest.split_once('}')?;
        let digits = !bytes.is_empty() && bytes.bytes().all(|byte| byte.is_ascii_digit());
        let bytes = digits.then(|| bytes.parse().ok())??;
        let end = stored.len() - rest.len();
        Some(Self { hash: BlobHash::parse(hash)?, bytes, start, end })
    }
}

/// A string in JSON text, without its quotes.
#[derive(Debug, Clone, Copy)]
struct Text {
    start: usize,
    end: usize,
    /// Whether it is the name of a field.
    is_key: bool,
}

impl Text {
    fn quoted<'a>(&self, json: &'a str) -> &'a str {
        &json[self.start - 1..=self.end]
    }
}

/// The strings of JSON text, in order.
struct Strings<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Strings<'a> {
    fn of(json: &'a str) -> Self {
        Self { json, at: 0 }
    }
}

impl Iterator for Strings<'_> {
    type Item = Text;

    fn next(&mut self) -> Option<Text> {
        let bytes = self.json.as_bytes();
        let start = self.at + memchr(b'"', &bytes[self.at..])? + 1;
        let mut end = start;
        loop {
            end += memchr2(b'"', b'\\', &bytes[end..])?;
            if bytes[end] == b'"' {
                break;
            }
            end = (end + 2).min(bytes.len());
        }
        self.at = end + 1;
        let behind = bytes[self.at..].iter().find(|byte| !byte.is_ascii_whitespace());
        Some(Text { start, end, is_key: behind == Some(&b':') })
    }
}

/// A text in which some parts are replaced, from the first to the last.
struct Splice<'a> {
    old: &'a str,
    new: String,
    /// How far the old text is taken over.
    taken: usize,
}

impl<'a> Splice<'a> {
    fn new(old: &'a str) -> Self {
        Self { old, new: String::with_capacity(old.len()), taken: 0 }
    }

    fn put(&mut self, start: usize, end: usize, part: &str) {
        let _ = write!(self.new, "{}{part}", &self.old[self.taken..start]);
        self.taken = end;
    }

    fn done(mut self) -> String {
        self.new.push_str(&self.old[self.taken..]);
        self.new
    }
}
