//! Decides what a model sees of a pack within a token budget, and renders it. The text never
//! exceeds the budget, every omission is reported, and the same input gives the same bytes.
//!
//! Start at [`DefaultDriver`]: blocks and a [`DriverConfig`] in, text out. The crate is five ideas,
//! in this order:
//!
//! | idea | in |
//! |---|---|
//! | what each level of detail of a block costs | `cost`, [`IndexCosts`], [`ValueModel`] |
//! | allocation: which level each block gets, by tiers, value or shares | `allocate`, [`shares`] |
//! | the plan as plain data: what each block becomes, why, and its tokens | [`Plan`], `planner` |
//! | rendering: the text of a plan | `render`, `assemble` |
//! | parsing: a text back into its parts and blocks | [`mod@parse`] |
//!
//! `planner` runs the first three for a [`DriverConfig`]; `indexed` does it with an index in place
//! of the blocks, and [`prompt_cache`] keeps the beginning of the previous text. Also: [`window`]
//! and [`usage`] of a model's context, levels for the [`segments`] of a conversation,
//! [`special_tokens`] in content, and the `report` (feature `report`).
//!
//! Features: `report` and `serde` (saved plans as JSON) are on by default. `rayon` counts on all
//! processors, `tracing` and `metrics` report decisions; none changes a plan.
//!
//! The requirements are SPEC_08's, under its names. RFC 0002 describes the engine and the text, RFC
//! 0004 shares, levels and excerpts, RFC 0005 plans by value and stable plans.
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

// What each level of detail of a block costs.
mod block_view;
mod cost;
mod detail;
mod excerpt;
mod objective;

// Which level each block gets.
mod allocate;
pub mod segments;
pub mod shares;
pub mod window;

// The plan, as plain data, and what makes it.
mod config;
mod indexed;
mod plan;
mod planner;
pub mod prompt_cache;

// The text of a plan.
mod assemble;
mod driver;
mod render;

// A text back into its parts and blocks.
pub mod parse;

// Secondary: what plans say, and what they share.
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

/// The items of SPEC_08's budget engine, and the estimators it counts with.
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
pub use cost::IndexCosts;
pub use dedup::DedupStats;
pub use detail::{Excerpt, RENDERER_REVISION};
pub use driver::{DefaultDriver, Rendered};
pub use error::DriverError;
pub use fmt::group_thousands;
pub use indexed::{FullReadReason, IndexedRender, PlanSource, SourceRenderError};
pub use meta::resolve_priorities;

pub use objective::ValueModel;
pub use plan::{
    DecisionReason, OptimalityBound, Plan, PlanItem, RenderDecision, RollUp, ShareUsage,
};
pub use planner::allocate_budget;
pub use render::{append_text, render_placeholder};
pub use warning::{Warning, WarningCode};
