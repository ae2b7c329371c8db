//! The block that another block speaks of.

use crate::{Block, BlockContent, Level};

impl Block<'_> {
    /// The index of the block that this one speaks of, annotations counted: that of an
    /// annotation's target, or of a level's. `None` for every other block, and for
    /// a level that cannot be read.
    ///
    /// ```
    /// use lcp_types::{Annotation, Block, Priority, Role};
    ///
    /// let annotation = Block::new(Annotation::priority(3, Priority::High));
    /// assert_eq!(annotation.target(), Some(3));
    /// assert_eq!(annotation.retargeted(|target| target + 10).target(), Some(13));
    /// assert_eq!(Block::conversation(Role::User, "hi").target(), None);
    /// ```
    #[must_use]
    pub fn target(&self) -> Option<u64> {
        match &self.content {
            BlockContent::Annotation(annotation) => Some(annotation.target_block_id),
            BlockContent::Extension(extension) => {
                Level::read(extension).and_then(Result::ok).map(|level| level.target)
            }
            _ => None,
        }
    }

    /// The same block, speaking of the block of index `to(target)`; as it is where it
    /// speaks of none.
    #[must_use]
    pub fn retargeted(mut self, to: impl FnOnce(u64) -> u64) -> Self {
        match &mut self.content {
            BlockContent::Annotation(annotation) => {
                annotation.target_block_id = to(annotation.target_block_id);
            }
            BlockContent::Extension(extension) => {
                let level = Level::read(extension)
                    .and_then(Result::ok)
                    .map(|level| level.level.of(to(level.target), &level.text).content);
                if let Some(content) = level {
                    extension.content = content;
                }
            }
            _ => {}
        }
        self
    }
}
