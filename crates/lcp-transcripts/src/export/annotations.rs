//! The annotations of the blocks of a pack.

use std::borrow::Cow;

use lcp_types::Tag;

use super::ExportBlock;
use crate::{Format, Provider, raw_json};

pub(super) struct Annotations<'b>(Vec<Vec<Tag<'b>>>);

impl<'b> Annotations<'b> {
    pub(super) fn collect(blocks: &'b [ExportBlock<'_>]) -> Self {
        let mut tags = Self(vec![Vec::new(); blocks.len()]);
        for annotation in blocks.iter().filter_map(|block| block.block.as_annotation()) {
            let target = usize::try_from(annotation.target_block_id).ok();
            let of = target.and_then(|target| tags.0.get_mut(target));
            if let (Some(of), Some(tag)) = (of, annotation.as_tag()) {
                of.push(tag);
            }
        }
        tags
    }

    /// Returns the value of the last tag with this key.
    pub(super) fn get(&self, index: usize, key: &str) -> Option<Cow<'b, str>> {
        self.find(index, &|found| found == key)
    }

    /// Returns the JSON object in a tag whose key has the prefix of a format of this provider.
    pub(super) fn get_own(
        &self,
        provider: Provider,
        index: usize,
        key: &str,
    ) -> Option<Cow<'b, str>> {
        let is_it = |found: &str| {
            let parts = found.split_once('.').filter(|(_, found)| *found == key);
            let format = parts.and_then(|(format, _)| Format::from_name(format));
            format.is_some_and(|format| format.has_parts_of(provider))
        };
        self.find(index, &is_it).filter(|json| raw_json::is_json_object(json))
    }

    fn find(&self, index: usize, is_it: &dyn Fn(&str) -> bool) -> Option<Cow<'b, str>> {
        let found = self.0.get(index)?.iter().rev().find(|tag| is_it(&tag.key));
        found.and_then(|tag| tag.value.clone())
    }
}
