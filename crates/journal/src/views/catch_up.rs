//! Brings the views of a cast up to date with the journal.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use materia_contract::{ChainHash, EventBody, Folders, RunId};
use materia_engine::{Head, Journal, blocking};
use materia_safe_fs::Folder;

use super::cast::Cast;
use super::checked::{CatchUpError, checked};
use super::file::{Place, ViewProblem};
use super::inputs::Inputs;
use super::line;
use super::manifest::{self, EVENTS_FILE};
use super::update::{About, Item, ViewUpdate};

/// Bytes that are read from the end of a file at first.
const TAIL_BYTES: u64 = 16 << 10;

/// Said of a file that goes on where the journal ends.
const LONGER: &str = "it had more events than the journal";

/// The name of the lines while they are made anew.
const NEW_FILE: &str = "events.jsonl.new";

/// Where such a file is kept.
const LONGER_FILE: &str = "events.longer.jsonl";

/// Result of bringing views up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatchUp {
    /// Nothing: they were.
    Current,
    /// The end was missing.
    Appended {
        /// How many events were added.
        events: u64,
    },
    /// They said something else than the journal and were made anew.
    Rebuilt {
        /// How many events there are.
        events: u64,
        /// The difference.
        why: &'static str,
    },
}

/// The result, and the cast as it is now, unless there is none.
pub(super) type Mended = Result<(CatchUp, Option<Cast>), CatchUpError>;

/// Where the lines on file agree with the journal up to.
enum Standing {
    /// They do, up to this event, and the file goes no further than these bytes.
    Good { seq: u64, hash: ChainHash, bytes: u64 },
    /// They do not.
    Bad(&'static str),
}

/// Looks at the end of the file only.
pub(super) fn catch_up(journal: &dyn Journal, run: &RunId, folders: &Folders) -> Mended {
    mend(journal, run, folders, last_line)
}

/// Looks at every line.
pub(super) fn verify(journal: &dyn Journal, run: &RunId, folders: &Folders) -> Mended {
    mend(journal, run, folders, every_line)
}

type Look = fn(&dyn Journal, &RunId, Head, &Folder) -> Result<Standing, CatchUpError>;

fn mend(journal: &dyn Journal, run: &RunId, folders: &Folders, look: Look) -> Mended {
    let Some(head) = blocking(journal).head(run)? else {
        return Ok((CatchUp::Current, None));
    };
    let (about, folder) = (about(journal, run, folders)?, PathBuf::from(&folders.run_dir));
    let at_head = (head.seq, head.hash);
    let noted = Place::new(folder.clone()).folder().ok();
    let noted = noted.and_then(|folder| manifest::status_at(&folder, at_head));
    let status = match noted {
        Some(status) => status,
        None => blocking(journal)
            .line(run)?
            .map_or(materia_contract::CastStatus::Running, |line| line.status),
    };
    let mut cast = Cast::known(run.clone(), folder, about, status);
    let outcome = match look(journal, run, head, &cast.make_folder()?)? {
        Standing::Good { seq, hash, bytes } => {
            extend(journal, run, &mut cast, (seq, hash), bytes, folders)?;
            match head.seq - seq {
                0 => CatchUp::Current,
                events => CatchUp::Appended { events },
            }
        }
        Standing::Bad(why) => {
            rebuild(journal, run, &mut cast, why == LONGER, folders)?;
            CatchUp::Rebuilt { events: head.seq, why }
        }
    };
    cast.stands_at(at_head, noted.is_some() && outcome == CatchUp::Current);
    cast.note()?;
    Ok((outcome, Some(cast)))
}

fn about(journal: &dyn Journal, run: &RunId, folders: &Folders) -> Result<About, CatchUpError> {
    let wrong = |source| CatchUpError::Created { run: run.clone(), source };
    let first = blocking(journal).records(run, 0, 1)?.pop().ok_or_else(|| wrong(None))?;
    let event = first.event().map_err(|error| wrong(Some(error)))?;
    let EventBody::RunCreated(created) = event.body else {
        return Err(wrong(None));
    };
    Ok(About::new(&created, first.wall, folders))
}

/// Writes lines and files of everything behind `start`.
fn write_behind(
    journal: &dyn Journal,
    run: &RunId,
    cast: &mut Cast,
    start: (u64, ChainHash),
    (path, file): (&Path, &mut File),
    folders: &Folders,
) -> Result<(), CatchUpError> {
    let mut inputs = Inputs::new(journal, run);
    let mut lines = Vec::new();
    checked(journal, run, start, &mut |records| {
        let events: Vec<_> = records.iter().map(|record| record.event().ok()).collect();
        let mut items = Vec::with_capacity(records.len());
        for (record, event) in records.iter().zip(&events) {
            let input = inputs.see(record, event.as_ref())?;
            items.push(Item { record, event: event.as_ref(), input });
        }
        lines.clear();
        if let Some(news) = ViewUpdate::new(&mut lines, folders, items.into_iter()) {
            for step in news.steps {
                cast.apply(step)?;
            }
            cast.let_go();
            file.write_all(&lines).map_err(ViewProblem::at(path))?;
        }
        Ok(true)
    })
}

fn extend(
    journal: &dyn Journal,
    run: &RunId,
    cast: &mut Cast,
    start: (u64, ChainHash),
    bytes: u64,
    folders: &Folders,
) -> Result<(), CatchUpError> {
    let path = cast.events_file();
    let mut file = cast.open_lines()?;
    let found = file.metadata().map_err(ViewProblem::at(&path))?.len();
    if found > bytes {
        // The rest of a line that was never finished.
        file.set_len(bytes).map_err(ViewProblem::at(&path))?;
    }
    write_behind(journal, run, cast, start, (&path, &mut file), folders)
}

fn rebuild(
    journal: &dyn Journal,
    run: &RunId,
    cast: &mut Cast,
    keep_old: bool,
    folders: &Folders,
) -> Result<(), CatchUpError> {
    let folder = cast.make_folder()?;
    let at = |name: &str| ViewProblem::at(&folder.path().join(name));
    let mut file = folder.create(NEW_FILE).map_err(at(NEW_FILE))?;
    let beside = folder.path().join(NEW_FILE);
    let start = (0, ChainHash::origin(run));
    write_behind(journal, run, cast, start, (&beside, &mut file), folders)?;
    if keep_old {
        // It may be all that is left of events that the journal has lost.
        folder.rename(EVENTS_FILE, LONGER_FILE).map_err(at(LONGER_FILE))?;
    }
    folder.rename(NEW_FILE, EVENTS_FILE).map_err(at(EVENTS_FILE))?;
    Ok(())
}

/// Opens the lines for reading; `None` if there are none, or something that cannot be gone on in: no file, or one
/// that has a second name somewhere else.
fn open_lines(folder: &Folder) -> Option<File> {
    let file = folder.open(EVENTS_FILE).ok()?;
    file.metadata().is_ok_and(|found| found.nlink() == 1).then_some(file)
}

fn last_line(
    journal: &dyn Journal,
    run: &RunId,
    head: Head,
    folder: &Folder,
) -> Result<Standing, CatchUpError> {
    let Some(mut file) = open_lines(folder) else {
        return Ok(Standing::Bad("it was missing"));
    };
    let path = folder.path().join(EVENTS_FILE);
    let Some((line, bytes)) = tail(&mut file).map_err(ViewProblem::at(&path))? else {
        return Ok(Standing::Good { seq: 0, hash: ChainHash::origin(run), bytes: 0 });
    };
    let Some(seq) = line::place(&line) else {
        return Ok(Standing::Bad("its last line was no event"));
    };
    if seq > head.seq {
        return Ok(Standing::Bad(LONGER));
    }
    let Some(record) = blocking(journal).records(run, seq - 1, 1)?.pop() else {
        return Ok(Standing::Bad(LONGER));
    };
    let mut expected = Vec::new();
    line::push_read(&mut expected, &record);
    if line != expected {
        return Ok(Standing::Bad("its last line was not the journal's"));
    }
    Ok(Standing::Good { seq, hash: record.hash, bytes })
}

/// The last complete line with its end, and where it ends; `None` if there is no complete line.
fn tail(file: &mut File) -> io::Result<Option<(Vec<u8>, u64)>> {
    let size = file.metadata()?.len();
    let mut window = TAIL_BYTES;
    loop {
        let start = size.saturating_sub(window);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(size - start).read_to_end(&mut bytes)?;
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            let before = bytes[..end].iter().rposition(|byte| *byte == b'\n');
            if before.is_some() || start == 0 {
                let line = bytes[before.map_or(0, |at| at + 1)..=end].to_vec();
                return Ok(Some((line, start + end as u64 + 1)));
            }
        } else if start == 0 {
            return Ok(None);
        }
        window *= 4;
    }
}

fn every_line(
    journal: &dyn Journal,
    run: &RunId,
    _head: Head,
    folder: &Folder,
) -> Result<Standing, CatchUpError> {
    let path = &folder.path().join(EVENTS_FILE);
    let Some(file) = open_lines(folder) else {
        // The journal is checked all the same: it is about to be copied.
        return Ok(Standing::Bad("it was missing"));
    };
    let mut lines = BufReader::new(file);
    let mut good = (0, ChainHash::origin(run), 0);
    let mut verdict = None;
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    checked(journal, run, (0, ChainHash::origin(run)), &mut |records| {
        for record in records {
            found.clear();
            lines.read_until(b'\n', &mut found).map_err(ViewProblem::at(path))?;
            if found.last() != Some(&b'\n') {
                // The end of the file, perhaps in the middle of a line.
                verdict = Some(Standing::Good { seq: good.0, hash: good.1, bytes: good.2 });
                return Ok(false);
            }
            expected.clear();
            line::push_read(&mut expected, record);
            if found != expected {
                verdict = Some(Standing::Bad("a line was not the journal's"));
                return Ok(false);
            }
            good = (record.seq, record.hash, good.2 + found.len() as u64);
        }
        Ok(true)
    })?;
    if let Some(verdict) = verdict {
        return Ok(verdict);
    }
    if lines.fill_buf().map_err(ViewProblem::at(path))?.is_empty() {
        return Ok(Standing::Good { seq: good.0, hash: good.1, bytes: good.2 });
    }
    Ok(Standing::Bad(LONGER))
}
