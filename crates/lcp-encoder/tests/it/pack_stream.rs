//! `PackStream` writes the bytes that `encode` writes.

use lcp_encoder::{Compression, EncodeOptions, Magic, PackStream, encode, encode_with_costs};
use lcp_types::{Annotation, Block, EncodingCosts, FileEntry, Lang, Priority};

const OPTIONS: EncodeOptions =
    EncodeOptions { magic: Magic::Lcp, compression: Compression::None, index: true };

/// Blocks after a tree with this many files, and annotations of them.
fn blocks(files: u64) -> Vec<Block<'static>> {
    let entries = (0..files).map(|at| FileEntry::file(format!("{at}.rs"), at * 1000)).collect();
    let tree = Block::file_tree(".", entries).with_summary(format!("{files} files"));
    let file = |at: u64| {
        let text = "fn main() {}\n".repeat(usize::try_from(at * 7).unwrap());
        let code = Block::code(Lang::Rust, format!("{at}.rs"), text);
        [code, Block::new(Annotation::priority(1 + 2 * at, Priority::High))]
    };
    [tree].into_iter().chain((0..20).flat_map(file)).collect()
}

/// Writes a pack whose first block was expected to be `expected`.
fn stream(expected: &Block<'_>, blocks: &[Block<'_>], options: EncodeOptions) -> Vec<u8> {
    let mut stream = PackStream::new(options);
    let head_bytes = stream.reserve_first(expected).unwrap();
    let mut frames = Vec::new();
    for (at, block) in blocks.iter().enumerate().skip(1) {
        stream.add(block).unwrap();
        if at % 3 == 0 {
            stream.write_frames(&mut frames).unwrap();
            assert_eq!(stream.pending_bytes(), 0);
        }
    }
    stream.replace_first(&blocks[0]).unwrap();
    stream.write_frames(&mut frames).unwrap();
    assert_eq!(stream.blocks(), blocks.len() as u64);
    let ends = stream.finish(&[]).unwrap();
    if expected == &blocks[0] && options.compression != Compression::Payload {
        assert_eq!(ends.head.len() as u64, head_bytes);
    }
    [ends.head, frames, ends.tail].concat()
}

#[test]
fn streamed_pack_has_the_bytes_of_an_encoded_one() {
    for (magic, index) in [(Magic::Lcp, true), (Magic::Lcp, false), (Magic::Bcp, false)] {
        for compression in Compression::ALL {
            let options = EncodeOptions { magic, compression, index };
            // The tree is expected with fewer files, as it is, or with more files.
            for expected in [0, 3, 100, 200] {
                let pack = blocks(100);
                let streamed = stream(&blocks(expected)[0], &pack, options);
                assert_eq!(streamed, encode(&pack, options).unwrap(), "{options:?} {expected}");
            }
        }
    }
}

#[test]
fn finish_can_be_repeated_with_costs() {
    let pack = [Block::document("a", "b", lcp_types::FormatHint::Plain)];
    let costs = EncodingCosts {
        encoding: "x".into(),
        contents: vec![1],
        joins: vec![0],
        ..EncodingCosts::default()
    };
    let mut stream = PackStream::new(OPTIONS);
    stream.add(&pack[0]).unwrap();
    let mut frames = Vec::new();
    stream.write_frames(&mut frames).unwrap();
    for costs in [&[][..], &[costs]] {
        let ends = stream.finish(costs).unwrap();
        let written = [ends.head, frames.clone(), ends.tail].concat();
        assert_eq!(written, encode_with_costs(&pack, OPTIONS, costs).unwrap());
    }
}

/// Without this, a payload would fill the memory before it is refused.
#[test]
fn payload_is_refused_before_the_end() {
    let mut stream =
        PackStream::new(EncodeOptions { compression: Compression::Payload, ..OPTIONS });
    let block = Block::raw(0x42, vec![0; 100 << 20]);
    let errors: Vec<_> = (0..3).map(|_| stream.add(&block).err()).collect();
    assert!(errors[..2].iter().all(Option::is_none));
    let error = errors[2].as_ref().unwrap().to_string();
    assert!(error.contains("PAYLOAD_DECOMPRESSED_BYTES_MAX"), "{error}");
}
