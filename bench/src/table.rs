//! What a benchmark says: rows, as a table for people or as JSON.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a row has to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// A ratio of this or more. Shown without a unit: `>= 1.0`.
    RatioAtLeast(f64),
    /// A ratio of this or less: `<= 3.0`.
    RatioAtMost(f64),
    /// A figure of LCP's own of this or less. Shown with the unit of the row:
    /// `<= 100 ms`.
    OwnAtMost(f64),
    /// A figure of LCP's own of this or more: `>= 97 %`.
    OwnAtLeast(f64),
}

/// Which of two figures is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Times, sizes: the ratio is the peer's figure divided by LCP's.
    Lower,
    /// Speeds: the ratio is LCP's figure divided by the peer's.
    Higher,
}

/// One comparison: LCP beside a peer.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was measured.
    what: String,
    /// LCP's figure, in `unit`.
    lcp: f64,
    /// The peer's figure, in `unit`.
    peer: f64,
    peer_name: String,
    ratio: f64,
    unit: &'static str,
    /// The worst figures of several rounds, LCP's and the peer's.
    worst: Option<(f64, f64)>,
    wanted: Option<Wanted>,
    note: Option<String>,
}

impl Row {
    /// A row of this, whose figures are in this unit. Nothing is wanted of it.
    ///
    /// ```
    /// use lcp_bench::table::{Better, Row, Wanted};
    ///
    /// let row = Row::named("planning", Better::Lower, "ms").figures(2.0, "another", 3.0);
    /// assert_eq!(row.ratio(), 1.5);
    /// assert_eq!(row.holds(), None);
    /// assert_eq!(row.wants(Wanted::RatioAtLeast(1.5)).holds(), Some(true));
    /// ```
    #[must_use]
    pub fn named(what: impl Into<String>, better: Better, unit: &'static str) -> Unmeasured {
        Unmeasured { what: what.into(), better, unit }
    }

    /// The same row, with something wanted of it.
    #[must_use]
    pub fn wants(mut self, wanted: Wanted) -> Self {
        self.wanted = Some(wanted);
        self
    }

    /// The same row, with the worst figures of several rounds.
    #[must_use]
    pub fn worst(mut self, lcp: f64, peer: f64) -> Self {
        self.worst = Some((lcp, peer));
        self
    }

    /// The same row, with something to be said of it.
    #[must_use]
    pub fn notes(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }

    /// How many times better LCP is than the peer; beside itself, how many times
    /// as much the figure is.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Whether what is wanted is so, where something is. A figure that is not a
    /// number holds nothing.
    #[must_use]
    pub fn holds(&self) -> Option<bool> {
        Some(match self.wanted? {
            Wanted::RatioAtLeast(least) => self.ratio >= least,
            Wanted::RatioAtMost(most) => self.ratio <= most,
            Wanted::OwnAtMost(most) => self.lcp <= most,
            Wanted::OwnAtLeast(least) => self.lcp >= least,
        })
    }

    /// What is wanted, in words.
    fn wanted(&self) -> Option<String> {
        Some(match self.wanted? {
            Wanted::RatioAtLeast(least) => format!(">= {least:?}"),
            Wanted::RatioAtMost(most) => format!("<= {most:?}"),
            Wanted::OwnAtMost(most) => format!("<= {most} {}", self.unit),
            Wanted::OwnAtLeast(least) => format!(">= {least} {}", self.unit),
        })
    }
}

/// A row whose figures are to come.
#[derive(Clone, Debug)]
pub struct Unmeasured {
    what: String,
    better: Better,
    unit: &'static str,
}

impl Unmeasured {
    /// The row with LCP's figure, and the peer's.
    #[must_use]
    pub fn figures(self, lcp: f64, peer_name: impl Into<String>, peer: f64) -> Row {
        let ratio = match self.better {
            Better::Lower => peer / lcp,
            Better::Higher => lcp / peer,
        };
        Row {
            what: self.what,
            lcp,
            peer,
            peer_name: peer_name.into(),
            ratio,
            unit: self.unit,
            worst: None,
            wanted: None,
            note: None,
        }
    }

    /// The row of a figure beside LCP's own in another situation; the ratio is
    /// how many times as much this one is, whichever is better.
    #[must_use]
    pub fn beside_itself(self, lcp: f64, peer_name: impl Into<String>, other: f64) -> Row {
        let row = self.figures(lcp, peer_name, other);
        Row { ratio: lcp / other, ..row }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            what: &'a str,
            lcp: f64,
            peer: f64,
            peer_name: &'a str,
            ratio: f64,
            unit: &'a str,
            wanted: Option<String>,
            holds: Option<bool>,
            #[serde(skip_serializing_if = "Option::is_none")]
            lcp_worst: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            peer_worst: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            note: Option<&'a str>,
        }
        let json = Json {
            what: &self.what,
            lcp: self.lcp,
            peer: self.peer,
            peer_name: &self.peer_name,
            ratio: self.ratio,
            unit: self.unit,
            wanted: self.wanted(),
            holds: self.holds(),
            lcp_worst: self.worst.map(|(lcp, _)| lcp),
            peer_worst: self.worst.map(|(_, peer)| peer),
            note: self.note.as_deref(),
        };
        json.serialize(serializer)
    }
}

/// The rows of a benchmark. Displayed, it is a table with aligned columns.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The name of the benchmark.
    pub bench: &'static str,
    /// Its rows, in the order in which they are shown.
    pub rows: Vec<Row>,
}

const HEADINGS: [&str; 11] =
    ["what", "peer", "LCP", "worst", "peer", "worst", "unit", "ratio", "wanted", "holds", "note"];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.iter().map(|row| {
            let holds = row.holds().map_or("", |holds| if holds { "yes" } else { "NO" });
            let worst = |of: fn((f64, f64)) -> f64| row.worst.map(of).map_or(String::new(), figure);
            [
                row.what.clone(),
                row.peer_name.clone(),
                figure(row.lcp),
                worst(|(lcp, _)| lcp),
                figure(row.peer),
                worst(|(_, peer)| peer),
                row.unit.to_owned(),
                // None beside none has no ratio.
                if row.ratio.is_nan() { String::new() } else { format!("{:.2}", row.ratio) },
                row.wanted().unwrap_or_default(),
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
                // Figures end at the same column, words begin there.
                let is_figure = matches!(column, 2..=5 | 7);
                if is_figure { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            let cells: Vec<_> = cells.collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// Three digits that say something.
fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}
