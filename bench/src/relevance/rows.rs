//! The rows of the benchmark: LCP compared with other rankers, on the same queries.

use std::collections::BTreeMap;

use super::metrics::{Figures, Metric, Pairs};
use super::reference::Reference;
use crate::table::{Better, Row, Wanted};

/// The figures of a ranking.
#[derive(Clone, Debug, Default)]
pub(super) struct Scored {
    /// With the changed source files as gold.
    pub(super) source: Figures,
    /// With all changed files as gold.
    pub(super) changed: Figures,
}

/// The figures of a query.
pub(super) struct Measured {
    /// The place of its repository in the list of names.
    pub(super) repository: usize,
    /// The first 12 digits of its commit.
    pub(super) commit: String,
    pub(super) own: Scored,
    /// The hunks in the files that LCP's order shows in full.
    pub(super) in_full: Figures,
    pub(super) perfect: Scored,
    /// The figures of the peers that were asked.
    pub(super) peers: BTreeMap<&'static str, Scored>,
}

/// The names of the peers, in the order of their rows.
pub(super) const PEERS: [&str; 6] =
    ["path order", "git recency", "BM25 over files", "aider", "repomix", "yek"];

/// Returns all rows, except those of times. Repositories without queries have no rows.
pub(super) fn rows(names: &[String], all: &[Measured], references: &[Reference]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut asked = Vec::new();
    for (repository, name) in names.iter().enumerate() {
        let queries: Vec<_> = all.iter().filter(|query| query.repository == repository).collect();
        if queries.is_empty() {
            continue;
        }
        asked.push(name.as_str());
        for metric in Metric::ALL {
            rows.extend(source_rows(name, metric, &queries, references));
        }
        for metric in Metric::OF_ORDER {
            rows.extend(changed_rows(name, metric, &queries, references));
        }
    }
    let title = match asked.as_slice() {
        [name] => (*name).to_owned(),
        names => format!("{} repositories", names.len()),
    };
    for peer in PEERS {
        for metric in Metric::OF_ORDER {
            rows.extend(peer_row(&title, metric, peer, names, all));
        }
    }
    rows
}

/// Compares a figure of a repository with the references, or else with the best possible one.
fn source_rows(
    name: &str,
    metric: Metric,
    queries: &[&Measured],
    references: &[Reference],
) -> Vec<Row> {
    let what = format!("{name}, {}", metric.name());
    let own = |query: &Measured| query.own.source.get(metric);
    let mut rows = Vec::new();
    for (place, reference) in references.iter().enumerate() {
        let pairs =
            queries.iter().map(|query| (own(query), reference.source(&query.commit, metric)));
        let Some(pairs) = Pairs::new(metric, pairs) else { continue };
        let goal = metric.goal().filter(|_| place == 0);
        let wanted = goal.map(|goal| Wanted::OwnAtLeast(metric.round(pairs.peer + goal)));
        rows.push(row(&what, metric, &reference.name, &pairs).wants(wanted));
    }
    if rows.is_empty() {
        let (peer, figure): (_, fn(&Measured, Metric) -> Option<f64>) = match metric {
            Metric::C8 | Metric::C16 => {
                ("files in full", |query, metric| query.in_full.get(metric))
            }
            Metric::Any => ("R8", |query, _| query.own.source.get(Metric::R8)),
            _ => ("perfect order", |query, metric| query.perfect.source.get(metric)),
        };
        let pairs = queries.iter().map(|query| (own(query), figure(query, metric)));
        rows.extend(Pairs::new(metric, pairs).map(|pairs| row(&what, metric, peer, &pairs)));
    }
    rows
}

/// Compares a figure with all changed files as gold. It has to reach the best reference.
fn changed_rows(
    name: &str,
    metric: Metric,
    queries: &[&Measured],
    references: &[Reference],
) -> Vec<Row> {
    let what = format!("{name}, all changed files, {}", metric.name());
    let own = |query: &Measured| query.own.changed.get(metric);
    let compared: Vec<_> = references
        .iter()
        .filter_map(|reference| {
            let figure = |query: &Measured| reference.changed(&query.commit, metric);
            let pairs = queries.iter().map(|query| (own(query), figure(query)));
            Some((reference.name.as_str(), Pairs::new(metric, pairs)?))
        })
        .collect();
    let best = compared.iter().map(|(_, pairs)| pairs.peer).fold(f64::NEG_INFINITY, f64::max);
    if compared.is_empty() {
        let perfect = |query: &Measured| query.perfect.changed.get(metric);
        let pairs = queries.iter().map(|query| (own(query), perfect(query)));
        let pairs = Pairs::new(metric, pairs);
        return pairs
            .map(|pairs| row(&what, metric, "perfect order", &pairs))
            .into_iter()
            .collect();
    }
    let wanted = |pairs: &Pairs| {
        let is_best = pairs.peer >= best;
        is_best.then(|| Wanted::OwnAtLeast(metric.round(pairs.peer)))
    };
    let row = |(peer, pairs): &(&str, Pairs)| row(&what, metric, peer, pairs).wants(wanted(pairs));
    compared.iter().map(row).collect()
}

/// Compares a figure of all queries with that of a peer. LCP has to be ahead.
fn peer_row(
    title: &str,
    metric: Metric,
    peer: &str,
    names: &[String],
    all: &[Measured],
) -> Option<Row> {
    let pairs = |repository: Option<usize>| {
        let queries = all.iter().filter(|query| repository.is_none_or(|it| query.repository == it));
        let figure = |query: &Measured| query.peers.get(peer)?.source.get(metric);
        Pairs::new(metric, queries.map(|query| (query.own.source.get(metric), figure(query))))
    };
    let together = pairs(None)?;
    let each: Vec<_> = (0..names.len())
        .filter_map(|at| Some((&names[at], pairs(Some(at))?)))
        .map(|(name, pairs)| {
            let [own, other] = [pairs.own, pairs.peer].map(|figure| metric.round(figure));
            format!("{name} {own} : {other}")
        })
        .collect();
    let mut note = together.note(metric);
    if each.len() > 1 {
        note = format!("{note}; {}", each.join(", "));
    }
    let what = format!("{title}, {}", metric.name());
    let row = row(&what, metric, peer, &together).wants(Wanted::RatioAtLeast(1.0));
    Some(row.notes(note))
}

fn row(what: &str, metric: Metric, peer: &str, pairs: &Pairs) -> Row {
    Row::new(what, Better::Higher, metric.unit(), pairs.own, peer, pairs.peer)
        .notes(pairs.note(metric))
}

#[cfg(test)]
mod tests {
    use super::{Measured, Reference, Scored, rows};
    use crate::relevance::metrics::{Figures, Metric};

    fn scored(source: f64, changed: f64) -> Scored {
        let figures = |figure| Metric::ALL.into_iter().map(|metric| (metric, figure)).collect();
        Scored { source: figures(source), changed: figures(changed) }
    }

    fn measured(repository: usize, commit: &str, own: f64, peer: f64) -> Measured {
        Measured {
            repository,
            commit: commit.into(),
            own: scored(own, own),
            in_full: Figures::default(),
            perfect: scored(1.0, 1.0),
            peers: [("path order", scored(peer, peer))].into(),
        }
    }

    fn find(rows: &[crate::table::Row], what: &str, peer: &str) -> serde_json::Value {
        let rows: Vec<_> = rows.iter().map(|row| serde_json::to_value(row).unwrap()).collect();
        let mut rows = rows.into_iter();
        rows.find(|row| row["what"] == what && row["peer_name"] == peer).expect("the row exists")
    }

    #[test]
    fn goal_of_a_repository_is_the_reference_and_some_points() {
        let line = r#"{"id": "a@0123456789ab", "R8": 0.5, "all": {"R8": 0.7}}"#;
        let other = r#"{"id": "a@0123456789ab", "R8": 0.6, "all": {"R8": 0.8}}"#;
        let references = [("proto", line), ("other", other)].map(|(name, line)| {
            let path = tempfile::tempdir().unwrap();
            let path = path.path().join(format!("{name}.jsonl"));
            std::fs::write(&path, line).unwrap();
            Reference::read(&path).unwrap()
        });
        let all = [measured(0, "0123456789ab", 0.54, 0.5), measured(0, "ffffffffffff", 1.0, 0.5)];
        let rows = rows(&["a".into()], &all, &references);
        let row = find(&rows, "a, R8", "proto");
        assert_eq!((&row["lcp"], &row["peer"]), (&54.0.into(), &50.0.into()));
        assert_eq!((&row["wanted"], &row["holds"]), (&">= 55 %".into(), &false.into()));
        assert!(find(&rows, "a, R8", "other")["wanted"].is_null());
        assert!(find(&rows, "a, all changed files, R8", "proto")["wanted"].is_null());
        let best = find(&rows, "a, all changed files, R8", "other");
        assert_eq!((&best["wanted"], &best["holds"]), (&">= 80 %".into(), &false.into()));
        // The reference lacks this figure.
        assert!(find(&rows, "a, MRR", "perfect order")["wanted"].is_null());
    }

    #[test]
    fn peers_are_compared_over_all_repositories() {
        let all = [measured(0, "a", 1.0, 0.5), measured(1, "b", 0.5, 0.0)];
        let rows = rows(&["a".into(), "b".into()], &all, &[]);
        let row = find(&rows, "2 repositories, MRR", "path order");
        assert_eq!((&row["lcp"], &row["peer"]), (&0.75.into(), &0.25.into()));
        assert_eq!((&row["wanted"], &row["holds"]), (&">= 1.0".into(), &true.into()));
        let note = "2 queries, +0.500 ± 0.000, better in 2, worse in 0; a 1 : 0.5, b 0.5 : 0";
        assert_eq!(row["note"], note);
    }
}
