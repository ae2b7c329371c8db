//! Decoding of packs in several ways, encoding, and decoding again.

#[path = "../../../lcp-decoder/tests/it/walk.rs"]
#[allow(clippy::pedantic, dead_code, reason = "a module of tests, of which less is needed here")]
mod walk;

use crate::SplitMix64;
use lcp_decoder::{DecodeOptions, ErrorKind, Pack, PackReader, decode, decode_parallel};
use lcp_driver::{DefaultDriver, DriverConfig, IndexCosts, OutputMode};
use lcp_encoder::{Compression, EncodeOptions, Magic};
use lcp_packfile::recover;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, BlockSource};
use walk::{Cuts, assert_same_however_cut};

use super::input::Input;

const O200K: Tiktoken = Tiktoken::new(Encoding::O200kBase);

const COMPRESSIONS: [Compression; 3] =
    [Compression::None, Compression::Block, Compression::Payload];

/// Returns a hash of the whole input (FNV-1a).
fn seed(data: &[u8]) -> u64 {
    let fold = |seed: u64, byte: &u8| (seed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    data.iter().fold(0xCBF2_9CE4_8422_2325, fold)
}

/// Checks that a pack gives the same result however it is cut, read or split over threads.
pub fn decoder(data: &[u8]) {
    let seed = seed(data);
    let options = DecodeOptions { strict: seed & 1 == 1, ..DecodeOptions::default() };
    let cuts = match seed >> 1 & 3 {
        0 if data.len() <= 128 => Cuts::EveryByte,
        1 => Cuts::Every(1 + data.len() / 7),
        _ => Cuts::Seeded(seed),
    };
    assert_same_however_cut(data, options, cuts);
    let pack = decode(data, options);
    // Only compressed blocks need threads. Starting threads for each input would take most of the
    // time.
    if (seed >> 3).is_multiple_of(64) {
        assert_eq!(decode_parallel(data, options).map(owned_blocks), pack.map(owned_blocks));
    }
}

/// Returns the blocks of a pack without the lifetime, and the number of warnings.
fn owned_blocks(pack: Pack<'_>) -> (Vec<Block<'static>>, usize) {
    (pack.blocks.into_iter().map(Block::into_owned).collect(), pack.warnings.len())
}

/// Checks that decoded blocks can be encoded and decode to the same blocks, and that encoding these
/// again gives the same bytes.
pub fn round_trip(data: &[u8]) {
    let Ok(pack) = decode(data, DecodeOptions::default()) else { return };
    // Compression takes most of the time, so only some inputs use it.
    let compression = COMPRESSIONS.get(data.len() % 16).copied().unwrap_or_default();
    let options = EncodeOptions { compression, ..EncodeOptions::default() };
    let bytes = lcp_encoder::encode(&pack.blocks, options).expect("it was within the limits");
    let again = decode(&bytes, DecodeOptions::default()).expect("as written");
    assert_eq!(again.blocks.len(), pack.blocks.len());
    for (block, again) in pack.blocks.iter().zip(&again.blocks) {
        // Unknown fields are written in ascending order of ids, so their position may change.
        assert!(
            block == again || sorted_debug_bytes(block) == sorted_debug_bytes(again),
            "{block:?}\n{again:?}"
        );
    }
    assert_eq!(lcp_encoder::encode(&again.blocks, options).as_ref(), Ok(&bytes));
}

fn sorted_debug_bytes(block: &Block<'_>) -> Vec<u8> {
    let mut bytes = format!("{block:?}").into_bytes();
    bytes.sort_unstable();
    bytes
}

/// Checks that any blocks survive encoding and decoding.
pub fn encoder(data: &[u8]) {
    let mut input = Input::new(data);
    let options = EncodeOptions {
        magic: if input.flag() { Magic::Bcp } else { Magic::Lcp },
        compression: input.one_of(&[
            Compression::None,
            Compression::None,
            Compression::Block,
            Compression::Payload,
        ]),
        index: input.flag(),
    };
    let blocks = input.blocks();
    let bytes = lcp_encoder::encode(&blocks, options).expect("the input is small");
    let strict = DecodeOptions { strict: true, ..DecodeOptions::default() };
    let pack = decode(&bytes, strict).expect("as written");
    assert_eq!(pack.blocks, blocks);
    assert!(pack.warnings.is_empty(), "{:?}", pack.warnings);
}

/// Checks a pack with an index, then the same pack with some changed bytes. A wrong index must not
/// hide the content of blocks, and intact blocks must be recovered.
pub fn index(data: &[u8]) {
    let mut input = Input::new(data);
    let compression = input.one_of(&[Compression::None, Compression::None, Compression::Block]);
    let changes: Vec<_> =
        (0..input.below(5)).map(|_| (input.below(0x1_0000), input.byte())).collect();
    let (cut, counts, seed) = (input.below(0x1_0000), input.flag(), input.byte());
    let blocks = input.blocks();
    let costs: Vec<_> =
        IndexCosts::new(&O200K).count(&blocks).filter(|_| counts).into_iter().collect();
    let options = EncodeOptions { compression, ..EncodeOptions::default() };
    let mut bytes =
        lcp_encoder::encode_with_costs(&blocks, options, &costs).expect("costs of its own");
    check_written_pack(&bytes, &blocks, seed);
    for (place, byte) in changes {
        // Places are counted from the end, where the index is.
        let place = bytes.len() - 1 - place % bytes.len();
        bytes[place] = byte;
    }
    if cut % 4 == 3 {
        bytes.truncate(bytes.len() - cut % bytes.len());
    }
    check_changed_pack(&bytes, seed);
}

/// Checks that the index of an unchanged pack is accepted and correct.
fn check_written_pack(bytes: &[u8], blocks: &[Block<'_>], seed: u8) {
    let reader = PackReader::open(bytes.to_vec(), DecodeOptions::default()).expect("a pack");
    if !blocks.is_empty() {
        assert!(matches!(reader.index(), Some(Ok(_))), "{:?}", reader.index());
    }
    assert!(reader.verify().expect("a pack").is_empty());
    let config = DriverConfig {
        mode: OutputMode::ALL[usize::from(seed) % 3],
        token_budget: Some(u32::from(seed) * 4),
        ..DriverConfig::default()
    };
    let driver = DefaultDriver::new(O200K);
    let by_index = driver.render_source(&reader, &config).expect("any blocks can be rendered");
    let by_blocks = driver.run(blocks, &config).expect("any blocks can be rendered");
    assert_eq!(by_index.text, by_blocks.text);
    let recovered = recover(bytes).expect("a pack");
    assert_eq!((recovered.pack.as_slice(), recovered.lost.len()), (bytes, 0));
}

/// Checks that the index of a changed pack never leads to a wrong block.
fn check_changed_pack(bytes: &[u8], seed: u8) {
    let options = DecodeOptions::default();
    let decoded = decode(bytes, options);
    if let Ok(reader) = PackReader::open(bytes, options) {
        let mut rng = SplitMix64::new(seed.into());
        for _ in 0..3 {
            // A block that is read by the index equals the block in the pack, or reading it is an
            // error.
            let index = u32::try_from(rng.below(26)).expect("small");
            if let (Ok(read), Ok(pack)) = (reader.read(&[index]), &decoded) {
                let block = pack.blocks.get(index as usize);
                assert_eq!(read.first(), block, "block {index}");
            }
        }
        // `verify` needs an index.
        if let (Some(Ok(_)), Ok(problems), Err(error)) = (reader.index(), reader.verify(), &decoded)
        {
            assert!(!problems.is_empty(), "a pack that is malformed is verified: {error}");
        }
    }
    if let Ok(mut reader) = PackReader::open(bytes, options) {
        let mut visited = Vec::new();
        let visit = |blocks: &[Block<'_>]| {
            visited.extend(blocks.iter().cloned().map(Block::into_owned));
        };
        match (reader.scan(visit), &decoded) {
            (Ok(true), Ok(pack)) => assert_eq!(visited, pack.blocks),
            (Ok(is_scanned), decoded) => assert!(!is_scanned, "a malformed pack: {decoded:?}"),
            (Err(error), decoded) => assert!(decoded.is_err(), "a valid pack: {error}"),
        }
    }
    let Ok(recovered) = recover(bytes) else { return };
    let saved = match decode(&recovered.pack, options) {
        Ok(saved) => saved,
        // A reference is recovered as a reference. There is no store with its body here.
        Err(error) if matches!(error.kind(), ErrorKind::NoStore { .. }) => return,
        Err(error) => panic!("what is saved is no pack: {error}"),
    };
    assert_eq!(saved.blocks.len() as u64, recovered.blocks);
    if decoded.is_ok() && recovered.lost.is_empty() {
        assert_eq!(Ok(saved.blocks), decoded.map(|pack| pack.blocks));
    }
}
