//! Simulated time: nothing waits, and everything happens in a fixed order.
//!
//! Turns are performed as soon as they start; their reports wait on an agenda until their instant, beside timers and
//! the script's timeline. At one instant everything happens in the order of D7, and all runnable nodes have started
//! before a turn without delay ends.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::time::Micros;
use materia_contract::{Actor, Do, FileState, GoOnFrom, RunPlace, TimelineEntry};
use materia_kernel::{Acting, Effect, Input, Moment, Phase, is_idle, outstanding};

use crate::load::take_up;
use crate::under_way::{UnderWay, kernel_report, order, withheld};
use crate::{Asks, Driver, EngineError, Options, TurnReport, World, apply_command, files};

/// Drives a run until it rests.
pub(crate) async fn drive(
    world: &World,
    driver: Box<Driver>,
    options: &Options,
    asks: &mut Asks,
) -> Result<Box<Driver>, EngineError> {
    // The instant, not logical time: that runs ahead by one step an event.
    let now = driver.run().instant();
    let deadline = options.run_for.map(|time| driver.run().created_at() + micros(time));
    let mut world_line = Simulation {
        world,
        driver,
        now,
        deadline,
        timeline: &options.timeline,
        options,
        agenda: BTreeMap::new(),
        under_way: UnderWay::default(),
        reported: BTreeSet::new(),
    };
    while *world_line.driver.run().phase() == Phase::Running {
        world_line.step(asks).await?;
    }
    Ok(world_line.driver)
}

struct Simulation<'a> {
    world: &'a World,
    driver: Box<Driver>,
    now: Micros,
    deadline: Option<Micros>,
    timeline: &'a [TimelineEntry],
    options: &'a Options,
    /// Reports of turns, by the instant at which they end and by their event.
    agenda: BTreeMap<(Micros, u64), TurnReport>,
    under_way: UnderWay,
    /// Turns whose report is on the agenda.
    reported: BTreeSet<u64>,
}

impl Simulation<'_> {
    /// Performs what is owed, then goes to the next instant at which something happens.
    async fn step(&mut self, asks: &mut Asks) -> Result<(), EngineError> {
        let place = (self.world, self.options);
        self.under_way.start_owed(place, &self.driver, &self.reported);
        if self.driver.run().is_publishing() {
            let input = files::publish(self.world, &self.driver).await;
            return Ok(self.driver.take(self.now, input).await?);
        }
        let mut asked = None;
        while asked.is_none() && !self.under_way.is_empty() {
            tokio::select! {
                ended = self.under_way.next() => {
                    if let Some((turn, message, files)) = withheld(&ended) {
                        return self.withhold(turn, message, files).await;
                    }
                    let (turn, report) = ended;
                    self.reported.insert(turn);
                    self.agenda.insert((self.now + micros(report.after), turn), report);
                }
                Some(ask) = asks.recv() => asked = Some(ask),
            }
        }
        if let Some(posted) = asked.or_else(|| asks.try_recv().ok()) {
            // Turns are performed at once and end later: none has ended that was not taken.
            let now = self.now;
            let clock = |_: &Driver| now.into();
            apply_command::obey(&mut self.driver, &mut self.under_way, *posted, clock).await?;
            return Ok(());
        }
        let due = self.due();
        if let Some(deadline) = self.deadline
            && due.is_none_or(|due| due > deadline)
        {
            self.driver.take(deadline.max(self.now), Input::RunForElapsed).await?;
            return Ok(());
        }
        if self.deadline.is_none() && is_idle(self.driver.run()) {
            self.driver.take(self.now, Input::Idle).await?;
            return Ok(());
        }
        let due = due.expect("a run that is not idle waits for a turn, a timer or the timeline");
        self.now = self.now.max(due);
        self.instant().await
    }

    /// A turn was not started: the run waits. Turns whose end is still to come are not at their end.
    async fn withhold(
        &mut self,
        turn: u64,
        message: String,
        files: Option<FileState>,
    ) -> Result<(), EngineError> {
        self.under_way.end().await;
        let files = files.map(Box::new);
        let input = Input::Withheld { reports: Vec::new(), turn, message, files };
        Ok(self.driver.take(self.now, input).await?)
    }

    /// The next instant at which something happens.
    fn due(&self) -> Option<Micros> {
        let turn = self.agenda.keys().map(|(due, _)| *due).next();
        let timer = outstanding(self.driver.run()).find_map(|effect| match effect {
            Effect::WakeAt(at) => Some(at),
            Effect::StartTurn(_) | Effect::Publish => None,
        });
        let entry = self.entry(0).map(|entry| self.instant_of(entry));
        [turn, timer, entry].into_iter().flatten().min()
    }

    /// The entry of the timeline that is so far ahead.
    fn entry(&self, ahead: usize) -> Option<&TimelineEntry> {
        self.timeline.get(self.driver.run().timeline_reached() as usize + ahead)
    }

    fn instant_of(&self, entry: &TimelineEntry) -> Micros {
        self.driver.run().created_at() + micros(std::time::Duration::from_millis(entry.at_ms))
    }

    /// Everything that happens now.
    async fn instant(&mut self) -> Result<(), EngineError> {
        let mut reports = Vec::new();
        while let Some(next) = self.agenda.first_entry()
            && next.key().0 <= self.now
        {
            let ((_, turn), report) = next.remove_entry();
            self.reported.remove(&turn);
            if self.driver.run().turn(turn).is_some() {
                let order = order(&self.driver, &self.options.folders, turn);
                reports.push(kernel_report(turn, self.world.runner.land(&order, report)));
            }
        }
        // At one instant turns end in the order they started, whenever they were due.
        reports.sort_by_key(|report| report.turn);
        let reached = self.driver.run().timeline_reached();
        let mut acts = Vec::new();
        // Only entries of one instant happen together, also where several are overdue.
        let at_ms = self.entry(0).map(|entry| entry.at_ms);
        while let Some(entry) = self.entry(acts.len())
            && self.instant_of(entry) <= self.now
            && Some(entry.at_ms) == at_ms
        {
            let place = u32::try_from(acts.len()).unwrap_or(u32::MAX);
            acts.push(Acting {
                timeline: Some(reached + place),
                ..Acting::person(entry.act.clone())
            });
        }
        let crashes = acts.iter().any(|acting| acting.act == Do::Crash);
        let by = (!acts.is_empty()).then_some(Actor::TIMELINE);
        let input = Input::Moment(Moment { reports, acts });
        self.driver.take_for(self.now, input, by).await?;
        if crashes { self.crash().await } else { Ok(()) }
    }

    /// Throws away everything but the journal, and takes the run up from there.
    async fn crash(&mut self) -> Result<(), EngineError> {
        self.under_way.end().await;
        self.agenda.clear();
        self.reported.clear();
        let (journal, observer) = (&self.world.journal, &self.world.observer);
        let (id, epoch) = (self.driver.run().id(), self.driver.epoch());
        self.driver = take_up(journal, observer, id, epoch).await?;
        if *self.driver.run().phase() == Phase::Running {
            let files = files::found(self.world, &self.driver, GoOnFrom::Usual).await?;
            let place = RunPlace { files, ..RunPlace::named() };
            let resume = Input::taken_up(Do::Resume { pace: None }, place);
            self.driver.take(self.now, resume).await?;
        }
        Ok(())
    }
}

fn micros(time: std::time::Duration) -> Micros {
    Micros::try_from(time.as_micros()).unwrap_or(Micros::MAX / 4)
}
