//! Records of session files that are not part of the conversation (RFC 0012 §2). They are metadata:
//! no text shows them unless the user asks for them.

use std::collections::BTreeMap;

use lcp_types::{Annotation, Block, Priority, SessionRecord};

/// Turns the records of a pack into blocks with the lowest priority. All other blocks keep their
/// index.
pub(crate) fn show(blocks: &mut Vec<Block<'_>>) {
    let mut priorities = Vec::new();
    for (index, block) in (0..).zip(blocks.iter_mut()) {
        let record = block.as_extension().and_then(SessionRecord::from_extension);
        if let Some(shown) = record.map(|record| record.to_shown_block()) {
            *block = shown;
            priorities.push(Block::new(Annotation::priority(index, Priority::Background)));
        }
    }
    blocks.append(&mut priorities);
}

/// Returns a line that counts the records of a pack; `None` if it has no records.
pub(crate) fn summary(blocks: &[Block<'_>]) -> Option<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for extension in blocks.iter().filter_map(Block::as_extension) {
        if let Some(record) = SessionRecord::from_extension(extension) {
            *counts.entry(record.type_name.escape_debug().to_string()).or_default() += 1;
        }
    }
    let total: u64 = counts.values().sum();
    let types = counts.iter().map(|(name, count)| format!("{name} {count}"));
    let types = types.collect::<Vec<_>>().join(", ");
    (total > 0).then(|| format!("{}: {types}", lcp_driver::plural(total, "session record")))
}
