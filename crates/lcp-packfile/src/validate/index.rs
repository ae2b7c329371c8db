//! Checks of the index at the end of a pack (RFC 0003 §5).

use lcp_decoder::{DecodeOptions, IndexError, IndexErrorKind, PackReader, ReadAt};

use super::{Check, Problem, Report};

/// Checks that an announced index exists, that all checksums are correct, and that the index agrees
/// with the blocks.
pub(super) fn check<S: ReadAt + ?Sized>(source: &S, checks: &[&dyn Check], report: &mut Report) {
    // Problems in the header and the frames have been reported already.
    let Ok(reader) = PackReader::open(source, DecodeOptions::default()) else { return };
    let index = match reader.index() {
        None => {
            let message = "the pack has no checksums, so bit flips may go undetected";
            report.notes.push(Problem::new("no_trailer", message.to_owned(), 0));
            return;
        }
        Some(Err(error)) => {
            report.problems.push(Problem::from(error));
            return;
        }
        Some(Ok(index)) => index,
    };
    let verified = reader.verify();
    let has_read = verified.is_ok();
    let wrong = verified.unwrap_or_default();
    report.problems.extend(wrong.iter().map(Problem::from));
    if reader.is_in_memory() {
        // Costs are compared even if the index is wrong.
        if let Ok(pack) = reader.decode() {
            for check in checks {
                check.check_index(index, &&pack.blocks[..], report);
            }
            return;
        }
    } else if has_read && wrong.is_empty() && report.problems.is_empty() {
        for check in checks {
            check.check_index(index, &reader, report);
        }
        return;
    }
    if !index.block_index().costs.is_empty() {
        let message = "cannot recount the token costs: some blocks cannot be read";
        let offset = index.footer().index_offset;
        report.notes.push(Problem::new("costs_unchecked", message.to_owned(), offset));
    }
}

impl From<&IndexError> for Problem {
    fn from(error: &IndexError) -> Self {
        let code = match error.kind() {
            IndexErrorKind::BlocksChecksum | IndexErrorKind::FrameChecksum { .. } => "bad_checksum",
            _ => "bad_index",
        };
        let block = match error.kind() {
            IndexErrorKind::FrameChecksum { block }
            | IndexErrorKind::BlockMismatch { block, .. } => Some(u64::from(*block)),
            _ => None,
        };
        Self { block, ..Self::new(code, error.kind().to_string(), error.offset()) }
    }
}
