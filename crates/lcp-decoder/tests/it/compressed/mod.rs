//! zstd: legal, broken and hostile.

mod bodies;
mod payloads;

use lcp_testkit::hostile::zeros;

use crate::support::{END, bytes, header, number};

const COMPRESSED: u8 = 0b010;

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).expect("zstd takes any bytes")
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
