//! Lines and text on a sheet of characters.

use super::width;

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// One place on the sheet.
#[derive(Debug, Clone, Copy)]
enum Cell {
    /// The directions in which lines leave it; 0 is empty.
    Lines(u8),
    /// A character.
    Text(char),
    /// The second half of a wide character.
    Covered,
}

/// A sheet of characters that grows as needed.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    rows: Vec<Vec<Cell>>,
}

impl Canvas {
    fn cell(&mut self, x: usize, y: usize) -> &mut Cell {
        if self.rows.len() <= y {
            self.rows.resize_with(y + 1, Vec::new);
        }
        let row = &mut self.rows[y];
        if row.len() <= x {
            row.resize(x + 1, Cell::Lines(0));
        }
        &mut row[x]
    }

    fn add(&mut self, x: usize, y: usize, directions: u8) {
        let cell = self.cell(x, y);
        if let Cell::Lines(lines) = cell {
            *lines |= directions;
        }
    }

    /// A line down a column, from one row to another; where it meets others they join.
    pub(super) fn down(&mut self, x: usize, top: usize, bottom: usize) {
        for y in top..bottom {
            self.add(x, y, DOWN);
            self.add(x, y + 1, UP);
        }
    }

    /// A line along a row, from one column to another.
    pub(super) fn across(&mut self, y: usize, one: usize, other: usize) {
        for x in one.min(other)..one.max(other) {
            self.add(x, y, RIGHT);
            self.add(x + 1, y, LEFT);
        }
    }

    /// A frame.
    pub(super) fn frame(&mut self, x: usize, y: usize, columns: usize, rows: usize) {
        let (right, bottom) = (x + columns - 1, y + rows - 1);
        self.across(y, x, right);
        self.across(bottom, x, right);
        self.down(x, y, bottom);
        self.down(right, y, bottom);
    }

    /// Text, over whatever is there.
    pub(super) fn text(&mut self, x: usize, y: usize, text: &str) {
        let mut at = x;
        for character in text.chars() {
            *self.cell(at, y) = Cell::Text(character);
            for covered in 1..width::of_char(character) {
                *self.cell(at + covered, y) = Cell::Covered;
            }
            at += width::of_char(character);
        }
    }

    /// The columns of the widest row.
    pub(super) fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The sheet as lines of text, each behind `margin` blanks.
    pub(super) fn render(&self, margin: usize) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let line: String = row
                .iter()
                .filter_map(|cell| match cell {
                    Cell::Lines(lines) => Some(joint(*lines)),
                    Cell::Text(character) => Some(*character),
                    Cell::Covered => None,
                })
                .collect();
            if !line.trim_end().is_empty() {
                text.extend(std::iter::repeat_n(' ', margin));
                text.push_str(line.trim_end());
            }
            text.push('\n');
        }
        text
    }
}

/// The character for lines in these directions.
fn joint(lines: u8) -> char {
    const JOINTS: [char; 16] =
        [' ', '│', '│', '│', '─', '┘', '┐', '┤', '─', '└', '┌', '├', '─', '┴', '┬', '┼'];
    JOINTS[usize::from(lines & 15)]
}
