//! What stands behind END, beside the blocks that it speaks of (RFC 0003 §5).

use lcp_decoder::{DecodeOptions, PackReader, Trailer, TrailerError, TrailerErrorKind};
use lcp_driver::{IndexCosts, RENDERER_REVISION};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, EncodingCosts};

use super::{Findings, Problem, check};

/// [`check`], and the trailer: that there is the one that is announced, that all checksums
/// hold, and that the index says what the blocks say. What blocks cost is counted again, where
/// it can be counted here.
pub fn check_full(bytes: &[u8]) -> Findings {
    let mut found = check(bytes);
    // What is wrong with the header and the frames is told already.
    let Ok(reader) = PackReader::open(bytes, DecodeOptions::default()) else { return found };
    let trailer = match reader.trailer() {
        None => {
            let message = "the pack has no checksums: a flipped bit may go unnoticed";
            found.notes.push(problem("no_trailer", message.to_owned(), 0));
            return found;
        }
        Some(Err(error)) => {
            found.problems.push(Problem::from(error));
            return found;
        }
        Some(Ok(trailer)) => trailer,
    };
    found.problems.extend(reader.verify().unwrap_or_default().iter().map(Problem::from));
    if let Ok(pack) = reader.decode() {
        costs(trailer, &pack.blocks, &mut found);
    } else if !trailer.block_index().costs.is_empty() {
        let message = "what blocks cost was not counted again: not all can be read";
        let offset = trailer.footer().index_offset;
        found.notes.push(problem("costs_unchecked", message.to_owned(), offset));
    }
    found.problems.sort_by_key(|problem| problem.offset);
    found
}

/// Whether the blocks cost what the index says.
fn costs(trailer: &Trailer, blocks: &[Block<'_>], found: &mut Findings) {
    let offset = trailer.footer().index_offset;
    for said in &trailer.block_index().costs {
        let name = said.encoding.escape_debug();
        let encoding =
            Encoding::from_name(&said.encoding).filter(|_| said.revision == RENDERER_REVISION);
        let counted = encoding.and_then(|of| IndexCosts::new(&Tiktoken::new(of)).count(blocks));
        match counted {
            None => {
                let message = format!("what blocks cost in {name} cannot be counted here");
                found.notes.push(problem("costs_unchecked", message, offset));
            }
            Some(counted) if !agree(said, &counted) => {
                let message = format!("the index does not have what the blocks cost in {name}");
                found.problems.push(problem("bad_index", message, offset));
            }
            Some(_) => {}
        }
    }
}

/// Whether what an index says is what was counted; of modes that are unknown here nothing is.
fn agree(said: &EncodingCosts, counted: &EncodingCosts) -> bool {
    let mut modes = said.modes.iter();
    said.contents == counted.contents
        && said.joins == counted.joins
        && modes.all(|mode| counted.mode(&mode.mode).is_none_or(|counted| counted == mode))
}

fn problem(code: &'static str, message: String, offset: u64) -> Problem {
    Problem { code, message, block: None, offset, inner_offset: None, is_limit: false }
}

impl From<&TrailerError> for Problem {
    fn from(error: &TrailerError) -> Self {
        let code = match error.kind() {
            TrailerErrorKind::BlocksCheck | TrailerErrorKind::FrameCheck { .. } => "bad_checksum",
            _ => "bad_index",
        };
        let block = match error.kind() {
            TrailerErrorKind::FrameCheck { block } | TrailerErrorKind::Differs { block, .. } => {
                Some(u64::from(*block))
            }
            _ => None,
        };
        Self { block, ..problem(code, error.kind().to_string(), error.offset()) }
    }
}
