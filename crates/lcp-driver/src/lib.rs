//! Decides how much of each block of a pack a model sees within a token budget, and renders the
//! text. The text never exceeds the budget, every omission is reported, and the same input gives
//! the same bytes.
//!
//! Start at [`DefaultDriver`]: it takes blocks and a [`DriverConfig`], and returns text. The crate
//! has five stages, in this order:
//!
//! | stage | in |
//! |---|---|
//! | costs: the tokens of each detail level of a block | `cost`, [`IndexCosts`], [`ScanCosts`], [`ValueModel`] |
//! | allocation: the level of each block, by tiers, value or shares | `allocate`, [`shares`] |
//! | plan: decision, reason and tokens of each block, as plain data | [`Plan`], `planner` |
//! | rendering: the text of a plan | `render`, `assemble` |
//! | parsing: a rendered text back into its parts and blocks | [`mod@parse`] |
//!
//! `planner` runs the first three stages for a [`DriverConfig`]. `indexed` does the same from the
//! index of a pack, without reading all blocks. [`prompt_cache`] keeps the beginning of the
//! previous text unchanged. Further modules: [`window`] and [`usage`] for the context window of a
//! model, [`segments`] for the compression levels of a conversation, [`special_tokens`] for control
//! tokens in content, and `report` (feature `report`).
//!
//! Features: `report` and `serde` (saved plans as JSON) are on by default. `rayon` counts tokens on
//! all processors. `tracing` and `metrics` report decisions. No feature changes a plan.
//!
//! The requirements and their names come from SPEC_08. RFC 0002 describes the engine and the text,
//! RFC 0004 shares, levels and excerpts, and RFC 0005 plans by value and stable plans.
//!
//! ```
//! use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
//! use lcp_types::{Block, Lang, Role};
//!
//! let source = "fn f() {}\n".repeat(200);
//! let blocks = [
//!     Block::code(Lang::Rust, "src/f.rs", source.as_str()).with_summary("two hundred functions"),
//!     Block::conversation(Role::User, "Which one is slow?"),
//! ];
//! let config = DriverConfig {
//!     token_budget: Some(60),
//!     mode: OutputMode::Minimal,
//!     ..DriverConfig::default()
//! };
//! assert_eq!(
//!     DefaultDriver::default().render(&blocks, &config)?,
//!     "[code src/f.rs (summary)]\ntwo hundred functions\n[user] Which one is slow?\n",
//! );
//! # Ok::<(), lcp_driver::DriverError>(())
//! ```
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | tokens of each detail level | `cost/`; for the index of a pack: `cost/index.rs`, while the pack is read: `cost/index/scan.rs` |
//! | detail levels and modes; options; values | `detail.rs`; `config.rs`; `objective.rs` |
//! | allocation by tiers; by value | `allocate/tiers.rs`; `allocate/knapsack/`. Spending: `allocate/ledger.rs` |
//! | from blocks to a plan | `planner/mod.rs`, `planner/scan.rs`; reasons of decisions: `planner/decisions.rs` |
//! | pinned blocks, tool calls, the newest user turn | `planner/groups.rs` |
//! | overflow; token sums of a plan | `planner/overflow.rs`; `planner/plan_builder.rs` |
//! | shares; the share that pays for a block | `shares/`; `planner/share_budgets.rs` |
//! | stable plans; saved plans | `planner/prefix_stable.rs`; `prompt_cache/` |
//! | plans by an index | `indexed/` |
//! | the text of a block: head, content, label | `block_view/`; the cut of an excerpt: `excerpt.rs` |
//! | the text of a plan | `assemble.rs`, `render/`: `xml.rs`, `markdown.rs`, `minimal.rs` |
//! | escaping of content that looks like a delimiter | `render/collision.rs`, `render/commonmark.rs` |
//! | placeholders and the roll-up line | `render/placeholder.rs` |
//! | parsing of rendered text | `parse/`; into blocks: `parse/blocks.rs`; trees and hunks: `parse/bodies.rs` |
//! | the report | `report/`: `json.rs`, `table.rs`, `html.rs`; shared rows `rows.rs`, sums `metrics.rs`, names `display_names.rs` |
//! | annotations; duplicates | `meta.rs`; `dedup.rs` |
//! | the window of a model; its usage | `window.rs`; `usage.rs` |
//! | segments of a conversation | `segments/`: phases and levels in `assign.rs`, the result in `allocation.rs`; of a pack: `pack.rs`, `planner/segmented.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

// The costs of the detail levels of a block.
mod block_view;
mod cost;
mod detail;
mod excerpt;
mod objective;

// The choice of a level for each block.
mod allocate;
pub mod segments;
pub mod shares;
pub mod window;

// The plan as plain data, and the code that makes it.
mod config;
mod indexed;
mod plan;
mod planner;
pub mod prompt_cache;

// The text of a plan.
mod assemble;
mod driver;
mod render;

// The parser of rendered texts.
pub mod parse;

// Supporting modules: statistics, errors and helpers that the stages share.
mod dedup;
mod error;
mod fixed_point;
mod fmt;
mod meta;
#[cfg(feature = "report")]
pub mod report;
pub mod special_tokens;
mod telemetry;
pub mod usage;
mod warning;

/// The items of SPEC_08's budget engine, and the token estimators.
pub mod budget {
    pub use lcp_tokens::{CodeAwareEstimator, HeuristicEstimator, TokenEstimator};

    pub use crate::meta::resolve_priorities;
    pub use crate::plan::RenderDecision;
    pub use crate::planner::allocate_budget;
}

pub use assemble::{BlockText, BlockTexts};
pub use block_view::label::{
    LABEL_CHARS_MAX, escape_control, escape_control_json, escape_control_lines, is_terminal_control,
};
pub use block_view::{content_text, fence_info};
pub use config::{DriverConfig, Excerpts, Objective, OutputMode, Overflow, Verbosity};
pub use cost::{IndexCosts, ScanCosts};
pub use dedup::DedupStats;
pub use detail::{Excerpt, RENDERER_REVISION};
pub use driver::{DefaultDriver, Rendered};
pub use error::DriverError;
pub use fmt::{group_thousands, plural};
pub use indexed::{FullReadReason, IndexedRender, PlanSource, SourceRenderError};
pub use meta::resolve_priorities;

pub use objective::ValueModel;
pub use plan::{
    DecisionReason, OptimalityBound, Plan, PlanItem, PlanSegment, RenderDecision, RollUp,
    ShareUsage,
};
pub use planner::{Planner, allocate_budget};
pub use render::{append_text, render_placeholder};
pub use warning::{Warning, WarningCode};
