//! The export job: a pack and options to messages within a budget.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Overflow};
use lcp_transcripts::{ExportResult, Provider};
use serde_json::{Value, json};

use super::{ExportCandidates, FitError, FittedMessages, fit, has_turns};
use crate::budget::{BudgetOptions, EffectiveBudget, Settings};
use crate::config::{Config, Origin};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::render;
use crate::reporter::Reporter;
use crate::tokenizer::{LoadedTokenizer, TokenizerOptions};

/// Tools that a warning names.
const RENAMED_MAX: usize = 3;

/// The options of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The provider that takes the messages.
    pub provider: Provider,
    /// The bounds of the messages.
    pub budget: BudgetOptions,
    /// The tokenizer.
    pub tokenizer: TokenizerOptions,
}

/// A pack as the messages of a request.
#[derive(Debug)]
pub struct ExportedPack {
    /// The provider.
    pub provider: Provider,
    /// The budget in tokens, if there is one.
    pub budget: Option<u32>,
    /// The messages within the budget, and their plan.
    pub messages: FittedMessages,
    /// The messages without a budget, and what has no place in them.
    pub all: ExportResult,
    /// Blocks of side conversations, which are left out.
    pub sidechains: usize,
    tokenizer: LoadedTokenizer,
}

impl ExportOptions {
    /// Exports a pack that was read from `path`, and reports what the messages lack.
    ///
    /// # Errors
    ///
    /// A pack that is malformed or has nothing for messages, options that contradict each other,
    /// messages that exceed the budget.
    pub fn export(
        &self,
        path: &Path,
        bytes: &[u8],
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<ExportedPack> {
        let pack = files::decode(path, bytes)?;
        let EffectiveBudget { model, settings, warnings } =
            self.budget.resolve(config, &self.tokenizer)?;
        for warning in &warnings {
            reporter.warn(warning);
        }
        for warning in &pack.warnings {
            reporter.warn(warning);
        }
        if let Some(warning) = render::index_warning(bytes) {
            reporter.warn(&warning);
        }
        let driver_config = driver_config(&settings);
        let is_strict = driver_config.overflow == Overflow::Deny;
        let tokenizer = self.tokenizer.load(config, model.as_ref(), is_strict, reporter)?;
        let driver = DefaultDriver::new(Arc::clone(&tokenizer.estimator));
        let candidates = ExportCandidates::new(self.provider, &pack.blocks);
        if candidates.is_empty() {
            report_left_out(&candidates, reporter);
            return Err(nothing_to_export(path, &candidates));
        }
        let messages = fit(&candidates, &driver, &tokenizer.estimator, &driver_config)
            .map_err(|error| over_budget_error(path, &error))?;
        report_warnings(&candidates, &messages, &tokenizer, reporter);
        Ok(ExportedPack {
            provider: self.provider,
            budget: driver_config.token_budget,
            messages,
            sidechains: candidates.sidechains,
            all: candidates.full_export,
            tokenizer,
        })
    }
}

impl ExportedPack {
    /// Returns the messages as the JSON of a request.
    pub fn json(&self) -> &str {
        &self.messages.exported.json
    }

    /// Saves the counts, if the options name a file for them.
    pub fn save_cache(&self, reporter: &dyn Reporter) {
        self.tokenizer.save_cache(reporter);
    }

    /// Returns the report as JSON (`lcp.export.v1`).
    pub fn to_json(&self) -> Value {
        let FittedMessages { exported, tokens, overhead_tokens, plan, dropped, .. } =
            &self.messages;
        let mut by_decision: BTreeMap<&str, u64> = BTreeMap::new();
        for item in &plan.items {
            *by_decision.entry(item.decision.name()).or_default() += 1;
        }
        // Plans without a message have none of its blocks.
        let (all, report) = (&self.all.report, &exported.report);
        let messages = exported.messages.iter();
        let messages = messages
            .map(|message| json!({ "role": message.role, "blocks": message.blocks }))
            .collect::<Vec<_>>();
        let warnings = plan.warnings.iter().map(|warning| {
            json!({
                "code": warning.code.name(), "block": warning.block, "message": warning.message,
            })
        });
        json!({
            "schema": "lcp.export.v1",
            "to": self.provider.name(),
            "encoding": plan.encoding,
            "exact": plan.exact,
            "budget": self.budget,
            "used_tokens": tokens,
            "beside_tokens": overhead_tokens,
            "messages": messages,
            "calls": report.calls,
            "unanswered": all.unanswered,
            "orphans": all.orphans,
            "empty": all.empty,
            "renamed": report.renamed,
            "renamed_tools": self.all.renamed_tools,
            "inserted": report.inserted,
            "left_out": all.left_out,
            "sidechain_blocks": self.sidechains,
            "dropped_messages": dropped,
            "rolled_up": plan.rolled_up.map(|of| json!({ "count": of.count, "tokens": of.tokens })),
            "by_decision": by_decision,
            "warnings": warnings.collect::<Vec<_>>(),
        })
    }
}

/// Returns the configuration of the driver. Messages have no reason to leave tokens unused, so
/// `--fill` is on by default.
fn driver_config(settings: &Settings) -> DriverConfig {
    DriverConfig {
        mode: OutputMode::Minimal,
        fill: settings.fill.value || settings.fill.origin == Origin::Default,
        ..settings.to_driver_config()
    }
}

fn nothing_to_export(path: &Path, candidates: &ExportCandidates<'_>) -> Error {
    let message = format!("nothing has a place in messages ({})", files::display_name(path));
    let hint = if candidates.full_export.report.orphans > 0 {
        "a provider takes a tool's result only behind its call, which is not there; `lcp render` \
         shows it as a text"
    } else {
        "`lcp inspect` lists the blocks"
    };
    Error::new(ErrorKind::Usage, message).with_hint(hint)
}

fn over_budget_error(path: &Path, error: &FitError) -> Error {
    let code = error.code();
    let message = format!("{error} [{code}] ({})", files::display_name(path));
    match error {
        FitError::Plan(_) => Error::new(ErrorKind::OverBudget, message).with_code(code),
        FitError::OverBudget { needed, is_denied, .. } => {
            let kind = if *is_denied { ErrorKind::OverBudget } else { ErrorKind::Usage };
            Error::new(kind, message)
                .with_code(code)
                .with_hint(format!("the smallest messages fit --budget {needed}"))
        }
    }
}

/// Reports what the messages lack, and why.
fn report_warnings(
    candidates: &ExportCandidates<'_>,
    fitted: &FittedMessages,
    tokenizer: &LoadedTokenizer,
    reporter: &dyn Reporter,
) {
    let FittedMessages { exported, tokens, overhead_tokens, plan, plans, dropped } = fitted;
    for warning in &plan.warnings {
        tokenizer.warn(warning, reporter);
    }
    if *dropped > 0 {
        reporter.warn(&format!(
            "no plan fitted the budget: {dropped} messages were dropped, the oldest first"
        ));
    }
    report_left_out(candidates, reporter);
    if exported.report.inserted > 0 && !has_turns(exported) {
        reporter.warn(
            &"no message but the system's is there: one of the user that says so is inserted",
        );
    }
    let messages = exported.messages.len();
    let overhead_tokens = match overhead_tokens {
        0 => String::new(),
        overhead_tokens => format!(" ({overhead_tokens} beside the messages)"),
    };
    reporter.note(&format!("{messages} messages, {tokens} tokens{overhead_tokens}, {plans} plans"));
}

/// Reports what no message can have of the pack.
fn report_left_out(candidates: &ExportCandidates<'_>, reporter: &dyn Reporter) {
    let report = &candidates.full_export.report;
    for (count, message) in [
        (report.unanswered, "tool calls that no result answers are left out"),
        (report.orphans, "results that answer no tool call are left out"),
        (report.renamed, "ids of tool calls were changed: the provider takes no such ids"),
        (candidates.sidechains as u64, "blocks of side conversations are left out"),
    ] {
        if count > 0 {
            reporter.warn(&format!("{count} {message}"));
        }
    }
    let renamed = &candidates.full_export.renamed_tools;
    if !renamed.is_empty() {
        let named =
            renamed.iter().take(RENAMED_MAX).map(|(name, new)| format!("{name:?} is {new}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if renamed.len() > RENAMED_MAX { ", …" } else { "" };
        reporter.warn(&format!(
            "{} names of tools were changed, since the provider takes no such names: {named}{more}",
            renamed.len()
        ));
    }
    for (block_type, count) in &report.left_out {
        let block_type = block_type.escape_debug();
        reporter.warn(&format!("{count} of type {block_type} have no place in these messages"));
    }
}
