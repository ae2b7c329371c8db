//! Files before a ranking (`Document`) and after it (`RankedFile`).

use lcp_ingest::outline::InputKind;
use lcp_types::Passage;

use crate::role::Role;
use crate::scan::TermCounts;

/// A file, or another block with text.
#[derive(Clone, Copy, Debug)]
pub struct Document<'d> {
    /// The path, or another name.
    pub path: &'d str,
    /// The text.
    pub text: &'d str,
    /// The kind of the text.
    pub kind: InputKind,
}

/// A file in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedFile {
    /// The index of the file, in the order in which files were added.
    pub file: usize,
    /// The score, from 0 to 1; the best file has 1.
    pub score: f64,
    /// `true` if the file is certainly needed: by a mention, a change, or the request of a session.
    pub is_named: bool,
    /// The reasons for the score, the most important first.
    pub reasons: Vec<String>,
    /// The passages, in the order of their lines. Only the best files have them.
    pub passages: Vec<Passage>,
}

/// A file with the terms of a question in it.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) role: Role,
    /// The size of the text.
    pub(crate) bytes: usize,
    pub(crate) counts: TermCounts,
}

impl File {
    pub(crate) fn new(document: &Document<'_>, counts: TermCounts) -> Self {
        Self {
            path: document.path.to_owned(),
            role: Role::new(document.path, document.kind),
            bytes: document.text.len(),
            counts,
        }
    }
}
