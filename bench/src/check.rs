//! Check of a configuration: whether the time grows linearly with its size.

use std::fmt::Write as _;
use std::fs;

use materia_compiler::{Sources, check, load};
use materia_contract::Severity;

use crate::meter::{cpu_since, cpu_time, median};
use crate::report::{Bound, Figure, Report};
use crate::{Outcome, Wanted, room};

const ROUNDS: usize = 7;
/// Sockets of the smallest; from 500 on no more names are compared for a suggestion.
const BASE: u32 = 500;
/// By how many sockets the next one is larger, and how many times that the last one.
const MORE: u32 = 1_250;
const TIMES: u32 = 4;
/// The most that one more socket may cost in the largest configuration, over its cost in the middle one. Comparing
/// each edge with all others would give 2.7.
const GROWTH_MAX: f64 = 1.6;

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    for (name, config) in [("check.edges", edges as fn(u32) -> String), ("check.loops", loops as _)]
    {
        let (mut growth, mut large_ms) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            // What costs the same for all of them, reading what is shipped above all, is left out.
            let base = cpu_ms(&config(BASE))?;
            let small = cpu_ms(&config(BASE + MORE))?;
            let large = cpu_ms(&config(BASE + TIMES * MORE))?;
            growth.push((large - base) / (small - base) / f64::from(TIMES));
            large_ms.push(large);
        }
        let note = format!(
            "CPU time of {} sockets over {TIMES} times that of {MORE}, both beyond that of {BASE}; \
             the largest takes {:.0} ms",
            TIMES * MORE,
            median(large_ms)
        );
        let figure = Figure::new(name, median(growth), "times");
        report.add(figure.limit(Bound::AtMost, GROWTH_MAX).note(note));
    }
    Ok(())
}

/// Milliseconds of CPU time that reading and checking a configuration takes.
fn cpu_ms(config: &str) -> Outcome<f64> {
    let project_dir = room::on_disk()?.join("check");
    fs::create_dir_all(&project_dir)?;
    fs::write(project_dir.join("materia.json"), config)?;
    let sources = Sources { project_dir, ..Sources::default() };
    let before = cpu_time();
    let (loaded, mut found) = load(&sources);
    found.extend(check(&loaded));
    let took = cpu_since(before);
    // Either it can run, or so much is wrong with it that it must have gone through to the end.
    let wrong = found.iter().find(|finding| finding.severity == Severity::Error);
    let too_many = || found.iter().any(|finding| finding.code == "document::too-many");
    match wrong.filter(|_| !too_many()) {
        None => Ok(took.as_secs_f64() * 1e3),
        Some(wrong) => Err(format!("the configuration is not what was meant: {wrong:?}").into()),
    }
}

/// A circle of sockets, and one with four times as many edges into it.
fn edges(count: u32) -> String {
    let mut text = begin();
    for n in 0..count {
        let next = (n + 1) % count;
        let to = if n == 0 { "wide".to_owned() } else { format!("s{next}") };
        let _ = write!(text, r#""s{n}":{{"materia":"m","edges":[{{"to":"{to}"}}]}},"#);
    }
    text.push_str(r#""wide":{"materia":"m","edges":["#);
    for n in 0..4 * count {
        let guard = format!(r#"{{"path":"state.a","equals":{n}}}"#);
        let _ = write!(text, r#"{{"where":{guard},"to":"s{}"}},"#, n % count);
    }
    text.push_str(r#"{"to":"s1"}]}}}}}"#);
    text
}

/// As many loops as sockets, and one around all of them with many exits.
fn loops(count: u32) -> String {
    let mut text = begin();
    let mut members = String::new();
    for n in 0..count {
        let _ = write!(text, r#""s{n}":{{"materia":"m","advance":{{}}}},"#);
        let _ = write!(members, r#""s{n}","#);
    }
    text.push_str(r#"},"loops":{"#);
    for n in 0..count {
        let _ = write!(text, r#""l{n}":{{"sockets":["s{n}","s{}"]}},"#, n + 1);
    }
    let _ = write!(text, r#""all":{{"sockets":[{members}],"exits":["#);
    for n in 0..4 * count {
        let way = r#""condition":"satisfied","targetSocketId":"x""#;
        let _ = write!(text, r#"{{"id":"e{n}","from":"s{n}",{way}}},"#);
    }
    text.push_str("]}}}}}");
    text
}

fn begin() -> String {
    r#"{"materia":{"m":{"prompt":"p"}},"loadouts":{"L":{"entry":"s0","sockets":{"#.to_owned()
}
