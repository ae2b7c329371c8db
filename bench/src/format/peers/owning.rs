//! Peers whose blocks own what they hold, or are read into such.

use super::failed;
use crate::format::corpus::Data;
use crate::format::serde_model::{Block, Borrowed, Digest};
use crate::format::{Format, Owned};

pub(super) struct Bitcode;
pub(super) struct Rkyv;
pub(super) struct SerdeJson;

/// The methods that are the same for everybody who owns.
macro_rules! reads_all {
    () => {
        fn borrows(&self) -> bool {
            false
        }

        fn walk(&self, bytes: &[u8]) -> Result<Digest, String> {
            Ok(Digest::from_blocks(Self::read(bytes)?.iter().map(Block::view)))
        }

        fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String> {
            Ok(Box::new(Self::read(bytes)?))
        }

        fn show(&self, bytes: &[u8], see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
            Self::read(bytes)?.show(see)
        }
    };
}

impl Bitcode {
    fn read(bytes: &[u8]) -> Result<Vec<Block>, String> {
        bitcode::decode(bytes).map_err(failed)
    }
}

impl Format for Bitcode {
    fn name(&self) -> &'static str {
        "bitcode"
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        Ok(bitcode::encode(&data.serde_model))
    }

    reads_all!();
}

impl Rkyv {
    fn read(bytes: &[u8]) -> Result<Vec<Block>, String> {
        // Archives are read where they are aligned: those that were written are.
        rkyv::from_bytes::<Vec<Block>, rkyv::rancor::Error>(bytes).map_err(failed)
    }
}

impl Format for Rkyv {
    fn name(&self) -> &'static str {
        "rkyv"
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        rkyv::to_bytes::<rkyv::rancor::Error>(&data.serde_model)
            .map(rkyv::util::AlignedVec::into_vec)
            .map_err(failed)
    }

    reads_all!();
}

impl SerdeJson {
    fn read(bytes: &[u8]) -> Result<Vec<Block>, String> {
        serde_json::from_slice(bytes).map_err(failed)
    }
}

impl Format for SerdeJson {
    fn name(&self) -> &'static str {
        "serde_json"
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&data.serde_model).map_err(failed)
    }

    reads_all!();
}
