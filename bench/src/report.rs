//! Figures and their output.

use std::io::Write;

use serde_json::{Value, json};

/// Which side of a bound is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// As much as the bound, or more.
    AtLeast,
    /// As much as the bound, or less.
    AtMost,
}

/// One figure.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    name: &'static str,
    unit: &'static str,
    value: f64,
    floor: Option<f64>,
    bound: Bound,
    limit: Option<f64>,
    aim: Option<f64>,
    note: String,
}

impl Figure {
    /// A figure without bounds, for whoever wants to know.
    pub(crate) fn new(name: &'static str, value: f64, unit: &'static str) -> Self {
        let (floor, limit, aim) = (None, None, None);
        Self { name, unit, value, floor, bound: Bound::AtMost, limit, aim, note: String::new() }
    }

    /// Sets the floor that it is compared with, in its own unit.
    pub(crate) fn floor(self, floor: f64) -> Self {
        Self { floor: Some(floor), ..self }
    }

    /// It must be `limit` or better.
    pub(crate) fn limit(self, bound: Bound, limit: f64) -> Self {
        Self { bound, limit: Some(limit), ..self }
    }

    /// It should be `aim` or better; to be given behind the limit, which says what better is.
    pub(crate) fn aim(self, aim: f64) -> Self {
        Self { aim: Some(aim), ..self }
    }

    /// How it came about.
    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    fn meets(&self, bound: Option<f64>) -> bool {
        bound.is_none_or(|bound| match self.bound {
            Bound::AtLeast => self.value >= bound,
            Bound::AtMost => self.value <= bound,
        })
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name, "value": self.value, "unit": self.unit, "floor": self.floor,
            "limit": self.limit, "aim": self.aim, "pass": self.meets(self.limit),
            "note": self.note,
        })
    }

    fn verdict(&self) -> &'static str {
        match (self.limit.is_some() || self.aim.is_some(), self.meets(self.limit)) {
            (false, _) => "",
            (true, false) => "MISSED",
            (true, true) if self.aim.is_none() => "ok",
            (true, true) if self.meets(self.aim) => "aim met",
            (true, true) => "ok, aim missed",
        }
    }

    fn row(&self) -> [String; 6] {
        let sign = match self.bound {
            Bound::AtLeast => "≥",
            Bound::AtMost => "≤",
        };
        let bound =
            |bound: Option<f64>| bound.map_or(String::new(), |it| format!("{sign} {}", short(it)));
        [
            self.name.to_owned(),
            format!("{} {}", short(self.value), self.unit),
            self.floor.map_or(String::new(), short),
            bound(self.limit),
            bound(self.aim),
            self.verdict().to_owned(),
        ]
    }
}

/// A number with as many digits as can be trusted.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// All figures of one run of the program.
#[derive(Debug, Default)]
pub(crate) struct Report {
    figures: Vec<Figure>,
    /// Disturbances of the measurement.
    disturbances: Vec<String>,
}

impl Report {
    /// Takes a figure in and prints its JSON line at once, so that a crash later loses nothing.
    pub(crate) fn add(&mut self, figure: Figure) {
        let mut out = std::io::stdout().lock();
        // Whoever closed the pipe wants no more lines; the measurement goes on for the table.
        let _ = writeln!(out, "{}", figure.json()).and_then(|()| out.flush());
        self.figures.push(figure);
    }

    /// Notes that the disk was not calm. It is a figure as well, so that no reader of the lines misses it.
    pub(crate) fn is_disturbed(&mut self, what: String) {
        let figure = Figure::new("disk.disturbed", 1.0, "");
        self.add(figure.note(format!("what follows is not to be trusted: {what}")));
        self.disturbances.push(what);
    }

    /// Whether every limit is kept.
    pub(crate) fn holds(&self) -> bool {
        self.figures.iter().all(|figure| figure.meets(figure.limit))
    }

    /// Prints the table for people.
    pub(crate) fn print_table(&self) {
        let head = ["figure", "value", "floor", "limit", "aim", ""].map(str::to_owned);
        let rows: Vec<_> =
            std::iter::once(head).chain(self.figures.iter().map(Figure::row)).collect();
        let widths: Vec<usize> = (0..6)
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            say(cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        for figure in self.figures.iter().filter(|figure| !figure.note.is_empty()) {
            say(&format!("{}: {}", figure.name, figure.note));
        }
        for what in &self.disturbances {
            say(&format!("THE DISK WAS NOT CALM: {what}"));
        }
    }
}

/// Says something to people.
pub(crate) fn say(text: &str) {
    // There is nobody to tell that nobody listens.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_kept_on_its_good_side_only() {
        let least = Figure::new("a", 0.5, "").limit(Bound::AtLeast, 0.5).aim(0.7);
        assert_eq!(least.verdict(), "ok, aim missed");
        assert_eq!(Figure { value: 0.49, ..least.clone() }.verdict(), "MISSED");
        assert_eq!(Figure { value: 0.7, ..least }.verdict(), "aim met");
        let most = Figure::new("b", 0.2, "ms").limit(Bound::AtMost, 0.25).aim(0.1);
        assert_eq!(most.verdict(), "ok, aim missed");
        assert_eq!(Figure { value: 0.26, ..most }.verdict(), "MISSED");
    }

    #[test]
    fn one_missed_limit_fails_the_report_and_a_missed_aim_does_not() {
        let good = Figure::new("a", 1.0, "").limit(Bound::AtMost, 2.0).aim(0.5);
        let bad = Figure { value: 3.0, ..good.clone() };
        let report = |figures| Report { figures, disturbances: Vec::new() };
        assert!(report(vec![good.clone()]).holds());
        assert!(!report(vec![good, bad]).holds());
    }
}
