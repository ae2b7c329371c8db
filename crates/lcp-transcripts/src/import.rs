//! What an import made, and what it did not know.

use std::collections::BTreeMap;
use std::fmt;

use lcp_types::Block;

/// Warnings that a report holds; further ones are counted only.
pub const WARNINGS_MAX: usize = 100;

/// The blocks of a transcript.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImportResult {
    /// The blocks in the order of the transcript, each followed by its annotations.
    pub blocks: Vec<Block<'static>>,
    /// What there was.
    pub report: ImportReport,
}

/// What there was in a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// Messages, those that say nothing included.
    pub messages: u64,
    /// Tool calls.
    pub calls: u64,
    /// Results of tools.
    pub results: u64,
    /// Pictures that came with their data.
    pub images: u64,
    /// Calls that no result answers.
    pub unanswered: u64,
    /// Results that answer no call that is open.
    pub orphans: u64,
    /// What became an EXTENSION, by type.
    pub unknown: BTreeMap<String, u64>,
    /// What was passed over, by type: it says again what another part says, or is a message
    /// in which there is nothing (`empty`).
    pub skipped: BTreeMap<String, u64>,
    /// What was odd, the first [`WARNINGS_MAX`] of it.
    pub warnings: Vec<Warning>,
    /// Warnings beyond those.
    pub more_warnings: u64,
}

/// Something odd in a transcript that stopped nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// What is odd; text of the transcript in it is escaped.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl ImportReport {
    pub(crate) fn warn(&mut self, line: Option<usize>, message: String) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(Warning { line, message });
        } else {
            self.more_warnings += 1;
        }
    }
}
