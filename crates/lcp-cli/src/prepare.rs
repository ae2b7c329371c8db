//! From the flags that decide to a driver and its configuration: the same for
//! every command that renders or reports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use lcp_decoder::Pack;
use lcp_dedup::Options;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::window::ContextWindow;
use lcp_driver::{
    DefaultDriver, DriverConfig, DriverError, OutputMode, Overflow, Plan, Rendered, Verbosity,
    Warning, WarningCode,
};
use lcp_types::BlockType;

use crate::Result;
use crate::by_index;
use crate::config::{Config, Settings};
use crate::counting::{Counter, Counting};
use crate::duplicates::{self, Deduping};
use crate::failure::{Code, Failure, Output};
use crate::files;
use crate::limits::{InForce, Limits};
use crate::special::{self, Treatment};
use crate::stable::Keeping;

/// What decides what a text is: as flags say it, or any other program.
#[derive(Debug, Default, clap::Args)]
pub struct Choices {
    /// The pack; `-` for standard input
    pub pack: PathBuf,
    /// What bounds the text.
    #[command(flatten)]
    pub limits: Limits,
    /// The format of the text
    #[arg(long, value_enum, default_value = "xml")]
    pub mode: Mode,
    /// How much of each block: `full` and `summary` ignore the budget
    #[arg(long, value_enum, default_value = "adaptive")]
    pub verbosity: Level,
    /// What counts.
    #[command(flatten)]
    pub counting: Counting,
    /// Only blocks of these types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = block_type)]
    pub types: Option<Vec<BlockType>>,
    /// What is kept of the text before.
    #[command(flatten)]
    pub keeping: Keeping,
    /// What is done about what stands twice.
    #[command(flatten)]
    pub deduping: Deduping,
    /// What is done about words like `<|im_start|>` in a content, of which careless programs make
    /// control tokens: `neutralise` puts a space into each, `reject` ends with 3; to report those
    /// of the text unless lcp.toml says otherwise
    #[arg(long, value_enum, value_name = "WHAT")]
    pub special_tokens: Option<Treatment>,
}

/// The format of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "mcp", schemars(inline))]
#[expect(missing_docs, reason = "they say it")]
pub enum Mode {
    #[default]
    Xml,
    Markdown,
    Minimal,
}

impl From<Mode> for OutputMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Xml => Self::Xml,
            Mode::Markdown => Self::Markdown,
            Mode::Minimal => Self::Minimal,
        }
    }
}

/// How much of each block is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "mcp", schemars(inline))]
#[expect(missing_docs, reason = "they say it")]
pub enum Level {
    Full,
    Summary,
    #[default]
    Adaptive,
}

/// The block type that flags call so.
///
/// # Errors
///
/// There is none; in words.
pub fn block_type(label: &str) -> std::result::Result<BlockType, String> {
    BlockType::from_label(label).filter(|ty| *ty != BlockType::Annotation).ok_or_else(|| {
        let labels = BlockType::ALL.iter().filter(|ty| **ty != BlockType::Annotation);
        let labels: Vec<_> = labels.map(|ty| ty.label()).collect();
        format!("it may be {}", labels.join(", "))
    })
}

/// A pack, and all that it takes to plan it.
pub struct Run<'b> {
    path: &'b Path,
    pack: Pack<'b>,
    driver: DefaultDriver,
    config: DriverConfig,
    /// The window that the budget was taken from.
    pub window: Option<ContextWindow>,
    counter: Counter,
    /// What is odd about the settings.
    warnings: Vec<Warning>,
    /// What is odd about the pack's trailer.
    of_trailer: Vec<Warning>,
}

/// All that it takes to plan a pack, but the pack.
pub struct Settled<'b> {
    pub(crate) path: &'b Path,
    pub(crate) config: DriverConfig,
    /// What is looked for that stands twice, if anything is.
    pub(crate) deduping: Option<Options>,
    /// What is done about special tokens.
    pub(crate) special_tokens: SpecialTokens,
    window: Option<ContextWindow>,
    pub(crate) counter: Counter,
    /// What is odd about the settings.
    warnings: Vec<Warning>,
}

impl<'b> Settled<'b> {
    /// With a pack that was decoded, and what is odd about its trailer.
    pub fn with(
        self,
        mut pack: Pack<'b>,
        of_trailer: Vec<Warning>,
        output: &Output,
    ) -> Result<Run<'b>> {
        let Self { path, mut config, deduping, special_tokens, window, counter, mut warnings } =
            self;
        if let Some(warning) = special::treat(&mut pack.blocks, special_tokens, path)? {
            output.warn(&warning);
            warnings.push(warning);
        }
        if let Some(options) = deduping {
            let previous = config.stable.as_ref().and_then(|stable| stable.previous.as_deref());
            let in_text = previous.map(|plan| plan.in_text(&pack.blocks)).unwrap_or_default();
            let options = Options { types: config.types.clone(), in_text, ..options };
            let driver = DefaultDriver::new(Arc::clone(&counter.estimator));
            let deduped = duplicates::readable(pack.blocks, options, &driver, &config, &counter)?;
            for warning in &deduped.warnings {
                output.warn(warning);
            }
            warnings.extend(deduped.warnings);
            pack.blocks = deduped.blocks;
            config.duplicates = Some(deduped.duplicates);
        }
        let driver = DefaultDriver::new(Arc::clone(&counter.estimator));
        Ok(Run { path, pack, driver, config, window, counter, warnings, of_trailer })
    }
}

impl Choices {
    /// The path of the pack.
    pub fn pack(&self) -> &Path {
        &self.pack
    }

    /// The path of the previous plan.
    pub fn previous(&self) -> Option<&Path> {
        self.keeping.previous()
    }

    /// What `lcp.toml` says; begins to load what counts.
    pub fn config_file(&self) -> Result<Config> {
        self.counting.begin_loading();
        self.counting.config()
    }

    /// The bytes of the pack.
    pub fn read(&self) -> Result<Vec<u8>> {
        self.counting.begin_loading();
        files::read(&self.pack)
    }

    /// Everything from the bytes and the flags; says what is odd about them.
    /// `plan`: the plan is to be kept for the next turn.
    pub fn prepare<'b>(&'b self, bytes: &'b [u8], plan: bool, output: &Output) -> Result<Run<'b>> {
        self.prepare_with(bytes, self.counting.config()?, plan, output)
    }

    /// The same with what `lcp.toml` says.
    pub fn prepare_with<'b>(
        &'b self,
        bytes: &'b [u8],
        config: Config,
        plan: bool,
        output: &Output,
    ) -> Result<Run<'b>> {
        let pack = files::decode(&self.pack, bytes)?;
        let of_trailer = by_index::unaccepted(bytes).into_iter().collect();
        self.settle(config, plan, output)?.with(pack, of_trailer, output)
    }

    /// All but the pack, with what `lcp.toml` says; says what is odd about it.
    pub fn settle(&self, config: Config, plan: bool, output: &Output) -> Result<Settled<'_>> {
        let in_force = self.limits.in_force_with(config, &self.counting)?;
        let mut config = self.config(&in_force.settings);
        let kept = self.keeping.kept(plan, &in_force.config, &config)?;
        let mut warnings = in_force.warnings.clone();
        warnings.extend(self.deduping.idle(&in_force.config.dedup));
        for warning in &warnings {
            output.warn(warning);
        }
        warnings.extend(kept.warn(output).cloned());
        config.stable = kept.stable;
        let options = self.deduping.options(&in_force.config.dedup, config.stable.is_some());
        let InForce { config: file, model, settings, .. } = &in_force;
        let strict = config.overflow == Overflow::Deny;
        let counter = self.counting.counter(file, model.as_ref(), strict, output)?;
        // Who says how large a chunk may grow means it.
        let is_said = file.dedup.merged_bytes.is_some();
        let deduping = options.map(|options| match config.token_budget.filter(|_| !is_said) {
            Some(budget) => options.within(budget),
            None => options,
        });
        let window = settings.budget.as_ref().and_then(|budget| budget.value.window);
        let special_tokens = special::in_force(self.special_tokens, file);
        let path = self.pack.as_path();
        Ok(Settled { path, config, deduping, special_tokens, window, counter, warnings })
    }

    /// What is asked for, but for what is kept of a previous text.
    fn config(&self, settings: &Settings) -> DriverConfig {
        DriverConfig {
            mode: self.mode.into(),
            token_budget: settings.budget.as_ref().map(|budget| budget.value.tokens),
            verbosity: match self.verbosity {
                Level::Full => Verbosity::Full,
                Level::Summary => Verbosity::Summary,
                Level::Adaptive => Verbosity::Adaptive,
            },
            types: self.types.clone(),
            fill: settings.fill.value,
            excerpts: settings.excerpts.value,
            objective: settings.objective.value,
            stable: None,
            duplicates: None,
            shares: settings.shares.as_ref().map(|shares| shares.value.shares.clone()),
            overflow: settings.overflow.value,
        }
    }
}

impl Run<'_> {
    /// The text and its plan. Says what the plan warns of.
    pub fn render(&self, output: &Output) -> Result<Rendered> {
        let mut rendered = self
            .driver
            .run(&self.pack.blocks, &self.config)
            .map_err(|error| self.denied(&error))?;
        self.tell(&mut rendered.plan, output);
        Ok(rendered)
    }

    /// The plan alone. Says what it warns of.
    pub fn plan(&self, output: &Output) -> Result<Plan> {
        let mut plan = self
            .driver
            .plan(&self.pack.blocks, &self.config)
            .map_err(|error| self.denied(&error))?;
        self.tell(&mut plan, output);
        Ok(plan)
    }

    /// The plans for other budgets, whatever overflows.
    pub fn replay(&self, budgets: &[u32]) -> Result<Vec<Plan>> {
        let config = DriverConfig { overflow: Overflow::Allow, ..self.config.clone() };
        self.driver.replay(&self.pack.blocks, &config, budgets).map_err(|error| self.denied(&error))
    }

    /// Keeps the counts, where that was asked for.
    pub fn keep(&self, output: &Output) {
        self.counter.keep(output);
    }

    fn tell(&self, plan: &mut Plan, output: &Output) {
        let of_input = self.pack.warnings.iter().map(|warning| {
            let code = match warning {
                lcp_decoder::Warning::TrailingData { .. } => WarningCode::TrailingData,
                _ => WarningCode::ReservedFlags,
            };
            Warning::new(code, None, warning.to_string())
        });
        plan.warnings.splice(0..0, of_input.chain(self.of_trailer.iter().cloned()));
        for warning in &plan.warnings {
            self.counter.warn(warning, output);
        }
        // These were said before there was a plan.
        plan.warnings.splice(0..0, self.warnings.iter().cloned());
        let budget =
            plan.budget.map_or_else(|| "no budget".to_owned(), |budget| budget.to_string());
        output.note(format!("{} tokens ({budget}), {} blocks", plan.used_tokens, plan.items.len()));
        if let Some(duplicates) = &plan.duplicates {
            let (blocks, saved) = (duplicates.covered.len(), duplicates.tokens_saved());
            output.note(format!("{blocks} blocks are covered by others: {saved} tokens saved"));
        }
        if let Some(stable) = &plan.stable {
            let cause =
                stable.cause.map_or_else(String::new, |cause| format!(" ({})", cause.name()));
            let (kept, previous) = (stable.kept_tokens, stable.previous_tokens);
            let turn = stable.turn.name();
            output.note(format!("{turn}{cause}: {kept} of {previous} tokens before are kept"));
        }
    }

    fn denied(&self, error: &DriverError) -> Failure {
        denied(error, self.path)
    }
}

/// The failure of a text that may not be as large as it must be.
pub(crate) fn denied(error: &DriverError, path: &Path) -> Failure {
    let message = format!("{error} [{}] ({})", error.code(), files::name(path));
    let failure = Failure::new(Code::OverBudget, message);
    match error {
        DriverError::OverBudget { needed, .. } => failure
            .hint(format!("a budget of {needed} holds it; --overflow allow renders it anyway")),
        DriverError::OverShareCap { share, needed, .. } => failure.hint(format!(
            "a cap of {needed} for {share} holds them; --overflow allow shows them anyway"
        )),
        _ => failure,
    }
}
