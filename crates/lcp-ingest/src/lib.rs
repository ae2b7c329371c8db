//! Converts folders, git changes and standard input into blocks.
//!
//! Start at [`ingest`], which takes paths and returns blocks and a report of the skipped files, or at
//! [`ingest_into`], which does not need memory for all blocks. It finds the files that ripgrep finds, detects their types ([`FileType`]) and sets their priorities
//! by [`Rules`]. The crate prints nothing.
//!
//! [`outline`] shortens texts without a model. The feature `summaries` adds `FileSummarizer`, which
//! makes outlines or asks a program, and `FileConverter`, which converts files of other formats by
//! programs.
//!
//! ```
//! use lcp_ingest::{IngestOptions, SkipReason, ingest};
//!
//! # let folder = std::env::temp_dir().join(format!("lcp-ingest-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! std::fs::write(folder.join("main.rs"), "fn main() {}\n")?;
//! std::fs::write(folder.join("data.bin"), "\0\0\0")?;
//!
//! let options = IngestOptions { paths: vec![folder.clone()], ..IngestOptions::default() };
//! let result = ingest(&options)?;
//!
//! // A tree of the folder, and the code.
//! assert_eq!(result.blocks.len(), 2);
//! assert_eq!(result.report.files[0].path, "main.rs");
//! assert_eq!(result.report.skipped[0].path, "data.bin");
//! assert_eq!(result.report.skipped[0].reason, SkipReason::Binary);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | from paths to blocks | `ingest.rs`; reading: `read.rs`; options and report: `options.rs`, `report.rs`; the receiver of blocks: `sink.rs` |
//! | the files of a folder | `walk.rs`, `ignore_files.rs`, `defaults.rs`, `submodules.rs`; labels: `paths.rs` |
//! | `.gitattributes` | `attributes_file.rs` |
//! | types of files | `file_type.rs`; character sets: `charset.rs`; notebooks: `notebook.rs`; Git LFS: `git_lfs.rs` |
//! | priorities, categories and pins | `rules.rs`, `globs.rs` |
//! | secrets | `secrets.rs` |
//! | changes since a revision; the last commits | `changes.rs`, `git_paths.rs`, `git.rs`; `commit_log.rs`, `history.rs` |
//! | the tree of all files | `file_tree.rs`; the largest folders: `folder_sizes.rs` |
//! | summaries | `summaries.rs` |
//! | converters of other formats | `read/convert.rs`; by programs: `converter.rs` |
//! | programs, and cached answers | `programs.rs`, `cache.rs` |
//! | lines of an outline | `outline/builder.rs`; documents: `outline/document.rs` |
//! | declarations of code | `outline/code/`: `walk.rs`, `item.rs`, limits in `parse.rs` |
//! | nodes of a language | a table in `outline/code/languages.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod attributes_file;
mod cache;
mod changes;
mod charset;
mod commit_log;
#[cfg(feature = "summaries")]
mod converter;
mod defaults;
mod error;
mod file_tree;
mod file_type;
mod folder_sizes;
mod git;
mod git_lfs;
mod git_paths;
mod globs;
mod history;
mod ignore_files;
mod ingest;
mod notebook;
mod options;
pub mod outline;
mod paths;
#[cfg(feature = "summaries")]
mod programs;
mod read;
mod report;
mod rules;
mod secrets;
mod sink;
mod submodules;
#[cfg(feature = "summaries")]
mod summaries;
mod walk;

pub use cache::{Cache, cached_answers};
pub use charset::Charset;
#[cfg(feature = "summaries")]
pub use converter::{ConvertCommand, FileConverter};
pub use error::{Error, ErrorKind, Result};
pub use file_type::FileType;
pub use git::GIT_ENVIRONMENT;
pub use globs::{Globs, Pattern};
pub use history::{Commit, commits, committed_files};
pub use ingest::{IngestResult, ingest, ingest_into};
pub use options::{
    ConvertFiles, FILE_BYTES_MAX, FileToConvert, FileToSummarize, IngestOptions, Input, OpenFile,
    Progress, Summarize, TOTAL_BYTES_MAX, WalkOptions,
};
pub use report::{IngestReport, IngestedFile, SecretFinding, SkipReason, SkippedFile};
pub use rules::{BlockAttributes, Rule, Rules, default_priority};
pub use secrets::{SecretCollector, SecretException, SecretFilter, SecretPolicy};
pub use sink::BlockSink;
#[cfg(feature = "summaries")]
pub use summaries::FileSummarizer;
