//! Tracks the tokens of LLM conversations, and hands a session over to a new one before its context
//! window is full. Messages and hand-offs are stored durably.
//!
//! Start with [`SessionContinuityService`]: record every message, check at the end of each turn if
//! a hand-off is due, resume a prepared hand-off, and continue under the id of the new
//! conversation. The service needs a [`store`] and a token estimator.
//!
//! | look for | in |
//! |---|---|
//! | databases | [`store`] |
//! | when a hand-off is due | [`Thresholds`], [`TriggerMode`], [`HandoffDecision`] |
//! | the contents of a hand-off, and the share of it that a text retains | [`SessionHandoff`], [`coverage`] |
//! | the prompt of the next session | [`ContinuationDirective`], [`resume_prompt`] |
//! | summaries, anchors and tasks by other rules | [`extract`] |
//! | a program that is run with limits | [`command`] |
//! | compaction within a session | [`compact`] |
//! | the usage of a session after each answer | [`ConversationUsage`] |
//! | tokens alone, without a store | [`ConversationTokenTracker`] |
//! | events | [`ContinuityEvent`] |
//!
//! Features: `sqlite` (on by default) and `postgres` add stores that outlive the process. `metrics`
//! and `tracing` (off by default) report token usage and events. RFC 0007 is the full
//! specification.
//!
//! ```
//! use std::sync::Arc;
//!
//! use lcp_continuity::store::{MemoryStore, NewConversation};
//! use lcp_continuity::{Message, CheckOutcome, SessionContinuityService};
//! use lcp_tokens::HeuristicEstimator;
//!
//! let store = Arc::new(MemoryStore::new());
//! let service = SessionContinuityService::new(store, Arc::new(HeuristicEstimator));
//! let mut id = "parser".to_owned();
//! let (window_tokens, output_reserve_tokens) = (2_000, 0);
//! service.open(&NewConversation { id: id.clone(), window_tokens, output_reserve_tokens })?;
//! for step in 1..=20 {
//!     service.record_message(&id, Message::user(format!("Now step {step}, please.")))?;
//!     service.record_message(&id, Message::assistant("That is done. ".repeat(50)))?;
//!     if let CheckOutcome::Prepared(handoff) = service.check(&id)?.outcome {
//!         id = service.resume_from_handoff(&handoff.handoff_id)?.new_conversation_id;
//!     }
//!     // What the model is to see now.
//!     assert!(!service.context(&id)?.is_empty());
//! }
//! assert_ne!(id, "parser");
//! # Ok::<(), lcp_continuity::Error>(())
//! ```
//!
//! **After a crash**, everything that was recorded is still in the store:
//!
//! - [`reopen(id)`](SessionContinuityService::reopen) the conversation. On another machine, or with
//!   a [`holder`](ContinuityConfig::holder) of your own, this succeeds once the lease has expired.
//! - If [`store.latest(id)`](store::Store::latest) returns a hand-off, it was prepared but not
//!   resumed: call [`resume_from_handoff`](SessionContinuityService::resume_from_handoff).
//! - On [`Continued { into, .. }`](store::Error::Continued) or
//!   [`AlreadyResumed { into, .. }`](store::Error::AlreadyResumed), call `reopen(into)`.
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | messages, anchors, tasks, state, hand-offs as data | `model/` |
//! | the service | `service/`: hand-offs in `build_handoff.rs`, parents of a conversation in `open.rs`, growing transcripts in `record.rs` |
//! | token usage | `tracker.rs`; its history: `usage_log.rs` |
//! | thresholds and the trigger | `trigger/` |
//! | a hand-off as a pack | `handoff_pack.rs` |
//! | rules for anchors, tasks, state, summaries | `extract/` |
//! | programs that are run with limits | `command/` |
//! | the prompt of the next session | `resume_prompt/`; the share of a hand-off that a text retains: `coverage.rs` |
//! | compaction within a session | `compact/` |
//! | pairs of tool calls and results | `tool_pairs.rs` |
//! | stores | `store/`: rules in `tables.rs`; `memory.rs`, `sqlite/`, `postgres/` |
//! | names of holders, and whether their processes have ended | `holder.rs` |
//! | events and metrics | `events.rs`, `observe.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod command;
pub mod compact;
pub mod coverage;
mod error;
mod events;
pub mod extract;
mod handoff_pack;
mod holder;
mod model;
mod observe;
pub mod resume_prompt;
mod service;
pub mod store;
mod tool_pairs;
mod tracker;
mod trigger;
mod usage_log;

pub use error::{Error, Result};
pub use events::{
    ContextLimitApproachingEvent, ContinuityEvent, SessionHandoffPreparedEvent, SessionResumedEvent,
};
pub use handoff_pack::PackageError;
pub use holder::holder_has_ended;
pub use model::{
    AnchorKind, AnchorPoint, AnchorSource, Clock, ContinuationDirective, Coverage, DirectiveStyle,
    HandoffDecision, HandoffMetadata, HandoffOptions, ManualClock, Message, OpenCall, PendingTask,
    Recorded, ReportedUsage, ResumedSession, SessionHandoff, SessionState, Speaker, SystemClock,
    TaskStatus, Timestamp, TokenUsage, UsageSource,
};
pub use service::{
    CheckOutcome, CheckResult, ContinuityConfig, ConversationUsage, ResumeOptions,
    SessionContinuityService,
};
pub use tracker::ConversationTokenTracker;
pub use trigger::{Thresholds, ThresholdsError, TriggerMode};
