//! What must hold for every input, as functions of bytes (RFC 0008 §6).
//!
//! Each [`Target`] takes any bytes and panics where a law does not hold. The fuzzer
//! (`cargo xtask fuzz`, with the programs in `fuzz/`) looks for such bytes; the tests of this
//! crate give the committed corpus to the same functions. The laws themselves are those of the
//! tests of the crates, whose modules are taken in here.
//!
//! | target | from bytes to | what holds |
//! |---|---|---|
//! | `decoder` | a pack | the same blocks, warnings and error however it is cut, read or split over threads |
//! | `round_trip` | a pack | what was decoded can be encoded, and comes back |
//! | `encoder` | any blocks | what is written, is read; limits are errors |
//! | `index` | a pack whose bytes were changed | its index is never believed over the blocks; `recover` saves what is whole |
//! | `render` | blocks, a configuration | the laws of the budget (RFC 0002 §5); the text splits back into its blocks |
//! | `parse` | a text | an error with its place, or pieces |
//! | `manifest` | JSON | what was read, is written and comes back |
//! | `import` | a transcript, a diff, numbered lines | blocks that can be written; messages that providers take |
//! | `stored_records` | hand-offs, saved plans, journals, bodies of a store | what is accepted, comes back; a hash that is not that of a body is found |
//! | `dedup` | a session's blocks | no unique line is lost; the same result twice |
//! | `tokens` | a text | counts of parts add up, cuts keep their limit |

mod codec;
mod dedup;
mod input;
mod json;
mod python_rows;
mod render;
mod seeds;
mod stored_records;

pub use self::render::{parse, render, tokens};
pub use codec::{decoder, encoder, index, round_trip};
pub use dedup::dedup;
pub use json::{import, manifest};
pub use python_rows::row;
pub use seeds::seeds;
pub use stored_records::stored_records;

/// A law, or several, of any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: of the program, of the folder of its corpus, of its dictionary.
    pub name: &'static str,
    /// Panics where something does not hold for these bytes.
    pub run: fn(&[u8]),
    /// Bytes of the longest input that is tried.
    pub bytes_max: usize,
    /// The dictionary in `fuzz/dictionaries`.
    pub dictionary: &'static str,
}

const fn target(
    name: &'static str,
    run: fn(&[u8]),
    bytes_max: usize,
    dictionary: &'static str,
) -> Target {
    Target { name, run, bytes_max, dictionary }
}

/// Every target.
pub const TARGETS: &[Target] = &[
    target("decoder", decoder, 1024, "pack"),
    target("round_trip", round_trip, 1024, "pack"),
    target("encoder", encoder, 512, "text"),
    target("index", index, 512, "pack"),
    target("render", render, 512, "text"),
    target("parse", parse, 1024, "text"),
    target("manifest", manifest, 2048, "json"),
    target("import", import, 4096, "json"),
    target("stored_records", stored_records, 2048, "json"),
    target("dedup", dedup, 512, "text"),
    target("tokens", tokens, 512, "text"),
];

/// The folder with a sub-folder of inputs for each target.
#[must_use]
pub fn corpus() -> std::path::PathBuf {
    crate::cli_harness::root().join("fuzz/corpus")
}
