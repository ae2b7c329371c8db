//! The ranking of the blocks of a pack for a question, while the pack is written or read.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use lcp_decoder::ReadAt;
use lcp_ingest::Cache;
use lcp_rank::{Query, Ranker, WordIndex};
use lcp_types::Block;

use super::blocks::{Batch, Text, for_each_batch};
use super::past_commits::PastCommits;
use super::{Entries, PackRanking, QueryOptions};
use crate::error::Result;
use crate::folders;
use crate::reporter::Reporter;

/// The maximum size of a cached index in bytes.
const INDEX_BYTES_MAX: u64 = 128 << 20;

/// A ranking in progress.
pub(crate) struct QueryRanker<'q> {
    ranker: Ranker<'q>,
    commits: PastCommits,
    entries: Entries,
    batch: Batch,
    /// The cache, and the key of the index of the project.
    cache: Option<(Arc<Cache>, String)>,
}

impl<'q> QueryRanker<'q> {
    /// Starts a ranking. `project` is the folder or the pack whose index of words is cached.
    pub(crate) fn new(options: &QueryOptions, query: &'q Query, project: &Path) -> Self {
        let folder = folders::cache_dir(|name| std::env::var_os(name));
        let folder = folder.filter(|_| !options.no_cache).map(|it| it.join("lcp").join("words"));
        let cache = folder.map(|folder| Arc::new(Cache::new(folder, INDEX_BYTES_MAX)));
        let commits = PastCommits::start(&options.history, cache.clone());
        let mut ranker = Ranker::new(query);
        // Standard input has no path.
        let cache = cache.zip(project.canonicalize().ok()).map(|(cache, project)| {
            // Another version may divide texts in another way.
            let version = env!("CARGO_PKG_VERSION").as_bytes();
            let key = [b"words", version, project.as_os_str().as_encoded_bytes()];
            let key = Cache::key(&key);
            (cache, key)
        });
        if let Some((cache, key)) = &cache {
            let index = cache.get(key).map(|bytes| WordIndex::from_bytes(&bytes));
            ranker = ranker.with_index(index.unwrap_or_default());
        }
        Self { ranker, commits, entries: Entries::default(), batch: Batch::default(), cache }
    }

    /// Adds a block that was written at an index of the pack.
    pub(crate) fn add(&mut self, index: usize, block: Block<'static>) {
        if let Some(batch) = self.batch.push(index, block) {
            self.add_batch(&batch);
        }
    }

    /// Adds all blocks of a pack.
    pub(crate) fn read(&mut self, path: &Path, pack: &dyn ReadAt) -> Result {
        for_each_batch(
            path,
            pack,
            |_| true,
            |batch| {
                // The index has the words of all texts, and a pack of others can have secrets.
                self.cache = self.cache.take().filter(|_| !batch.has_secret());
                self.add_batch(batch);
            },
        )
    }

    fn add_batch(&mut self, batch: &Batch) {
        let metas = batch.metas();
        let texts = self.entries.add(batch, &metas);
        self.ranker.add(&texts.iter().map(Text::document).collect::<Vec<_>>());
    }

    /// Ranks the blocks. Those with the labels `changing` count as mentioned. The passages of the
    /// best ones are read from the pack.
    pub(crate) fn finish(
        mut self,
        path: &Path,
        pack: &dyn ReadAt,
        changing: &HashSet<&str>,
        reporter: &dyn Reporter,
    ) -> Result<PackRanking> {
        let last = std::mem::take(&mut self.batch);
        self.add_batch(&last);
        let Self { mut ranker, commits, entries, cache, .. } = self;
        let labels = entries.blocks.iter().map(|entry| entry.label.as_str());
        let is_changing = |(_, label): &(usize, &str)| changing.contains(label);
        ranker.set_changing(labels.clone().enumerate().filter(is_changing).map(|(file, _)| file));
        ranker.set_commits(commits.wait(&labels, reporter));
        for name in ranker.unknown_mentions() {
            let name = lcp_driver::escape_control(name);
            reporter.warn(&format!("no file has the path {name:?} or defines this symbol"));
        }
        let best = ranker.best();
        let by_index: BTreeMap<_, _> =
            best.iter().map(|file| (entries.blocks[*file].index, *file)).collect();
        if !by_index.is_empty() {
            let add = |batch: &Batch| {
                let metas = batch.metas();
                let texts = batch.blocks.iter().enumerate().filter_map(|(at, (index, block))| {
                    Some((*by_index.get(index)?, Text::new(block, metas.get(&at))?))
                });
                let texts: Vec<_> = texts.collect();
                let documents: Vec<_> =
                    texts.iter().map(|(file, text)| (*file, text.document())).collect();
                ranker.add_passages(&documents);
            };
            for_each_batch(path, pack, |index| by_index.contains_key(&index), add)?;
        }
        let blocks = ranker.finish().into_iter().map(|file| entries.ranked(file)).collect();
        if let Some((cache, key)) = cache
            && let Some(index) = ranker.into_index()
        {
            cache.put(&key, &index);
        }
        Ok(PackRanking { blocks, lowered: Vec::new(), earlier: entries.earlier })
    }
}
