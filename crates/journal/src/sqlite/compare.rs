//! Checks that a file has the tables of a journal and nothing else.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// How many differences are named.
const TOLD_MAX: usize = 3;

/// How many characters of a foreign name are shown.
const NAME_CHARS_MAX: usize = 60;

/// The fingerprint of our own tables: what is found has to have it.
const FINGERPRINT: &str = "5f68f2caaf6a9af4c3eb4b621fe491ea";

/// Something that is defined in a file: its kind, its name, the table it belongs to, and its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object {
    kind: String,
    name: String,
    table: String,
    text: String,
}

/// Everything that is defined in a file, in an order of its own.
pub(super) fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    // By its old name: in the file of an older library, the new name can belong to an ordinary table.
    let mut statement =
        connection.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_master")?;
    let mut rows = statement.query([])?;
    let mut objects = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| Ok::<_, rusqlite::Error>(shown(row.get_ref(column)?));
        objects.push(Object { kind: text(0)?, name: text(1)?, table: text(2)?, text: text(3)? });
    }
    objects.sort();
    Ok(objects)
}

/// A cell as text, whatever it is.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other @ (ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_)) => {
            format!("{other:?}")
        }
    }
}

/// The differences from our own tables, in words, if there are any. `own` makes those, where they have to be looked at.
pub(super) fn with_own(
    found: &[Object],
    own: fn() -> rusqlite::Result<Connection>,
) -> rusqlite::Result<Option<String>> {
    if fingerprint(found) == FINGERPRINT {
        return Ok(None);
    }
    // Another version of SQLite may put them in other words.
    let own = objects(&own()?)?;
    Ok((own != found).then(|| differences(&own, found)))
}

fn fingerprint(objects: &[Object]) -> String {
    let mut hasher = blake3::Hasher::new();
    for Object { kind, name, table, text } in objects {
        for part in [kind, name, table, text] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The differences in words.
fn differences(own: &[Object], found: &[Object]) -> String {
    let by_name = |objects: &[Object]| -> BTreeMap<String, Object> {
        objects.iter().map(|object| (object.name.clone(), object.clone())).collect()
    };
    let (own, theirs) = (by_name(own), by_name(found));
    let mut told = Vec::new();
    for (name, object) in &theirs {
        let (kind, name, table) = (brief(&object.kind), brief(name), brief(&object.table));
        match own.get(&object.name) {
            None if kind == "trigger" => {
                told.push(format!("it has a trigger `{name}` on `{table}`"));
            }
            None => told.push(format!("it has {} `{name}`", one(&kind))),
            Some(same) if same.kind != object.kind => {
                told.push(format!("`{name}` is {} and no {}", one(&kind), same.kind));
            }
            Some(same) if same != object => {
                told.push(format!("the {kind} `{name}` is defined in another way"));
            }
            Some(_) => {}
        }
    }
    let missing = own.values().filter(|object| !theirs.contains_key(&object.name));
    told.extend(missing.map(|object| format!("the {} `{}` is missing", object.kind, object.name)));
    if told.is_empty() {
        told.push("something is defined in it twice".to_owned());
    }
    let more = told.len().saturating_sub(TOLD_MAX);
    told.truncate(TOLD_MAX);
    let more = if more > 0 { ", and more" } else { "" };
    format!("{}{more}", told.join(", "))
}

fn one(kind: &str) -> String {
    format!("{} {kind}", if kind == "index" { "an" } else { "a" })
}

/// A foreign name, shortened for a message.
fn brief(name: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let brief: String = name.chars().take(NAME_CHARS_MAX).map(plain).collect();
    if brief.len() < name.len() { format!("{brief}…") } else { brief }
}

#[cfg(test)]
mod tests {
    use super::super::schema::in_memory;
    use super::*;

    #[test]
    fn the_fingerprint_is_that_of_our_tables() {
        let own = objects(&in_memory().unwrap()).unwrap();
        assert_eq!(fingerprint(&own), FINGERPRINT);
    }

    #[test]
    fn whatever_is_different_is_named() {
        let differs = |change: &str| {
            let connection = in_memory().unwrap();
            connection.execute_batch(change).unwrap();
            with_own(&objects(&connection).unwrap(), in_memory).unwrap().unwrap_or_default()
        };
        assert_eq!(differs(""), "");
        for (change, said) in [
            ("CREATE TABLE more (x)", "it has a table `more`"),
            (
                "CREATE TRIGGER t AFTER INSERT ON decisions BEGIN DELETE FROM leases; END",
                "it has a trigger `t` on `decisions`",
            ),
            ("CREATE VIEW v AS SELECT 1", "it has a view `v`"),
            ("CREATE INDEX i ON runs (status)", "it has an index `i`"),
            (
                "DROP TABLE snapshots; CREATE VIEW snapshots AS SELECT 1",
                "`snapshots` is a view and no table",
            ),
            ("DROP TABLE chapters", "the table `chapters` is missing"),
            (
                "ALTER TABLE heads ADD COLUMN more TEXT",
                "the table `heads` is defined in another way",
            ),
            (
                "ALTER TABLE leases RENAME COLUMN epoch TO age",
                "the table `leases` is defined in another way",
            ),
        ] {
            assert!(differs(change).contains(said), "{change}: {}", differs(change));
        }
        let four = "CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); CREATE TABLE d(x)";
        assert!(differs(four).ends_with(", and more"), "{}", differs(four));
        let nasty = "CREATE TABLE \"\u{1b}[2J\" (x)";
        assert!(!differs(nasty).contains('\u{1b}'));
    }
}
