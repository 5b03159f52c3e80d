//! Storage use of a run, counted as it goes: above the limit no turn starts.

use materia_contract::{DiskMeasured, EventBody, Record, RunCreated, StorageMeasured};
use materia_kernel::Run;

use crate::views::TurnEnd;
use crate::{Disk, DiskUsage, Journal, record_bytes};

/// How many bytes are added between two looks at the disk.
const LOOK_EVERY_BYTES: u64 = 1 << 20;

/// How many decisions are taken between two looks, where little is added.
const LOOK_EVERY_DECISIONS: u32 = 64;

/// Room that has to stay free on a disk, so that what is under way can be written down.
const FLOOR_BYTES: u64 = 64 << 20;

/// A small disk keeps this part of itself free instead.
const FLOOR_PART: u64 = 20;

const MEGABYTE: u64 = 1 << 20;

/// Storage use of a run.
pub(crate) struct Storage {
    /// Bytes when it was taken up.
    before: DiskUsage,
    /// Bytes added since.
    added: u64,
    looked_at: u64,
    decisions: u32,
}

impl Storage {
    /// For a run that begins or is taken up.
    pub(crate) fn new(before: DiskUsage) -> Self {
        // The first look is due at once.
        Self { before, added: 0, looked_at: 0, decisions: LOOK_EVERY_DECISIONS }
    }

    /// Counts the bytes that a decision adds. An event is stored in the journal and in the files beside it.
    pub(crate) fn count<'a>(
        &mut self,
        records: &[Record],
        bodies: impl Iterator<Item = &'a EventBody>,
    ) {
        let records: usize = records.iter().map(record_bytes).sum();
        let files: u64 = bodies.map(left).sum();
        let added = u64::try_from(records).unwrap_or(u64::MAX).saturating_mul(2);
        self.added = self.added.saturating_add(added).saturating_add(files);
        self.decisions = self.decisions.saturating_add(1);
    }

    /// The measurement, as far as it is known, where `run` has no room to start a turn.
    pub(crate) fn no_room(&self, run: &Run, journal: &dyn Journal) -> Option<StorageMeasured> {
        let used = self.before.get().copied().unwrap_or(0).saturating_add(self.added);
        Some(measured(used, journal)).filter(|measured| !run.has_room(measured))
    }

    /// The measurement, where a check is due and its result for `run` has changed.
    pub(crate) fn news(&mut self, run: &Run, journal: &dyn Journal) -> Option<StorageMeasured> {
        let due = self.decisions >= LOOK_EVERY_DECISIONS
            || self.added - self.looked_at >= LOOK_EVERY_BYTES;
        if !due {
            return None;
        }
        (self.decisions, self.looked_at) = (0, self.added);
        let measured = measured(self.before.get().copied()?.saturating_add(self.added), journal);
        (run.has_room(&measured) == run.is_crowded()).then_some(measured)
    }
}

/// The measurement before a run begins, where there is no room for it.
pub(crate) fn full(created: &RunCreated, journal: &dyn Journal) -> Option<StorageMeasured> {
    let most = created.plan.limits.max_storage_mb;
    Some(measured(0, journal)).filter(|measured| !measured.leaves_room(most))
}

/// The measurement for so many used bytes.
pub(crate) fn measured(used: u64, journal: &dyn Journal) -> StorageMeasured {
    let disk = journal.disk().unwrap_or(Disk { free: u64::MAX, total: u64::MAX });
    let (free, floor) = (disk.free, FLOOR_BYTES.min(disk.total / FLOOR_PART));
    StorageMeasured {
        used_mb: used / MEGABYTE,
        free_mb: free / MEGABYTE,
        floor_mb: floor / MEGABYTE,
        disk: Some(DiskMeasured { free, floor }),
    }
}

/// Bytes that records of a run take, with the files that its turns left, as they are counted when they are added. For a
/// journal that has no folder to look at.
#[must_use]
pub fn weight_of(records: &[Record]) -> u64 {
    let bytes: usize = records.iter().map(record_bytes).sum();
    let events = records.iter().filter_map(|record| record.event().ok());
    let files: u64 = events.map(|event| left(&event.body)).sum();
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(2).saturating_add(files)
}

/// The bytes of the files that a turn left, if the event ends one.
fn left(body: &EventBody) -> u64 {
    let Some(report) = TurnEnd::of(body).and_then(|end| end.report) else { return 0 };
    let transcript = report.transcript.as_ref().map_or(0, |it| it.bytes);
    report.files.iter().map(|file| file.bytes).sum::<u64>().saturating_add(transcript)
}
