//! What is odd but no error: kept, or told as a warning.

use expect_test::expect;
use lcp_decoder::{DecodeOptions, Event, EventIter, Magic, Parser, Warning, decode};
use lcp_types::{Block, BlockContent, Lang, Role, UnknownField, UnknownValue};

use crate::support::{END, bytes, check_with, frame, header, hi, nested, number, one, pack};
use crate::walk::{Cuts, assert_same_however_cut};

const STRICT: DecodeOptions<'static> = DecodeOptions {
    strict: true,
    store: None,
    body_bytes_max: 1 << 20,
    body_decompressed_bytes_max: 1 << 20,
    payload_decompressed_bytes_max: 1 << 20,
    total_decompressed_bytes_max: 1 << 20,
    blocks_max: 100,
    fields_max: 100,
    block_memory_bytes_max: 1 << 20,
    block_memory_per_byte: 200,
};

const AFTER_END: &str = "trailing_data: ignored the bytes after END (byte 23)";
const FLAGS: &str = "reserved_flags: ignored unknown header flags 0xa0 (byte 6)";

/// The warnings of a pack that lenient decoding accepts, however it is cut.
#[track_caller]
fn warnings(pack: &[u8]) -> Vec<String> {
    let options = DecodeOptions::default();
    for cuts in [Cuts::EveryByte, Cuts::Seeded(1), Cuts::Seeded(2)] {
        assert_same_however_cut(pack, options, cuts);
    }
    let pack = decode(pack, options).expect("odd, not wrong");
    assert_eq!(pack.blocks, [Block::conversation(Role::User, "hi")]);
    let shown = |warning: &Warning| format!("{}: {warning}", warning.code());
    pack.warnings.iter().map(shown).collect()
}

#[test]
fn bytes_after_end_are_a_warning() {
    let input = [pack(&[hi()]), b"more".to_vec()].concat();
    assert_eq!(warnings(&input), [AFTER_END]);
    check_with(
        &input,
        STRICT,
        &expect![[r#"
        trailing_data: unexpected bytes after END (byte 23)
    "#]],
    );
    // Even if they look like blocks.
    let input = [pack(&[hi()]), hi(), END.to_vec()].concat();
    assert_eq!(warnings(&input), [AFTER_END]);
}

#[test]
fn announced_index_is_not_a_warning() {
    let input = [header(0b10), hi(), END.to_vec(), b"index".to_vec()].concat();
    assert_eq!(warnings(&input), [""; 0]);
    let pack = decode(&input, STRICT).expect("an index is no error");
    assert!(pack.header.has_index());
}

#[test]
fn reserved_header_flags_are_a_warning() {
    let input = [header(0b1010_0000), hi(), END.to_vec()].concat();
    assert_eq!(warnings(&input), [FLAGS]);
    check_with(
        &input,
        STRICT,
        &expect![[r#"
        reserved_header: reserved header bits must be 0, got 0xa0 (byte 6)
    "#]],
    );
    let pack = decode(&input, DecodeOptions::default()).expect("odd, not wrong");
    assert_eq!(pack.header.flags, 0b1010_0000);
    let both = [input, vec![0]].concat();
    assert_eq!(warnings(&both), [FLAGS, AFTER_END]);
}

#[test]
fn any_minor_version_and_bcp_magic_are_accepted() {
    let mut input = pack(&[hi()]);
    input[..4].copy_from_slice(b"BCP\0");
    input[5] = 0xFF;
    assert_eq!(warnings(&input), [""; 0]);
    let header = decode(&input, STRICT).expect("no error").header;
    assert_eq!((header.magic, header.minor, header.flags), (Magic::Bcp, 0xFF, 0));
}

#[test]
fn empty_pack_is_valid() {
    let input = pack(&[]);
    let pack = decode(&input, STRICT).expect("END is enough");
    assert_eq!(pack.blocks, []);
}

#[test]
fn reserved_block_flags_are_preserved() {
    let body = [number(1, 2), bytes(2, "hi")].concat();
    let input = pack(&[frame(2, 0b1010_1000, body)]);
    let pack = decode(&input, STRICT).expect("kept, not refused");
    assert_eq!(pack.blocks[0].reserved_flags, 0b1010_1000);
}

#[test]
fn unknown_block_types_are_preserved() {
    let input = pack(&[frame(0x42, 1, b"\x01Sbody"), frame(0, 0, b"")]);
    let pack = decode(&input, STRICT).expect("kept, not refused");
    let raw = Block::raw(0x42, "body").with_summary("S");
    assert_eq!(pack.blocks, [raw, Block::raw(0, "")]);
}

#[test]
fn unknown_enum_values_are_preserved() {
    let input = one(1, &[number(1, 0x42), bytes(2, "a"), bytes(3, "")]);
    let pack = decode(&input, STRICT).expect("kept, not refused");
    assert_eq!(pack.blocks, [Block::code(Lang::Other(0x42), "a", "")]);
}

#[test]
fn unknown_fields_are_preserved_in_order() {
    let unknown =
        [number(u64::MAX, u64::MAX), bytes(9, b"\xFF"), number(0, 0), nested(9, &[number(1, 1)])];
    let fields = [&unknown[..2], &[number(1, 2), bytes(2, "hi")], &unknown[2..]].concat();
    let input = one(2, &fields);
    let pack = decode(&input, STRICT).expect("kept, not refused");
    let BlockContent::Conversation(turn) = &pack.blocks[0].content else {
        panic!("{:?}", pack.blocks);
    };
    let field = |id, value| UnknownField { id, value };
    let expected = [
        field(u64::MAX, UnknownValue::Varint(u64::MAX)),
        field(9, UnknownValue::Bytes(b"\xFF"[..].into())),
        field(0, UnknownValue::Varint(0)),
        field(9, UnknownValue::Nested(b"\x01\0\x01"[..].into())),
    ];
    assert_eq!(*turn.unknown, expected);
}

/// [`EventIter`] goes on behind a block that is wrong inside.
#[test]
fn events_continue_after_a_malformed_block() {
    let bad = || frame(2, 0, number(1, 2));
    let input = pack(&[bad(), hi(), bad()]);
    let mut events = EventIter::new(&input, STRICT);
    let mut found = Vec::new();
    while let Some(event) = events.next() {
        if let Event::Frame(frame) = event.expect("the frames are whole") {
            found.push((frame.offset, events.decode(frame).is_ok()));
        }
    }
    assert_eq!(found, [(8, false), (14, true), (25, false)]);
}

#[test]
fn parser_reports_its_offset() {
    let input = pack(&[hi(), hi()]);
    let mut parser = Parser::new(STRICT);
    let mut offsets = Vec::new();
    let mut data = &input[..];
    loop {
        let step = parser.parse(data, true).expect("nothing is wrong");
        data = &data[step.consumed..];
        offsets.push(parser.offset());
        if step.event == Some(Event::Done) {
            break;
        }
    }
    // Header, two blocks, END, Done.
    assert_eq!(offsets, [8, 19, 30, 34, 34]);
    let again = parser.parse(b"more", true).expect("nothing comes after Done");
    assert_eq!((again.consumed, again.event), (0, Some(Event::Done)));
}

/// Who reads waits for what is missing, and asks once.
#[test]
fn parser_reports_the_bytes_needed() {
    let mut parser = Parser::new(DecodeOptions::default());
    let block = frame(0x42, 0, vec![7; 1000]);
    let mut ask = |data: &[u8]| {
        let step = parser.parse(data, false).expect("nothing is wrong");
        (step.event.is_some(), parser.bytes_needed())
    };
    assert_eq!(ask(b"LCP"), (false, 5));
    assert!(ask(&header(0)).0);
    assert_eq!(ask(&[]), (false, 1));
    assert_eq!(ask(&block[..4]), (false, 1000));
    assert_eq!(ask(&block[..1003]), (false, 1));
    assert!(ask(&block).0);
}
