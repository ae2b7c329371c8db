//! The render job of all front ends, which turns a pack into a text and its plan.

mod counted_pack;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_decoder::{DecodeOptions, IndexError, Pack, PackIndex, PackReader, ReadError};
use lcp_dedup::Options;
#[cfg(feature = "messages")]
use lcp_driver::Objective;
#[cfg(feature = "messages")]
use lcp_driver::segments::BudgetAllocationOptions;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::window::ContextWindow;
use lcp_driver::{
    DefaultDriver, DriverConfig, DriverError, FullReadReason, IndexedRender, OutputMode, Overflow,
    Plan, PlanSource, Rendered, SourceRenderError, Verbosity, Warning, WarningCode,
};
use lcp_types::wire::HEADER_RESERVED;
use lcp_types::{BlockSourceErrorKind, BlockType};

use crate::budget::{BudgetOptions, Settings};
use crate::config::{Config, Usage};
use crate::dedup::{self, DedupOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::prompt_cache::PromptCacheOptions;
#[cfg(feature = "messages")]
use crate::prompt_cache::{PLAN, PREVIOUS};
use crate::reporter::Reporter;
#[cfg(feature = "messages")]
use crate::segments::{SEGMENTS, SegmentOptions};
use crate::session_records;
use crate::session_records::ShownRecords;
use crate::special_tokens;
use crate::tokenizer::{LoadedTokenizer, TokenizerOptions};
use counted_pack::CountedPack;

/// The options of a render.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "options that do not depend on each other")]
pub struct RenderOptions {
    /// The limits of the text.
    pub budget: BudgetOptions,
    /// The format of the text.
    pub mode: OutputMode,
    /// `true` to number the lines of code and documents.
    pub line_numbers: bool,
    /// The verbosity.
    pub verbosity: Verbosity,
    /// The tokenizer and the settings.
    pub tokenizer: TokenizerOptions,
    /// If given, only blocks of these types are shown.
    pub types: Option<Vec<BlockType>>,
    /// The options of prompt caching.
    pub prompt_cache: PromptCacheOptions,
    /// The options of deduplication.
    pub dedup: DedupOptions,
    /// If given, each segment of the conversation is shown at one level.
    #[cfg(feature = "messages")]
    pub segments: Option<SegmentOptions>,
    /// The policy for special tokens.
    pub special_tokens: Option<SpecialTokens>,
    /// `true` to show the records of session files, with the lowest priority. They are metadata by
    /// default.
    pub shows_records: bool,
    /// `true` if the plan is saved for the next turn. This requires a stable plan as well.
    pub saves_plan: bool,
    /// `true` if the index is compared with the blocks.
    pub verify_index: bool,
}

/// A pack and everything that is needed to render it.
#[derive(Debug)]
pub struct RenderJob<'b> {
    setup: RenderSetup,
    pack: Pack<'b>,
    driver: DefaultDriver,
    /// The number of blocks of the pack. The segments may have added summaries after them.
    blocks: usize,
    /// The session records that are shown.
    records: ShownRecords,
    /// Warnings about the pack's index.
    index_warnings: Vec<Warning>,
}

/// The options, settings and tokenizer of a render, before the pack is read.
#[derive(Debug)]
pub struct RenderSetup {
    /// The path of the pack, or its name in messages.
    path: PathBuf,
    /// The configuration of the driver.
    pub config: DriverConfig,
    /// The options of deduplication, if it is on.
    dedup: Option<Options>,
    /// The options of segments, if they decide the levels, and their settings.
    #[cfg(feature = "messages")]
    segments: Option<(SegmentOptions, BudgetAllocationOptions)>,
    /// The policy for special tokens.
    special_tokens: SpecialTokens,
    /// `true` if the records of session files are shown.
    shows_records: bool,
    /// `true` if the index is compared with the blocks.
    verify_index: bool,
    /// The window that the budget was taken from.
    window: Option<ContextWindow>,
    /// The levels of the use of the budget.
    usage: Usage,
    /// The tokenizer.
    pub counter: LoadedTokenizer,
    /// Warnings about the settings and the blocks.
    warnings: Vec<Warning>,
}

/// The text of a pack, and its source.
#[derive(Debug)]
pub enum RenderedPack<'b> {
    /// A text from the index, rendered with this setup.
    ByIndex(IndexedRender, Box<RenderSetup>),
    /// A text from all blocks, rendered with this job.
    FromBlocks(Box<Rendered>, Box<RenderJob<'b>>),
}

impl RenderSetup {
    /// Resolves options, settings and tokenizer for the pack at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if the options contradict each other or the settings.
    pub fn new(
        path: &Path,
        options: &RenderOptions,
        settings: &Config,
        reporter: &dyn Reporter,
    ) -> Result<Self> {
        let budget = options.budget.resolve(settings, &options.tokenizer)?;
        let mut config = options.driver_config(&budget.settings);
        let prompt_cache = options.prompt_cache.resolve(options.saves_plan, settings, &config)?;
        let mut warnings = budget.warnings;
        #[cfg(feature = "messages")]
        warnings.extend(options.check_segments(&config)?);
        warnings.extend(options.dedup.ineffective(&settings.dedup));
        for warning in &warnings {
            reporter.warn(&warning);
        }
        warnings.extend(prompt_cache.warn(reporter).cloned());
        config.stable = prompt_cache.stable;
        // Without leftover budget, Background blocks have a placeholder at most.
        config.fill |= options.shows_records && options.budget.fill.is_none();
        let dedup = options.dedup.effective(&settings.dedup, config.stable.is_some());
        let strict = config.overflow == Overflow::Deny;
        let counter = options.tokenizer.load(settings, budget.model.as_ref(), strict, reporter)?;
        // An explicit size of merged chunks takes precedence.
        let is_given = settings.dedup.has_merged_bytes;
        let dedup = dedup.map(|options| match config.token_budget.filter(|_| !is_given) {
            Some(budget) => options.with_token_budget(budget),
            None => options,
        });
        let window = budget.settings.budget.and_then(|budget| budget.value.window);
        Ok(Self {
            path: path.to_owned(),
            config,
            dedup,
            #[cfg(feature = "messages")]
            segments: options.segments.clone().map(|options| (options, settings.segments)),
            special_tokens: special_tokens::effective(options.special_tokens, settings),
            shows_records: options.shows_records,
            verify_index: options.verify_index,
            window,
            usage: settings.usage,
            counter,
            warnings,
        })
    }

    /// Renders the pack from its index if the text is the same and neither a plan nor a comparison
    /// is requested. Otherwise renders it from all blocks; `buffer` then contains the pack.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack cannot be read or is malformed, or if the text must exceed the
    /// budget.
    pub fn render<'b>(
        self,
        needs_plan: bool,
        buffer: &'b mut Vec<u8>,
        reporter: &dyn Reporter,
    ) -> Result<RenderedPack<'b>> {
        if !needs_plan
            && !self.verify_index
            && let Some(rendered) = self.render_by_index(reporter)?
        {
            return Ok(RenderedPack::ByIndex(rendered, Box::new(self)));
        }
        *buffer = files::read(&self.path, reporter)?;
        let job = self.into_job(buffer, reporter)?;
        let rendered = job.render(reporter)?;
        Ok(RenderedPack::FromBlocks(Box::new(rendered), Box::new(job)))
    }

    /// Renders the pack from its index if the text is the same as from all blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the text must exceed the budget, or if the file cannot be read.
    fn render_by_index(&self, reporter: &dyn Reporter) -> Result<Option<IndexedRender>> {
        let Self { path, config, counter, .. } = self;
        if path.as_os_str() == OsStr::new(files::STANDARD)
            || self.dedup.is_some()
            || self.shows_records
            // Escaping changes the costs, and rejected blocks must not be shown.
            || self.special_tokens != SpecialTokens::Warn
            || !config.is_planned_by_costs()
        {
            return Ok(None);
        }
        #[cfg(feature = "messages")]
        if self.segments.is_some() {
            return Ok(None);
        }
        let Some(file) = files::open_regular_file(path) else { return Ok(None) };
        // Reading all blocks gives errors with their locations.
        let Ok(mut reader) = PackReader::open(file, DecodeOptions::default()) else {
            return Ok(None);
        };
        // Reading all blocks also reports reserved flags and an unusable index.
        if reader.header().flags & HEADER_RESERVED != 0 {
            return Ok(None);
        }
        let Some(source) = CountedPack::new(&mut reader, &counter.estimator, config.mode) else {
            return Ok(None);
        };
        let driver = DefaultDriver::new(Arc::clone(&counter.estimator));
        let mut rendered = match driver.render_source(&source, config) {
            Ok(rendered) => rendered,
            Err(SourceRenderError::Driver(error)) => return Err(over_budget_error(&error, path)),
            Err(SourceRenderError::Source(error)) if error.kind == BlockSourceErrorKind::Io => {
                let message = format!("cannot read {}: {error}", path.display());
                return Err(Error::new(ErrorKind::Io, message));
            }
            Err(_) => return Ok(None),
        };
        let is_counted = source.counted.is_some();
        // The pack may have no index, so a warning about one would be wrong.
        let is_bad = matches!(rendered.source, PlanSource::AllBlocks(FullReadReason::BadIndex));
        if is_counted && is_bad {
            return Ok(None);
        }
        let used = u64::from(rendered.used_tokens);
        if !rendered.is_cut {
            rendered.warnings.extend(self.usage.budget_warning(used, config.token_budget));
        }
        for warning in &rendered.warnings {
            counter.warn(warning, reporter);
        }
        let budget = config.token_budget.unwrap_or_default();
        let all = lcp_driver::plural(rendered.blocks, "block");
        let blocks = match rendered.source {
            PlanSource::Index { .. } if is_counted => format!("{all}, counted while read"),
            PlanSource::Index { read, .. } => format!("{read} of {} blocks read", rendered.blocks),
            PlanSource::AllBlocks(_) => all,
        };
        let tokens = lcp_driver::plural(rendered.used_tokens, "token");
        reporter.note(&format!("{tokens} (budget {budget}), {blocks}"));
        Ok(Some(rendered))
    }

    /// Turns the setup into the job of a pack in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed.
    pub fn into_job<'b>(
        mut self,
        bytes: &'b [u8],
        reporter: &dyn Reporter,
    ) -> Result<RenderJob<'b>> {
        let index_warnings = if self.verify_index {
            verify_index(&self.path, bytes)?
        } else {
            index_warning(bytes).into_iter().collect()
        };
        let mut pack = files::decode(&self.path, bytes)?;
        let mut records = ShownRecords::default();
        if self.shows_records {
            records = session_records::show(&mut pack.blocks);
        } else if let Some(summary) = session_records::summary(&pack.blocks) {
            reporter.note(&format!("{summary}; --records shows them"));
        }
        let warning = special_tokens::apply(&mut pack.blocks, self.special_tokens, &self.path)?;
        if let Some(warning) = warning {
            reporter.warn(&warning);
            self.warnings.push(warning);
        }
        let driver = DefaultDriver::new(Arc::clone(&self.counter.estimator));
        if let Some(options) = self.dedup.take() {
            let config = &mut self.config;
            let previous = config.stable.as_ref().and_then(|stable| stable.previous.as_deref());
            let in_text = previous.map(|plan| plan.in_text(&pack.blocks)).unwrap_or_default();
            let options =
                Options { types: config.types.clone(), previous_blocks: in_text, ..options };
            let deduped =
                dedup::apply_within_budget(pack.blocks, options, &driver, config, &self.counter)?;
            for warning in &deduped.warnings {
                reporter.warn(&warning);
            }
            self.warnings.extend(deduped.warnings);
            pack.blocks = deduped.blocks;
            config.duplicates = Some(deduped.duplicates);
        }
        let blocks = pack.blocks.len();
        #[cfg(feature = "messages")]
        if let Some((options, settings)) = self.segments.take() {
            let counter = self.counter.estimator.as_ref();
            self.config.segments = Some(options.apply(&mut pack.blocks, &settings, counter)?);
        }
        Ok(RenderJob { setup: self, pack, driver, blocks, records, index_warnings })
    }
}

impl RenderOptions {
    /// Returns the configuration of the driver, without the options of prompt caching.
    fn driver_config(&self, settings: &Settings) -> DriverConfig {
        DriverConfig {
            mode: self.mode,
            line_numbers: self.line_numbers,
            verbosity: self.verbosity,
            types: self.types.clone(),
            ..settings.to_driver_config()
        }
    }

    /// Returns a warning about options that have no effect with segments, or about segments that
    /// have none.
    ///
    /// # Errors
    ///
    /// Returns an error for segments in a text that continues a previous one.
    #[cfg(feature = "messages")]
    fn check_segments(&self, config: &DriverConfig) -> Result<Option<Warning>> {
        if self.segments.is_none() {
            return Ok(None);
        }
        if self.saves_plan || self.prompt_cache.previous.is_some() {
            let message = format!("{SEGMENTS} cannot be used with {PREVIOUS} or {PLAN}");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let no_effect = |message| Some(Warning::new(WarningCode::NoEffect, None, message));
        if config.token_budget.is_none() || config.verbosity != Verbosity::Adaptive {
            let message =
                format!("{SEGMENTS} has no effect: it requires a budget and --verbosity adaptive");
            return Ok(no_effect(message));
        }
        let budget = &self.budget;
        let given = [
            ("--shares", budget.shares.is_some()),
            ("--fill", budget.fill == Some(true)),
            ("--objective", budget.objective.is_some_and(|it| it != Objective::Strict)),
        ];
        let given: Vec<_> = given.iter().filter(|(_, given)| *given).map(|(it, _)| *it).collect();
        Ok(if given.is_empty() {
            None
        } else {
            no_effect(format!("no effect with {SEGMENTS}: {}", given.join(", ")))
        })
    }
}

impl<'b> RenderJob<'b> {
    /// Creates the job of a pack in memory. `path` is its name in messages.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed, or if the options contradict each other or the
    /// settings.
    pub fn new(
        path: &Path,
        bytes: &'b [u8],
        options: &RenderOptions,
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<Self> {
        RenderSetup::new(path, options, config, reporter)?.into_job(bytes, reporter)
    }

    /// Returns the window that the budget was taken from.
    pub fn window(&self) -> Option<ContextWindow> {
        self.setup.window
    }

    /// Renders the pack, and reports the warnings of the plan.
    pub fn render(&self, reporter: &dyn Reporter) -> Result<Rendered> {
        let mut rendered = self
            .driver
            .run(&self.pack.blocks, &self.setup.config)
            .map_err(|error| self.over_budget_error(&error))?;
        self.report_warnings(&mut rendered.plan, reporter);
        Ok(rendered)
    }

    /// Plans without rendering, and reports the warnings of the plan.
    pub fn plan(&self, reporter: &dyn Reporter) -> Result<Plan> {
        let mut plan = self
            .driver
            .plan(&self.pack.blocks, &self.setup.config)
            .map_err(|error| self.over_budget_error(&error))?;
        self.report_warnings(&mut plan, reporter);
        Ok(plan)
    }

    /// Plans for other budgets. Overflow is allowed.
    pub fn replay(&self, budgets: &[u32]) -> Result<Vec<Plan>> {
        let config = DriverConfig { overflow: Overflow::Allow, ..self.setup.config.clone() };
        let mut plans = self
            .driver
            .replay(&self.pack.blocks, &config, budgets)
            .map_err(|error| self.over_budget_error(&error))?;
        for plan in &mut plans {
            plan.items.truncate(self.blocks);
            self.records.set_labels(plan);
        }
        Ok(plans)
    }

    /// Saves the token counts if the options name a file. Call it last.
    pub fn save_cache(&self, reporter: &dyn Reporter) {
        self.setup.counter.save_cache(reporter);
    }

    /// Adds the warnings of the input to those of the plan, and reports all of them and the costs.
    fn report_warnings(&self, plan: &mut Plan, reporter: &dyn Reporter) {
        plan.items.truncate(self.blocks);
        self.records.set_labels(plan);
        plan.warnings.extend(self.records.omitted(plan));
        let of_input = self.pack.warnings.iter().map(|warning| {
            let code = match warning {
                lcp_decoder::Warning::TrailingData { .. } => WarningCode::TrailingData,
                _ => WarningCode::ReservedFlags,
            };
            Warning::new(code, None, warning.to_string())
        });
        plan.warnings.splice(0..0, of_input.chain(self.index_warnings.iter().cloned()));
        if !plan.is_cut() {
            let used = plan.used_tokens.into();
            plan.warnings.extend(self.setup.usage.budget_warning(used, plan.budget));
        }
        for warning in &plan.warnings {
            self.setup.counter.warn(warning, reporter);
        }
        // These warnings were reported before the plan existed.
        plan.warnings.splice(0..0, self.setup.warnings.iter().cloned());
        let budget =
            plan.budget.map_or_else(|| "no budget".to_owned(), |budget| format!("budget {budget}"));
        reporter.note(&format!(
            "{} ({budget}), {}",
            lcp_driver::plural(plan.used_tokens, "token"),
            lcp_driver::plural(plan.items.len(), "block")
        ));
        if let Some(duplicates) = &plan.duplicates {
            let (blocks, saved) = (duplicates.covered.len(), duplicates.tokens_saved());
            let duplicates = lcp_driver::plural(blocks, "duplicate");
            reporter.note(&format!("{duplicates}; saved {}", lcp_driver::plural(saved, "token")));
        }
        if let Some(stable) = &plan.stable {
            let cause = stable
                .repack_reason
                .map_or_else(String::new, |cause| format!(" ({})", cause.name()));
            let (kept, previous) = (stable.kept_tokens, stable.previous_tokens);
            let turn = stable.reuse.name();
            reporter.note(&format!("{turn}{cause}: reused {kept} of {previous} previous tokens"));
        }
    }

    fn over_budget_error(&self, error: &DriverError) -> Error {
        over_budget_error(error, &self.setup.path)
    }
}

impl RenderedPack<'_> {
    /// Returns the text.
    pub fn text(&self) -> &str {
        match self {
            Self::ByIndex(rendered, _) => &rendered.text,
            Self::FromBlocks(rendered, _) => &rendered.text,
        }
    }

    /// Returns the tokens of the text.
    pub fn used_tokens(&self) -> u32 {
        match self {
            Self::ByIndex(rendered, _) => rendered.used_tokens,
            Self::FromBlocks(rendered, _) => rendered.plan.used_tokens,
        }
    }

    /// Returns the budget in tokens, if there is one.
    pub fn budget(&self) -> Option<u32> {
        match self {
            Self::ByIndex(_, setup) => setup.config.token_budget,
            Self::FromBlocks(rendered, _) => rendered.plan.budget,
        }
    }

    /// Returns the plan and its job, if all blocks were read.
    pub fn planned(&self) -> Option<(&Plan, &RenderJob<'_>)> {
        match self {
            Self::ByIndex(..) => None,
            Self::FromBlocks(rendered, job) => Some((&rendered.plan, job)),
        }
    }

    /// Saves the token counts if the options name a file. Call it last.
    pub fn save_cache(&self, reporter: &dyn Reporter) {
        match self {
            Self::ByIndex(_, setup) => setup.counter.save_cache(reporter),
            Self::FromBlocks(_, job) => job.save_cache(reporter),
        }
    }
}

/// Returns the error for a text that must exceed the budget.
fn over_budget_error(error: &DriverError, path: &Path) -> Error {
    let message = format!("{error} [{}] ({})", error.code(), files::display_name(path));
    let failure = Error::new(ErrorKind::OverBudget, message).with_code(error.code());
    match error {
        DriverError::OverBudget { needed, .. } => failure.with_hint(format!(
            "raise the budget to at least {needed}, or pass --overflow allow without --strict"
        )),
        DriverError::OverShareCap { share, needed, .. } => failure.with_hint(format!(
            "raise the cap of {share} to at least {needed}, or pass --overflow allow without \
             --strict"
        )),
        _ => failure,
    }
}

/// Returns a warning about a pack whose header announces an index that is not accepted (RFC
/// 0003 §2).
pub fn index_warning(pack: &[u8]) -> Option<Warning> {
    PackIndex::find(pack)?.err().map(|error| bad_index(&error))
}

/// Returns warnings about all problems of the index of a pack.
fn verify_index(path: &Path, pack: &[u8]) -> Result<Vec<Warning>> {
    // Decoding reports problems of the blocks.
    let Ok(reader) = PackReader::open(pack, DecodeOptions::default()) else {
        return Ok(Vec::new());
    };
    match reader.verify() {
        Ok(wrong) => Ok(wrong.iter().map(bad_index).collect()),
        Err(ReadError::Io(error)) => Err(Error::io("read", path.display(), &error)),
        Err(_) => Ok(index_warning(pack).into_iter().collect()),
    }
}

fn bad_index(error: &IndexError) -> Warning {
    Warning::new(WarningCode::BadIndex, None, error.to_string())
}
