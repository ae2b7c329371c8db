//! The blocks of a pack that a question needs (RFC 0014).

mod blocks;
mod past_commits;
mod query_ranker;
mod session;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use lcp_decoder::{ReadAt, SourceReader};
use lcp_ingest::default_priority;
use lcp_packfile::PackScan;
use lcp_rank::{Overview, Query, RankedFile};
use lcp_types::{Annotation, Block, BlockContent, BlockMeta, Passage, Priority, Tag};
use serde_json::{Value, json};

use crate::append::pack_error;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::find_block::content_bytes;
use crate::pack_output::count_costs;
use crate::reporter::Reporter;
use blocks::{Batch, Text, for_each_batch, top_lines};
pub(crate) use query_ranker::QueryRanker;
pub(crate) use session::needed_files;
pub use session::{SessionRanking, results_by_need};

/// The maximum size of a question in bytes.
pub const QUERY_BYTES_MAX: u64 = 64 << 20;

/// The maximum number of mentioned paths and symbols.
const MENTIONS_MAX: usize = 1000;

/// The question that decides the order of blocks.
#[derive(Clone, Debug, Default)]
pub struct QueryOptions {
    /// The texts of the question: an issue, a stack trace, a sentence.
    pub texts: Vec<String>,
    /// Paths and symbols that certainly belong to the answer.
    pub mentions: Vec<String>,
    /// The source of past commits.
    pub history: HistorySource,
    /// `true` if the cache `lcp/words` in the user's cache folder is neither read nor written.
    pub no_cache: bool,
}

/// The source of the commits that are compared with the question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HistorySource {
    /// The repository of the packed files; for an existing pack, that of the current folder if it
    /// has most of the files of the pack.
    #[default]
    Nearest,
    /// The repository of a folder, to which the names of blocks are relative.
    Folder(PathBuf),
    /// The first of these folders whose repository has most of the files of the pack.
    OneOf(Vec<PathBuf>),
    /// No commits.
    Off,
}

/// The order of the blocks of a pack.
#[derive(Clone, Debug, Default)]
pub struct PackRanking {
    /// The ranked blocks, best first.
    pub blocks: Vec<RankedBlock>,
    /// Other blocks whose priority High by a built-in rule is replaced.
    lowered: Vec<usize>,
    /// The blocks with passages or reasons of an earlier ranking.
    earlier: BTreeSet<u64>,
}

/// A block in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedBlock {
    /// The index in the pack.
    pub index: usize,
    /// The name of the block.
    pub label: String,
    /// The score, from 0 to 1.
    pub score: f64,
    /// The reasons, the most important first.
    pub reasons: Vec<String>,
    /// The passages with their scores.
    pub passages: Vec<Passage>,
    /// `true` if the ranking replaces the priority that a built-in rule gave to the block.
    replaces_priority: bool,
}

impl QueryOptions {
    /// Returns whether there is no question.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.mentions.is_empty()
    }

    /// Ranks the blocks of a pack that was read from `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if the question has no words, or if the pack is malformed.
    pub fn rank(
        &self,
        path: &Path,
        pack: &dyn ReadAt,
        reporter: &dyn Reporter,
    ) -> Result<PackRanking> {
        let query = self.query()?;
        let mut ranker = QueryRanker::new(self, &query, path);
        ranker.read(path, pack)?;
        ranker.finish(path, pack, &HashSet::new(), reporter)
    }

    /// Returns the question.
    ///
    /// # Errors
    ///
    /// Returns an error if it has no words.
    pub(crate) fn query(&self) -> Result<Query> {
        if self.mentions.len() > MENTIONS_MAX {
            let count = self.mentions.len();
            let message =
                format!("{count} paths and symbols are mentioned, more than {MENTIONS_MAX}");
            return Err(Error::new(ErrorKind::Limit, message)
                .with_hint("mention those that are certainly needed"));
        }
        let query = Query::new(&self.texts.join("\n\n"));
        let query = self.mentions.iter().fold(query, Query::with_mention);
        if query.is_empty() {
            let error = Error::new(ErrorKind::Usage, "the question has no words to look for");
            return Err(
                error.with_hint("name what should be shown, such as a function or an error")
            );
        }
        Ok(query)
    }
}

/// The blocks that can be ranked, and the priorities of all blocks.
#[derive(Default)]
struct Entries {
    blocks: Vec<Entry>,
    /// The last priority of each annotated block, by its index.
    priorities: HashMap<u64, Priority>,
    /// The blocks with passages or reasons.
    earlier: BTreeSet<u64>,
}

/// A block that can be ranked.
struct Entry {
    index: usize,
    label: String,
}

impl Entries {
    /// Adds the blocks of a batch that can be ranked, and returns their texts.
    fn add<'b>(
        &mut self,
        batch: &'b Batch,
        metas: &'b BTreeMap<usize, BlockMeta<'b>>,
    ) -> Vec<Text<'b>> {
        for annotation in batch.annotations.iter().filter_map(Block::as_annotation) {
            if let Some(priority) = annotation.as_priority() {
                self.priorities.insert(annotation.target_block_id, priority);
            }
            let tag = annotation.as_tag();
            if tag.is_some_and(|tag| [Tag::PASSAGES, Tag::REASON].contains(&tag.key.as_ref())) {
                self.earlier.insert(annotation.target_block_id);
            }
        }
        let mut texts = Vec::new();
        for (at, (index, block)) in batch.blocks.iter().enumerate() {
            if let Some(text) = Text::new(block, metas.get(&at)) {
                self.blocks.push(Entry { index: *index, label: text.label.to_owned() });
                texts.push(text);
            }
        }
        texts
    }

    /// Returns the priority of a block, if it is one that a built-in rule gives and a ranking
    /// replaces.
    fn replaced_priority(&self, entry: &Entry) -> Option<Priority> {
        let by_rule = default_priority(&entry.label)
            .filter(|priority| matches!(priority, Priority::High | Priority::Low));
        let priority = self.priorities.get(&(entry.index as u64)).copied();
        by_rule.filter(|by_rule| Some(*by_rule) == priority)
    }

    /// Returns a block with its place in a ranking.
    fn ranked(&self, file: RankedFile) -> RankedBlock {
        let entry = &self.blocks[file.file];
        RankedBlock {
            index: entry.index,
            label: entry.label.clone(),
            score: file.score,
            reasons: file.reasons,
            passages: file.passages,
            replaces_priority: self.replaced_priority(entry).is_some(),
        }
    }
}

impl PackRanking {
    /// Returns the order of an overview: the beginning of the README, the tree, the entry point of
    /// each part, and the signatures that most files use. It is empty for a pack without code.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed.
    pub fn overview(path: &Path, pack: &dyn ReadAt) -> Result<Self> {
        let mut entries = Entries::default();
        let mut tree = None;
        let mut overview = Overview::default();
        let add = |batch: &Batch| {
            let is_tree = |block: &Block<'_>| matches!(block.content, BlockContent::FileTree(_));
            let found = batch.blocks.iter().find(|(_, block)| is_tree(block));
            if let Some((index, block)) = found.filter(|_| tree.is_none()) {
                let passages = top_lines(&content_bytes(block));
                tree = Some((*index, block.label().into_owned(), passages));
            }
            let metas = batch.metas();
            let texts = entries.add(batch, &metas);
            overview.add(&texts.iter().map(Text::document).collect::<Vec<_>>());
        };
        for_each_batch(path, pack, |_| true, add)?;
        let ranked = overview.finish();
        let mut blocks: Vec<_> = ranked.into_iter().map(|file| entries.ranked(file)).collect();
        if blocks.is_empty() {
            return Ok(Self::default());
        }
        let ranked: HashSet<_> = blocks.iter().map(|block| block.index).collect();
        let others = entries.blocks.iter().filter(|entry| !ranked.contains(&entry.index));
        let lowered = others
            .filter(|entry| entries.replaced_priority(entry) == Some(Priority::High))
            .map(|entry| entry.index)
            .collect();
        if let Some((index, label, passages)) = tree {
            let tree = RankedBlock {
                index,
                label,
                score: 1.0,
                reasons: vec!["all files of the project".to_owned()],
                passages,
                replaces_priority: false,
            };
            blocks.insert(0, tree);
        }
        Ok(Self { blocks, lowered, earlier: entries.earlier })
    }

    /// Returns the annotations that store the ranking in the pack.
    pub fn annotations(&self) -> Vec<Annotation<'static>> {
        let mut annotations = Vec::new();
        for target in &self.earlier {
            let removed = [
                Tag::new(Tag::RANK, "0"),
                Tag::from_key(Tag::REASON),
                Tag::from_key(Tag::PASSAGES),
            ];
            annotations.extend(removed.map(|tag| Annotation::tag(*target, &tag)));
        }
        for block in &self.blocks {
            let target = block.index as u64;
            let mut tag = |key: &'static str, value: String| {
                annotations.push(Annotation::tag(target, &Tag::new(key, value)));
            };
            tag(Tag::RANK, block.score.to_string());
            for reason in &block.reasons {
                tag(Tag::REASON, reason.clone());
            }
            if !block.passages.is_empty() {
                tag(Tag::PASSAGES, Passage::format_list(&block.passages));
            }
            if block.replaces_priority {
                annotations.push(Annotation::priority(target, Priority::Normal));
            }
        }
        let normal = |index: &usize| Annotation::priority(*index as u64, Priority::Normal);
        annotations.extend(self.lowered.iter().map(normal));
        annotations
    }

    /// Returns the ranking that a pack stores. It is empty if the pack has no ranks.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed.
    pub fn stored(path: &Path, pack: &dyn ReadAt) -> Result<Self> {
        let scan = SourceReader::new(pack).and_then(PackScan::without_content);
        let scan = scan.map_err(|error| Error::io("read", path.display(), &error))?;
        if let Some(error) = scan.problems().next() {
            return Err(files::malformed(path, &files::beginning(pack), error));
        }
        let metas = BlockMeta::resolve_all(&scan.blocks, &mut |_, _| {});
        let mut reasons: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for annotation in scan.blocks.iter().filter_map(Block::as_annotation) {
            let Some(tag) = annotation.as_tag().filter(|tag| tag.key == Tag::REASON) else {
                continue;
            };
            let of_block = reasons.entry(annotation.target_block_id).or_default();
            match tag.value {
                Some(reason) => of_block.push(reason.into_owned()),
                None => of_block.clear(),
            }
        }
        let ranked = scan.blocks.iter().zip(&metas).enumerate().filter_map(|(index, of)| {
            let (block, meta) = of;
            Some(RankedBlock {
                index,
                label: meta.label(block).into_owned(),
                score: meta.rank?,
                reasons: reasons.remove(&(index as u64)).unwrap_or_default(),
                passages: Vec::new(),
                replaces_priority: false,
            })
        });
        let mut blocks: Vec<_> = ranked.collect();
        blocks.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(Self { blocks, ..Self::default() })
    }

    /// Returns a pack with the ranking at its end.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is damaged, or if the new one would exceed a limit.
    pub fn write_to(&self, path: &Path, pack: &dyn ReadAt) -> Result<Vec<u8>> {
        let options =
            lcp_packfile::AnnotateOptions { in_place: false, count_costs: Some(&count_costs) };
        let appended = lcp_packfile::annotate(pack, self.annotations(), &options)
            .map_err(|error| pack_error(path, pack, &error))?;
        let bytes = read_all(pack).map_err(|error| Error::io("read", path.display(), &error))?;
        Ok(appended.change.apply(&bytes))
    }

    /// Returns the first `listed` blocks of the ranking as JSON.
    pub fn to_json(&self, listed: usize) -> Value {
        let block = |block: &RankedBlock| {
            json!({
                "index": block.index,
                "label": block.label,
                "score": block.score,
                "reasons": block.reasons,
            })
        };
        json!({ "blocks": self.blocks.iter().take(listed).map(block).collect::<Vec<_>>() })
    }
}

fn read_all(pack: &dyn ReadAt) -> std::io::Result<Vec<u8>> {
    let all = 0..pack.size()?;
    Ok(pack.read(std::slice::from_ref(&all))?.into_iter().next().unwrap_or_default().into_owned())
}
