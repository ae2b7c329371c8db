//! The export job, which turns a pack into messages within a budget.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Overflow};
use lcp_ingest::SecretPolicy;
use lcp_transcripts::{ExportResult, Provider};
use lcp_types::{Block, CowBytes};
use serde_json::{Value, json};

use super::fit::{FitRules, fit_by_rules, has_turns};
use super::message_counts::{count_messages, message_token_counts};
use super::{ExportCandidates, FitError, FittedMessages, ResultOrder};
use crate::budget::{BudgetOptions, EffectiveBudget, Settings};
use crate::config::{Config, Origin};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::render;
use crate::reporter::Reporter;
use crate::secrets;
use crate::session_records;
use crate::tokenizer::{LoadedTokenizer, TokenizerOptions};

/// The maximum number of tools in a warning.
const RENAMED_MAX: usize = 3;

/// The usual number of bytes in a token.
const TOKEN_BYTES: usize = 4;

/// The options of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The provider that takes the messages.
    pub provider: Provider,
    /// The limits of the messages.
    pub budget: BudgetOptions,
    /// The tokenizer.
    pub tokenizer: TokenizerOptions,
    /// The treatment of secrets. The default is to warn, because a model has seen the messages.
    /// `Exclude` is treated like `Warn`.
    pub secrets: Option<SecretPolicy>,
    /// The order in which older tool results and files are shown.
    pub order: ResultOrder,
    /// The tokens of an image, which depend on the provider and the size of the image. By default,
    /// images are not counted.
    pub image_tokens: u32,
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
    /// The messages without a budget, and counts of the content that they lack.
    pub all: ExportResult,
    /// The number of blocks in side conversations, which are left out.
    pub sidechains: usize,
    tokenizer: LoadedTokenizer,
}

impl ExportOptions {
    /// Exports a pack that was read from `path`, and reports warnings.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed or has no content for messages, if options
    /// contradict each other, or if the messages exceed the budget.
    pub fn export(
        &self,
        path: &Path,
        bytes: &[u8],
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<ExportedPack> {
        let mut pack = files::decode(path, bytes)?;
        let policy = self.secrets.unwrap_or(SecretPolicy::Warn);
        let secret_warning = secrets::apply_to_blocks(&mut pack.blocks, policy, config)?;
        for warning in &pack.warnings {
            reporter.warn(warning);
        }
        if let Some(warning) = &secret_warning {
            reporter.warn(warning);
        }
        if let Some(summary) = session_records::summary(&pack.blocks) {
            reporter.note(&format!("{summary}; not exported"));
        }
        if let Some(warning) = render::index_warning(bytes) {
            reporter.warn(&warning);
        }
        self.export_blocks(path, &pack.blocks, config, reporter, FitRules::default())
    }

    /// Exports the blocks of a pack or transcript that was read from `path`.
    pub(crate) fn export_blocks(
        &self,
        path: &Path,
        blocks: &[Block<'_>],
        config: &Config,
        reporter: &dyn Reporter,
        rules: FitRules,
    ) -> Result<ExportedPack> {
        let EffectiveBudget { model, settings, warnings } =
            self.budget.resolve(config, &self.tokenizer)?;
        for warning in &warnings {
            reporter.warn(warning);
        }
        let driver_config = driver_config(&settings);
        let is_strict = driver_config.overflow == Overflow::Deny;
        let tokenizer = self.tokenizer.load(config, model.as_ref(), is_strict, reporter)?;
        let driver = DefaultDriver::new(Arc::clone(&tokenizer.estimator));
        // Messages that will probably be cut are ranked while they are collected and counted.
        let is_large = driver_config.token_budget.is_some_and(|budget| {
            let bytes = |block: &Block<'_>| block.content.text().map_or(0, CowBytes::len);
            blocks.iter().map(bytes).sum::<usize>() / TOKEN_BYTES > budget as usize
        });
        let collect = || {
            let candidates = ExportCandidates::new(self.provider, blocks);
            let counts = message_token_counts(&candidates.full_export, &tokenizer.estimator);
            (candidates, counts)
        };
        let ((mut candidates, counts), order) =
            rayon::join(collect, || is_large.then(|| self.order.annotations(blocks)));
        candidates.order = self.order;
        candidates.order_annotations = order;
        candidates.image_tokens = self.image_tokens;
        if candidates.is_empty() {
            report_left_out(&candidates, reporter);
            return Err(nothing_to_export(path, &candidates));
        }
        let mut messages = fit_by_rules(
            &candidates, &counts, &driver, &tokenizer.estimator, &driver_config, rules,
        )
        .map_err(|error| over_budget_error(path, &error))?;
        if !messages.plan.is_cut() && messages.dropped == 0 {
            let (used, budget) = (messages.tokens, driver_config.token_budget);
            messages.plan.warnings.extend(config.usage.budget_warning(used, budget));
        }
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
    pub fn json(&self) -> String {
        self.messages.exported.json()
    }

    /// Counts the tokens of complete messages without those that the export inserted, and without
    /// the tokens of the request.
    pub(crate) fn message_tokens(&self) -> u64 {
        let messages = self.messages.exported.messages.iter();
        let messages = messages.filter(|message| !message.blocks.is_empty());
        let texts =
            count_messages(messages, |message| self.tokenizer.estimator.estimate(&message.text));
        texts + self.messages.image_tokens
    }

    /// Saves the token counts if the options name a file.
    pub fn save_cache(&self, reporter: &dyn Reporter) {
        self.tokenizer.save_cache(reporter);
    }

    /// Returns the number of blocks by decision.
    pub fn by_decision(&self) -> BTreeMap<&'static str, u64> {
        let mut decisions = BTreeMap::new();
        for item in &self.messages.plan.items {
            *decisions.entry(item.decision.name()).or_default() += 1;
        }
        decisions
    }

    /// Returns the report as JSON (`lcp.export.v1`).
    pub fn to_json(&self) -> Value {
        let FittedMessages {
            exported, tokens, image_tokens, overhead_tokens, plan, dropped, ..
        } = &self.messages;
        // If a plan lacks a message, its report does not count the blocks of the message.
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
            "image_tokens": image_tokens,
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
            "by_decision": self.by_decision(),
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
    let message = format!("no block can be exported as a message ({})", files::display_name(path));
    let hint = if candidates.full_export.report.orphans > 0 {
        "tool results without their calls cannot be exported; print them with `lcp render`"
    } else {
        "run `lcp inspect` to list the blocks"
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
                .with_hint(format!("raise --budget to at least {needed}"))
        }
    }
}

/// Reports warnings about the messages, and their counts.
fn report_warnings(
    candidates: &ExportCandidates<'_>,
    fitted: &FittedMessages,
    tokenizer: &LoadedTokenizer,
    reporter: &dyn Reporter,
) {
    let FittedMessages { exported, tokens, image_tokens, overhead_tokens, plan, plans, dropped } =
        fitted;
    for warning in &plan.warnings {
        tokenizer.warn(warning, reporter);
    }
    if *dropped > 0 {
        reporter.warn(&format!(
            "dropped {}, oldest first, because no plan fit the budget [dropped_messages]",
            lcp_driver::plural(*dropped, "message")
        ));
    }
    report_left_out(candidates, reporter);
    if exported.report.inserted > 0 && !has_turns(exported) {
        reporter.warn(&"only system messages remain; added a placeholder user message [inserted]");
    }
    let messages = lcp_driver::plural(exported.messages.len(), "message");
    let overhead_tokens = match overhead_tokens {
        0 => String::new(),
        overhead_tokens => format!(" ({overhead_tokens} outside the messages)"),
    };
    let image_tokens = match image_tokens {
        0 => String::new(),
        image_tokens => format!(" ({image_tokens} of images)"),
    };
    let (tokens, plans) =
        (lcp_driver::plural(*tokens, "token"), lcp_driver::plural(*plans, "plan"));
    reporter.note(&format!("{messages}, {tokens}{image_tokens}{overhead_tokens}, {plans}"));
}

/// Reports the content of the pack that no message can have. The codes are the fields of the report
/// that have the counts.
fn report_left_out(candidates: &ExportCandidates<'_>, reporter: &dyn Reporter) {
    let report = &candidates.full_export.report;
    let provider = candidates.target.name();
    let invalid_ids = format!(" not valid for {provider}");
    for (count, action, noun, rest, code) in [
        (report.unanswered, "dropped", "tool call", " without a result", "unanswered"),
        (report.orphans, "dropped", "tool result", " without a call", "orphans"),
        (report.renamed, "replaced", "tool call ID", &*invalid_ids, "renamed"),
        (
            candidates.sidechains as u64, "dropped", "block", " of side conversations",
            "sidechain_blocks",
        ),
    ] {
        if count > 0 {
            reporter.warn(&format!("{action} {}{rest} [{code}]", lcp_driver::plural(count, noun)));
        }
    }
    let renamed = &candidates.full_export.renamed_tools;
    if !renamed.is_empty() {
        let named = renamed.iter().take(RENAMED_MAX).map(|(name, new)| format!("{name:?} → {new}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if renamed.len() > RENAMED_MAX { ", …" } else { "" };
        reporter.warn(&format!(
            "renamed {} ({} for {provider}): {named}{more} [renamed_tools]",
            lcp_driver::plural(renamed.len(), "tool"),
            if renamed.len() == 1 { "not a valid name" } else { "not valid names" }
        ));
    }
    for (block_type, count) in &report.left_out {
        let block_type = block_type.escape_debug();
        reporter.warn(&format!(
            "dropped {} of type {block_type}, which messages cannot contain [left_out]",
            lcp_driver::plural(*count, "item")
        ));
    }
}
