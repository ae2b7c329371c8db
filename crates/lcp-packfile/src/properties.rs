//! Sets properties of blocks (RFC 0012 §9).
//!
//! A property is set by an annotation at the end of the pack. The last annotation wins, so existing
//! blocks stay as they are, and no block gets another index.

use std::collections::HashMap;

use lcp_types::{Annotation, Block, BlockMeta, Priority, Tag};

/// Properties to set on blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// The priority.
    pub priority: Option<Priority>,
    /// The tags, such as `category=NAME`. Each replaces any earlier tag with the same key, in the
    /// block and in this list.
    pub tags: Vec<Tag<'static>>,
}

impl Properties {
    /// Returns whether there is no property to set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the annotations that set these properties of the selected blocks. `blocks` are all
    /// blocks of the pack, and the annotations belong at its end. Metadata is never annotated, and
    /// there is no annotation for a property that a block has already.
    ///
    /// ```
    /// use lcp_packfile::Properties;
    /// use lcp_types::{Annotation, Block, Priority, Role};
    ///
    /// let blocks = ["a", "b"].map(|text| Block::conversation(Role::User, text));
    /// let properties = Properties { priority: Some(Priority::High), ..Properties::default() };
    /// let annotations = properties.annotations(&blocks, |index| index == 1);
    /// assert_eq!(annotations, [Annotation::priority(1, Priority::High)]);
    /// ```
    pub fn annotations(
        &self,
        blocks: &[Block<'_>],
        is_selected: impl Fn(usize) -> bool,
    ) -> Vec<Annotation<'static>> {
        let metas = BlockMeta::resolve_annotated(blocks);
        // The tags in force, for the keys to set.
        let mut in_force: HashMap<(u64, &str), Option<&str>> = HashMap::new();
        let given = blocks.iter().filter_map(Block::as_annotation);
        let given: Vec<_> =
            given.filter_map(|of| Some((of.target_block_id, of.as_tag()?))).collect();
        for (target, tag) in &given {
            if self.tags.iter().any(|wanted| wanted.key == tag.key) {
                in_force.insert((*target, &tag.key), tag.value.as_deref());
            }
        }
        let is_last =
            |at: usize| self.tags[at + 1..].iter().all(|tag| tag.key != self.tags[at].key);
        let last = (0..self.tags.len()).filter(|at| is_last(*at)).map(|at| &self.tags[at]);
        let last: Vec<_> = last.collect();
        let mut annotations = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            if block.content.is_metadata() || !is_selected(index) {
                continue;
            }
            let target = index as u64;
            let priority = metas.get(&index).map(|meta| meta.priority).unwrap_or_default();
            let new = self.priority.filter(|wanted| *wanted != priority);
            annotations.extend(new.map(|priority| Annotation::priority(target, priority)));
            let is_new =
                |tag: &&Tag<'_>| in_force.get(&(target, &*tag.key)) != Some(&tag.value.as_deref());
            let new = last.iter().copied().filter(is_new);
            annotations.extend(new.map(|tag| Annotation::tag(target, tag)));
        }
        annotations
    }

    /// Sets these properties of all blocks of a pack, with annotations at its end.
    pub fn set_all(&self, blocks: &mut Vec<Block<'_>>) {
        for annotation in self.annotations(blocks, |_| true) {
            blocks.push(Block::new(annotation));
        }
    }
}
