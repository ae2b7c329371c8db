//! Processes that render one pack, so that their memory is theirs alone.

use std::fs::File;

use lcp_decoder::{DecodeOptions, MmapFile, PackReader};
use lcp_driver::{DefaultDriver, DriverConfig, PlanSource};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use serde::{Deserialize, Serialize};

use crate::harness::{Result, memory_kib, milliseconds, process_timed};

/// Tokens of the texts.
const BUDGET: u32 = 5_000;

/// The task of a process: rendering by the index, or without it.
pub(super) const INDEX: &str = "index";
pub(super) const SCAN: &str = "scan";

/// The figures of a process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Time of all threads, the loading of the vocabulary included.
    pub(super) milliseconds: f64,
    pub(super) load_milliseconds: f64,
    /// Bytes of memory at most, pages of the map that were touched included.
    pub(super) peak_bytes: u64,
    pub(super) used: u32,
    /// Blocks that were read.
    pub(super) read: usize,
    /// A hash of the text.
    pub(super) text: u64,
}

/// Returns what such a process measures, as JSON.
pub(crate) fn measure(arguments: &[String]) -> Result<String> {
    let [task, path] = arguments else { return Err("arguments are missing".into()) };
    let counter = Tiktoken::new(Encoding::O200kBase);
    let (_, load) = process_timed(|| counter.estimate("the first count loads the vocabulary"));
    let (rendered, time) = process_timed(|| render(counter, task == SCAN, path));
    let (used, read, text) = rendered?;
    let load_milliseconds = milliseconds(load);
    let peak = memory_kib("VmHWM").ok_or("the system does not tell the peak of memory")?;
    Ok(serde_json::to_string(&Measured {
        milliseconds: milliseconds(time) + load_milliseconds,
        load_milliseconds,
        peak_bytes: u64::from(peak) * 1024,
        used,
        read,
        text: text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        }),
    })?)
}

/// The tokens of the text, the blocks that were read for it, and the text.
fn render(counter: Tiktoken, scan: bool, path: &str) -> Result<(u32, usize, String)> {
    let file = File::open(path)?;
    #[expect(unsafe_code, reason = "nobody but this benchmark knows the file")]
    // SAFETY: the file was written by the process that waits for this one, and is not
    // changed any more.
    let map = unsafe { MmapFile::open(&file) }?;
    let mut reader = PackReader::open(map, DecodeOptions::default())?;
    if scan {
        reader.ignore_index();
    }
    let config = DriverConfig { token_budget: Some(BUDGET), ..DriverConfig::default() };
    let rendered = DefaultDriver::new(counter).render_source(&reader, &config)?;
    let read = match rendered.planned {
        PlanSource::Index { read, .. } if !scan => read,
        PlanSource::AllBlocks(_) if scan => rendered.blocks,
        other => return Err(format!("planned by {other:?}").into()),
    };
    Ok((rendered.used_tokens, read, rendered.text))
}
