//! Measurements in a process of their own, so that counters and memory are theirs alone.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use materia_journal::Options;
use serde_json::{Value, json};

use crate::Outcome;
use crate::meter::peak_memory_mb;
use crate::stage::Stage;

/// The first argument of such a process.
pub(crate) const ARGUMENT: &str = "--child";

/// Task of such a process: so many concurrent runs of so many steps, in a fresh folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    pub(crate) runs: u64,
    pub(crate) steps: u64,
    /// Added to each commit, in milliseconds.
    pub(crate) delay_ms: u64,
}

/// Results of such a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) steps_a_second: f64,
    pub(crate) durable_steps_a_second: f64,
    pub(crate) cpu_ms_a_step: f64,
    pub(crate) bytes_a_step: u64,
    pub(crate) batches: u64,
    pub(crate) commits: u64,
    pub(crate) peak_memory_mb: f64,
}

impl Task {
    /// Starts the process and waits for what it says.
    pub(crate) fn run(self, folder: &Path) -> Outcome<Told> {
        self.run_by(&std::env::current_exe()?, folder)
    }

    /// The same by another version of this program.
    pub(crate) fn run_by(self, program: &Path, folder: &Path) -> Outcome<Told> {
        self.told(Command::new(program), folder)
    }

    /// How many syncs the process asks of the system; `None` where nothing can count them.
    pub(crate) fn syncs(self, folder: &Path) -> Outcome<Option<u64>> {
        if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
            return Ok(None);
        }
        let counts = folder.join("syncs");
        let mut command = Command::new("strace");
        command.args(["-f", "-c", "-e", "trace=fdatasync,fsync", "-o"]).arg(&counts);
        command.arg(std::env::current_exe()?);
        self.told(command, folder)?;
        Ok(Some(count_calls(&std::fs::read_to_string(counts)?)))
    }

    fn told(self, mut command: Command, folder: &Path) -> Outcome<Told> {
        let numbers = [self.runs, self.steps, self.delay_ms].map(|number| number.to_string());
        let output = command
            .arg(ARGUMENT)
            .arg(folder)
            .args(numbers)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("a part of the measurement failed: {}", output.status).into());
        }
        let told: Value = serde_json::from_slice(&output.stdout)?;
        let number = |name: &str| told[name].as_f64().ok_or(format!("no `{name}` was told"));
        let count = |name: &str| told[name].as_u64().ok_or(format!("no `{name}` was told"));
        Ok(Told {
            steps_a_second: number("stepsASecond")?,
            durable_steps_a_second: number("durableStepsASecond")?,
            cpu_ms_a_step: number("cpuMsAStep")?,
            bytes_a_step: count("bytesAStep")?,
            batches: count("batches")?,
            commits: count("commits")?,
            peak_memory_mb: number("peakMemoryMb")?,
        })
    }
}

/// Adds up the calls in a table of `strace -c`.
fn count_calls(table: &str) -> u64 {
    let rows = table
        .lines()
        .filter(|line| matches!(line.split_whitespace().last(), Some("fsync" | "fdatasync")));
    rows.filter_map(|row| row.split_whitespace().nth(3)?.parse::<u64>().ok()).sum()
}

/// The other end: does the task and says how it went.
pub(crate) fn main(arguments: &[String]) -> Outcome<()> {
    let [folder, numbers @ ..] = arguments else { return Err("a folder is missing".into()) };
    let numbers: Vec<u64> = numbers.iter().map(|it| it.parse()).collect::<Result<_, _>>()?;
    let [runs, steps, delay_ms] = numbers[..] else { return Err("three numbers are due".into()) };
    let commit_delay = (delay_ms > 0).then(|| Duration::from_millis(delay_ms));
    let stage = Stage::open(Path::new(folder), Options { commit_delay, ..Options::default() })?;
    let cost = if runs == 1 { stage.one("run", steps)? } else { stage.many(runs, steps)? };
    let told = json!({
        "stepsASecond": cost.steps_a_second(),
        "durableStepsASecond": cost.durable_steps_a_second(),
        "cpuMsAStep": cost.cpu_ms_a_step(),
        "bytesAStep": cost.bytes_a_step(),
        "batches": cost.stats.batches,
        "commits": cost.stats.commits,
        "peakMemoryMb": peak_memory_mb(),
    });
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_both_kinds_are_added_up() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
                     ------ ----------- ----------- --------- --------- ----------------\n\
                     \x20 98.00    0.100000         100       101         1 fdatasync\n\
                     \x20  2.00    0.001000         100         4           fsync\n\
                     ------ ----------- ----------- --------- --------- ----------------\n\
                     100.00    0.101000         100       105         1 total\n";
        assert_eq!(count_calls(table), 105);
        assert_eq!(count_calls(""), 0);
    }
}
