//! The past commits that are compared with a question.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use lcp_ingest::Cache;
use lcp_rank::Commit;

use super::HistorySource;
use crate::reporter::Reporter;

/// The number of past commits that are read.
const COMMITS: u32 = 1000;

/// Past commits that another thread reads.
pub(super) struct PastCommits(Option<JoinHandle<lcp_ingest::Result<Vec<Candidate>>>>);

/// The commits of a repository.
struct Candidate {
    commits: Vec<Commit>,
    /// The files of HEAD, if it is not certain that the commits are those of the pack.
    files: Option<HashSet<String>>,
}

impl PastCommits {
    /// Starts to read.
    pub(super) fn start(source: &HistorySource, cache: Option<Arc<Cache>>) -> Self {
        let (folders, is_certain) = match source {
            HistorySource::Folder(folder) => (vec![folder.clone()], true),
            HistorySource::OneOf(folders) => (folders.clone(), false),
            HistorySource::Nearest => (vec![PathBuf::from(".")], false),
            HistorySource::Off => return Self(None),
        };
        let read = move || {
            let read = |folder: &PathBuf| read(folder, is_certain, cache.as_deref());
            folders.iter().map(read).collect()
        };
        Self(Some(std::thread::spawn(read)))
    }

    /// Returns the commits for files with these names. Without git, there are none.
    pub(super) fn wait<'l>(
        self,
        labels: &(impl ExactSizeIterator<Item = &'l str> + Clone),
        reporter: &dyn Reporter,
    ) -> Vec<Commit> {
        let read = match self.0.map(JoinHandle::join) {
            Some(Ok(read)) => read,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => return Vec::new(),
        };
        let candidates = read.unwrap_or_else(|error| {
            let message = format!("past commits are not compared with the question: {error}");
            reporter.warn(&message);
            Vec::new()
        });
        let has_most = |candidate: &Candidate| {
            candidate.files.as_ref().is_none_or(|files| {
                labels.clone().filter(|label| files.contains(*label)).count() > labels.len() / 2
            })
        };
        candidates.into_iter().find(has_most).map(|it| it.commits).unwrap_or_default()
    }
}

fn read(folder: &Path, is_certain: bool, cache: Option<&Cache>) -> lcp_ingest::Result<Candidate> {
    let files = if is_certain {
        None
    } else {
        Some(lcp_ingest::committed_files(folder).unwrap_or_default().into_iter().collect())
    };
    Ok(Candidate { commits: lcp_ingest::commits(folder, COMMITS, cache)?, files })
}
