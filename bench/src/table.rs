//! Results of a benchmark: rows, as a table for people or as JSON.

use std::fmt;

use serde::Serialize;

/// A condition that a row has to meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// The ratio is at least this. Shown without a unit: `>= 1.0`.
    RatioAtLeast(f64),
    /// The ratio is at most this: `<= 3.0`.
    RatioAtMost(f64),
    /// LCP's own figure is at most this. Shown with the unit of the row: `<= 100 ms`.
    OwnAtMost(f64),
    /// LCP's own figure is at least this: `>= 97 %`.
    OwnAtLeast(f64),
}

/// The direction in which a figure gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Times, sizes: the ratio is the peer's figure divided by LCP's.
    Lower,
    /// Speeds: the ratio is LCP's figure divided by the peer's.
    Higher,
}

/// One comparison of LCP and a peer.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    what: String,
    /// LCP's figure, in `unit`.
    lcp: f64,
    /// The peer's figure, in `unit`.
    peer: f64,
    peer_name: String,
    ratio: f64,
    unit: &'static str,
    wanted: Option<String>,
    holds: Option<bool>,
    /// The worst figures of several rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    lcp_worst: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_worst: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Row {
    /// Creates a row with LCP's figure and a peer's, without a condition.
    ///
    /// ```
    /// use lcp_bench::table::{Better, Row, Wanted};
    ///
    /// let row = Row::new("planning", Better::Lower, "ms", 2.0, "another", 3.0);
    /// assert_eq!(row.ratio(), 1.5);
    /// assert_eq!(row.holds(), None);
    /// assert_eq!(row.wants(Wanted::RatioAtLeast(1.5)).holds(), Some(true));
    /// ```
    #[must_use]
    pub fn new(
        what: impl Into<String>,
        better: Better,
        unit: &'static str,
        lcp: f64,
        peer_name: impl Into<String>,
        peer: f64,
    ) -> Self {
        let ratio = match better {
            Better::Lower => peer / lcp,
            Better::Higher => lcp / peer,
        };
        let (what, peer_name) = (what.into(), peer_name.into());
        Self {
            what,
            lcp,
            peer,
            peer_name,
            ratio,
            unit,
            wanted: None,
            holds: None,
            lcp_worst: None,
            peer_worst: None,
            note: None,
        }
    }

    /// Creates a row with LCP's figure and another figure of LCP itself. The ratio is the first one
    /// divided by the second.
    #[must_use]
    pub fn with_itself(
        what: impl Into<String>,
        unit: &'static str,
        lcp: f64,
        other_name: impl Into<String>,
        other: f64,
    ) -> Self {
        Self::new(what, Better::Higher, unit, lcp, other_name, other)
    }

    /// Adds a condition to the row, if there is one. NaN meets no condition.
    #[must_use]
    pub fn wants(self, wanted: impl Into<Option<Wanted>>) -> Self {
        let Some(wanted) = wanted.into() else { return self };
        let Self { ratio, lcp, unit, .. } = self;
        let (holds, wanted) = match wanted {
            Wanted::RatioAtLeast(least) => (ratio >= least, format!(">= {least:?}")),
            Wanted::RatioAtMost(most) => (ratio <= most, format!("<= {most:?}")),
            Wanted::OwnAtMost(most) => (lcp <= most, format!("<= {most} {unit}")),
            Wanted::OwnAtLeast(least) => (lcp >= least, format!(">= {least} {unit}")),
        };
        Self { wanted: Some(wanted), holds: Some(holds), ..self }
    }

    /// Adds the worst figures of several rounds to the row.
    #[must_use]
    pub fn worst(mut self, lcp: f64, peer: f64) -> Self {
        (self.lcp_worst, self.peer_worst) = (Some(lcp), Some(peer));
        self
    }

    /// Adds a note to the row, if there is one.
    #[must_use]
    pub fn notes(mut self, note: impl Into<Option<String>>) -> Self {
        self.note = note.into();
        self
    }

    /// Returns the ratio: how many times better LCP is than the peer.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Returns whether the row meets its condition, or `None` if it has no condition.
    #[must_use]
    pub fn holds(&self) -> Option<bool> {
        self.holds
    }
}

/// The rows of a benchmark. Displayed, it is a table with aligned columns.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The name of the benchmark.
    pub bench: &'static str,
    /// The rows, in the order in which they are shown.
    pub rows: Vec<Row>,
}

const HEADINGS: [&str; 11] = [
    "measurement", "peer", "LCP", "worst", "peer", "worst", "unit", "ratio", "target", "met",
    "note",
];

impl Report {
    /// Returns the rows as a Markdown table.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let figure = |value: f64| if value.is_finite() { figure(value) } else { "–".into() };
        let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
        let row = |row: &Row| {
            format!(
                "| {} | {} {} | {} | {} {} | {} | {} | {} |\n",
                cell(&row.what),
                figure(row.lcp),
                row.unit,
                cell(&row.peer_name),
                figure(row.peer),
                row.unit,
                figure(row.ratio),
                row.wanted.as_deref().map(cell).unwrap_or_default(),
                row.holds.map_or("", |holds| if holds { "yes" } else { "**no**" }),
            )
        };
        let headings = "| measurement | LCP | compared with | | ratio | target | met |\n\
                        |---|---|---|---|---|---|---|\n";
        std::iter::once(headings.to_owned()).chain(self.rows.iter().map(row)).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.iter().map(|row| {
            let holds = row.holds.map_or("", |holds| if holds { "yes" } else { "NO" });
            [
                row.what.clone(),
                row.peer_name.clone(),
                figure(row.lcp),
                row.lcp_worst.map_or(String::new(), figure),
                figure(row.peer),
                row.peer_worst.map_or(String::new(), figure),
                row.unit.to_owned(),
                // Two figures of zero, or missing ones, have no ratio.
                if row.ratio.is_nan() { String::new() } else { format!("{:.2}", row.ratio) },
                row.wanted.clone().unwrap_or_default(),
                holds.to_owned(),
                row.note.clone().unwrap_or_default(),
            ]
        });
        let lines: Vec<_> = std::iter::once(HEADINGS.map(str::to_owned)).chain(rows).collect();
        let width = |column: usize| {
            lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
        };
        let widths: [usize; HEADINGS.len()] = std::array::from_fn(width);
        for line in &lines {
            let cells = line.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
                // Figures are aligned to the right, words to the left.
                let is_figure = matches!(column, 2..=5 | 7);
                if is_figure { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            let cells: Vec<_> = cells.collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// Formats a figure with three digits, or with more if there are more before the point.
pub(crate) fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}
