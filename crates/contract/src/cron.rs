//! Cron schedules with five fields, read in a time zone (D63).
//!
//! `minute hour day-of-month month day-of-week`, each `*`, a number, a name (`jan`, `mon`), a range, a list, and `/n`
//! for every n-th. Where both day fields are restricted, a match of one of them suffices. The time zone table is part
//! of the program, so that a schedule means the same on every machine.

use crate::schema::JsonSchema;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use serde::{Deserialize, Serialize};

use crate::NodeId;
use crate::time::Micros;

/// The most days that may lie between two times: a 29th of February can be eight years away.
const DAYS_APART_MAX: usize = 8 * 366 + 1;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A schedule as a plan has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cron {
    /// The five fields.
    pub expression: String,
    /// The time zone in which they are read, by its IANA name.
    pub timezone: String,
}

/// The next tick of a node. The caller computes it, because the run knows no time zones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextTick {
    /// The node.
    pub node: NodeId,
    /// The instant, in microseconds.
    pub at: Micros,
}

/// Why a schedule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// There are more or fewer than five fields.
    #[error("it has {0} fields, and needs five: minute hour day-of-month month day-of-week")]
    Fields(usize),
    /// A field cannot be read.
    #[error("`{text}` is no {field}: {why}")]
    Field {
        /// Which field.
        field: &'static str,
        /// Its text.
        text: String,
        /// The error.
        why: String,
    },
    /// The time zone does not exist.
    #[error("there is no time zone `{0}`")]
    Zone(String),
    /// It never comes.
    #[error("no day has such a date, so it never comes")]
    Never,
}

/// A schedule that can compute its next time.
#[derive(Debug, Clone)]
pub struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether both kinds of days are restricted, so that either suffices.
    either: bool,
    zone: TimeZone,
}

impl Cron {
    /// Reads it.
    pub fn schedule(&self) -> Result<Schedule, CronError> {
        let fields: Vec<&str> = self.expression.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(CronError::Fields(fields.len()));
        };
        let zone = TimeZone::get(&self.timezone);
        let zone = zone.map_err(|_| CronError::Zone(self.timezone.clone()))?;
        // Seven is Sunday once more.
        let weekdays = set("day of the week", weekday, (0, 7), &DAYS)?;
        let schedule = Schedule {
            minutes: set("minute", minute, (0, 59), &[])?,
            hours: set("hour", hour, (0, 23), &[])?,
            days: set("day of the month", day, (1, 31), &[])?,
            months: set("month", month, (1, 12), &MONTHS)?,
            weekdays: weekdays | (weekdays >> 7),
            either: !day.starts_with('*') && !weekday.starts_with('*'),
            zone,
        };
        schedule.after(0).map(|_| schedule).ok_or(CronError::Never)
    }
}

/// The numbers that a field names, as bits.
fn set(
    field: &'static str,
    text: &str,
    bounds: (u32, u32),
    names: &[&str],
) -> Result<u64, CronError> {
    let wrong = |why: String| CronError::Field { field, text: text.to_owned(), why };
    let mut found = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            None => (part, None),
            Some((range, step)) => {
                let step = step.parse::<u32>().ok().filter(|step| *step > 0);
                let step =
                    step.ok_or_else(|| wrong("behind `/` stands a number above 0".into()))?;
                (range, Some(step))
            }
        };
        let number = |text: &str| {
            let lower = text.to_ascii_lowercase();
            let word = names.iter().position(|name| *name == lower);
            // Months are counted from 1, days of the week from 0.
            let word = word.and_then(|at| u32::try_from(at).ok()).map(|at| at + bounds.0);
            let written = || text.parse::<u32>().ok();
            let known = word.or_else(written).filter(|it| (bounds.0..=bounds.1).contains(it));
            known.ok_or_else(|| wrong(format!("it goes from {} to {}", bounds.0, bounds.1)))
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => bounds,
            Some((first, last)) => (number(first)?, number(last)?),
            // `5/10` means from 5 on.
            None => {
                let only = number(range)?;
                (only, if step.is_some() { bounds.1 } else { only })
            }
        };
        if first > last {
            return Err(wrong(format!("{first} comes after {last}")));
        }
        for number in (first..=last).step_by(step.unwrap_or(1) as usize) {
            found |= 1 << number;
        }
    }
    Ok(found)
}

impl Schedule {
    /// The first time behind an instant, in microseconds. A time that does not exist on a day of change is
    /// left out, one that exists twice comes once, at the first.
    pub fn after(&self, instant: Micros) -> Option<Micros> {
        let begins = Timestamp::from_microsecond(instant).ok()?;
        let from = self.zone.to_datetime(begins);
        // A clock that was set back shows times that were there before.
        let mut date = from.date().yesterday().unwrap_or(from.date());
        for _ in 0..DAYS_APART_MAX {
            if self.has_day(date) {
                let times = (0..24).flat_map(|hour| (0..60).map(move |minute| (hour, minute)));
                let mut times = times.filter(|(hour, minute)| {
                    self.hours & (1 << hour) != 0 && self.minutes & (1 << minute) != 0
                });
                let found = times.find_map(|(hour, minute)| {
                    let time = Time::new(hour, minute, 0, 0).ok()?;
                    self.instant(DateTime::from_parts(date, time)).filter(|at| *at > instant)
                });
                if found.is_some() {
                    return found;
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let bit = |set: u64, at: i8| u32::try_from(at).is_ok_and(|at| set & (1 << at) != 0);
        let day = bit(self.days, date.day());
        let weekday = bit(self.weekdays, date.weekday().to_sunday_zero_offset());
        let right = if self.either { day || weekday } else { day && weekday };
        right && bit(self.months, date.month())
    }

    fn instant(&self, at: DateTime) -> Option<Micros> {
        let offset = match self.zone.to_ambiguous_timestamp(at).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Fold { before, .. } => before,
            AmbiguousOffset::Gap { .. } => return None,
        };
        offset.to_timestamp(at).ok().map(Timestamp::as_microsecond)
    }
}
