//! The data that a plan passes to the next turn: the parts of its text, and everything that is
//! needed to render them again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use lcp_types::{Block, BlockMeta, Priority};

use crate::block_view::BlockView;
use crate::detail::{DetailLevel, OutputMode, ShownDetail};

/// The first bytes of the BLAKE3 hash of a block or part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Fingerprint(pub(crate) [u8; 16]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The plan of a turn in the form that the next turn needs: the parts of the text with everything
/// that is needed to render them again from the blocks, and the blocks that have no part.
///
/// It stores no contents, except for the text of levels that are shown. Pass it on as
/// [`StableOptions::previous`](super::StableOptions::previous): directly within a program, or as
/// JSON between programs (feature `serde`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousPlan {
    pub(crate) renderer: u32,
    pub(crate) encoding: String,
    pub(crate) mode: OutputMode,
    /// The parts in the order of the text.
    pub(crate) parts: Vec<PreviousPart>,
    /// The blocks without a part, in pack order. They fill the positions that no part has.
    pub(crate) unshown: Vec<Fingerprint>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum PreviousBlock<'p> {
    /// The block has this part; the first field is the index of the part.
    Part(usize, &'p PreviousPart),
    Unshown(&'p Fingerprint),
}

impl PreviousPlan {
    /// Returns the given blocks that were already in the previous turn, by index, and whether its
    /// text shows each of them in full. These blocks must not be changed. A block that the text
    /// does not show has `false`. Equal blocks are matched one by one, in order.
    #[must_use]
    pub fn in_text(&self, blocks: &[Block<'_>]) -> BTreeMap<usize, bool> {
        let mut places: HashMap<Fingerprint, VecDeque<bool>> = HashMap::new();
        for block in self.blocks() {
            match block {
                PreviousBlock::Part(_, part) => {
                    let is_full = part.shown == ShownDetail::Level(DetailLevel::Full);
                    places.entry(part.block).or_default().push_back(is_full);
                }
                // A reader of the text cannot find a block without a part in it.
                PreviousBlock::Unshown(hash) => places.entry(*hash).or_default().push_back(false),
            }
        }
        let stands = |(index, block): (usize, &Block<'_>)| {
            let places = places.get_mut(&block_fingerprint(block))?;
            Some((index, places.pop_front()?))
        };
        blocks.iter().enumerate().filter_map(stands).collect()
    }

    pub(crate) fn blocks(&self) -> Vec<PreviousBlock<'_>> {
        let mut parts: Vec<_> = self.parts.iter().enumerate().collect();
        parts.sort_by_key(|(_, part)| part.position);
        let mut unshown = self.unshown.iter();
        let mut blocks = Vec::with_capacity(parts.len() + self.unshown.len());
        for (number, part) in parts {
            let free = part.position.saturating_sub(blocks.len());
            blocks.extend(unshown.by_ref().take(free).map(PreviousBlock::Unshown));
            blocks.push(PreviousBlock::Part(number, part));
        }
        blocks.extend(unshown.map(PreviousBlock::Unshown));
        blocks
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreviousPart {
    /// The position of the block among those blocks of the pack that could be shown.
    pub(crate) position: usize,
    /// The fingerprint of the block.
    pub(crate) block: Fingerprint,
    pub(crate) shown: ShownDetail,
    pub(crate) cost: u32,
    /// The fingerprint of the rendered text.
    pub(crate) text: Fingerprint,
    /// The priority in the head of the part.
    pub(crate) priority: Option<Priority>,
    /// The tool call in the head of the part, if it comes from a tag.
    pub(crate) tool_call_id: Option<String>,
    /// The language in the head of the part, if it comes from a tag.
    pub(crate) lang: Option<&'static str>,
    /// The path in the head of the part, if it comes from a tag.
    pub(crate) path: Option<String>,
    /// The old path in the head of the part.
    pub(crate) renamed_from: Option<String>,
    /// The text of the level that is shown.
    pub(crate) level: Option<String>,
}

impl PreviousPart {
    /// Returns the annotations of the block that this part shows.
    pub(crate) fn meta(&self, line_numbers: bool) -> BlockMeta<'_> {
        let level = self.level.as_deref().map(Into::into);
        let mut meta = BlockMeta {
            priority: self.priority.unwrap_or_default(),
            annotated: self.priority.is_some(),
            tool_call_id: self.tool_call_id.as_deref().map(Into::into),
            lang: self.lang,
            path: self.path.as_deref().map(Into::into),
            renamed_from: self.renamed_from.as_deref().map(Into::into),
            line_numbers,
            ..BlockMeta::default()
        };
        match self.shown {
            ShownDetail::Level(DetailLevel::Detailed) => meta.detailed = level,
            ShownDetail::Level(DetailLevel::Summary) => meta.summary = level,
            ShownDetail::Level(DetailLevel::Tags) => meta.tags = level,
            ShownDetail::Level(DetailLevel::Full | DetailLevel::Placeholder)
            | ShownDetail::Excerpt(_) => {}
        }
        meta
    }
}

impl Fingerprint {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self::finish(blake3::Hasher::new().update(bytes))
    }

    fn finish(hasher: &blake3::Hasher) -> Self {
        let mut hash = [0; 16];
        hasher.finalize_xof().fill(&mut hash);
        Self(hash)
    }
}

/// Hashes everything that can be shown of a block without its annotations: its type, head and
/// content.
pub(crate) fn block_fingerprint(block: &Block<'_>) -> Fingerprint {
    let meta = BlockMeta::default();
    let view = BlockView::new(block, &meta);
    let mut hasher = blake3::Hasher::new();
    let mut field = |bytes: &[u8]| {
        // Each field is hashed with its length, so that different lists of fields have different
        // input.
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    field(view.head.word.as_bytes());
    for arg in &view.head.args {
        field(arg.key.as_bytes());
        field(arg.value.as_bytes());
    }
    if let Some(content) = &view.content {
        field(b"content");
        field(content.as_bytes());
    }
    Fingerprint::finish(&hasher)
}
