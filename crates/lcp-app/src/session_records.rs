//! Records of session files that are not part of the conversation (RFC 0012 §2). They are metadata:
//! no text shows them unless the user asks for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lcp_driver::{Plan, RenderDecision, Warning, WarningCode};
use lcp_types::{Annotation, Block, Priority, SessionRecord};

/// The records of a pack that are shown: the index and the label of each.
#[derive(Debug, Default)]
pub(crate) struct ShownRecords(Vec<(usize, Arc<str>)>);

/// Turns the records of a pack into blocks with the lowest priority. All other blocks keep their
/// index.
pub(crate) fn show(blocks: &mut Vec<Block<'_>>) -> ShownRecords {
    let (mut priorities, mut records) = (Vec::new(), Vec::new());
    for (index, block) in blocks.iter_mut().enumerate() {
        let record = block.as_extension().and_then(SessionRecord::from_extension);
        if let Some(record) = record {
            records.push((index, format!("{}/{}", record.format, record.type_name).into()));
            *block = record.to_shown_block();
            priorities.push(Block::new(Annotation::priority(index as u64, Priority::Background)));
        }
    }
    blocks.append(&mut priorities);
    ShownRecords(records)
}

impl ShownRecords {
    /// Sets the labels of the records in a plan: the format and the type.
    pub(crate) fn set_labels(&self, plan: &mut Plan) {
        for (index, label) in &self.0 {
            if let Some(item) = plan.items.get_mut(*index) {
                item.label = Arc::clone(label);
            }
        }
    }

    /// Returns a warning that counts the records of which a plan shows no content.
    pub(crate) fn omitted(&self, plan: &Plan) -> Option<Warning> {
        let is_omitted = |decision: &RenderDecision| {
            matches!(
                decision,
                RenderDecision::Omit
                    | RenderDecision::Placeholder { .. }
                    | RenderDecision::RolledUp
            )
        };
        let items = self.0.iter().filter_map(|(index, _)| plan.items.get(*index));
        let omitted = items.filter(|item| is_omitted(&item.decision)).count();
        let message = format!(
            "the budget leaves out {omitted} of {}",
            lcp_driver::plural(self.0.len() as u64, "session record")
        );
        (omitted > 0).then(|| Warning::new(WarningCode::RecordsOmitted, None, message))
    }
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
