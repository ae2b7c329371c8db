//! zstd: legal, broken and hostile.

mod bodies;
mod payloads;

use std::io::{self, Read as _, Write as _};

use crate::support::{END, bytes, header, number};

const COMPRESSED: u8 = 0b010;

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).expect("zstd takes any bytes")
}

/// zstd of `len` zeros, behind `head`, without holding them all.
fn zeros(head: &[u8], len: u64) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("zstd starts");
    encoder.write_all(head).expect("memory takes it");
    io::copy(&mut io::repeat(0).take(len), &mut encoder).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// A payload of `frames` and END, compressed.
fn payload(frames: &[Vec<u8>]) -> Vec<u8> {
    let stream = [frames.concat(), END.to_vec()].concat();
    [header(1), zstd(&stream)].concat()
}

/// The body of CONVERSATION of the user, saying `hi`: 8 bytes.
fn hi_body() -> Vec<u8> {
    [number(1, 2), bytes(2, "hi")].concat()
}
