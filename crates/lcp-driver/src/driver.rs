//! The driver, which renders blocks by a configuration.

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
use crate::planner::{self, Planner};
use crate::telemetry;

/// The renderer of packs within token budgets (SPEC_08 §6).
///
/// A driver holds only a token estimator, so one driver can serve many threads and packs. The
/// default driver counts with [`HeuristicEstimator`], as SPEC_08 requires. Use an exact tokenizer
/// to keep the real limit of a model.
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

/// A plan and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The rendered text.
    pub text: String,
    /// The plan: the level of detail of each block and its reason.
    pub plan: Plan,
}

impl DefaultDriver {
    /// Creates a driver that counts with `estimator`.
    #[must_use]
    pub fn new(estimator: impl TokenEstimator + 'static) -> Self {
        Self { estimator: Arc::new(estimator) }
    }

    /// Renders `blocks` by `config`.
    ///
    /// # Errors
    ///
    /// Returns [`DriverError::OverBudget`] if the text must exceed the budget, or
    /// [`DriverError::OverShareCap`] if the Critical and pinned blocks of a share exceed its cap,
    /// provided that the configuration denies that.
    pub fn render(
        &self,
        blocks: &[Block<'_>],
        config: &DriverConfig,
    ) -> Result<String, DriverError> {
        self.run(blocks, config).map(|rendered| rendered.text)
    }

    /// Renders `blocks` and returns the text with its plan.
    ///
    /// With the feature `tracing`, this function emits events with the target `lcp_driver`: each
    /// decision at debug level, each warning at warn level and the run at info level. With the
    /// feature `metrics`, it sets gauges for the tokens (RFC 0004 §10). [`Self::plan`] does the
    /// same.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::render`].
    pub fn run(
        &self,
        blocks: &[Block<'_>],
        config: &DriverConfig,
    ) -> Result<Rendered, DriverError> {
        let (plan, text) = planner::plan_and_render(blocks, config, &self.estimator)?;
        telemetry::record_plan(&plan);
        Ok(Rendered { text, plan })
    }

    /// Renders the pack of a source, and reads only the blocks that the text shows if the index
    /// suffices for the same text as that of [`Self::render`] (RFC 0003 §7). Otherwise it reads all
    /// blocks.
    ///
    /// The index is only a hint. If it contradicts a block that was read, the driver reads all
    /// blocks and adds the warning `bad_index`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::render`], or an error of the source if it cannot return its
    /// blocks.
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

    /// Plans the text of `blocks` by `config`, like [`Self::run`], and returns only the plan.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::render`].
    pub fn plan(&self, blocks: &[Block<'_>], config: &DriverConfig) -> Result<Plan, DriverError> {
        self.run(blocks, config).map(|rendered| rendered.plan)
    }

    /// Returns the plan for each of these budgets, in tokens, in place of the budget in `config`.
    /// The plans show how a text grows with its budget. The blocks are counted once. Stable plans
    /// are not supported: `config.stable` is ignored.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Self::render`] for the first budget that fails.
    pub fn replay(
        &self,
        blocks: &[Block<'_>],
        config: &DriverConfig,
        budgets: &[u32],
    ) -> Result<Vec<Plan>, DriverError> {
        self.with_planner(blocks, config, |plan| {
            budgets.iter().map(|budget| plan(Some(*budget))).collect()
        })
    }

    /// Calls `run` with a function that plans `blocks` for a budget in place of the one in `config`.
    /// The blocks are counted once. Stable plans are not supported: `config.stable` is ignored.
    pub fn with_planner<R>(
        &self,
        blocks: &[Block<'_>],
        config: &DriverConfig,
        run: impl FnOnce(&mut Planner<'_>) -> R,
    ) -> R {
        planner::with_planner(blocks, config, &self.estimator, run)
    }

    /// Renders a plan that was made for these blocks. The decisions come from the plan, so the text
    /// is that of [`Self::run`].
    ///
    /// # Errors
    ///
    /// Returns [`DriverError::WrongPlan`] if the plan was made for other blocks.
    pub fn render_plan(&self, blocks: &[Block<'_>], plan: &Plan) -> Result<String, DriverError> {
        with_layout(blocks, plan, |metas, layout| assemble(blocks, metas, plan.mode, layout).text)
    }

    /// Returns the parts of the text of a plan that was made for these blocks, for callers that
    /// assemble texts themselves. The parts and the roll-up line within the envelope of the mode
    /// are the text.
    ///
    /// # Errors
    ///
    /// Returns [`DriverError::WrongPlan`] if the plan was made for other blocks.
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

/// Calls `print` with the annotations of the blocks and the layout of a plan for them.
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
    let metas = resolve(blocks, plan.duplicates.as_ref(), plan.line_numbers, &mut Vec::new());
    // A stable plan shows blocks by the annotations that they had when their parts were added.
    let previous: Option<HashMap<_, _>> = plan.stable.as_ref().map(|stable| {
        let metas = stable.next_plan.parts.iter().map(|part| part.meta(plan.line_numbers));
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
