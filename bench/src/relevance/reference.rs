//! Figures of another ranker on the same queries, from a file of JSON lines.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::metrics::{Figures, Metric};
use crate::harness::{Result, at};

/// The figures of another ranker.
pub(super) struct Reference {
    /// The name of the file, without its extension.
    pub(super) name: String,
    queries: HashMap<String, Scored>,
}

/// The figures of a query.
struct Scored {
    /// With the changed source files as gold.
    source: Figures,
    /// With all changed files as gold.
    changed: Figures,
}

impl Reference {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error with the number of the line that has no figures of a query.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(at(path))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self::parse(name, &text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    fn parse(name: String, text: &str) -> Result<Self, String> {
        let mut queries = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let wrong = |why: &str| format!("line {}: {why}", number + 1);
            let line: Value = serde_json::from_str(line).map_err(|why| wrong(&why.to_string()))?;
            let id = line["id"].as_str().and_then(|id| id.rsplit_once('@'));
            let (_, commit) = id.ok_or_else(|| wrong("the id has no commit"))?;
            let changed = figures(&line["all"]).map_err(|why| wrong(&why))?;
            let source = figures(&line).map_err(|why| wrong(&why))?;
            queries.insert(commit.to_owned(), Scored { source, changed });
        }
        Ok(Self { name, queries })
    }

    /// Returns a figure of a commit, given by 12 digits, with the changed source files as gold.
    pub(super) fn source(&self, commit: &str, metric: Metric) -> Option<f64> {
        self.queries.get(commit)?.source.get(metric)
    }

    /// Returns the same with all changed files as gold.
    pub(super) fn changed(&self, commit: &str, metric: Metric) -> Option<f64> {
        self.queries.get(commit)?.changed.get(metric)
    }
}

/// Reads the figures of an object. Unknown keys are ignored.
fn figures(object: &Value) -> Result<Figures, String> {
    let figure = |metric: Metric| {
        let figure = object.get(metric.name())?.as_f64()?;
        Some(if (0.0..=1.0).contains(&figure) {
            Ok((metric, figure))
        } else {
            Err(format!("{} is {figure}; hint: give figures from 0 to 1", metric.name()))
        })
    };
    Metric::ALL.into_iter().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::Reference;
    use crate::relevance::metrics::Metric;

    #[test]
    fn figures_are_matched_by_commit() {
        let lines = r#"{"id": "a/b@0123456789ab", "R8": 0.5, "MRR": 1.0, "all": {"R8": 0.25}}
{"id": "/folder/c@cdef01234567", "R8": 1, "other": [1]}"#;
        let reference = Reference::parse("prototype".into(), lines).unwrap();
        assert_eq!(reference.source("0123456789ab", Metric::R8), Some(0.5));
        assert_eq!(reference.changed("0123456789ab", Metric::R8), Some(0.25));
        assert_eq!(reference.source("cdef01234567", Metric::R8), Some(1.0));
        assert_eq!(reference.source("cdef01234567", Metric::Mrr), None);
        assert_eq!(reference.source("ffffffffffff", Metric::R8), None);
    }

    #[test]
    fn percentages_and_missing_ids_are_errors() {
        let error = |line: &str| Reference::parse("x".into(), line).err().unwrap();
        let percent = r#"{"id": "a@0123456789ab", "R16": 57.0}"#;
        assert_eq!(error(percent), "line 1: R16 is 57; hint: give figures from 0 to 1");
        assert_eq!(error(r#"{"id": "a"}"#), "line 1: the id has no commit");
    }
}
