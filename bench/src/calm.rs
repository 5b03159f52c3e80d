//! Waits until the file system has recovered from deletions.
//!
//! ext4 without a journal does not reuse an inode for a while after it was freed, and checks each such inode for
//! every new file. After a large clean-up, of this program or of another one, making a file costs ten times as much.

use std::time::{Duration, Instant};

use crate::floor::TurnFiles;
use crate::report::say;
use crate::{Outcome, room};

/// Turns whose files are made for one look.
const PROBE_TURNS: u64 = 100;

/// CPU time that the four files of a turn may take before it is called a disturbance.
const CALM: Duration = Duration::from_micros(200);

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(10);

/// When the wait is given up. A neighbour may go on deleting for ever.
const PATIENCE: Duration = Duration::from_secs(330);

/// Waits for calm, within reason.
pub(crate) fn wait() -> Outcome<()> {
    let since = Instant::now();
    loop {
        let took = TurnFiles::open(&room::on_disk()?.join("root"))?.make(PROBE_TURNS)?;
        let a_turn = took / u32::try_from(PROBE_TURNS)?;
        if a_turn <= CALM {
            return Ok(());
        }
        if since.elapsed() >= PATIENCE {
            say("files are still dear to make; the figures will show it");
            return Ok(());
        }
        say(&format!("the files of a turn take {a_turn:.0?} of CPU to make; waiting for calm"));
        std::thread::sleep(PAUSE);
    }
}
