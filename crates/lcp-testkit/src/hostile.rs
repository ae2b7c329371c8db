//! Malicious packs: small inputs that ask the decoder for much memory or work.
//!
//! [`cases`] returns packs large enough to do harm. [`cases_of`] returns the same packs in a
//! smaller size, for quick tests. The name of each case describes it.

use std::io::{self, Read as _, Write as _};

use crate::wire::{END, bytes_field, frame, header, message_field, pack, varint, varint_field};

/// The name of a case, and its bytes.
pub type Case = (&'static str, Vec<u8>);

/// The size of the cases.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The number of entries, hunks, fields or annotations.
    many: usize,
    /// The number of empty blocks, which compress best.
    most: usize,
    /// The number of bytes that a zstd bomb expands to.
    bomb: u64,
    /// The number of bytes of a block that takes up nearly all of the limit of a payload.
    long: usize,
}

const MIB: u64 = 1 << 20;
const COMPRESSED: u8 = 0b010;
const REFERENCE: u8 = 0b100;
const RAW: u8 = 0x42;

/// Returns every case in full size: bombs of 1 GiB, 2²⁴ empty blocks, and one million of everything
/// else.
#[must_use]
pub fn cases() -> Vec<Case> {
    all(Scale { many: 1_000_000, most: 1 << 24, bomb: 1 << 30, long: 250 << 20 })
}

/// Returns the same cases with at most `many` items in each, and bombs of 4 MiB.
#[must_use]
pub fn cases_of(many: usize) -> Vec<Case> {
    all(Scale { many, most: many, bomb: 4 * MIB, long: 2000 << 10 })
}

fn all(scale: Scale) -> Vec<Case> {
    [
        zstd_bombs(scale),
        malformed_lengths(),
        many_small_blocks(scale),
        many_compressed_blocks(scale),
        indices(),
    ]
    .concat()
}

/// Returns packs with zstd data that expands to much more.
fn zstd_bombs(scale: Scale) -> Vec<Case> {
    let body = |len| frame(RAW, COMPRESSED, zeros(&[], len));
    let part = |of: usize| bytes_field(9, vec![0; scale.long / of]);
    let long_name = message_field(
        2,
        &[bytes_field(1, vec![0; scale.long / 250]), varint_field(2, 0), varint_field(3, 0)],
    );
    let twice = zstd(&zeros(&[], scale.bomb));
    let body_max = (16 * MIB).min(scale.bomb);
    vec![
        ("a body that is a bomb", pack(&[body(scale.bomb)])),
        ("bodies that are a bomb together", pack(&vec![body(body_max); 64])),
        ("a body that is a bomb in a bomb", pack(&[frame(RAW, COMPRESSED, twice)])),
        ("a payload that is a bomb", [header(1), zeros(&[RAW, 0, 100], scale.bomb)].concat()),
        ("a payload of one long block", payload(&frame(RAW, 0, vec![0; scale.long]))),
        ("a payload of two long fields", payload(&conversation_frame(&part(2).repeat(2)))),
        ("a payload of seven long fields", payload(&conversation_frame(&part(7).repeat(7)))),
        ("a payload of a tree of long names", payload(&tree(&long_name.repeat(250)))),
        ("bombs in a bomb", payload(&vec![body(body_max); 64].concat())),
        ("zstd that says it gives 2^40 bytes", pack(&[frame(RAW, COMPRESSED, CONTENT_SIZE_2_40)])),
        ("zstd with a window of 128 MiB", pack(&[frame(RAW, COMPRESSED, WIDE_WINDOW)])),
    ]
}

/// A zstd frame with a content size field of 8 bytes that says 2⁴⁰. Its only block repeats one
/// byte.
const CONTENT_SIZE_2_40: &[u8] =
    &[0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0x50, 0, 0, 0, 0, 0, 1, 0, 0, 0x0B, 0, 0, 0x61];

/// A zstd frame with a window of 2²⁷ bytes and no content size. Its only block has one byte.
const WIDE_WINDOW: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88, 0x0B, 0, 0, 0x61];

/// Returns packs with lengths beyond the end of the input.
fn malformed_lengths() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, len) in
        [("256 MiB", 256 * MIB), ("4 GiB", 4096 * MIB), ("2^63", 1 << 63), ("2^64 - 1", u64::MAX)]
    {
        let head = [vec![RAW, 0], varint(len)].concat();
        let field = [vec![1, 1], varint(len)].concat();
        let record = [bytes_field(1, "/"), vec![2, 2], varint(len)].concat();
        let name = |what| -> &'static str { Box::leak(format!("{what} of {name}").into()) };
        cases.extend([
            (name("a body that says it is"), [header(0), head.clone()].concat()),
            (name("the same in a payload, it is"), [header(1), zstd(&head)].concat()),
            (name("a text that says it is"), pack(&[frame(5, 0, field.clone())])),
            (name("a text in zstd that says it is"), pack(&[frame(5, COMPRESSED, zstd(&field))])),
            (name("a record that says it is"), pack(&[frame(3, 0, record)])),
            (name("a summary that says it is"), pack(&[frame(2, 1, varint(len))])),
        ]);
    }
    cases
}

/// Returns packs with many small items, without compression.
fn many_small_blocks(scale: Scale) -> Vec<Case> {
    let many = scale.many;
    let annotation = |kind, value: &str| annotation(0, kind, value);
    vec![
        ("empty blocks", pack(&[frame(RAW, 0, []).repeat(many)])),
        ("empty turns", pack(&[conversation_frame(&[]).repeat(many)])),
        ("a tree of empty entries", pack(&[tree(&entry(&[]).repeat(many))])),
        ("a tree as deep as it may be", pack(&[tree(&deep_tree(64))])),
        ("trees as deep as they may be", pack(&[tree(&deep_tree(64).repeat(many / 64 + 1))])),
        ("a tree that is too deep", pack(&[tree(&deep_tree(65))])),
        ("a tree that is a thousand deep", pack(&[tree(&deep_tree(1000))])),
        ("a diff of empty hunks", pack(&[diff(&hunk().repeat(many))])),
        ("unknown fields", pack(&[conversation_frame(&varint_field(9, 0).repeat(many))])),
        (
            "unknown fields that are empty",
            pack(&[conversation_frame(&bytes_field(9, "").repeat(many))]),
        ),
        (
            "one field again and again",
            pack(&[conversation_frame(&varint_field(1, 2).repeat(many))]),
        ),
        ("entries with a field each", pack(&[tree(&entry(&varint_field(9, 0)).repeat(many / 2))])),
        (
            "annotations of one block",
            pack(&[conversation_frame(&[]), annotation(1, "\u{3}").repeat(many)]),
        ),
        (
            "tags of one block",
            pack(&[conversation_frame(&[]), annotation(3, "rank=1").repeat(many)]),
        ),
        ("annotations of nothing", pack(&[self::annotation(u64::MAX, 3, "a").repeat(many)])),
        ("references", pack(&[frame(2, REFERENCE, [7; 32]).repeat(many)])),
        ("summaries that are empty", pack(&[frame(RAW, 1, [0]).repeat(many)])),
        ("calls with one id", pack(&[call("c").repeat(many)])),
    ]
}

/// Returns packs with many small items that zstd compresses to almost nothing.
fn many_compressed_blocks(scale: Scale) -> Vec<Case> {
    let most = scale.most;
    // This many items fit in the limit of a decompressed body.
    let many = scale.many.min(1_300_000);
    let body = |block_type, fields: &[u8]| pack(&[frame(block_type, COMPRESSED, zstd(fields))]);
    let entries = [bytes_field(1, "/"), entry(&[]).repeat(many)].concat();
    let hunks = [bytes_field(1, "p"), hunk().repeat(many)].concat();
    let unknown = |field: Vec<u8>, many| [conversation_fields(), field.repeat(many)].concat();
    let each = frame(3, COMPRESSED, zstd(&[bytes_field(1, "/"), entry(&[]).repeat(2000)].concat()));
    vec![
        ("empty blocks behind zstd", repeated(&frame(RAW, 0, []), most)),
        ("empty turns behind zstd", repeated(&conversation_frame(&[]), most)),
        ("annotations behind zstd", repeated(&annotation(0, 3, "rank=1"), most / 2)),
        ("references behind zstd", repeated(&frame(2, REFERENCE, [7; 32]), most / 8)),
        ("a tree of empty entries behind zstd", body(3, &entries)),
        ("a diff of empty hunks behind zstd", body(7, &hunks)),
        ("unknown fields behind zstd", body(2, &unknown(varint_field(9, 0), many * 4))),
        ("trees behind zstd, one by one", pack(&[each.repeat(scale.many / 2000 + 1)])),
        ("trees behind zstd, twice", repeated(&each, scale.many / 2000 + 1)),
    ]
}

/// Returns packs with a wrong index or footer whose checksums are correct.
fn indices() -> Vec<Case> {
    let frames = conversation_frame(&[]);
    let end_offset = 8 + frames.len() as u64;
    let blocks = [header(2), frames, END.to_vec()].concat();
    let of = |index: Vec<u8>, count: u64| with_footer(&blocks, end_offset, &index, count);
    let column = |id, len: usize| bytes_field(id, vec![0; len]);
    let index = |columns: &[Vec<u8>]| frame(0xFD, 0, columns.concat());
    let three = [column(1, 1), column(2, 1), bytes_field(3, [9])];
    let said = vec![
        message_field(
            17,
            &[bytes_field(1, "o200k_base"), bytes_field(3, [0]), bytes_field(4, [0])]
        );
        1000
    ];
    vec![
        ("an index of 2^24 blocks that has none", of(index(&[]), 1 << 24)),
        ("an index of more blocks than may be", of(index(&three), 1 << 40)),
        ("an index of 2^24 blocks with columns of one", of(index(&three), 1 << 24)),
        ("an index of a thousand encodings", of(index(&[three.concat(), said.concat()]), 1)),
        ("an index whose columns come again", of(index(&vec![three.concat(); 1000]), 1)),
        ("an index of names that are empty", of(index(&[three.concat(), column(9, 1 << 16)]), 1)),
        ("an index that is not there", blocks.clone()),
    ]
}

/// Returns a pack with an index and its footer (RFC 0003 §2).
fn with_footer(blocks: &[u8], end_offset: u64, index: &[u8], count: u64) -> Vec<u8> {
    let mut footer = Vec::new();
    for number in [end_offset, blocks.len() as u64, index.len() as u64, count] {
        footer.extend(number.to_le_bytes());
    }
    for number in [crc32c::crc32c(blocks), crc32c::crc32c(index), 1] {
        footer.extend(number.to_le_bytes());
    }
    let check = crc32c::crc32c_append(crc32c::crc32c(&footer), &lcp_types::wire::FOOTER_MAGIC);
    footer.extend(check.to_le_bytes());
    footer.extend(lcp_types::wire::FOOTER_MAGIC);
    [blocks, index, &footer].concat()
}

/// Returns a CONVERSATION of the user without text, with these additional fields.
fn conversation_frame(more: &[u8]) -> Vec<u8> {
    frame(2, 0, [&conversation_fields(), more].concat())
}

fn conversation_fields() -> Vec<u8> {
    [varint_field(1, 2), bytes_field(2, "")].concat()
}

/// Returns a turn with the result of this tool call.
fn call(id: &str) -> Vec<u8> {
    frame(2, 0, [varint_field(1, 4), bytes_field(2, ""), bytes_field(3, id)].concat())
}

fn annotation(target: u64, kind: u64, value: &str) -> Vec<u8> {
    frame(8, 0, [varint_field(1, target), varint_field(2, kind), bytes_field(3, value)].concat())
}

fn tree(entries: &[u8]) -> Vec<u8> {
    frame(3, 0, [&bytes_field(1, "/"), entries].concat())
}

/// Returns a tree entry without a name, with these additional fields.
fn entry(more: &[u8]) -> Vec<u8> {
    message_field(2, &[bytes_field(1, ""), varint_field(2, 0), varint_field(3, 0), more.to_vec()])
}

/// Returns an entry with this many levels, each with a single child.
fn deep_tree(levels: usize) -> Vec<u8> {
    let mut fields = Vec::new();
    for level in 0..levels {
        let child = if level == 0 { Vec::new() } else { message_field(4, &[fields]) };
        fields = [bytes_field(1, "d"), varint_field(2, 1), varint_field(3, 0), child].concat();
    }
    message_field(2, &[fields])
}

fn diff(hunks: &[u8]) -> Vec<u8> {
    frame(7, 0, [&bytes_field(1, "p"), hunks].concat())
}

fn hunk() -> Vec<u8> {
    message_field(2, &[varint_field(1, 0), varint_field(2, 0), bytes_field(3, "")])
}

/// Compresses these bytes with zstd.
#[must_use]
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).expect("zstd takes any bytes")
}

/// Returns a pack whose payload, these frames and END, is compressed.
fn payload(frames: &[u8]) -> Vec<u8> {
    [header(1), zstd(&[frames, &END].concat())].concat()
}

/// Returns a pack whose compressed payload repeats one frame. The payload is never completely in
/// memory.
fn repeated(frame: &[u8], times: usize) -> Vec<u8> {
    let len = (frame.len() * times) as u64;
    let piece = frame.repeat((1 << 16) / frame.len().min(1 << 16));
    let mut encoder = zstd::stream::write::Encoder::new(header(1), 3).expect("zstd starts");
    let mut left = len;
    while left > 0 {
        let part = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        encoder.write_all(&piece[..part]).expect("memory takes it");
        left -= part as u64;
    }
    encoder.write_all(&END).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Compresses `head` followed by `len` zeros. The zeros are never completely in memory.
#[must_use]
pub fn zeros(head: &[u8], len: u64) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("zstd starts");
    encoder.write_all(head).expect("memory takes it");
    io::copy(&mut io::repeat(0).take(len), &mut encoder).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Returns malicious JSON manifests with this many items each.
#[must_use]
pub fn manifests(many: usize) -> Vec<Case> {
    let list = |item: &str| vec![item; many.max(1)].join(",");
    let blocks = |block: &str| format!("{{\"blocks\":[{}]}}", list(block));
    let raw = r#"{"type":"raw","type_id":66,"body_base64":""}"#;
    let tagged = |tags: &str| {
        format!(
            "{{\"blocks\":[{{\"type\":\"raw\",\"type_id\":66,\"body_base64\":\"\",\"tags\":[{tags}]}}]}}"
        )
    };
    let hunks = list(r#"{"old_start":1,"new_start":1,"lines":""}"#);
    let keys: Vec<_> = (0..many).map(|key| format!("\"{key}\":0")).collect();
    let text = |json: String| json.into_bytes();
    vec![
        ("arrays in arrays", vec![b'['; many]),
        ("objects in objects", text(r#"{"a":"#.repeat(many))),
        ("as deep as it may be", text(format!("{}{}", "[".repeat(200), "]".repeat(200)))),
        ("numbers", text(format!("{{\"blocks\":[{}]}}", list("0")))),
        ("arrays that are empty", text(format!("[{}]", list("[]")))),
        ("objects that are empty", text(blocks("{}"))),
        ("blocks that are empty", text(blocks(raw))),
        ("tags of one block", text(tagged(&list("\"a\"")))),
        (
            "hunks",
            text(format!(
                "{{\"blocks\":[{{\"type\":\"diff\",\"path\":\"\",\"hunks\":[{hunks}]}}]}}"
            )),
        ),
        ("keys", text(format!("{{{}}}", keys.join(",")))),
        ("escapes", text(format!("{{\"blocks\":\"{}\"}}", r"\u0000".repeat(many)))),
        ("a string that does not end", text(format!("{{\"blocks\":\"{}", "a".repeat(many)))),
    ]
}
