//! Makes a history that fails smaller.

use materia_contract::script::{Answer, UtilityAnswer};

use super::{Choice, Fuzzer, History, Kind};
use crate::explore::answers::Given;

impl Fuzzer<'_> {
    /// A smaller history that fails as well, found with at most so many tries.
    pub fn shrink(
        self,
        history: History,
        tries: usize,
        mut fails: impl FnMut(&History) -> bool,
    ) -> History {
        let mut best = history;
        let mut left = tries;
        let mut attempt = |choices: Vec<Choice>, best: &mut History| {
            if left == 0 {
                return false;
            }
            left -= 1;
            let smaller = self.follow(&choices).filter(|it| weight(it) < weight(best) && fails(it));
            let found = smaller.is_some();
            if let Some(smaller) = smaller {
                *best = smaller;
            }
            found
        };
        let mut size = best.choices.len();
        while size > 0 {
            let mut place = 0;
            while place < best.choices.len() {
                let mut fewer = best.choices.clone();
                fewer.drain(place..(place + size).min(fewer.len()));
                if !attempt(fewer, &mut best) {
                    place += size;
                }
            }
            size /= 2;
        }
        for place in 0..best.choices.len() {
            let Some(choice) = best.choices.get(place) else { break };
            for plain in choice.simpler() {
                let mut choices = best.choices.clone();
                choices[place] = plain;
                if attempt(choices, &mut best) {
                    break;
                }
            }
        }
        best
    }
}

/// The length of the script of a history.
fn weight(history: &History) -> usize {
    serde_json::to_string(&history.script).map_or(usize::MAX, |text| text.len())
}

impl Choice {
    /// Simpler choices in its place, the simplest first.
    fn simpler(&self) -> Vec<Self> {
        match &self.0 {
            Kind::End(turns, wait) => {
                let plain = |given: &Given| match given {
                    Given::Agent(_) => Given::Agent(Box::new(Answer {
                        text: Some("{\"satisfied\": true}".to_owned()),
                        ..Answer::default()
                    })),
                    Given::Utility(_) => Given::Utility(UtilityAnswer::default()),
                };
                let all = turns.iter().map(|(place, given)| (*place, plain(given))).collect();
                vec![Self(Kind::End(all, 0)), Self(Kind::End(turns.clone(), (*wait).min(1)))]
            }
            Kind::Act(act, _) => vec![Self(Kind::Act(act.clone(), 0))],
            Kind::Fire => Vec::new(),
        }
    }
}
