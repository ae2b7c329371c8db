//! The bars of a chart, from the rows of a table.

use crate::table::figure;

/// The largest number of bars of a chart.
pub(super) const BARS_MAX: usize = 12;

/// A comparison of a table, as a bar.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bar {
    pub(super) what: String,
    lcp: String,
    peer_name: String,
    peer: String,
    ratio: String,
    wanted: String,
    pub(super) holds: Option<bool>,
    /// The length: how many times better LCP is than the peer, or than its own limit. NaN if the
    /// peer could not be measured.
    pub(super) value: f64,
    /// The limit on the same axis.
    pub(super) limit: Option<f64>,
    pub(super) has_peer: bool,
}

/// Returns the comparisons of a Markdown table. Of the rows that differ only in their peers, the
/// one with the strongest peer remains.
pub(super) fn bars(table: &str) -> Vec<Bar> {
    let rows: Vec<_> = table.lines().filter_map(Bar::parse).collect();
    let mut bars: Vec<Bar> = Vec::new();
    for row in &rows {
        // A limit of LCP's own figure is in the row of one peer, and applies to all of them.
        let is_own = |other: &&Bar| other.what == row.what && other.has_own_limit();
        let own = rows.iter().find(is_own).filter(|_| row.wanted.is_empty()).unwrap_or(row);
        let row = Bar { wanted: own.wanted.clone(), holds: own.holds, ..row.clone() };
        let Some(bar) = row.measured() else { continue };
        let is_same = |other: &&mut Bar| other.what == bar.what && other.wanted == bar.wanted;
        match bars.iter_mut().find(is_same) {
            Some(weaker) if bar.value < weaker.value || weaker.value.is_nan() => *weaker = bar,
            Some(_) => {}
            None => bars.push(bar),
        }
    }
    bars
}

/// Chooses the bars of a chart: first limits that are not met, then other limits, then the rest.
/// Their order stays that of the table.
pub(super) fn chosen(bars: Vec<Bar>) -> Vec<Bar> {
    let mut bars: Vec<_> = bars.into_iter().enumerate().collect();
    bars.sort_by_key(|(_, bar)| bar.holds.map_or(2, u8::from));
    bars.truncate(BARS_MAX);
    bars.sort_by_key(|(at, _)| *at);
    bars.into_iter().map(|(_, bar)| bar).collect()
}

impl Bar {
    /// Reads a line of a table. Returns `None` for headings.
    fn parse(line: &str) -> Option<Self> {
        let line = line.replace("\\|", "\0");
        let cell = |cell: &str| cell.trim().replace('\0', "|").replace("&lt;", "<");
        let cells: [String; 9] = line.split('|').map(cell).collect::<Vec<_>>().try_into().ok()?;
        let [_, what, lcp, peer_name, peer, ratio, wanted, holds, _] = cells;
        number(&lcp)?;
        let holds = (!holds.is_empty()).then_some(holds == "yes");
        let value = number(&ratio).unwrap_or(f64::NAN);
        let (limit, has_peer) = (None, true);
        Some(Self { what, lcp, peer_name, peer, ratio, wanted, holds, value, limit, has_peer })
    }

    /// Computes value and limit. Returns `None` if there is neither a peer nor a limit.
    fn measured(mut self) -> Option<Self> {
        let (lcp, other) = (number(&self.lcp)?, number(&self.peer));
        let bound = self.wanted.split_once(' ').and_then(|(_, bound)| number(bound));
        let (is_upper, is_own) = (self.wanted.starts_with('<'), self.has_own_limit());
        // The ratio is LCP's figure divided by the other one. If less is better, that is a
        // comparison of LCP with itself.
        let is_quotient = other.is_some_and(|other| {
            let (ratio, quotient) = (self.value.ln(), (lcp / other).ln());
            (ratio - quotient).abs() < (ratio + quotient).abs()
        });
        let is_time = [" ms", " ns", " ns/byte"].iter().any(|unit| self.lcp.ends_with(unit));
        let less_is_better = if bound.is_some() { is_upper } else { is_time };
        let with_itself = is_upper && !is_own || less_is_better && is_quotient;
        self.has_peer = self.value.is_finite() && !with_itself;
        if let Some(bound) = bound {
            let margin = margin(if is_own { lcp } else { self.value }, bound, is_upper);
            (self.value, self.limit) = if self.has_peer {
                (self.value, Some(self.value / margin))
            } else {
                (margin, (!margin.is_nan()).then_some(1.0))
            };
        }
        (self.has_peer || bound.is_some()).then_some(self)
    }

    /// Returns whether the limit is one of LCP's own figure. Such a limit has a unit.
    fn has_own_limit(&self) -> bool {
        self.wanted.split(' ').count() > 2
    }

    /// Returns the figures that the bar compares.
    pub(super) fn figures(&self) -> String {
        let Self { lcp, peer, peer_name, ratio, .. } = self;
        match (self.has_peer, self.has_own_limit()) {
            (true, _) => format!("LCP: {lcp}; {peer_name}: {peer}"),
            (false, true) => format!("LCP: {lcp}"),
            (false, false) => format!("LCP: {lcp}; {peer_name}: {peer}; ratio {ratio}"),
        }
    }

    /// Returns the length in words: the ratio of the table, or the distance to the limit.
    pub(super) fn length(&self) -> String {
        match self.value {
            _ if self.has_peer => format!("{}×", self.ratio),
            value if value.is_nan() => "–".to_owned(),
            value if value > 100.0 => "> 100×".to_owned(),
            value => format!("{}×", figure(value)),
        }
    }

    /// Returns the limit in words.
    pub(super) fn verdict(&self) -> String {
        let wanted = self.wanted.replace(">=", "≥").replace("<=", "≤");
        wanted + if self.holds == Some(false) { ", not met" } else { "" }
    }
}

/// Returns how many times better a figure is than a bound. Equal figures are 1, even if both are 0.
fn margin(figure: f64, bound: f64, is_upper: bool) -> f64 {
    let (better, worse) = if is_upper { (bound, figure) } else { (figure, bound) };
    if (better - worse).abs() < f64::EPSILON { 1.0 } else { better / worse }
}

/// Reads the number at the beginning of a text.
fn number(text: &str) -> Option<f64> {
    text.split(' ').next()?.parse().ok()
}
