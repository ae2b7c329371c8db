//! The figures of the benchmark, and their means over queries.

use std::collections::BTreeMap;

use crate::harness::float;

/// A figure of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    /// The part of the gold files that 8,000 tokens have, if files are shown in full.
    R8,
    /// The same with 16,000 tokens.
    R16,
    /// The same with 32,000 tokens.
    R32,
    /// The part of the gold files that 8,000 tokens have, if files are shown by outlines.
    O8,
    /// The part of the gold hunks in the text of 8,000 tokens.
    C8,
    /// The same with 16,000 tokens.
    C16,
    /// One divided by the place of the first gold file.
    Mrr,
    /// The part of the gold files among the first ten files.
    R10,
    /// The part of the gold files that the text of 8,000 tokens shows in any form.
    Any,
}

impl Metric {
    pub(super) const ALL: [Self; 9] = [
        Self::R8,
        Self::R16,
        Self::R32,
        Self::O8,
        Self::C8,
        Self::C16,
        Self::Mrr,
        Self::R10,
        Self::Any,
    ];

    /// The figures that depend only on the order of the files.
    pub(super) const OF_ORDER: [Self; 6] =
        [Self::R8, Self::R16, Self::R32, Self::O8, Self::Mrr, Self::R10];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::R8 => "R8",
            Self::R16 => "R16",
            Self::R32 => "R32",
            Self::O8 => "O8",
            Self::C8 => "C8",
            Self::C16 => "C16",
            Self::Mrr => "MRR",
            Self::R10 => "R@10",
            Self::Any => "gold files in any form",
        }
    }

    pub(super) fn unit(self) -> &'static str {
        if self == Self::Mrr { "MRR" } else { "%" }
    }

    /// The factor of a figure for display, and the digits after its point.
    fn scale(self) -> (f64, i32) {
        if self == Self::Mrr { (1.0, 3) } else { (100.0, 1) }
    }

    /// The points by which LCP has to be better than the reference, if there is a goal.
    pub(super) fn goal(self) -> Option<f64> {
        match self {
            Self::R8 | Self::R16 | Self::C8 | Self::C16 => Some(5.0),
            Self::R32 => Some(4.0),
            Self::O8 => Some(3.0),
            Self::R10 => Some(2.0),
            Self::Mrr => Some(0.06),
            Self::Any => None,
        }
    }

    /// Rounds a scaled figure for a condition.
    pub(super) fn round(self, figure: f64) -> f64 {
        let unit = 10f64.powi(self.scale().1);
        (figure * unit).round() / unit
    }
}

/// The figures of a query for one ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures(BTreeMap<Metric, f64>);

impl Figures {
    pub(super) fn get(&self, metric: Metric) -> Option<f64> {
        self.0.get(&metric).copied()
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }
}

impl FromIterator<(Metric, f64)> for Figures {
    fn from_iter<I: IntoIterator<Item = (Metric, f64)>>(figures: I) -> Self {
        Self(figures.into_iter().collect())
    }
}

/// The comparison of two rankings on the same queries.
#[derive(Debug, PartialEq)]
pub(super) struct Pairs {
    pub(super) queries: usize,
    /// The means, in points.
    pub(super) own: f64,
    pub(super) peer: f64,
    /// The half width of the 95 % interval of the mean difference.
    margin: f64,
    better: usize,
    worse: usize,
}

impl Pairs {
    /// Compares the figures of queries that both rankings have. Returns `None` if there are none.
    pub(super) fn new(
        metric: Metric,
        pairs: impl IntoIterator<Item = (Option<f64>, Option<f64>)>,
    ) -> Option<Self> {
        let scale = metric.scale().0;
        let both = |(own, peer): (Option<f64>, Option<f64>)| Some((own? * scale, peer? * scale));
        let pairs: Vec<_> = pairs.into_iter().filter_map(both).collect();
        if pairs.is_empty() {
            return None;
        }
        let count = float(pairs.len() as u64);
        let mean =
            |figure: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(figure).sum::<f64>() / count;
        let (own, peer) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let variance = mean(&|pair| (pair.0 - pair.1 - (own - peer)).powi(2));
        Some(Self {
            queries: pairs.len(),
            own,
            peer,
            margin: 1.96 * (variance / (count - 1.0).max(1.0)).sqrt(),
            better: pairs.iter().filter(|(own, peer)| own > peer).count(),
            worse: pairs.iter().filter(|(own, peer)| own < peer).count(),
        })
    }

    /// Returns the text for a note.
    pub(super) fn note(&self, metric: Metric) -> String {
        let digits = usize::try_from(metric.scale().1).unwrap_or_default();
        format!(
            "{} queries, {:+.digits$} ± {:.digits$}, better in {}, worse in {}",
            self.queries,
            self.own - self.peer,
            self.margin,
            self.better,
            self.worse
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Metric, Pairs};

    #[test]
    fn pairs_are_queries_that_both_rankings_have() {
        let pairs = [
            (Some(1.0), Some(0.5)),
            (Some(0.5), Some(0.5)),
            (Some(0.0), Some(0.5)),
            (Some(1.0), Some(0.0)),
            (Some(1.0), None),
        ];
        let compared = Pairs::new(Metric::R8, pairs).unwrap();
        assert_eq!((compared.queries, compared.better, compared.worse), (4, 2, 1));
        assert!((compared.own - 62.5).abs() < 1e-9 && (compared.peer - 37.5).abs() < 1e-9);
        // Differences of 50, 0, -50 and 100 points: their standard error is 32.3.
        assert_eq!(compared.note(Metric::R8), "4 queries, +25.0 ± 63.3, better in 2, worse in 1");
        assert_eq!(Pairs::new(Metric::R8, [(None, Some(1.0))]), None);
    }

    #[test]
    fn figures_are_percentages_except_mrr() {
        let mrr = Pairs::new(Metric::Mrr, [(Some(0.5), Some(0.25))]).unwrap();
        assert!((mrr.own - 0.5).abs() < 1e-9);
        assert!((Metric::Mrr.round(0.758_49) - 0.758).abs() < 1e-9);
        assert!((Metric::R8.round(53.249) - 53.2).abs() < 1e-9);
    }
}
