//! The driver: blocks and a configuration in, text out.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use lcp_tokens::{HeuristicEstimator, TokenEstimator};
use lcp_types::{Block, BlockSource};

use crate::assemble::{BlockTexts, Layout, MetaLookup, assemble, block_texts};
use crate::config::DriverConfig;
use crate::error::DriverError;
use crate::indexed::{self, IndexedRender, SourceRenderError};
use crate::meta::resolve;
use crate::plan::Plan;
use crate::planner;
use crate::prompt_cache::PreviousPart;
use crate::telemetry;

/// Renders packs within token budgets (SPEC_08 §6).
///
/// It holds nothing but the estimator, so one driver serves any number of threads and packs. The
/// default one counts with [`HeuristicEstimator`], as SPEC_08 does; give it an exact tokenizer to
/// keep a model's real limit.
///
/// ```
/// use lcp_driver::{DefaultDriver, DriverConfig};
/// use lcp_tokens::{Encoding, Tiktoken};
/// use lcp_types::{Block, Lang};
///
/// let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
/// let blocks = [Block::code(Lang::Rust, "src/main.rs", "fn main() {}")];
/// let text = driver.render(&blocks, &DriverConfig::default())?;
/// assert_eq!(
///     text,
///     "<context>\n<code lang=\"rust\" path=\"src/main.rs\">\nfn main() {}\n</code>\n</context>\n",
/// );
/// # Ok::<(), lcp_driver::DriverError>(())
/// ```
#[derive(Clone)]
pub struct DefaultDriver {
    estimator: Arc<dyn TokenEstimator>,
}

/// A plan and the text that it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// What it shows of each block, and why.
    pub plan: Plan,
}

impl DefaultDriver {
    /// A driver that counts with `estimator`.
    #[must_use]
    pub fn new(estimator: impl TokenEstimator + 'static) -> Self {
        Self { estimator: Arc::new(estimator) }
    }

    /// Renders `blocks` as `config` says.
    ///
    /// # Errors
    ///
    /// [`DriverError::OverBudget`] where the text must exceed the budget and the configuration
    /// denies it.
    pub fn render(
        &self,
        blocks: &[Block<'_>],
        config: &DriverConfig,
    ) -> Result<String, DriverError> {
        self.run(blocks, config).map(|rendered| rendered.text)
    }

    /// Renders `blocks`, and says what became of each.
    ///
    /// With the feature `tracing`, each decision is an event at debug with the target `lcp_driver`,
    /// each warning one at warn, the run one at info; with `metrics`, the tokens are set as gauges
    /// (RFC 0004 §10). So it is for [`Self::plan`].
    ///
    /// # Errors
    ///
    /// As [`Self::render`].
    pub fn run(
        &self,
        blocks: &[Block<'_>],
        config: &DriverConfig,
    ) -> Result<Rendered, DriverError> {
        let (plan, text) = planner::plan_and_render(blocks, config, &self.estimator)?;
        telemetry::record_plan(&plan);
        Ok(Rendered { text, plan })
    }

    /// Renders the pack of a source, of which only the blocks are read that the text shows, where
    /// what is known of the others is enough to give the same text as [`Self::render`] (RFC 0003
    /// §7); otherwise all are read.
    ///
    /// What is known is never more than a hint. Where it is not what blocks say that were read, all
    /// are read and the warning `bad_index` says so.
    ///
    /// # Errors
    ///
    /// As [`Self::render`], and where the source cannot give its blocks.
    ///
    /// ```
    /// use lcp_driver::{DefaultDriver, DriverConfig, PlanSource, FullReadReason};
    /// use lcp_types::{Block, Role};
    ///
    /// let blocks = [Block::conversation(Role::User, "hi")];
    /// let config = DriverConfig { token_budget: Some(100), ..DriverConfig::default() };
    /// let driver = DefaultDriver::default();
    /// // A slice knows nothing but its blocks.
    /// let rendered = driver.render_source(&blocks[..], &config)?;
    /// assert_eq!(rendered.source, PlanSource::AllBlocks(FullReadReason::NoIndex));
    /// assert_eq!(rendered.text, driver.render(&blocks, &config)?);
    /// # Ok::<(), lcp_driver::SourceRenderError>(())
    /// ```
    pub fn render_source<S: BlockSource + ?Sized>(
        &self,
        source: &S,
        config: &DriverConfig,
    ) -> Result<IndexedRender, SourceRenderError> {
        indexed::render(source, config, &self.estimator)
    }

    /// What [`Self::run`] would do.
    ///
    /// # Errors
    ///
    /// As [`Self::render`].
    pub fn plan(&self, blocks: &[Block<'_>], config: &DriverConfig) -> Result<Plan, DriverError> {
        self.run(blocks, config).map(|rendered| rendered.plan)
    }

    /// What [`Self::plan`] would give for each of these budgets, in tokens, in place of the one in
    /// `config`: how a text grows with its budget. The blocks are counted once.
    ///
    /// # Errors
    ///
    /// As [`Self::render`], for the first budget that fails.
    pub fn replay(
        &self,
        blocks: &[Block<'_>],
        config: &DriverConfig,
        budgets: &[u32],
    ) -> Result<Vec<Plan>, DriverError> {
        planner::replay(blocks, config, budgets, &self.estimator)
    }

    /// Prints a plan that was made for these blocks. It decides nothing, so the text is that of
    /// [`Self::run`].
    ///
    /// # Errors
    ///
    /// [`DriverError::WrongPlan`] if it was made for other blocks.
    pub fn render_plan(&self, blocks: &[Block<'_>], plan: &Plan) -> Result<String, DriverError> {
        with_layout(blocks, plan, |metas, layout| assemble(blocks, metas, plan.mode, layout).text)
    }

    /// What a plan that was made for these blocks shows of each: for texts that are put together in
    /// another way. With the envelope of the mode around them, the parts and the roll-up line are
    /// the text.
    ///
    /// # Errors
    ///
    /// [`DriverError::WrongPlan`] if it was made for other blocks.
    ///
    /// ```
    /// use lcp_driver::{DefaultDriver, DriverConfig};
    /// use lcp_types::{Block, Role};
    ///
    /// let blocks = [Block::conversation(Role::User, "hi")];
    /// let driver = DefaultDriver::default();
    /// let plan = driver.plan(&blocks, &DriverConfig::default())?;
    /// let texts = driver.block_texts(&blocks, &plan)?;
    /// assert_eq!(texts.shown[0].body.as_deref(), Some("hi"));
    /// # Ok::<(), lcp_driver::DriverError>(())
    /// ```
    pub fn block_texts(
        &self,
        blocks: &[Block<'_>],
        plan: &Plan,
    ) -> Result<BlockTexts, DriverError> {
        with_layout(blocks, plan, |metas, layout| block_texts(blocks, metas, plan.mode, layout))
    }
}

/// Calls `print` with what a plan of these blocks shows.
fn with_layout<R>(
    blocks: &[Block<'_>],
    plan: &Plan,
    print: impl FnOnce(MetaLookup<'_>, &Layout) -> R,
) -> Result<R, DriverError> {
    let same =
        |(block, item): (&Block<'_>, &crate::PlanItem)| block.block_type() == item.block_type;
    if blocks.len() != plan.items.len() || !blocks.iter().zip(&plan.items).all(same) {
        let (planned, found) = (plan.items.len(), blocks.len());
        return Err(DriverError::WrongPlan { planned, found });
    }
    let metas = resolve(blocks, plan.duplicates.as_ref(), &mut Vec::new());
    // A stable plan shows blocks as they were said to be when they came in.
    let previous: Option<HashMap<_, _>> = plan.stable.as_ref().map(|stable| {
        let metas = stable.next_plan.parts.iter().map(PreviousPart::meta);
        stable.order.iter().copied().zip(metas).collect()
    });
    Ok(print(MetaLookup { own: &metas, previous: previous.as_ref() }, &Layout::from_plan(plan)))
}

impl Default for DefaultDriver {
    fn default() -> Self {
        Self::new(HeuristicEstimator)
    }
}

impl fmt::Debug for DefaultDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultDriver").field("estimator", &self.estimator.name()).finish()
    }
}
