//! Room on the disk is measured before anything starts, in bytes.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use materia_contract::{CastStatus, EventBody, RunId};
use materia_engine::{
    Disk, Journal, MemoryJournal, Options, World, blocking, cast, load, replay, resume,
};

use crate::story::{Breaking, Counter, counting, quiet, world};

fn on_a_disk(inner: &MemoryJournal, disk: Disk) -> World {
    let (at, appends) = (usize::MAX, AtomicUsize::new(0));
    let inner = inner.clone();
    let journal = Breaking { inner, at, stores_first: false, appends, disk: Some(disk) };
    let journal: Arc<dyn Journal> = Arc::new(journal);
    world(journal, &Counter::default())
}

fn kinds(journal: &MemoryJournal, id: &RunId) -> Vec<&'static str> {
    let records = blocking(journal).records(id, 0, 10_000).unwrap();
    records.iter().map(|record| record.event().unwrap().body.type_name()).collect()
}

#[tokio::test]
async fn nothing_starts_below_the_floor_however_small_the_disk_is() {
    let id = RunId::new("r");
    // The floor is a twentieth of a small disk, and 64 MB of a large one.
    for (free, total) in [(49_999, 1_000_000), (0, 1_000_000), ((64 << 20) - 1, 1 << 40)] {
        let memory = MemoryJournal::default();
        let full = on_a_disk(&memory, Disk { free, total });
        let phase = cast(&full, id.clone(), counting(), Options::default(), &mut quiet()).await;
        assert_eq!(phase.unwrap().status(), CastStatus::Waiting, "{free} of {total}");
        assert!(!kinds(&memory, &id).contains(&"turn.started"), "{free} of {total}");
        replay(&memory, &id, None).unwrap();
        // Nor when somebody carries it on.
        let phase = resume(&full, &id, Options::default(), &mut quiet()).await.unwrap();
        assert_eq!(phase.status(), CastStatus::Waiting);
        assert!(!kinds(&memory, &id).contains(&"turn.started"), "{free} of {total}");
        let roomy = on_a_disk(&memory, Disk { free: total, total });
        let phase = resume(&roomy, &id, Options::default(), &mut quiet()).await.unwrap();
        assert_eq!(phase.status(), CastStatus::Completed, "{free} of {total}");
        replay(&memory, &id, None).unwrap();
    }
}

#[tokio::test]
async fn with_just_enough_room_nothing_is_said_of_it() {
    let id = RunId::new("r");
    for (free, total) in [(50_000, 1_000_000), (64 << 20, 1 << 40)] {
        let memory = MemoryJournal::default();
        let world = on_a_disk(&memory, Disk { free, total });
        let phase = cast(&world, id.clone(), counting(), Options::default(), &mut quiet()).await;
        assert_eq!(phase.unwrap().status(), CastStatus::Completed);
        assert!(!kinds(&memory, &id).contains(&"storage.measured"));
        let (run, _) = load(&memory, &id).unwrap();
        assert!(run.storage().is_none());
        let first = blocking(&memory).records(&id, 0, 1).unwrap().remove(0);
        assert!(matches!(first.event().unwrap().body, EventBody::RunCreated(_)));
        assert!(!first.input.unwrap().contains("until"));
    }
}
