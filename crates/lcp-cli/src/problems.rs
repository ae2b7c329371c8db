//! All that is wrong with a pack, each with its place.

mod full;

use std::fmt;

use lcp_continuity::{PackageError, SessionHandoff};
use lcp_decoder::{Error, Warning};
use lcp_driver::WarningCode;
use lcp_types::wire::HEADER_FLAGS_AT;
use lcp_types::{AnnotationErrorKind, BlockMeta, HANDOFF_TYPE_NAME, Level};

use crate::frames::{Frames, is_reference};
pub use full::check_full;

/// Something that is wrong with a pack, or only worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A stable name of what it is, for programs.
    pub code: &'static str,
    /// The same for people, in one line.
    pub message: String,
    /// The block, annotations counted.
    pub block: Option<u64>,
    /// The byte of the pack, counted from the first of the header.
    pub offset: u64,
    /// The byte of the real body, where that is compressed.
    pub inner_offset: Option<u64>,
    /// Whether a limit was exceeded; the pack may be sound.
    pub is_limit: bool,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// How many blocks were looked at.
    pub blocks: usize,
    /// What is wrong, in the order of the pack.
    pub problems: Vec<Problem>,
    /// What is not wrong, but means that not all could be checked.
    pub notes: Vec<Problem>,
}

impl fmt::Display for Problem {
    /// The place as errors give it, what it is, and its code.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(block) = self.block {
            write!(f, "block {block}, ")?;
        }
        write!(f, "byte {}", self.offset)?;
        if let Some(inner) = self.inner_offset {
            write!(f, ", byte {inner} of the body")?;
        }
        write!(f, ": {} [{}]", self.message, self.code)
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        Self {
            code: error.code(),
            message: error.kind().to_string(),
            block: error.block(),
            offset: error.offset(),
            inner_offset: error.inner_offset(),
            is_limit: error.is_limit(),
        }
    }
}

impl From<&Warning> for Problem {
    fn from(warning: &Warning) -> Self {
        let (offset, message) = match warning {
            Warning::TrailingData { offset } => (*offset, "there are bytes after END".to_owned()),
            Warning::ReservedFlags { flags } => {
                (HEADER_FLAGS_AT as u64, format!("the header has unknown flags: {flags:#04x}"))
            }
            other => (0, other.to_string()),
        };
        let code = warning.code();
        Self { code, message, block: None, offset, inner_offset: None, is_limit: false }
    }
}

/// Looks for all of it: frames and bodies, what stands behind END, what annotations and
/// levels say and of whom, what a hand-off says of its blocks.
pub fn check(bytes: &[u8]) -> Findings {
    let pack = Frames::of(bytes);
    let mut found = Findings { blocks: pack.blocks.len(), ..Findings::default() };
    found.problems.extend(pack.problems().map(Problem::from));
    found.problems.extend(pack.warnings.iter().map(Problem::from));
    let references = pack.frames.iter().filter_map(|frame| frame.problem.as_ref());
    found.notes.extend(references.filter(|error| is_reference(error)).map(Problem::from));
    let in_block = |index: usize, code, message| Problem {
        code,
        message,
        block: Some(index as u64),
        offset: pack.frames.get(index).map_or(0, |frame| frame.offset),
        inner_offset: None,
        is_limit: false,
    };
    let _ = BlockMeta::resolve_all(&pack.blocks, &mut |index, problem| {
        // Blocks behind the place where a pack breaks off may well have been there.
        if problem.kind == AnnotationErrorKind::BadTarget && pack.broken.is_some() {
            return;
        }
        let code = WarningCode::from(problem.kind).name();
        let said = in_block(index, code, problem.to_string());
        // A newer version may know it.
        let is_note = problem.kind == AnnotationErrorKind::UnknownExtension;
        if is_note { found.notes.push(said) } else { found.problems.push(said) }
    });
    if let Some(index) = handoff(&pack)
        && found.problems.is_empty()
        && pack.references() == 0
        && let Err(error) = SessionHandoff::from_pack(bytes)
    {
        let block = match &error {
            PackageError::BadIndex { block, .. } => *block,
            PackageError::Inconsistent { block, .. } => usize::try_from(*block).unwrap_or(index),
            _ => index,
        };
        // A block that does not exist has no place.
        let block = if block < pack.blocks.len() { block } else { index };
        let said = in_block(block, "bad_handoff", error.to_string());
        let is_note = matches!(error, PackageError::TooNew { .. });
        if is_note { found.notes.push(said) } else { found.problems.push(said) }
    }
    found.problems.sort_by_key(|problem| problem.offset);
    found
}

/// The block that says which blocks are what of a hand-off.
fn handoff(pack: &Frames<'_>) -> Option<usize> {
    pack.blocks.iter().position(|block| {
        block.as_extension().is_some_and(|extension| {
            extension.namespace == Level::NAMESPACE && extension.type_name == HANDOFF_TYPE_NAME
        })
    })
}
