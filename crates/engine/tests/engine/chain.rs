//! The check of hashes along the pages that are read.

use materia_contract::{ChainHash, Event, Record, RunCompleted, RunId};
use materia_engine::{Chain, Page};

/// Two decisions of three events each.
fn records(id: &RunId) -> Vec<Record> {
    let event = |seq: u64| Event {
        seq,
        ts: i64::try_from(seq).unwrap(),
        wall: 1,
        node: None,
        body: RunCompleted {}.into(),
    };
    let mut records = Vec::new();
    let mut head = ChainHash::origin(id);
    for first in [1, 4] {
        let events: Vec<Event> = (first..first + 3).map(event).collect();
        records.extend(Record::seal_decision("{}".to_owned(), &events, head));
        head = records.last().unwrap().hash;
    }
    records
}

fn check(id: &RunId, records: &[Record], derived: bool) -> Result<(), (usize, u64)> {
    let page = Page { records: records.to_vec(), end: true, derived };
    Chain::of(id).check(&page).map_err(|broken| (broken.nth, broken.seq))
}

#[test]
fn a_changed_record_is_named() {
    let id = RunId::new("c1");
    let good = records(&id);
    assert_eq!(check(&id, &good, false), Ok(()));
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place].data = r#"{"other":1}"#.to_owned();
        assert_eq!(check(&id, &bad, false).unwrap_err().0, place);
    }
}

#[test]
fn where_hashes_are_derived_a_change_shows_at_the_end_of_its_decision() {
    let id = RunId::new("c1");
    let good = records(&id);
    assert_eq!(check(&id, &good, true), Ok(()));
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place].data = r#"{"other":1}"#.to_owned();
        let last = place / 3 * 3 + 2;
        for derived in place..last {
            let before = derived.checked_sub(1).map_or(ChainHash::origin(&id), |it| bad[it].hash);
            bad[derived].hash = bad[derived].hash_after(before);
        }
        assert_eq!(check(&id, &bad, true).unwrap_err().0, last);
    }
}

#[test]
fn a_hash_that_fits_no_record_is_named_at_its_event() {
    let id = RunId::new("c1");
    let mut bad = records(&id);
    // A reader gives it where the stored bytes are not those of the derived hash.
    bad[1].hash = ChainHash([0; 32]);
    assert_eq!(check(&id, &bad, true), Err((1, 2)));
}

#[test]
fn a_missing_record_is_named_by_its_place() {
    let id = RunId::new("c1");
    let mut bad = records(&id);
    bad.remove(4);
    assert_eq!(check(&id, &bad, true), Err((4, 5)));
    assert_eq!(check(&id, &bad[1..], true), Err((0, 1)));
}
