//! LCP and its peers. LCP is called as its users call it. Each peer is called in the fastest way
//! that checks its input.
//!
//! Formats that can borrow write a list as its length and its items. The items are read one by one,
//! like LCP's blocks. That is faster than decoding a list of all blocks, which is not needed here.

use std::any::Any;
use std::fmt::Display;

use lcp_decoder::{DecodeOptions, blocks};
use lcp_encoder::EncodeOptions;
use lcp_types::{Block as LcpBlock, BlockContent};
use prost::Message as _;
use wincode::SchemaRead;

use super::corpus::Data;
use super::prost_model::Pack;
use super::serde_model::{Block, Borrowed, Digest, view};
use crate::harness::Result;

/// A format with functions to write and to read the blocks.
pub(super) struct Format {
    /// The name of its crate.
    pub(super) name: &'static str,
    /// `true` if decoded texts borrow from the input.
    pub(super) borrows: bool,
    pub(super) encode: fn(&Data) -> Result<Vec<u8>>,
    /// Reads every block. Texts are checked, and borrowed if possible.
    pub(super) walk: fn(&[u8]) -> Result<Digest>,
    /// Reads every block into owned memory. Texts are checked.
    pub(super) own: fn(&[u8]) -> Result<Box<dyn Any>>,
    /// Passes every block that `walk` reads to a callback.
    pub(super) show: Show,
    /// Passes every block that `own` reads to a callback.
    pub(super) show_owned: Show,
}

/// A function that decodes bytes, and passes each block to a callback.
pub(super) type Show = fn(&[u8], &mut dyn FnMut(&Borrowed<'_>)) -> Result<()>;

/// Blocks that own their contents.
pub(super) trait Owned {
    /// Passes every block to `see`.
    fn each(&self, see: impl FnMut(&Borrowed<'_>)) -> Result<()>;
}

/// A format as a type, from which `format` makes a [`Format`].
pub(super) trait Codec {
    type Owned: Owned + 'static;

    fn encode(data: &Data) -> Result<Vec<u8>>;

    fn own(bytes: &[u8]) -> Result<Self::Owned>;

    /// Passes one block after the other to `see`. By default, reads all blocks into owned memory
    /// first.
    fn each(bytes: &[u8], see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        Self::own(bytes)?.each(see)
    }

    fn walk(bytes: &[u8]) -> Result<Digest> {
        let mut digest = Digest::default();
        Self::each(bytes, |block| digest.add(block))?;
        Ok(digest)
    }
}

fn format<C: Codec>(name: &'static str, borrows: bool) -> Format {
    Format {
        name,
        borrows,
        encode: C::encode,
        walk: C::walk,
        own: |bytes| Ok(Box::new(C::own(bytes)?)),
        show: |bytes, see| C::each(bytes, see),
        show_owned: |bytes, see| C::own(bytes)?.each(see),
    }
}

/// Returns LCP, then the formats that borrow, then the others.
pub(super) fn all() -> [Format; 8] {
    [
        format::<Lcp>("lcp", true),
        format::<Postcard>("postcard", true),
        format::<Bincode>("bincode", true),
        format::<Wincode>("wincode", true),
        format::<Bitcode>("bitcode", false),
        format::<Rkyv>("rkyv", false),
        format::<Prost>("prost", false),
        format::<SerdeJson>("serde_json", false),
    ]
}

impl Owned for Vec<Block> {
    fn each(&self, mut see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        for block in self {
            see(&block.view());
        }
        Ok(())
    }
}

fn failed(error: impl Display) -> String {
    error.to_string()
}

struct Lcp;

const NOT_IN_CORPUS: &str = "a block that the corpus does not have";

/// Adds a block to a digest, like [`view`] and [`Digest::add`] but without the view in between.
/// Returns `None` for blocks that the corpus does not have.
#[inline]
fn add(digest: &mut Digest, block: &LcpBlock<'_>) -> Option<()> {
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

impl Codec for Lcp {
    type Owned = Vec<LcpBlock<'static>>;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        Ok(lcp_encoder::encode(&data.lcp, EncodeOptions::default())?)
    }

    fn walk(bytes: &[u8]) -> Result<Digest> {
        let mut digest = Digest::default();
        let mut blocks = blocks(bytes, DecodeOptions::default());
        // Uses a reference, because moving a block takes long compared with reading it.
        while let Some(block) = &blocks.next() {
            let block = block.as_ref().map_err(ToString::to_string)?;
            add(&mut digest, block).ok_or(NOT_IN_CORPUS)?;
        }
        Ok(digest)
    }

    fn own(bytes: &[u8]) -> Result<Self::Owned> {
        let mut owned = Vec::new();
        let mut blocks = blocks(bytes, DecodeOptions::default());
        while let Some(block) = &blocks.next() {
            let block = block.as_ref().map_err(ToString::to_string)?;
            // The decoder has checked all other texts, but content may be any bytes.
            if block.content.text().is_none_or(|text| text.as_str().is_none()) {
                return Err(NOT_IN_CORPUS.into());
            }
            owned.push(block.to_static());
        }
        Ok(owned)
    }

    fn each(bytes: &[u8], mut see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        for block in blocks(bytes, DecodeOptions::default()) {
            see(&view(&block?).ok_or(NOT_IN_CORPUS)?);
        }
        Ok(())
    }
}

impl Owned for Vec<LcpBlock<'static>> {
    fn each(&self, mut see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        for block in self {
            see(&view(block).ok_or(NOT_IN_CORPUS)?);
        }
        Ok(())
    }
}

struct Postcard;

impl Codec for Postcard {
    type Owned = Vec<Block>;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        Ok(postcard::to_allocvec(&data.serde_model).map_err(failed)?)
    }

    fn own(bytes: &[u8]) -> Result<Vec<Block>> {
        Ok(postcard::from_bytes(bytes).map_err(failed)?)
    }

    fn each(bytes: &[u8], mut see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        let (count, mut rest) = postcard::take_from_bytes::<usize>(bytes).map_err(failed)?;
        for _ in 0..count {
            let (block, left) = postcard::take_from_bytes(rest).map_err(failed)?;
            see(&block);
            rest = left;
        }
        Ok(())
    }
}

/// The configuration of bincode. Without a limit, a list could allocate memory regardless of the
/// size of the input.
const BINCODE: bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<BYTES_MAX>,
> = bincode::config::standard().with_limit::<BYTES_MAX>();

const BYTES_MAX: usize = 1 << 30;

struct Bincode;

impl Codec for Bincode {
    type Owned = Vec<Block>;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        Ok(bincode::encode_to_vec(&data.serde_model, BINCODE).map_err(failed)?)
    }

    fn own(bytes: &[u8]) -> Result<Vec<Block>> {
        Ok(bincode::decode_from_slice(bytes, BINCODE).map_err(failed)?.0)
    }

    fn each(bytes: &[u8], mut see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        let decoded = bincode::borrow_decode_from_slice::<usize, _>(bytes, BINCODE);
        let (count, mut at) = decoded.map_err(failed)?;
        for _ in 0..count {
            let rest = bytes.get(at..).unwrap_or_default();
            let (block, len) = bincode::borrow_decode_from_slice(rest, BINCODE).map_err(failed)?;
            see(&block);
            at += len;
        }
        Ok(())
    }
}

struct Wincode;

impl Wincode {
    /// Returns a configuration with a higher allocation limit than the default, which the lists
    /// here exceed.
    fn config() -> impl wincode::config::Config {
        wincode::config::Configuration::default().with_preallocation_size_limit::<BYTES_MAX>()
    }

    fn each_of<C: wincode::config::Config>(
        _: C,
        bytes: &[u8],
        see: &mut impl FnMut(&Borrowed<'_>),
    ) -> Result<()> {
        let mut rest = bytes;
        let count = <u64 as SchemaRead<'_, C>>::get(&mut rest).map_err(failed)?;
        for _ in 0..count {
            see(&<Borrowed<'_> as SchemaRead<'_, C>>::get(&mut rest).map_err(failed)?);
        }
        Ok(())
    }
}

impl Codec for Wincode {
    type Owned = Vec<Block>;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        Ok(wincode::config::serialize(&data.serde_model, Self::config()).map_err(failed)?)
    }

    fn own(bytes: &[u8]) -> Result<Vec<Block>> {
        Ok(wincode::config::deserialize_exact(bytes, Self::config()).map_err(failed)?)
    }

    fn each(bytes: &[u8], mut see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        Self::each_of(Self::config(), bytes, &mut see)
    }
}

struct Bitcode;

impl Codec for Bitcode {
    type Owned = Vec<Block>;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        Ok(bitcode::encode(&data.serde_model))
    }

    fn own(bytes: &[u8]) -> Result<Vec<Block>> {
        Ok(bitcode::decode(bytes).map_err(failed)?)
    }
}

struct Rkyv;

impl Codec for Rkyv {
    type Owned = Vec<Block>;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&data.serde_model).map_err(failed)?;
        Ok(bytes.into_vec())
    }

    fn own(bytes: &[u8]) -> Result<Vec<Block>> {
        // An archive must be aligned to be read. One that was just written is.
        Ok(rkyv::from_bytes::<_, rkyv::rancor::Error>(bytes).map_err(failed)?)
    }
}

struct SerdeJson;

impl Codec for SerdeJson {
    type Owned = Vec<Block>;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        Ok(serde_json::to_vec(&data.serde_model)?)
    }

    fn own(bytes: &[u8]) -> Result<Vec<Block>> {
        Ok(serde_json::from_slice(bytes)?)
    }
}

struct Prost;

impl Codec for Prost {
    type Owned = Pack;

    fn encode(data: &Data) -> Result<Vec<u8>> {
        Ok(data.prost.encode_to_vec())
    }

    fn own(bytes: &[u8]) -> Result<Pack> {
        Ok(Pack::decode(bytes)?)
    }
}

impl Owned for Pack {
    fn each(&self, mut see: impl FnMut(&Borrowed<'_>)) -> Result<()> {
        for block in &self.blocks {
            see(&block.view().ok_or("a message that is no block")?);
        }
        Ok(())
    }
}
