//! Everything that front ends of LCP share: the command, the MCP server, and programs.
//!
//! Start at [`render::RenderJob`]: a pack within a token budget. Options are plain structs with
//! defaults; settings are those of an `lcp.toml` ([`config::Config`]) or the defaults. Warnings go
//! to a [`Reporter`] while a job runs; nothing is printed.
//!
//! ```
//! use std::path::Path;
//!
//! use lcp_app::Silent;
//! use lcp_app::budget::BudgetOptions;
//! use lcp_app::config::Config;
//! use lcp_app::render::{RenderJob, RenderOptions};
//! use lcp_driver::OutputMode;
//! use lcp_driver::report::{TableOptions, to_table};
//! use lcp_types::{Block, Lang, Role};
//!
//! let blocks = [
//!     Block::conversation(Role::User, "Why does it panic?"),
//!     Block::code(Lang::Rust, "src/main.rs", "fn main() { panic!() }"),
//! ];
//! let pack = lcp_encoder::encode(&blocks, Default::default()).unwrap();
//!
//! let options = RenderOptions {
//!     budget: BudgetOptions { budget: Some(200), ..BudgetOptions::default() },
//!     mode: OutputMode::Markdown,
//!     ..RenderOptions::default()
//! };
//! let name = Path::new("question.lcp");
//! let job = RenderJob::new(name, &pack, &options, Config::default(), &Silent)?;
//! let rendered = job.render(&Silent)?;
//! assert!(rendered.text.contains("fn main()"));
//! assert!(rendered.plan.used_tokens <= 200);
//! println!("{}", to_table(&rendered.plan, &TableOptions::default()));
//! # Ok::<(), lcp_app::Error>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`render`] | the render job: options, setup, text and plan |
//! | [`pack`] | packs of folders, git changes and standard input |
//! | [`append`] | packs that are changed in place |
//! | [`export`] | messages for chat APIs within a budget |
//! | [`sessions`] | recording, handing over and resuming conversations |
//! | [`budget`], [`tokenizer`], [`dedup`], [`prompt_cache`], [`special_tokens`], [`pack_output`] | options, each with what it puts in force |
//! | [`config`], [`names`] | `lcp.toml`; the names of values in flags, settings and tools |
//! | [`validate`] | validation of packs with costs and hand-offs |
//! | [`files`], [`interrupt`] | files that appear whole; what is undone where a process ends early |

#![allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "an error says what was wrong"
)]

pub mod append;
pub mod budget;
pub mod config;
mod costs;
pub mod dedup;
pub mod diff;
mod error;
#[cfg(feature = "full")]
pub mod export;
pub mod files;
mod find_block;
#[cfg(feature = "full")]
pub mod folders;
#[cfg(feature = "full")]
pub mod import;
pub mod inspect;
pub mod interrupt;
pub mod naive_markdown;
pub mod names;
#[cfg(feature = "full")]
pub mod pack;
pub mod pack_output;
pub mod parse;
pub mod prompt_cache;
pub mod render;
mod reporter;
#[cfg(feature = "full")]
pub mod sessions;
pub mod special_tokens;
pub mod stats;
#[cfg(feature = "full")]
pub mod summaries;
pub mod tokenizer;
#[cfg(feature = "full")]
pub mod validate;

#[cfg(feature = "full")]
pub use config::parse_size;
pub use error::{Error, ErrorKind, Result};
pub use find_block::{block_at, block_labelled, content_bytes, find_block};
pub use reporter::{Progress, Reporter, Silent, Warnings};
