//! Compaction of sessions, packs and transcripts (RFC 0007 §9).

use std::sync::Arc;

use lcp_continuity::Message;
use lcp_continuity::compact::{Compaction, CompactionError, CompactionOptions, MEMORY_HEADING};
use lcp_continuity::store::MemoryStore;
use lcp_driver::group_thousands;
use lcp_driver::window::ContextWindow;
use lcp_encoder::PackWriter;
use lcp_tokens::TokenEstimator;
use lcp_types::{Priority, Role, Tag};
use serde_json::{Value, json};

use super::HandoffSettings;
use super::conversation_status::ConversationStatus;
use super::service::{NewMessages, Sessions};
use super::window::Window;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};

/// The name of the conversation of a file, in a store that is never written to disk.
const FILE: &str = "file";

/// The category of a memory: the section of the budget that it belongs to.
const MEMORY_CATEGORY: &str = "memory";

/// The options of a compaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompactOptions {
    /// The sizes of the result.
    pub sizes: CompactionOptions,
    /// `true` to compact only if less than 20 % of the budget is left, and only if it helps.
    pub only_if_due: bool,
    /// `true` to change nothing.
    pub is_dry_run: bool,
}

/// The result of a compaction.
#[derive(Debug)]
pub struct CompactionOutcome {
    /// The id of the conversation; `None` for a file.
    pub conversation: Option<String>,
    /// The status after the call.
    pub status: ConversationStatus,
    /// The compaction; `None` if none is due, or if the messages fit the target.
    pub compaction: Option<Compaction>,
    /// The reason if there is no compaction.
    pub skip_reason: Option<String>,
    /// `true` if the compaction was only planned.
    pub is_dry_run: bool,
    /// The messages that the window shows after the call.
    pub context: Vec<Message>,
}

impl Sessions {
    /// Compacts a conversation. All its messages stay in the store.
    ///
    /// A conversation that fits the target is not compacted, because a second compaction would
    /// only shorten the memory.
    pub fn compact(&self, id: &str, options: &CompactOptions) -> Result<CompactionOutcome> {
        let _guard = self.lock();
        self.with_lease(id, || {
            let service = &self.service;
            let mut skip_reason = self.reason_to_skip(id, options)?;
            let compacted = if skip_reason.is_some() {
                Ok(None)
            } else if options.is_dry_run {
                service.inspect_compaction(id, &options.sizes).map(Some)
            } else {
                service.compact(id, &options.sizes).map(Some)
            };
            let compaction = compacted.or_else(|error| match error {
                // A caller that compacts after each turn would fail from here on.
                lcp_continuity::Error::Compaction(CompactionError::Futile { .. })
                    if options.only_if_due =>
                {
                    skip_reason = Some(format!("a compaction is due, but {error}"));
                    Ok(None)
                }
                error => Err(error),
            })?;
            Ok(CompactionOutcome {
                conversation: Some(id.to_owned()),
                status: self.status(id)?,
                compaction,
                skip_reason,
                is_dry_run: options.is_dry_run,
                context: service.context(id)?,
            })
        })
    }

    fn reason_to_skip(
        &self,
        id: &str,
        options: &CompactOptions,
    ) -> lcp_continuity::Result<Option<String>> {
        let status = self.status(id)?;
        if options.only_if_due && !status.is_compaction_due {
            let percent = status.budget.status.percent;
            return Ok(Some(format!("no compaction is due: {percent}% of the budget is used")));
        }
        let window =
            ContextWindow::from_model(status.window).with_reserves(0, status.output_reserve);
        let target = options.sizes.target_tokens(&window)?;
        let used = status.decision.current_usage.total_tokens;
        let fits = || {
            let [used, target] = [used, target].map(|tokens| group_thousands(tokens.into()));
            format!("no compaction is needed: {used} tokens are within the target of {target}")
        };
        Ok((used <= target).then(fits))
    }
}

/// Compacts the messages of a pack or a transcript for this window.
///
/// # Errors
///
/// Returns an error if a compaction would not help.
pub fn compact_messages(
    messages: Vec<Message>,
    window: &Window,
    counter: Arc<dyn TokenEstimator>,
    handoff: &HandoffSettings,
    config: &Config,
    options: &CompactOptions,
) -> Result<CompactionOutcome> {
    let store = Arc::new(MemoryStore::new());
    let sessions = Sessions::new(store, counter, handoff, &config.continuity);
    let sessions = sessions.with_usage(config.usage);
    sessions.record_usage(FILE, NewMessages::Append(messages), None, Some(window), true)?;
    Ok(CompactionOutcome { conversation: None, ..sessions.compact(FILE, options)? })
}

impl CompactionOutcome {
    /// Returns the messages that the window shows as a pack. The memory and other system messages
    /// have the priority high. Among the other messages, newer ones have a higher rank.
    ///
    /// # Errors
    ///
    /// Returns an error if the messages exceed a limit of packs.
    pub fn to_pack(&self) -> Result<Vec<u8>> {
        let encode = || -> lcp_encoder::Result<Vec<u8>> {
            let mut pack = PackWriter::default();
            for (rank, message) in self.context.iter().enumerate() {
                let mut added = pack.add(&message.block)?;
                if message.role() == Role::System {
                    added.priority(Priority::High)?;
                    if message.text().starts_with(MEMORY_HEADING) {
                        added.tag(&Tag::new(Tag::CATEGORY, MEMORY_CATEGORY))?;
                    }
                } else {
                    added.tag(&Tag::new(Tag::RANK, rank.to_string()))?;
                }
                if let Some(call) = message.answers() {
                    added.tag(&Tag::new(Tag::TOOL_CALL_ID, call))?;
                }
            }
            pack.finish()
        };
        encode().map_err(|error| {
            let kind = if error.is_limit() { ErrorKind::Limit } else { ErrorKind::Io };
            Error::new(kind, format!("{error} (the compacted messages)"))
        })
    }

    /// Returns the warnings about content that does not fit into the memory.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.compaction.iter().flat_map(|compaction| &compaction.warnings);
        warnings.map(ToString::to_string).collect()
    }

    /// Returns the outcome as JSON (`lcp.compaction.v1`).
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Self { status, compaction, .. } = self;
        json!({
            "schema": "lcp.compaction.v1",
            "conversation": self.conversation,
            "dry_run": self.is_dry_run,
            "window": status.window,
            "output_reserve": status.output_reserve,
            "epoch": status.decision.current_usage.epoch,
            "used_tokens": status.decision.current_usage.total_tokens,
            "compaction": compaction.as_ref().map(compaction_json),
            "reason": self.skip_reason,
            "warnings": self.warnings(),
        })
    }
}

fn compaction_json(compaction: &Compaction) -> Value {
    let archived = compaction.archived.iter().map(|chunk| {
        json!({
            "first": chunk.first,
            "last": chunk.last,
            "messages": chunk.messages,
            "tokens": chunk.tokens,
            "summarized": chunk.is_summarized,
        })
    });
    let memory = compaction.memory.as_ref();
    let memory =
        memory.map(|memory| json!({ "tokens": memory.tokens, "text": memory.message.text() }));
    let sections = compaction.budget.shares().iter();
    let sections = sections.map(|share| json!({ "name": share.name, "tokens": share.tokens }));
    json!({
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "overhead_tokens": compaction.overhead_tokens,
        "target_tokens": compaction.target_tokens,
        "system_messages": compaction.system.len(),
        "memory": memory,
        "recent": compaction.recent.iter().map(|message| message.position).collect::<Vec<_>>(),
        "archived": archived.collect::<Vec<_>>(),
        "budget": {
            "tokens": compaction.budget.total(),
            "sections": sections.collect::<Vec<_>>(),
        },
        "lines": compaction.lines(),
    })
}
