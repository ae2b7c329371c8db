//! The report on fitted messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::export::ExportedPack;

/// A report on messages that were fitted into a budget. Messages that were appended are complete.
#[derive(Clone, Debug)]
pub struct FitReport {
    fitted: Arc<ExportedPack>,
    appended: Vec<Arc<ExportedPack>>,
    used_tokens: u64,
    budget: Option<u32>,
    is_appended: bool,
}

impl FitReport {
    pub(super) fn new(export: ExportedPack) -> Self {
        let (used_tokens, budget) = (export.messages.tokens, export.budget);
        let (fitted, appended) = (Arc::new(export), Vec::new());
        Self { fitted, appended, used_tokens, budget, is_appended: false }
    }

    /// Returns the report of the next turn, which has this budget.
    pub(super) fn with_budget(&self, budget: u32) -> Self {
        Self { budget: Some(budget), is_appended: true, ..self.clone() }
    }

    /// Returns the report with further messages.
    pub(super) fn append(mut self, export: ExportedPack) -> Self {
        self.used_tokens += export.message_tokens();
        self.appended.push(Arc::new(export));
        self
    }

    /// Returns the tokens of the request.
    pub const fn used_tokens(&self) -> u64 {
        self.used_tokens
    }

    /// Returns the tokens of the request other than messages, such as tools.
    pub fn overhead_tokens(&self) -> u64 {
        self.fitted.messages.overhead_tokens
    }

    /// Returns the name of the tokenizer.
    pub fn encoding(&self) -> &str {
        &self.fitted.messages.plan.encoding
    }

    /// Returns whether the texts are counted exactly.
    pub fn is_exact(&self) -> bool {
        self.fitted.messages.plan.exact
    }

    /// Returns whether the messages are those of the turn before, and new ones.
    pub const fn is_appended(&self) -> bool {
        self.is_appended
    }

    /// Returns the budget.
    pub const fn budget(&self) -> Option<u32> {
        self.budget
    }

    /// Returns the number of blocks that no message shows.
    pub fn omitted_blocks(&self) -> usize {
        self.fitted.messages.plan.rolled_up.map_or(0, |rolled_up| rolled_up.count)
    }

    /// Returns the number of blocks by decision.
    pub fn by_decision(&self) -> BTreeMap<&'static str, u64> {
        let mut decisions = BTreeMap::new();
        for export in self.exports() {
            for (name, count) in export.by_decision() {
                *decisions.entry(name).or_default() += count;
            }
        }
        decisions
    }

    /// Returns the report as JSON (`lcp.export.v1`).
    pub fn to_json(&self) -> Value {
        let mut report = self.fitted.to_json();
        let mut messages = Vec::new();
        let (mut calls, mut first_block) = (0, 0);
        for (at, export) in self.exports().enumerate() {
            let exported = &export.messages.exported;
            // Appended messages need no first message of the user.
            let given = exported.messages.iter().filter(|it| at == 0 || !it.blocks.is_empty());
            messages.extend(given.map(|message| {
                let blocks: Vec<_> = message.blocks.iter().map(|at| at + first_block).collect();
                json!({ "role": message.role, "blocks": blocks })
            }));
            calls += exported.report.calls;
            first_block += export.messages.plan.items.len();
        }
        report["budget"] = self.budget.into();
        report["used_tokens"] = self.used_tokens.into();
        let image_tokens = self.exports().map(|export| export.messages.image_tokens);
        report["image_tokens"] = image_tokens.sum::<u64>().into();
        report["messages"] = messages.into();
        report["calls"] = calls.into();
        report["by_decision"] = json!(self.by_decision());
        report["appended"] = self.appended.len().into();
        report
    }

    fn exports(&self) -> impl Iterator<Item = &ExportedPack> {
        std::iter::once(&self.fitted).chain(&self.appended).map(|export| &**export)
    }
}
