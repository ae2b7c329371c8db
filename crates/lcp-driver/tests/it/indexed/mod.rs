//! Plans with an index, and the costs in it (RFC 0003 §4, §7).

mod costs;
mod kinds;
mod laws;
mod lies;

use std::borrow::Cow;
use std::cell::RefCell;

use lcp_driver::{
    DefaultDriver, DriverConfig, FullReadReason, IndexCosts, IndexedRender, PlanSource, WarningCode,
};
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockIndex, BlockSource, BlockSourceError};

/// Blocks with an index, and the numbers of the blocks that were read.
pub(crate) struct Indexed {
    blocks: Vec<Block<'static>>,
    facts: BlockIndex,
    read: RefCell<Vec<u32>>,
}

impl Indexed {
    pub(crate) fn new(blocks: Vec<Block<'static>>, estimators: &[&dyn TokenEstimator]) -> Self {
        let mut facts = BlockIndex::from_blocks(&blocks);
        facts.costs =
            estimators.iter().filter_map(|of| IndexCosts::new(*of).count(&blocks)).collect();
        Self { blocks, facts, read: RefCell::default() }
    }
}

impl BlockSource for Indexed {
    fn block_index(&self) -> Option<&BlockIndex> {
        Some(&self.facts)
    }

    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError> {
        assert!(indices.is_sorted_by(|a, b| a < b));
        self.read.borrow_mut().extend(indices);
        self.blocks[..].read(indices)
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
        self.blocks[..].read_all()
    }
}

/// Renders with the index, and compares the result with a render of all blocks.
fn check(driver: &DefaultDriver, source: &Indexed, config: &DriverConfig) -> IndexedRender {
    let all = driver.run(&source.blocks, config).unwrap();
    let rendered = driver.render_source(source, config).unwrap();
    assert_eq!(rendered.text, all.text);
    assert_eq!(rendered.used_tokens, all.plan.used_tokens);
    assert_eq!(rendered.rolled_up, all.plan.rolled_up);
    assert_eq!(rendered.blocks, source.blocks.len());
    let shown = all.plan.items.iter().filter(|item| item.decision.is_shown()).count();
    assert_eq!(rendered.shown, shown);
    assert_eq!(rendered.is_cut, all.plan.is_cut());
    // Warnings without a block are the same. Warnings about blocks exist only for blocks that were
    // read.
    let of_all = |warnings: &[lcp_driver::Warning]| -> Vec<_> {
        warnings.iter().filter(|warning| warning.block.is_none()).cloned().collect()
    };
    let capped = |warning: &lcp_driver::Warning| warning.message.ends_with("more of this kind");
    if !all.plan.warnings.iter().any(capped) {
        assert_eq!(of_all(&rendered.warnings), of_all(&all.plan.warnings));
        assert!(rendered.warnings.iter().all(|warning| all.plan.warnings.contains(warning)));
    }
    if let PlanSource::Index { read, .. } = rendered.source {
        assert_eq!(read, source.read.take().len());
    }
    rendered
}

/// Renders with a wrong index. Checks that the budget holds, and that the result equals a render of
/// all blocks if the error was noticed. Returns whether it was.
fn check_lie(driver: &DefaultDriver, source: &Indexed, config: &DriverConfig) -> bool {
    let all = driver.run(&source.blocks, config).unwrap();
    let rendered = driver.render_source(source, config).unwrap();
    let budget = config.token_budget.unwrap();
    assert!(rendered.used_tokens <= budget.max(all.plan.used_tokens));
    let warned = rendered.warnings.iter().any(|warning| warning.code == WarningCode::BadIndex);
    assert_eq!(warned, rendered.source == PlanSource::AllBlocks(FullReadReason::BadIndex));
    if let PlanSource::AllBlocks(_) = rendered.source {
        assert_eq!(rendered.text, all.text);
    }
    warned
}
