//! The budget engine of LCP: decides what a model sees of a pack within a
//! token budget, and renders it. Never a token over, nothing lost silently,
//! the same bytes every time.
//!
//! Start at [`DefaultDriver`]: blocks and a [`DriverConfig`] in, text out. In
//! between lies a [`Plan`], plain data that says what each block becomes, why,
//! and what it costs; `report` gives it to programs.
//!
//! | look for | in |
//! |---|---|
//! | what decides, and what was decided | [`DriverConfig`], [`Plan`] |
//! | plans that keep what stands before | [`prompt_cache`] |
//! | named parts of a budget | [`shares`], the whole of it [`window`], what was used of it [`usage`] |
//! | levels for the segments of a conversation | [`segments`] |
//! | reports for programs, terminals and browsers | `report` (feature `report`) |
//! | parsing a rendered text into pieces or blocks | [`mod@parse`] |
//! | special tokens of chat formats in contents | [`special_tokens`] |
//!
//! Features: `report` and `serde` (on by default), `tracing` and
//! `metrics` (off): events of every decision, gauges of what was allocated; `rayon`
//! (off): what blocks cost is counted on all processors, with the same plan.
//!
//! The requirements are SPEC_08's, under its names; RFC 0002 is the engine and
//! the text, in every detail, RFC 0004 shares, levels and excerpts, RFC 0005
//! plans by value and stable plans. Where blocks come from is not known here:
//! decode them with `lcp-decoder`, or build them.
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

mod append;
mod block_view;
pub mod budget;
mod config;
mod dedup;
mod driver;
mod engine;
mod error;
mod excerpt;
mod facts;
mod meta;
mod observe;
pub mod parse;
mod plan;
pub mod prompt_cache;
mod ratio;
mod render;
#[cfg(feature = "report")]
pub mod report;
pub mod segments;
pub mod shares;
mod source;
pub mod special_tokens;
mod text;
pub mod usage;
mod values;

mod warning;
pub mod window;

pub use append::group_thousands;
pub use block_view::label::{
    LABEL_CHARS_MAX, escape_control, escape_control_json, escape_control_lines, is_terminal_control,
};
pub use block_view::{content_text, fence_info};
pub use budget::{Excerpt, RenderDecision, allocate_budget, resolve_priorities};
pub use config::{DriverConfig, Excerpts, Objective, OutputMode, Overflow, Verbosity};
pub use dedup::DedupSums;
pub use driver::{DefaultDriver, Rendered};
pub use error::DriverError;
pub use facts::{IndexCosts, RENDERER_REVISION};
pub use plan::{OptimalityBound, Plan, PlanItem, Reason, RollUp, ShareUsage};
pub use render::{append_text, render_placeholder};
pub use source::{FullReadReason, IndexedRender, PlanSource, SourceRenderError};
pub use text::{BlockText, BlockTexts};
pub use values::ValueModel;
pub use warning::{Warning, WarningCode};
