//! Properties that must hold for every input, as functions of bytes (RFC 0008 §6).
//!
//! Each [`Target`] takes any bytes and panics if a property does not hold. The fuzzer (`cargo xtask
//! fuzz`, with the programs in `fuzz/`) searches for such bytes. The tests of this crate run the
//! same functions on the committed corpus. Some of the checks are modules of the tests of other
//! crates, which are included here.
//!
//! | target | input | property |
//! |---|---|---|
//! | `decoder` | a pack | the blocks, warnings and error are the same however the pack is cut, read or split over threads |
//! | `round_trip` | a pack | decoded blocks can be encoded, and decode to the same blocks |
//! | `encoder` | any blocks | encoded blocks can be decoded; limits are errors |
//! | `index` | a pack with changed bytes | blocks take precedence over the index; `recover` saves the intact blocks |
//! | `render` | blocks, a configuration | the budget properties (RFC 0002 §5) hold; the text splits into its blocks |
//! | `parse` | a text | the result is a list of parts, or an error with an offset |
//! | `manifest` | JSON | a parsed manifest can be written, and parses to the same pack |
//! | `import` | a transcript, a diff, numbered lines | blocks can be encoded; providers accept the exported messages |
//! | `stored_records` | hand-offs, saved plans, journals, bodies of a store | accepted records survive a round trip; a body with a wrong hash is detected |
//! | `dedup` | the blocks of a session | no unique line is lost; a second run gives the same result |
//! | `notebooks` | a notebook | it becomes a script, or is packed as it is with a warning |
//! | `charsets` | a text | it is packed unchanged, or decoded to UTF-8 |
//! | `records` | a table or a list | the content is unchanged; records are ranges in order |
//! | `attributes` | a `.gitattributes` | files are packed unchanged |
//! | `tokens` | a text | the counts of parts add up; cuts respect their limit |

mod codec;
mod dedup;
mod files;
mod input;
mod json;
mod python_rows;
mod render;
mod seeds;
mod stored_records;

pub use self::render::{parse, render, tokens};
pub use codec::{decoder, encoder, index, round_trip};
pub use dedup::dedup;
pub use files::{attributes, charsets, notebooks, records};
pub use json::{import, manifest};
pub use python_rows::row;
pub use seeds::seeds;
pub use stored_records::stored_records;

/// A fuzz target: a function that checks properties of any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the fuzz program and of the corpus folder.
    pub name: &'static str,
    /// The function, which panics if a property does not hold for these bytes.
    pub run: fn(&[u8]),
    /// The maximum size of an input in bytes.
    pub bytes_max: usize,
    /// The name of the dictionary in `fuzz/dictionaries`.
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

/// All targets.
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
    target("notebooks", notebooks, 2048, "json"),
    target("charsets", charsets, 512, "text"),
    target("records", records, 512, "json"),
    target("attributes", attributes, 512, "text"),
    target("tokens", tokens, 512, "text"),
];

/// Returns the corpus folder, which has a subfolder of inputs for each target.
#[must_use]
pub fn corpus() -> std::path::PathBuf {
    crate::cli_harness::root().join("fuzz/corpus")
}
