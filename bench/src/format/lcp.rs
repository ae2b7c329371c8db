//! LCP, as its users read and write it.

use lcp_decoder::{DecodeOptions, blocks};
use lcp_encoder::EncodeOptions;
use lcp_types::{Block, BlockContent};

use super::corpus::Data;
use super::serde_model::{Borrowed, Digest, view};
use super::{Format, Owned};

pub(super) struct Lcp;

const NOT_IN_CORPUS: &str = "a block that the corpus does not have";

/// Adds what [`view`] returns to a digest, without the detour.
#[inline]
fn add(digest: &mut Digest, block: &Block<'_>) -> Option<()> {
    digest.summary(block.summary.as_deref());
    match &block.content {
        BlockContent::Code(code) => {
            let lines = (code.line_start, code.line_end);
            digest.code(code.lang.code(), &code.path, code.content.as_str()?, lines);
        }
        BlockContent::Conversation(turn) => {
            let content = turn.content.as_str()?;
            digest.turn(turn.role.code(), content, turn.tool_call_id.as_deref());
        }
        _ => return None,
    }
    Some(())
}

impl Format for Lcp {
    fn name(&self) -> &'static str {
        "lcp"
    }

    fn borrows(&self) -> bool {
        true
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        lcp_encoder::encode(&data.lcp, EncodeOptions::default()).map_err(|error| error.to_string())
    }

    fn walk(&self, bytes: &[u8]) -> Result<Digest, String> {
        let mut digest = Digest::default();
        let mut blocks = blocks(bytes, DecodeOptions::default());
        // By reference: a block is large to be moved, beside what it takes to read it.
        while let Some(block) = &blocks.next() {
            let block = block.as_ref().map_err(ToString::to_string)?;
            add(&mut digest, block).ok_or(NOT_IN_CORPUS)?;
        }
        Ok(digest)
    }

    fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String> {
        let mut owned = Vec::new();
        let mut blocks = blocks(bytes, DecodeOptions::default());
        while let Some(block) = &blocks.next() {
            let block = block.as_ref().map_err(ToString::to_string)?;
            // The other texts are checked by the decoder, content is any bytes.
            if block.content.text().is_none_or(|text| text.as_str().is_none()) {
                return Err(NOT_IN_CORPUS.to_owned());
            }
            owned.push(block.to_static());
        }
        Ok(Box::new(owned))
    }

    fn show(&self, bytes: &[u8], see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
        for block in blocks(bytes, DecodeOptions::default()) {
            let block = block.map_err(|error| error.to_string())?;
            see(&view(&block).ok_or(NOT_IN_CORPUS)?);
        }
        Ok(())
    }
}

impl Owned for Vec<Block<'static>> {
    fn show(&self, see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
        for block in self {
            see(&view(block).ok_or(NOT_IN_CORPUS)?);
        }
        Ok(())
    }
}
