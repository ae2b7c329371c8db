//! Chat transcripts and tool results to blocks, and back (RFC 0010 §5).
//!
//! [`import`] makes the blocks of a pack of a transcript, and says what it did not
//! know; [`export`] makes messages of blocks, always a history that a provider takes.
//! No budget is known here, and no file is read.
//!
//! | look for | in |
//! |---|---|
//! | formats and their names | [`Format`], [`Target`] |
//! | what an import made, and did not know | [`Imported`], [`Report`] |
//! | what an export made, and left out | [`Exported`], [`ExportReport`] |
//! | the tags that blocks get | [`tags`] |

#[allow(dead_code)]
mod build;
pub mod diff;
mod error;
mod format;
mod forms;
mod imported;
#[allow(dead_code)]
mod json;
mod markdown;
pub mod numbered;
#[allow(dead_code)]
mod pictures;
pub mod tags;

pub use error::{Error, ErrorKind, Result};
pub use format::{Format, Target};
pub use imported::{Imported, Report, WARNINGS_MAX, Warning};

/// How a transcript is imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What the transcript is called: the title where it becomes a DOCUMENT.
    pub name: Option<String>,
}

/// Makes blocks of a transcript (RFC 0010 §5.1).
///
/// `bytes` is UTF-8, with or without a byte order mark. What is not known becomes an
/// EXTENSION and is counted in the report, never an error.
///
/// # Errors
///
/// If the bytes are no UTF-8, no JSON, nested deeper than 128 levels, or not at all
/// what the format says; with line and column, counted from 1.
pub fn import(format: Format, bytes: &[u8], options: &Options) -> Result<Imported> {
    match format {
        Format::Markdown => markdown::import(bytes, options),
        _ => Err(Error::looked_for(format, "a reader for it")),
    }
}
