//! Builds packs byte by byte, including packs that no encoder writes.

/// The END frame of a pack.
pub const END: [u8; 4] = [0xFF, 0x01, 0x00, 0x00];

/// Returns a header with these flags.
#[must_use]
pub fn header(flags: u8) -> Vec<u8> {
    vec![b'L', b'C', b'P', 0, 1, 0, flags, 0]
}

/// Encodes a number as an unsigned LEB128 varint.
#[must_use]
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

/// Encodes a field of wire type 0: a varint.
#[must_use]
pub fn varint_field(id: u64, value: u64) -> Vec<u8> {
    [varint(id), vec![0], varint(value)].concat()
}

/// Encodes a field of wire type 1: bytes.
#[must_use]
pub fn bytes_field(id: u64, payload: impl AsRef<[u8]>) -> Vec<u8> {
    length_delimited(id, 1, payload.as_ref())
}

/// Encodes a field of wire type 2: a nested record with these fields.
#[must_use]
pub fn message_field(id: u64, fields: &[Vec<u8>]) -> Vec<u8> {
    length_delimited(id, 2, &fields.concat())
}

fn length_delimited(id: u64, wire_type: u8, payload: &[u8]) -> Vec<u8> {
    let length = varint(payload.len() as u64);
    [varint(id), vec![wire_type], length, payload.to_vec()].concat()
}

/// Encodes a block frame.
#[must_use]
pub fn frame(block_type: u8, flags: u8, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let (block_type, length) = (varint(block_type.into()), varint(body.len() as u64));
    [block_type, vec![flags], length, body.to_vec()].concat()
}

/// Returns a pack: the header, the frames and the END frame.
#[must_use]
pub fn pack(frames: &[Vec<u8>]) -> Vec<u8> {
    [header(0), frames.concat(), END.to_vec()].concat()
}
