//! Reads pictures back: each arrow of the graph, and no other, can be followed with a finger.

use materia_contract::Condition;

use super::{drawn, plan};

/// A small generator of numbers; what comes out is the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// A picture as characters by row and column.
struct Sheet(Vec<Vec<char>>);

impl Sheet {
    fn at(&self, x: usize, y: usize) -> char {
        self.0.get(y).and_then(|row| row.get(x)).copied().unwrap_or(' ')
    }

    /// Every arrow, from box to box.
    fn arrows(&self) -> Vec<(String, String)> {
        let mut arrows = Vec::new();
        for (y, row) in self.0.iter().enumerate() {
            for (x, &character) in row.iter().enumerate() {
                match character {
                    '▼' => arrows.push((self.follow(x, y, -1), self.target(x, y + 1))),
                    '▲' => arrows.push((self.follow(x, y, 1), self.box_above(x, y - 1))),
                    _ => {}
                }
            }
        }
        arrows.sort();
        arrows
    }

    /// Follows a line from its head up (-1) or down (1) to the box where it begins.
    fn follow(&self, mut x: usize, mut y: usize, vertical: isize) -> String {
        // The direction of walking: columns, rows.
        let mut walk = (0, vertical);
        loop {
            x = x.checked_add_signed(walk.0).unwrap();
            y = y.checked_add_signed(walk.1).unwrap();
            walk = match (self.at(x, y), walk) {
                ('┬', (0, -1)) => return self.box_above(x, y),
                ('┴', (0, 1)) => return self.box_below(x, y),
                ('┌', (0, -1)) | ('└', (0, 1)) => (1, 0),
                ('┐', (0, -1)) | ('┘', (0, 1)) => (-1, 0),
                ('┌', (-1, 0)) | ('┐', (1, 0)) => (0, 1),
                ('└', (-1, 0)) | ('┘', (1, 0)) => (0, -1),
                (' ' | '▼' | '▲', _) => panic!("the line ends at {x},{y}"),
                // Straight on: a line, a crossing, or a label that stands on the line.
                (_, walk) => walk,
            };
        }
    }

    fn target(&self, x: usize, y: usize) -> String {
        if self.at(x, y) == 'n' { "end".to_owned() } else { self.box_below(x, y) }
    }

    /// The name in the box whose upper border is at this place.
    fn box_below(&self, mut x: usize, y: usize) -> String {
        while self.at(x, y) != '┌' {
            assert!("─┴".contains(self.at(x, y)), "no border at {x},{y}");
            x -= 1;
        }
        self.name(x, y)
    }

    /// The name in the box whose lower border is at this place.
    fn box_above(&self, mut x: usize, mut y: usize) -> String {
        while self.at(x, y) != '└' {
            assert!("─┬".contains(self.at(x, y)), "no border at {x},{y}");
            x -= 1;
        }
        while self.at(x, y) != '┌' {
            y -= 1;
        }
        self.name(x, y)
    }

    fn name(&self, x: usize, y: usize) -> String {
        let row: String = self.0[y + 1][x + 2..].iter().collect();
        row.trim_start_matches("▶ ").split_whitespace().next().unwrap().to_owned()
    }
}

#[test]
fn every_arrow_of_a_graph_can_be_followed_in_its_picture() {
    let mut numbers = Numbers(7);
    let mut pictures = 0;
    for _ in 0..400 {
        let count = 2 + numbers.below(12);
        let names: Vec<String> = (0..count).map(|number| format!("S{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut edges = Vec::new();
        for _ in 0..numbers.below(2 * count) {
            let conditions = [Condition::Always, Condition::Satisfied, Condition::NotSatisfied];
            let to = match numbers.below(count + 1) {
                last if last == count => "end",
                other => names[other],
            };
            edges.push((names[numbers.below(count)], conditions[numbers.below(3)], to));
        }
        let drawn = drawn(&plan(&names, &edges));
        if !drawn.contains('┌') {
            continue;
        }
        pictures += 1;
        let sheet = Sheet(drawn.lines().map(|line| line.chars().collect()).collect());
        let mut expected: Vec<(String, String)> = edges
            .iter()
            .filter(|(from, _, to)| from != to)
            .map(|(from, _, to)| ((*from).to_owned(), (*to).to_owned()))
            .collect();
        expected.sort();
        assert_eq!(sheet.arrows(), expected, "\n{drawn}");
        let loops = edges.iter().filter(|(from, _, to)| from == to).count();
        assert_eq!(drawn.matches('↺').count(), loops, "\n{drawn}");
    }
    assert!(pictures > 300, "only {pictures} graphs had room");
}
