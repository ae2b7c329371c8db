//! A pack that is read in parts has the problems of a pack in memory.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use lcp_decoder::{DecodeOptions, PackReader, ReadAt};
use lcp_encoder::{Compression, EncodeOptions};
use lcp_packfile::{PackScan, ValidateOptions, validate, validate_source};
use lcp_testkit::hostile;
use lcp_types::{Annotation, Block, Lang, Priority};

/// Bytes that are copied, as those of a file.
struct Copied<'b>(&'b [u8]);

impl ReadAt for Copied<'_> {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        let read = self.0.read(ranges)?.into_iter();
        Ok(read.map(|bytes| Cow::Owned(bytes.into_owned())).collect())
    }
}

#[track_caller]
fn assert_same(name: &str, pack: &[u8]) {
    for full in [false, true] {
        let options = ValidateOptions { full, checks: &[] };
        let in_memory = validate(pack, &options);
        let in_parts = validate_source(&Copied(pack), &options).unwrap().unwrap();
        assert_eq!(in_parts.blocks, in_memory.blocks, "{name}");
        assert_eq!(in_parts.problems, in_memory.problems, "{name}");
        assert_eq!(in_parts.notes, in_memory.notes, "{name}");
    }
    let verify = |reader: Result<Vec<_>, _>| reader.map_err(|error| format!("{error}"));
    if let Ok(reader) = PackReader::open(Copied(pack), DecodeOptions::default()) {
        let whole = PackReader::open(pack, DecodeOptions::default()).unwrap();
        assert_eq!(verify(reader.verify()), verify(whole.verify()), "{name}");
    }
}

fn pack(options: EncodeOptions) -> Vec<u8> {
    let file = |at: u64| {
        let text = "fn main() {}\n".repeat(100);
        let code = Block::code(Lang::Rust, format!("{at}.rs"), text).with_summary("main");
        [code, Block::new(Annotation::priority(2 * at, Priority::High))]
    };
    let blocks: Vec<_> = (0..5).flat_map(file).collect();
    lcp_encoder::encode(&blocks, options).unwrap()
}

#[test]
fn hostile_packs_have_the_same_problems_in_parts() {
    for (name, pack) in hostile::cases_of(100) {
        assert_same(name, &pack);
    }
}

#[test]
fn damaged_packs_have_the_same_problems_in_parts() {
    for compression in Compression::ALL {
        let pack = pack(EncodeOptions { compression, ..EncodeOptions::default() });
        assert_same("whole", &pack);
        for at in (0..pack.len()).step_by(7) {
            assert_same("truncated", &pack[..at]);
            let mut flipped = pack.clone();
            flipped[at] ^= 1 << (at % 8);
            assert_same(&format!("byte {at} changed"), &flipped);
        }
    }
}

#[test]
fn scan_without_content_has_frames_and_labels() {
    let pack = pack(EncodeOptions::default());
    let whole = PackScan::new(&pack);
    let scan = PackScan::without_content(&pack[..]).unwrap();
    let frames = |scan: &PackScan<'_>| -> Vec<_> {
        scan.frames.iter().map(|frame| (frame.range.clone(), frame.flags)).collect()
    };
    assert_eq!(frames(&scan), frames(&whole));
    for (block, whole) in scan.blocks.iter().zip(&whole.blocks) {
        assert_eq!(block.label(), whole.label());
        assert!(block.summary.is_none());
        assert!(block.content.is_metadata() || block.content.text().unwrap().is_empty());
        assert!(!block.content.is_metadata() || block == whole);
    }
}
