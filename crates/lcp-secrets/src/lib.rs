//! Finds secrets in text by their documented shapes, and replaces them.
//!
//! [`find`] returns the secrets of a text: private keys, tokens of clouds, code hosts, model
//! providers, payment, chat and package registries, and passwords in the URLs of databases. A
//! [`Redactor`] replaces them by numbered markers. [`kinds`] lists the kinds.
//!
//! ```
//! use lcp_secrets::{Redactor, find};
//!
//! let text = b"DATABASE_URL=postgres://api:m42ploz2wd@db.example.com/app";
//! let secrets = find(text);
//! assert_eq!((secrets[0].kind, secrets[0].line), ("database-password", 1));
//!
//! let redacted = Redactor::default().redact(text, &secrets);
//! let expected = b"DATABASE_URL=postgres://api:[secret database-password 1]@db.example.com/app";
//! assert_eq!(redacted, expected);
//! ```
//!
//! [`find`] leaves out the secrets on lines with the comment [`ALLOW`].
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | the shapes of secrets | `rules.rs` |
//! | the search | `scan.rs`; checks of a match: `check.rs`, `private_key.rs` |
//! | markers | `redact.rs` |
//! | secrets and markers in blocks | `blocks.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod blocks;
mod check;
mod literals;
mod private_key;
mod redact;
mod rules;
mod scan;

pub use blocks::{Renumbering, find_in_block, redact_block, reserve_markers};
pub use redact::Redactor;
pub use scan::{ALLOW, Secret, find, kinds};
