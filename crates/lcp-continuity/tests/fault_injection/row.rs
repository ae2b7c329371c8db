//! Figures that were counted or measured, and the conditions they must meet.

use std::time::Duration;

use serde_json::{Value, json};

/// One figure of a case.
#[derive(Clone, Debug)]
pub(super) struct Row {
    case: &'static str,
    store: &'static str,
    rounds: u64,
    what: String,
    /// The figure, or `None` if nothing was measured.
    figure: Option<f64>,
    /// `ms`, `bytes`, or empty for a count.
    unit: &'static str,
    wanted: Wanted,
    note: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    Nothing,
    /// The figure must be zero, which the store promises.
    Zero,
    /// The figure should be below this limit, which is a target of speed or size.
    Below(f64),
}

const HEADINGS: [&str; 8] =
    ["case", "store", "rounds", "what", "figure", "wanted", "holds", "note"];

/// The columns that are aligned to the right.
const FIGURES: [usize; 2] = [2, 4];

impl Row {
    pub(super) fn new(
        case: &'static str,
        store: &'static str,
        rounds: u64,
        what: impl Into<String>,
    ) -> Self {
        let (what, note) = (what.into(), String::new());
        Self { case, store, rounds, what, figure: None, unit: "", wanted: Wanted::Nothing, note }
    }

    /// Sets a count that must be zero.
    pub(super) fn none(self, count: u64) -> Self {
        Self { wanted: Wanted::Zero, ..self.count(count) }
    }

    /// Sets a count.
    pub(super) fn count(self, count: u64) -> Self {
        // Counts of this program are far below 2^53.
        #[expect(clippy::cast_precision_loss, reason = "they are small")]
        Self { figure: Some(count as f64), ..self }
    }

    /// Sets a time, shown in milliseconds.
    pub(super) fn time(self, time: Duration) -> Self {
        Self { figure: Some(time.as_secs_f64() * 1000.0), unit: "ms", ..self }
    }

    /// Sets a size in bytes.
    pub(super) fn bytes(self, bytes: u64) -> Self {
        Self { unit: "bytes", ..self.count(bytes) }
    }

    /// Sets a limit that the figure should stay below, in its unit.
    pub(super) fn below(self, limit: f64) -> Self {
        Self { wanted: Wanted::Below(limit), ..self }
    }

    /// Sets a note for the reader.
    pub(super) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Returns whether the figure meets its condition, or `None` if it has no condition.
    fn holds(&self) -> Option<bool> {
        match self.wanted {
            Wanted::Nothing => None,
            Wanted::Zero => Some(self.figure? == 0.0),
            Wanted::Below(limit) => Some(self.figure? < limit),
        }
    }

    /// Returns whether a promise was broken.
    pub(super) fn is_broken(&self) -> bool {
        self.wanted == Wanted::Zero && self.holds() == Some(false)
    }

    fn wanted(&self) -> String {
        match self.wanted {
            Wanted::Nothing => String::new(),
            Wanted::Zero => "0".to_owned(),
            Wanted::Below(limit) => format!("< {limit} {}", self.unit).trim_end().to_owned(),
        }
    }

    fn cells(&self) -> [String; HEADINGS.len()] {
        let figure = match (self.figure, self.unit) {
            (None, _) => String::new(),
            (Some(figure), "ms") => format!("{figure:.1} ms"),
            (Some(figure), unit) => format!("{figure:.0} {unit}").trim_end().to_owned(),
        };
        let holds = match self.holds() {
            None => "",
            Some(true) => "yes",
            Some(false) => "no",
        };
        let (case, store) = (self.case.to_owned(), self.store.to_owned());
        let rounds = self.rounds.to_string();
        let (what, note) = (self.what.clone(), self.note.clone());
        [case, store, rounds, what, figure, self.wanted(), holds.to_owned(), note]
    }

    fn json(&self) -> Value {
        let wanted = Some(self.wanted()).filter(|wanted| !wanted.is_empty());
        json!({
            "case": self.case,
            "store": self.store,
            "rounds": self.rounds,
            "what": self.what,
            "figure": self.figure,
            "unit": self.unit,
            "wanted": wanted,
            "holds": self.holds(),
            "note": self.note,
        })
    }
}

/// Formats all rows as a table.
pub(super) fn table(rows: &[Row]) -> String {
    let mut cells = vec![HEADINGS.map(str::to_owned)];
    cells.extend(rows.iter().map(Row::cells));
    let width =
        |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; HEADINGS.len()] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &cells {
        let columns = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let ends = FIGURES.contains(&column);
            if ends { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        let columns: Vec<_> = columns.collect();
        text.push_str(columns.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns all rows as JSON.
pub(super) fn json(seed: u64, is_short: bool, rows: &[Row]) -> Value {
    let rows: Vec<_> = rows.iter().map(Row::json).collect();
    json!({ "schema": "lcp.torture.v1", "seed": seed, "short": is_short, "rows": rows })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(what: &str) -> Row {
        Row::new("kill", "sqlite", 200, what)
    }

    #[test]
    fn exceeded_limit_is_broken_but_missed_target_is_not() {
        assert!(!row("lost").none(0).is_broken());
        assert!(row("lost").none(1).is_broken());
        let late = row("opened").time(Duration::from_millis(60)).below(50.0);
        assert_eq!((late.holds(), late.is_broken()), (Some(false), false));
        assert_eq!(row("written").count(7).holds(), None);
    }

    #[test]
    fn table_formats_all_rows() {
        let rows = [
            row("lost").none(0).note("of 5,000"),
            row("opened, at worst").time(Duration::from_micros(12_340)).below(50.0),
            row("a fork").bytes(2_000).below(1_024.0),
        ];
        expect![[r"
            case  store   rounds  what                  figure  wanted        holds  note
            kill  sqlite     200  lost                       0  0             yes    of 5,000
            kill  sqlite     200  opened, at worst     12.3 ms  < 50 ms       yes
            kill  sqlite     200  a fork            2000 bytes  < 1024 bytes  no
        "]]
        .assert_eq(&table(&rows));
    }
}
