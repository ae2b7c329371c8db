//! The result of an import, and the report of unrecognized parts.

use std::collections::BTreeMap;
use std::fmt;

use lcp_types::Block;

/// The maximum number of warnings in a report. Further warnings are only counted.
pub const WARNINGS_MAX: usize = 100;

/// The blocks of a transcript, with a report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImportResult {
    /// The blocks in the order of the transcript, each followed by its annotations.
    pub blocks: Vec<Block<'static>>,
    /// The counts and warnings of the import.
    pub report: ImportReport,
}

/// The counts and warnings of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// The number of messages, including empty ones.
    pub messages: u64,
    /// The number of tool calls.
    pub calls: u64,
    /// The number of tool results.
    pub results: u64,
    /// The number of images whose data is in the transcript.
    pub images: u64,
    /// The number of calls without a result.
    pub unanswered: u64,
    /// The number of results that do not match an open call.
    pub orphans: u64,
    /// The number of unrecognized parts by type. Each became an EXTENSION.
    pub unknown: BTreeMap<String, u64>,
    /// The number of records by type that are not part of the conversation, such as progress notes
    /// of the agent. They are metadata in the pack.
    pub records: BTreeMap<String, u64>,
    /// The number of skipped parts by type: parts that repeat another part, rewound turns, side
    /// conversations, notes that are too long for a tag, and messages without content (`empty`).
    pub skipped: BTreeMap<String, u64>,
    /// The first [`WARNINGS_MAX`] warnings.
    pub warnings: Vec<Warning>,
    /// The number of warnings beyond [`WARNINGS_MAX`].
    pub more_warnings: u64,
}

/// A problem in a transcript that did not stop the import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line, counted from 1. `None` if the warning is about the whole transcript.
    pub line: Option<usize>,
    /// The message. Text quoted from the transcript is escaped.
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
