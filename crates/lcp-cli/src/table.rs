//! Tables for people, with columns as wide as their widest cell.

use std::io::IsTerminal;

use lcp_driver::escape_control;
use lcp_driver::report::truncate_start;

use crate::output::Output;

/// A column: its title and the alignment of its cells.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    /// Left-aligned, for words.
    Left(&'static str),
    /// Right-aligned, for numbers.
    Right(&'static str),
    /// Left-aligned labels. If a line is too wide for the terminal, their beginning is cut off.
    Label(&'static str),
}

/// The style of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableStyle {
    /// Print the first line in bold.
    pub color: bool,
    /// Columns of the terminal, if the output is a terminal.
    pub width: Option<usize>,
}

/// The minimum width of a label column, regardless of the width of the terminal.
const LABEL_CHARS_MIN: usize = 12;

impl TableStyle {
    /// Returns the style of a table on standard output.
    pub fn for_stdout(output: &Output) -> Self {
        let stdout = std::io::stdout();
        let color = output.is_colored(&stdout);
        let size = console::Term::stdout().size_checked().filter(|_| stdout.is_terminal());
        Self { color, width: size.map(|(_, columns)| usize::from(columns)) }
    }
}

/// Returns a table: the line of titles, then a line for each row, each with a newline. Control
/// characters are escaped.
pub fn render(columns: &[Column], rows: &[Vec<String>], style: TableStyle) -> String {
    let (head, rows) = lines(columns, rows, style);
    let head = if style.color { format!("\x1b[1m{head}\x1b[0m") } else { head };
    format!("{head}\n{rows}")
}

/// Returns the rows of a table without the titles.
pub fn render_rows(columns: &[Column], rows: &[Vec<String>]) -> String {
    lines(columns, rows, TableStyle::default()).1
}

/// Returns the line of titles, without a newline, and the lines of the rows.
fn lines(columns: &[Column], rows: &[Vec<String>], style: TableStyle) -> (String, String) {
    let rows: Vec<Vec<_>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| escape_control(cell).into_owned()).collect())
        .collect();
    let mut widths: Vec<_> = columns.iter().map(|column| width(column.title())).collect();
    for row in &rows {
        for (wide, cell) in widths.iter_mut().zip(row) {
            *wide = (*wide).max(width(cell));
        }
    }
    let label = columns.iter().position(|column| matches!(column, Column::Label(_)));
    if let (Some(terminal), Some(label)) = (style.width, label) {
        let others: usize = widths
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != label)
            .map(|(_, wide)| wide + 2)
            .sum();
        let room = terminal.saturating_sub(others).max(LABEL_CHARS_MIN);
        widths[label] = widths[label].min(room);
    }
    let titles: Vec<_> = columns.iter().map(|column| column.title().to_owned()).collect();
    let rows = rows.iter().map(|row| line(columns, row, &widths) + "\n");
    (line(columns, &titles, &widths), rows.collect())
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Left(title) | Self::Right(title) | Self::Label(title) => title,
        }
    }
}

fn line(columns: &[Column], cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for ((column, cell), wide) in columns.iter().zip(cells).zip(widths) {
        let cell = truncate_start(cell, *wide, width);
        let pad = " ".repeat(wide.saturating_sub(width(&cell)));
        let (before, behind) = match column {
            Column::Right(_) => (pad.as_str(), ""),
            Column::Left(_) | Column::Label(_) => ("", pad.as_str()),
        };
        line.extend([before, &cell, behind, "  "]);
    }
    line.truncate(line.trim_end().len());
    line
}

/// Returns the number of terminal columns that a text occupies.
fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] =
        [Column::Right("index"), Column::Label("label"), Column::Left("x")];

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        vec![row(["0", "src/a/very/long/path.rs", "one"]), row(["10", "日本\x1b[2J", ""])]
    }

    #[test]
    fn columns_are_aligned() {
        let text = render(&COLUMNS, &rows(), TableStyle::default());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "index  label                    x");
        assert_eq!(lines[1], "    0  src/a/very/long/path.rs  one");
        assert_eq!(lines[2], "   10  日本\\u{1b}[2J");
    }

    #[test]
    fn narrow_terminal_truncates_labels_at_the_start() {
        let style = TableStyle { color: true, width: Some(30) };
        let text = render(&COLUMNS, &rows(), style);
        assert!(text.starts_with("\x1b[1mindex"), "{text}");
        assert!(text.contains("    0  …very/long/path.rs  one\n"), "{text}");
        assert!(text.lines().skip(1).all(|line| width(line) <= 30), "{text}");
    }
}
