//! Peers that can borrow texts. All of them write a list as its length and its
//! items, so it is read one by one, as LCP's blocks are: faster than a list of
//! all blocks, which nobody keeps here.

use wincode::SchemaRead;

use super::failed;
use crate::format::corpus::Data;
use crate::format::serde_model::{Block, Borrowed, Digest};
use crate::format::{Format, Owned};

pub(super) struct Postcard;
pub(super) struct Bincode;
pub(super) struct Wincode;

/// The methods that are the same for everybody who borrows.
macro_rules! reads_one_by_one {
    () => {
        fn borrows(&self) -> bool {
            true
        }

        fn walk(&self, bytes: &[u8]) -> Result<Digest, String> {
            let mut digest = Digest::default();
            Self::each(bytes, |block| digest.add(&block))?;
            Ok(digest)
        }

        fn show(&self, bytes: &[u8], see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
            Self::each(bytes, |block| see(&block))
        }
    };
}

impl Postcard {
    fn each<'b>(bytes: &'b [u8], mut see: impl FnMut(Borrowed<'b>)) -> Result<(), String> {
        let (count, mut rest) = postcard::take_from_bytes::<usize>(bytes).map_err(failed)?;
        for _ in 0..count {
            let (block, behind) = postcard::take_from_bytes(rest).map_err(failed)?;
            see(block);
            rest = behind;
        }
        Ok(())
    }
}

impl Format for Postcard {
    fn name(&self) -> &'static str {
        "postcard"
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        postcard::to_allocvec(&data.serde_model).map_err(failed)
    }

    fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String> {
        Ok(Box::new(postcard::from_bytes::<Vec<Block>>(bytes).map_err(failed)?))
    }

    reads_one_by_one!();
}

/// Without a limit, a list may ask for memory that the input does not bring.
const BINCODE: bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<BYTES_MAX>,
> = bincode::config::standard().with_limit::<BYTES_MAX>();

const BYTES_MAX: usize = 1 << 30;

impl Bincode {
    fn each<'b>(bytes: &'b [u8], mut see: impl FnMut(Borrowed<'b>)) -> Result<(), String> {
        let decoded = bincode::borrow_decode_from_slice::<usize, _>(bytes, BINCODE);
        let (count, mut at) = decoded.map_err(failed)?;
        for _ in 0..count {
            let rest = bytes.get(at..).unwrap_or_default();
            let (block, len) = bincode::borrow_decode_from_slice(rest, BINCODE).map_err(failed)?;
            see(block);
            at += len;
        }
        Ok(())
    }
}

impl Format for Bincode {
    fn name(&self) -> &'static str {
        "bincode"
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        bincode::encode_to_vec(&data.serde_model, BINCODE).map_err(failed)
    }

    fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String> {
        let decoded = bincode::decode_from_slice::<Vec<Block>, _>(bytes, BINCODE);
        Ok(Box::new(decoded.map_err(failed)?.0))
    }

    reads_one_by_one!();
}

impl Wincode {
    /// The lists of its own are longer than it allows unasked.
    fn config() -> impl wincode::config::Config {
        wincode::config::Configuration::default().with_preallocation_size_limit::<BYTES_MAX>()
    }

    fn each<'b>(bytes: &'b [u8], mut see: impl FnMut(Borrowed<'b>)) -> Result<(), String> {
        Self::each_of(Self::config(), bytes, &mut see)
    }

    fn each_of<'b, C: wincode::config::Config>(
        _: C,
        bytes: &'b [u8],
        see: &mut impl FnMut(Borrowed<'b>),
    ) -> Result<(), String> {
        let mut rest = bytes;
        let count = <u64 as SchemaRead<'b, C>>::get(&mut rest).map_err(failed)?;
        for _ in 0..count {
            see(<Borrowed<'b> as SchemaRead<'b, C>>::get(&mut rest).map_err(failed)?);
        }
        Ok(())
    }
}

impl Format for Wincode {
    fn name(&self) -> &'static str {
        "wincode"
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        wincode::config::serialize(&data.serde_model, Self::config()).map_err(failed)
    }

    fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String> {
        let blocks: Vec<Block> =
            wincode::config::deserialize_exact(bytes, Self::config()).map_err(failed)?;
        Ok(Box::new(blocks))
    }

    reads_one_by_one!();
}
