//! Waiting until the file system has forgotten what was deleted.
//!
//! ext4 without a journal gives no inode out again for a while after it was freed, and looks at
//! each such inode anew for every file that is made. After a large clean-up, of this program or
//! of a neighbour, making a file then costs ten times what it should, and that is all one sees.

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
