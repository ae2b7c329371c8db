//! Validation of packs: all problems, with their locations.

mod index;

use std::{fmt, io};

use lcp_decoder::{Error, PackIndex, ReadAt, SourceReader, Warning};
use lcp_types::wire::HEADER_FLAGS_OFFSET;
use lcp_types::{AnnotationErrorKind, BlockMeta, BlockSource};

use crate::merge::handoff_index;
use crate::scan::PackScan;

/// A problem or a note about a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A stable name for programs.
    pub code: &'static str,
    /// A one-line message for people.
    pub message: String,
    /// The index of the block; annotations count as well.
    pub block: Option<u64>,
    /// The byte offset in the pack, from the start of the header.
    pub offset: u64,
    /// The byte offset in the decompressed or resolved body, if the error is in such a body.
    pub inner_offset: Option<u64>,
    /// `true` if a limit was exceeded. The pack may be valid otherwise.
    pub is_limit: bool,
}

/// The result of a validation.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of blocks checked.
    pub blocks: usize,
    /// The problems in pack order.
    pub problems: Vec<Problem>,
    /// Notes about parts that could not be checked.
    pub notes: Vec<Problem>,
}

impl Problem {
    /// Creates a problem at an offset of the pack.
    pub fn new(code: &'static str, message: String, offset: u64) -> Self {
        Self { code, message, block: None, offset, inner_offset: None, is_limit: false }
    }

    /// Creates a problem at the start of a block.
    pub fn in_block(
        scan: &PackScan<'_>,
        index: usize,
        code: &'static str,
        message: String,
    ) -> Self {
        let offset = scan.frames.get(index).map_or(0, |frame| frame.range.start);
        Self { block: Some(index as u64), ..Self::new(code, message, offset) }
    }
}

impl fmt::Display for Problem {
    /// Writes the location, the message and the code.
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
            Warning::TrailingData { offset } => (*offset, "unexpected bytes after END".to_owned()),
            Warning::ReservedFlags { flags } => {
                (HEADER_FLAGS_OFFSET as u64, format!("unknown header flags: {flags:#04x}"))
            }
            other => (0, other.to_string()),
        };
        Self::new(warning.code(), message, offset)
    }
}

/// A check of a pack beyond its structure.
pub trait Check {
    /// Checks a pack without known problems. `scan` is the scan of `pack`.
    fn check_pack(&self, _pack: &[u8], _scan: &PackScan<'_>, _report: &mut Report) {}

    /// Checks the index of a pack against its blocks. The source may read them by the index, which
    /// agrees with the blocks then.
    fn check_index(&self, _index: &PackIndex, _blocks: &dyn BlockSource, _report: &mut Report) {}
}

/// Options of [`validate`].
#[derive(Clone, Copy, Default)]
pub struct ValidateOptions<'a> {
    /// `true` if the index is checked as well: that an announced index exists, that all checksums
    /// are correct, and that the index agrees with the blocks.
    pub full: bool,
    /// Additional checks.
    pub checks: &'a [&'a dyn Check],
}

/// Finds all problems of a pack: in frames and bodies, bytes after END, and annotations and
/// alternate texts that are malformed or whose target does not exist.
///
/// ```
/// use lcp_packfile::validate;
///
/// let report = validate(b"LCP\0\x01\0\0\0", &Default::default());
/// assert_eq!(report.problems[0].code, "missing_end");
/// ```
pub fn validate(bytes: &[u8], options: &ValidateOptions<'_>) -> Report {
    let scan = PackScan::new(bytes);
    let mut report = check_frames(&scan);
    if report.problems.is_empty() {
        for check in options.checks {
            check.check_pack(bytes, &scan, &mut report);
        }
    }
    drop(scan);
    report.problems.sort_by_key(|problem| problem.offset);
    if options.full {
        index::check(bytes, options.checks, &mut report);
    }
    report.problems.sort_by_key(|problem| problem.offset);
    report
}

/// Finds all problems of a pack like [`validate`], but without the whole pack in memory. Returns
/// `None` if the pack has a hand-off, whose checks need all blocks.
///
/// # Errors
///
/// Returns the error of the source.
pub fn validate_source<S: ReadAt>(
    source: &S,
    options: &ValidateOptions<'_>,
) -> io::Result<Option<Report>> {
    let scan = PackScan::without_content(SourceReader::new(source)?)?;
    if scan.blocks.iter().any(|block| handoff_index(block).is_some()) {
        return Ok(None);
    }
    let mut report = check_frames(&scan);
    drop(scan);
    report.problems.sort_by_key(|problem| problem.offset);
    if options.full {
        index::check(source, options.checks, &mut report);
    }
    report.problems.sort_by_key(|problem| problem.offset);
    Ok(Some(report))
}

fn check_frames(scan: &PackScan<'_>) -> Report {
    let mut report = Report { blocks: scan.blocks.len(), ..Report::default() };
    report.problems.extend(scan.problems().map(Problem::from));
    report.problems.extend(scan.warnings.iter().map(Problem::from));
    report.notes.extend(scan.references().map(Problem::from));
    let _ = BlockMeta::resolve_all(&scan.blocks, &mut |index, problem| {
        // The targets may be in the part of the pack that is missing.
        if problem.kind == AnnotationErrorKind::BadTarget && scan.error.is_some() {
            return;
        }
        let code = match problem.kind {
            AnnotationErrorKind::BadTarget => "bad_target",
            AnnotationErrorKind::BadPriority => "bad_priority",
            AnnotationErrorKind::UnknownExtension => "unknown_block_type",
            _ => "bad_annotation",
        };
        let found = Problem::in_block(scan, index, code, problem.to_string());
        // A newer version may know the extension.
        let is_note = problem.kind == AnnotationErrorKind::UnknownExtension;
        if is_note { report.notes.push(found) } else { report.problems.push(found) }
    });
    report
}
