//! Waits until the disk is calm, or says that it is not.
//!
//! Two things disturb figures. ext4 without a journal does not reuse an inode for a while after it was freed, and checks
//! each such inode for every new file: after a large clean-up, making a file costs ten times as much. And where
//! somebody else writes to the same disk, a sync takes far longer at one moment than at another.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::floor::TurnFiles;
use crate::meter::quartiles;
use crate::report::{Report, say};
use crate::{Outcome, room};

/// Turns whose files are made for one look.
const PROBE_TURNS: u64 = 100;

/// CPU time that the four files of a turn may take before it is called a disturbance.
const CALM: Duration = Duration::from_micros(200);

/// Syncs for one look.
const PROBE_SYNCS: usize = 60;

/// How many times longer than a quick sync a slow one may take: third quartile and first.
const CALM_SPREAD: f64 = 4.0;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(10);

/// When the wait is given up. A neighbour may go on for ever.
const PATIENCE: Duration = Duration::from_secs(330);

/// Waits for calm, within reason. The report says so if there was none.
pub(crate) fn wait(report: &mut Report) -> Outcome<()> {
    let since = Instant::now();
    loop {
        let Some(trouble) = trouble(&room::on_disk()?)? else { return Ok(()) };
        if since.elapsed() >= PATIENCE {
            report.is_disturbed(trouble);
            return Ok(());
        }
        say(&format!("{trouble}; waiting for calm"));
        std::thread::sleep(PAUSE);
    }
}

/// The disturbance of this folder, if there is one.
fn trouble(folder: &Path) -> Outcome<Option<String>> {
    let took = TurnFiles::open(&folder.join("root"))?.make(PROBE_TURNS)?;
    let a_turn = took / u32::try_from(PROBE_TURNS)?;
    if a_turn > CALM {
        return Ok(Some(format!("the files of a turn take {a_turn:.0?} of CPU to make")));
    }
    let [quick, _, slow] = quartiles(syncs(folder)?);
    let spread = slow / quick;
    Ok((spread > CALM_SPREAD).then(|| {
        format!(
            "syncs take {quick:.3} to {slow:.3} ms (first and third quartile): the disk is busy"
        )
    }))
}

/// Milliseconds of syncs of one file, each after a page was written.
fn syncs(folder: &Path) -> Outcome<Vec<f64>> {
    let mut file = File::create(folder.join("syncs"))?;
    let page = [b'x'; 8 << 10];
    let mut times = Vec::with_capacity(PROBE_SYNCS);
    for _ in 0..PROBE_SYNCS {
        file.write_all(&page)?;
        let since = Instant::now();
        file.sync_data()?;
        times.push(since.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}
