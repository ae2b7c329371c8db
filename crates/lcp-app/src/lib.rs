//! The jobs of every front end of LCP: the command, the MCP server, bindings and programs.
//!
//! A job is a struct of options with defaults and a method that returns data. Settings come from an
//! `lcp.toml` ([`config::ConfigSource`]) or are the defaults. Options take precedence over them.
//! While a job runs, warnings and progress go to a [`Reporter`]. Nothing is printed.
//!
//! # Example: a folder within a budget
//!
//! ```
//! # #[cfg(feature = "full")]
//! # {
//! use std::path::Path;
//!
//! use lcp_app::Warnings;
//! use lcp_app::budget::BudgetOptions;
//! use lcp_app::config::ConfigSource;
//! use lcp_app::pack::PackOptions;
//! use lcp_app::render::{RenderJob, RenderOptions};
//!
//! let config = ConfigSource::Nearest.read()?;
//! let reporter = Warnings::default();
//!
//! let mut options = PackOptions::default();
//! options.paths.push("src".into());
//! let (pack, _) = options.pack(&config, &reporter)?;
//!
//! let options = RenderOptions {
//!     budget: BudgetOptions { budget: Some(2000), ..BudgetOptions::default() },
//!     ..RenderOptions::default()
//! };
//! let job = RenderJob::new(Path::new("src.lcp"), &pack, &options, &config, &reporter)?;
//! let rendered = job.render(&reporter)?;
//! assert!(rendered.plan.used_tokens <= 2000);
//! assert!(rendered.text.contains("lib.rs"));
//! # }
//! # Ok::<(), lcp_app::Error>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`pack`], [`file_list`], [`git_source`] | packs of folders, git changes and standard input; lists of files; clones of repositories |
//! | [`render`] | the render job: options, setup, text and plan |
//! | [`import`], [`export`] | blocks of transcripts; messages for chat APIs within a budget |
//! | [`fit_messages`] | messages of a chat API within a budget, in the shape of the input |
//! | [`parse`] | blocks of rendered texts |
//! | [`stats`], [`inspect`], [`diff`], [`naive_markdown`] | figures, lists and differences of packs |
//! | [`rank`] | the files and passages of a pack that a question needs |
//! | [`validate`] | validation of packs with costs and hand-offs |
//! | [`append`], [`annotate`] | changes of packs in place; properties of selected blocks |
//! | [`merge`], [`recover`] | merged packs; recovery of damaged packs |
//! | [`segments`] | conversations of which each part is shown at one level |
//! | [`sessions`] | recording, handing over and resuming conversations |
//! | [`setup`], [`hook`] | registration with agents; the hooks that agents call |
//! | [`secrets`] | secrets in imported, recorded, exported and appended blocks |
//! | [`budget`], [`tokenizer`], [`dedup`], [`prompt_cache`], [`special_tokens`], [`pack_output`], [`summaries`], [`converters`] | options that several jobs share, and their resolved forms |
//! | [`config`], [`names`] | `lcp.toml`; the names of values in flags, settings and tools |
//! | [`find_block`], [`content_bytes`] | blocks of a pack by index or label, and their bytes |
//! | [`files`], [`interrupt`] | atomic writing of files; cleanup of an interrupted process |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    all(feature = "messages", not(feature = "full")),
    allow(dead_code, unused_imports, reason = "only sessions use some functions")
)]
#![allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "errors describe themselves"
)]

#[cfg(feature = "messages")]
pub mod annotate;
pub mod append;
pub mod budget;
pub mod config;
#[cfg(feature = "messages")]
pub mod converters;
mod costs;
pub mod dedup;
pub mod diff;
mod error;
#[cfg(feature = "messages")]
pub mod export;
#[cfg(feature = "messages")]
pub mod file_list;
pub mod files;
mod find_block;
#[cfg(feature = "messages")]
pub mod fit_messages;
#[cfg(feature = "messages")]
mod folders;
#[cfg(feature = "messages")]
pub mod git_source;
#[cfg(feature = "agents")]
pub mod hook;
mod html_report;
#[cfg(feature = "messages")]
pub mod import;
pub mod inspect;
pub mod interrupt;
pub mod merge;
pub mod naive_markdown;
pub mod names;
#[cfg(feature = "messages")]
pub mod pack;
#[cfg(feature = "messages")]
pub mod pack_file;
pub mod pack_output;
pub mod parse;
pub mod prompt_cache;
#[cfg(feature = "messages")]
pub mod rank;
pub mod recover;
pub mod render;
mod reporter;
#[cfg(feature = "messages")]
pub mod secrets;
#[cfg(feature = "messages")]
pub mod segments;
#[cfg(feature = "server")]
pub mod server;
mod session_records;
#[cfg(feature = "full")]
pub mod sessions;
#[cfg(feature = "agents")]
pub mod setup;
pub mod special_tokens;
pub mod stats;
#[cfg(feature = "messages")]
pub mod summaries;
mod token_tree;
pub mod tokenizer;
#[cfg(feature = "messages")]
pub mod validate;

#[cfg(feature = "messages")]
pub use config::parse_size;
pub use error::{Error, ErrorKind, FailedFile, Result};
pub use find_block::{block_at, block_label, block_labelled, content_bytes, find_block};
#[cfg(feature = "messages")]
pub use folders::{create_private, user_data_dir};
pub use reporter::{Progress, Reporter, Silent, Warnings};
pub use token_tree::TreeEntry;

// The example is a test here, because the crate has no other integration tests.
#[cfg(test)]
extern crate self as lcp_app;
#[cfg(all(test, feature = "full"))]
#[expect(dead_code, reason = "`main` reads the arguments of the process")]
#[path = "../examples/pack_and_render.rs"]
mod pack_and_render;

#[cfg(all(test, feature = "full"))]
#[test]
fn example_packs_and_renders() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    pack_and_render::pack_and_render(sources, 1_000).unwrap();
}
